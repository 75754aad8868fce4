"""Every quantity of an evaluation by name, with its definition; `tercet metrics` lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tercet._numeric.plain import plain
from tercet._numeric.validation import shown
from tercet.errors import InputError, UndefinedError

if TYPE_CHECKING:
    from tercet.metrics.confusion import Confusion
    from tercet.metrics.curves import Curve

Facts = dict[str, Any]
Level = Literal["system", "operating point"]


class Quantity(NamedTuple):
    """A quantity: its name in the JSON, what it is, and how it is computed where the JSON does not hold it anyway."""

    name: str
    level: Level
    definition: str
    of_curve: Callable[[Curve], float] | None = None
    of_counts: Callable[[Confusion], float] | None = None


def _system(name: str, definition: str, of_curve: Callable[[Curve], float] | None = None) -> Quantity:
    return Quantity(name, "system", definition, of_curve)


def _rate(name: str, definition: str, attribute: str = "") -> Quantity:
    def value(table: Confusion) -> float:
        return float(getattr(table, attribute or name))

    return Quantity(name, "operating point", definition, of_counts=value)


def _point(name: str, definition: str) -> Quantity:
    return Quantity(name, "operating point", definition)


_ALL = (
    _system("eer", "equal error rate: where the ROC convex hull meets FPR = FNR (--eer names other definitions)"),
    _system("auc", "area under the ROC: probability that a target scores above a non-target, ties one half"),
    _system("hull_auc", "area under the ROC convex hull", lambda curve: curve.hull_auc),
    _system("average_precision", "sum of precision times the step in recall, ties pooled",
            lambda curve: curve.average_precision),
    _system("cllr", "cost of the log-likelihood ratios, in bits; 1 for llr = 0 everywhere"),
    _system("min_cllr", "Cllr after isotonic (PAV) recalibration on the same trials"),
    _system("log_loss", "mean of -log2 of the true class's posterior, in bits"),
    _system("normalised_cross_entropy", "log-loss divided by the entropy of the class frequencies"),
    _system("brier", "mean squared distance of the posteriors from the truth, 0 to 2"),
    _point("dcf", "actual DCF: expected cost of the Bayes decisions, divided by that of the best decision without "
           "scores"),
    _point("dcf_u", "expected cost of the Bayes decisions: prior C_fn FNR + (1 - prior) C_fp FPR"),
    _point("min_dcf", "minimum DCF: the same with the best threshold for these trials"),
    _point("min_dcf_u", "minimum DCF before division"),
    _point("calibration_loss", "what the threshold or the calibration costs: see the documentation"),
    _point("risk", "expected cost of the decisions of several classes"),
    _rate("fnr", "false negative rate, miss rate: missed targets / targets"),
    _rate("fpr", "false positive rate, false-alarm rate: accepted non-targets / non-targets"),
    _rate("tpr", "true positive rate, recall, sensitivity: accepted targets / targets"),
    _rate("tnr", "true negative rate, specificity: rejected non-targets / non-targets"),
    _rate("ppv", "positive predictive value, precision: targets / accepted"),
    _rate("npv", "negative predictive value: non-targets / rejected"),
    _rate("fdr", "false discovery rate: non-targets / accepted"),
    _rate("for", "false omission rate: targets / rejected", "for_"),
    _rate("prevalence", "share of targets in the data"),
    _rate("accuracy", "share of right decisions at the data's class frequencies"),
    _rate("error_rate", "share of wrong decisions in the data"),
    _rate("f1", "harmonic mean of precision and recall"),
    _rate("mcc", "Matthews correlation coefficient"),
    _rate("kappa", "Cohen's kappa: agreement beyond chance"),
    _rate("lr_plus", "positive likelihood ratio: TPR / FPR"),
    _rate("lr_minus", "negative likelihood ratio: FNR / TNR"),
    _rate("dor", "diagnostic odds ratio"),
)  # fmt: skip
QUANTITIES = {one.name: one for one in _ALL}

LARGER_IS_BETTER = frozenset((
    "auc", "hull_auc", "average_precision", "accuracy", "tpr", "tnr", "ppv", "npv", "f1", "mcc", "kappa", "lr_plus",
    "dor",
))  # fmt: skip


def chosen(words: str | None) -> tuple[Quantity, ...]:
    """The quantities of a list of names separated by commas; near names are offered for an unknown one."""
    names = [] if words is None else [word.strip() for word in words.split(",")]
    for name in names:
        if name not in QUANTITIES:
            near = get_close_matches(name, QUANTITIES, 3, 0.5)
            hint = f" Did you mean {' or '.join(near)}?" if near else ""
            raise InputError(f"--metrics: no quantity is called {shown(name)}.{hint} `tercet metrics` lists them.")
    return tuple(QUANTITIES[name] for name in dict.fromkeys(names))


def with_quantities(facts: Facts, evaluation: Any, wanted: Sequence[Quantity]) -> Facts:
    """The facts of a two-class evaluation with these quantities beside the usual ones; undefined ones have a reason."""
    found = dict(facts)
    for one in wanted:
        if one.of_curve is not None:
            _put(found, one.name, partial(one.of_curve, evaluation.curve))
    rows = []
    for row, app in zip(evaluation.applications, facts["applications"], strict=True):
        new = dict(app)
        for one in wanted:
            if one.of_counts is not None and one.name not in app:
                _put(new, one.name, partial(_of_counts, one.of_counts, row))
        rows.append(new)
    return found | {"applications": rows}


def _of_counts(compute: Callable[[Confusion], float], row: Any) -> float:
    return compute(row.table)


def _put(facts: Facts, name: str, compute: Callable[[], float]) -> None:
    try:
        facts[name] = plain(compute())
    except UndefinedError as error:
        facts[name] = None
        facts["reasons"] = {**facts.get("reasons", {}), name: str(error)}
