"""Rates, their ratios and averages against exact fractions: rounded once, for whole and for fractional counts."""

import itertools
import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import tercet as tc
from tercet._numeric.exact import over_root, sum_of_ratios

WHOLE = st.integers(0, 10**6)
FRACTIONAL = st.one_of(st.just(0.0), st.floats(1e-3, 1e3), st.floats(1e-12, 1e12))
CELLS = st.one_of(st.tuples(*[WHOLE] * 4), st.tuples(*[FRACTIONAL] * 4))
PRIORS = st.floats(1e-6, 1 - 1e-6)


def tables(size):
    cells = st.one_of(st.lists(WHOLE, min_size=size**2, max_size=size**2),
                      st.lists(FRACTIONAL, min_size=size**2, max_size=size**2))  # fmt: skip
    return cells.map(lambda values: [values[k : k + size] for k in range(0, size**2, size)])


def exact(matrix):
    return [[Fraction(value) for value in row] for row in matrix]


def two_class_definitions(tn, fn, fp, tp):
    """Each rational quantity from its definition: rates first, in exact arithmetic; a division by 0 is an error."""
    tpr, fnr, fpr, tnr = (
        (lambda: tp / (tp + fn)),
        (lambda: fn / (tp + fn)),
        (lambda: fp / (fp + tn)),
        (lambda: tn / (fp + tn)),
    )
    total = tp + fn + fp + tn

    def chance():
        return ((tp + fp) * (tp + fn) + (tn + fn) * (tn + fp)) / total**2

    return {
        "tpr": tpr, "fnr": fnr, "fpr": fpr, "tnr": tnr,
        "ppv": lambda: tp / (tp + fp), "npv": lambda: tn / (tn + fn), "accuracy": lambda: (tp + tn) / total,
        "lr_plus": lambda: tpr() / fpr(), "lr_minus": lambda: fnr() / tnr(),
        "dor": lambda: (tpr() / fpr()) / (fnr() / tnr()),
        "f1": lambda: 2 / (1 / (tp / (tp + fp)) + 1 / tpr()),
        "jaccard": lambda: tp / (tp + fp + fn),
        "balanced_accuracy": lambda: (tpr() + tnr()) / 2,
        "adjusted_balanced_accuracy": lambda: tpr() - fpr(),  # informedness, Youden's J
        "kappa": lambda: ((tp + tn) / total - chance()) / (1 - chance()),
    }  # fmt: skip


@given(CELLS)
@example((98, 6, 2, 94))
@example((1e-12, 1e12, 1e12, 1e-12))
def test_every_rational_quantity_of_two_classes_is_rounded_once(cells):
    tn, fn, fp, tp = cells
    table = tc.Confusion([[tn, fn], [fp, tp]])
    for name, define in two_class_definitions(*map(Fraction, cells)).items():
        try:
            truth = define()
        except ZeroDivisionError:
            continue
        assert getattr(table, name) == float(truth), name


def test_likelihood_ratios_are_those_of_the_counts():
    table = tc.Confusion([[98, 6], [2, 94]])
    assert table.lr_plus == 47.0
    assert table.lr_minus == 6 / 98
    assert tc.Confusion([[98e-3, 6e-3], [2e-3, 94e-3]]).lr_plus == pytest.approx(47.0)
    assert tc.Confusion([[24.5, 1.5], [0.5, 23.5]]).lr_plus == 47.0
    assert tc.Confusion([[98, 6], [0, 94]]).lr_plus == math.inf


def test_an_odds_ratio_beyond_the_largest_double_is_infinite():
    table = tc.Confusion([[1e200, 1e-200], [1e-200, 1e200]])
    assert table.dor == table.lr_plus == math.inf
    assert table.lr_minus == 0.0


@given(CELLS, PRIORS)
@example((98, 6, 2, 94), 0.01)
def test_quantities_at_a_prior_are_rounded_once(cells, prior):
    tn, fn, fp, tp = map(Fraction, cells)
    assume(tp + fn > 0 and fp + tn > 0)
    table, share = tc.Confusion([cells[:2], cells[2:]]), Fraction(prior)
    tpr, fpr = tp / (tp + fn), fp / (fp + tn)
    assert table.error_rate_at(prior) == float(share * (1 - tpr) + (1 - share) * fpr)
    if tp + fp > 0:
        assert table.ppv_at(prior) == float(share * tpr / (share * tpr + (1 - share) * fpr))
    if tn + fn > 0:
        assert table.npv_at(prior) == float((1 - share) * (1 - fpr) / ((1 - share) * (1 - fpr) + share * (1 - tpr)))


@given(CELLS, st.floats(0.01, 100))
def test_the_f_measure_of_any_beta_is_rounded_once(cells, beta):
    _, fn, fp, tp = map(Fraction, cells)
    assume(tp + fn + fp > 0)
    weight = Fraction(beta) ** 2
    truth = (1 + weight) * tp / ((1 + weight) * tp + weight * fn + fp)
    assert tc.Confusion([cells[:2], cells[2:]]).f_beta(beta) == float(truth)


@given(tables(3))
def test_averages_and_kappas_of_several_classes_are_rounded_once(matrix):
    table, cells = tc.Confusion(matrix), exact(matrix)
    decided, true = [sum(row) for row in cells], [sum(column) for column in zip(*cells, strict=True)]
    assume(all(decided) and all(true))
    total, places = sum(true), range(3)
    rates = {"recall": [cells[k][k] / true[k] for k in places], "precision": [cells[k][k] / decided[k] for k in places]}
    for name, values in rates.items():
        assert table.average(name, "macro") == float(sum(values) / 3)
        assert table.average(name, "weighted") == float(sum(v * n for v, n in zip(values, true, strict=True)) / total)
    balanced = sum(rates["recall"]) / 3
    assert table.balanced_accuracy == float(balanced)
    assert table.adjusted_balanced_accuracy == float((balanced - Fraction(1, 3)) / (1 - Fraction(1, 3)))
    for how, power in (("linear", 1), ("quadratic", 2)):
        weights = {(i, j): abs(i - j) ** power for i, j in itertools.product(places, places)}
        seen = sum(weight * cells[i][j] for (i, j), weight in weights.items())
        expected = sum(weight * decided[i] * true[j] / total for (i, j), weight in weights.items())
        assert table.weighted_kappa(how) == float(1 - seen / expected)


@given(CELLS)
@example((10**6, 1, 1, 10**6))
def test_matthews_correlation_is_rounded_once(cells):
    tn, fn, fp, tp = map(Fraction, cells)
    spread = (tp + fn) * (fp + tn) * (tp + fp) * (tn + fn)
    assume(spread > 0)
    table = tc.Confusion([cells[:2], cells[2:]])
    assert table.mcc == table.per_class("mcc")["1"]
    with localcontext() as context:
        context.prec = 400
        above, square = (Decimal(x.numerator) / x.denominator for x in (tp * tn - fp * fn, spread))
        assert table.mcc == float(above / square.sqrt())


@given(tables(3), st.tuples(*[st.floats(0.01, 1)] * 3), st.lists(st.floats(0, 100), min_size=9, max_size=9))
def test_the_risk_is_within_four_units_in_the_last_place(matrix, prior, costs):
    cells = exact(matrix)
    true = [sum(column) for column in zip(*cells, strict=True)]
    assume(all(true))
    prior = np.array(prior) / sum(prior)
    grid = np.array(costs).reshape(3, 3)
    app = tc.Application.multiclass(prior, grid)
    truth = sum(
        Fraction(float(app.prior[j])) * Fraction(float(grid[i, j])) * cells[i][j] / true[j]
        for i, j in itertools.product(range(3), range(3))
    )
    found = tc.Confusion(matrix).risk(app)
    assert abs(Fraction(found) - truth) <= 4 * Fraction(math.ulp(found))


@given(st.floats(1e-6, 1), st.floats(1e-6, 1), PRIORS)
@example(0.94, 0.02, 0.01)
@example(1.0, 1.0, 0.5)
def test_what_follows_from_two_rates_is_rounded_once(tpr, fpr, prior):
    hit, alarm, share = map(Fraction, (tpr, fpr, prior))
    report = tc.rates_report(tpr, fpr, prevalence=prior)
    cells = (1 - share) * (1 - alarm), share * (1 - hit), (1 - share) * alarm, share * hit
    for name, define in two_class_definitions(*cells).items():
        try:
            truth = define()
        except ZeroDivisionError:
            continue
        assert report[name].value == float(truth), name
    assert (report["tpr"].value, report["fpr"].value, report["prevalence"].value) == (tpr, fpr, prior)
    assert tc.rates_report(tpr, fpr)["lr_plus"].value == tpr / fpr


def test_one_class_has_no_adjusted_balanced_accuracy():
    with pytest.raises(tc.UndefinedError, match="only one class"):
        _ = tc.Confusion([[3]]).adjusted_balanced_accuracy


@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(1, 10**9)), min_size=1, max_size=30))
def test_sums_of_ratios_are_exact(ratios):
    assert Fraction(*sum_of_ratios(ratios)) == sum(Fraction(*one) for one in ratios)


@pytest.mark.parametrize(
    ("above", "square", "root"), [(0, 5, 0.0), (3, 9, 1.0), (-4, 4, -2.0), (1, 4 * 10**600, 5e-301)]
)
def test_a_quotient_of_a_root_keeps_its_sign_and_its_size(above, square, root):
    assert over_root(above, square) == root
