"""Every quantity of an evaluation by name, with its definition; `tercet metrics` lists them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Literal, NamedTuple

from tercet._numeric.plain import plain
from tercet._numeric.validation import listed, shown, text
from tercet._typing import JSON
from tercet.errors import InputError, UndefinedError, WordError, did_you_mean
from tercet.metrics.binomial import rate_interval
from tercet.metrics.classification import hand_till_auc, log_loss_as_given, log_loss_of_ranked, one_vs_rest_auc
from tercet.metrics.confusion import RATES, Confusion
from tercet.metrics.costs import (
    Parts,
    brier_parts,
    empirical_cross_entropy,
    log_loss_parts,
    min_cross_entropy,
    top_k_accuracy,
)
from tercet.metrics.curves import Curve

Facts = JSON
Level = Literal["system", "operating point"]
DEFAULT = ("eer", "min_dcf", "dcf", "cllr")  # the columns of a table of systems


class Quantity(NamedTuple):
    """A quantity: its name in the JSON, what it is, and how it is computed unless it is in the JSON anyway."""

    name: str
    level: Level
    definition: str
    of_curve: Callable[[Curve], float] | None = None
    of_counts: Callable[[Confusion], float] | None = None
    of_trials: Callable[[Any], float] | None = None


def _system(name: str, definition: str, of_curve: Callable[[Curve], float] | None = None) -> Quantity:
    return Quantity(name, "system", definition, of_curve)


def _classes(name: str, definition: str, of_trials: Callable[[Any], float]) -> Quantity:
    """A quantity of several classes, which is computed from the trials."""
    return Quantity(name, "system", definition, of_trials=of_trials)


def _rate(name: str, definition: str, attribute: str = "") -> Quantity:
    def value(table: Confusion) -> float:
        return float(getattr(table, attribute or name))

    return Quantity(name, "operating point", definition, of_counts=value)


def _averages(name: str, words: str) -> list[Quantity]:
    """A rate of each class against the rest, averaged over the classes in three ways."""
    found = []
    for how, told in (("macro", "plain mean"), ("weighted", "weighted by class frequency"), ("micro", "pooled counts")):
        of_counts = partial(Confusion.average, name=name, how=how)
        found.append(Quantity(f"{name}_{how}", "operating point", f"{words} over the classes, {told}", None, of_counts))
    return found


def _parts(name: str, words: str, split: Callable[[Curve], Parts]) -> list[Quantity]:
    """What a proper score consists of: score = miscalibration - discrimination + uncertainty."""
    told = (
        ("miscalibration", f"how much isotonic recalibration on the same trials lowers {words}"),
        ("discrimination", f"how much the recalibrated scores lower {words} of knowing only the prior"),
        ("uncertainty", f"{words} of knowing only the prior"),
    )

    def value(curve: Curve, part: str) -> float:
        return float(getattr(split(curve), part))

    return [_system(f"{name}_{part}", definition, partial(value, part=part)) for part, definition in told]


def _point(name: str, definition: str) -> Quantity:
    return Quantity(name, "operating point", definition)


_ALL = (
    _system("eer", "equal error rate: where the ROC convex hull meets FPR = FNR (--eer names other definitions)"),
    _system("auc", "area under the ROC: probability that a target scores above a non-target, ties one half"),
    _system("hull_auc", "area under the ROC convex hull", lambda curve: curve.hull_auc),
    _system("average_precision", "sum of precision times the step in recall, ties pooled",
            lambda curve: curve.average_precision),
    _system("break_even", "precision where as many are accepted as there are targets", lambda curve: curve.break_even),
    _system("cllr", "cost of the log-likelihood ratios, in bits; 1 for llr = 0 everywhere"),
    _system("min_cllr", "Cllr after isotonic (PAV) recalibration on the same trials"),
    _system("log_loss", "mean of -log2 of the true class's posterior at the data's class frequencies, in bits",
            lambda curve: log_loss_parts(curve).score),
    _system("normalised_cross_entropy", "log-loss divided by the entropy of the class frequencies",
            lambda curve: log_loss_parts(curve).score / log_loss_parts(curve).uncertainty),
    _system("perplexity", "2 to the power of the log-loss in bits", lambda curve: 2.0 ** log_loss_parts(curve).score),
    _system("brier", "mean squared distance of the posteriors from the truth: 0 to 1 for two classes, else 0 to 2",
            lambda curve: brier_parts(curve).score),
    *_parts("log_loss", "the log-loss", log_loss_parts),
    *_parts("brier", "the Brier score", brier_parts),
    Quantity("log_loss_as_given", "system", "mean of -log2 of the true class's posterior, posteriors and frequencies "
             "as given", log_loss_of_ranked, of_trials=log_loss_as_given),
    _classes("hand_till_auc", "several classes: mean over pairs of classes of the AUC that separates these two",
             lambda trials: hand_till_auc(trials).value),
    _classes("one_vs_rest_auc", "several classes: mean AUC of each class's posterior against the rest",
             lambda trials: one_vs_rest_auc(trials).value),
    _classes("one_vs_rest_auc_weighted", "the same, weighted by class frequency",
             lambda trials: one_vs_rest_auc(trials, "weighted").value),
    _point("dcf", "actual DCF: expected cost of the Bayes decisions, divided by that of the best decision without "
           "scores"),
    _point("dcf_u", "expected cost of the Bayes decisions: prior C_fn FNR + (1 - prior) C_fp FPR"),
    _point("min_dcf", "minimum DCF: the same with the best threshold for these trials"),
    _point("min_dcf_u", "minimum DCF before division"),
    _point("calibration_loss", "actual DCF minus the DCF after logistic calibration out of fold (5 folds)"),
    _point("actual_minus_min", "actual DCF minus minimum DCF, on the same trials"),
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
    _rate("accuracy", "share of correct decisions at the data's class frequencies"),
    _rate("error_rate", "share of wrong decisions in the data"),
    _rate("balanced_accuracy", "mean over the classes of the share decided correctly"),
    _rate("adjusted_balanced_accuracy", "balanced accuracy scaled so that decisions without the scores have 0"),
    _rate("f1", "harmonic mean of precision and recall"),
    _rate("jaccard", "Jaccard index of the target: TP / (TP + FP + FN)"),
    _rate("mcc", "Matthews correlation coefficient"),
    _rate("kappa", "Cohen's kappa: agreement beyond chance"),
    *(Quantity(f"weighted_kappa_{how}", "operating point", f"Cohen's kappa of ordered classes, {how} weights",
               of_counts=partial(Confusion.weighted_kappa, weights=how)) for how in ("linear", "quadratic")),
    _rate("lr_plus", "positive likelihood ratio: TPR / FPR"),
    _rate("lr_minus", "negative likelihood ratio: FNR / TNR"),
    _rate("dor", "diagnostic odds ratio"),
    *_averages("ppv", "mean precision"),
    *_averages("tpr", "mean recall"),
    *_averages("f1", "mean F1"),
)  # fmt: skip
QUANTITIES = {one.name: one for one in _ALL}

LARGER_IS_BETTER = frozenset((
    "auc", "hull_auc", "average_precision", "break_even", "accuracy", "balanced_accuracy", "adjusted_balanced_accuracy",
    "tpr", "tnr", "ppv", "npv", "f1", "jaccard", "mcc", "kappa", "lr_plus", "dor", "partial_auc",
    "corrected_partial_auc", "partial_auc_tpr", "f_beta", "precision_at", "precision_at_recalled", "recall_at",
    "hand_till_auc", "one_vs_rest_auc", "one_vs_rest_auc_weighted", "top_k_accuracy", "ppv_at", "npv_at",
    "weighted_kappa_linear", "weighted_kappa_quadratic", "log_loss_discrimination", "brier_discrimination",
    *(f"{name}_{how}" for name in ("ppv", "tpr", "f1") for how in ("macro", "weighted", "micro")),
))  # fmt: skip


# Quantities with a parameter after a colon: log_loss:10, partial_auc:0.1, f_beta:2


class Family(NamedTuple):
    """Quantities that differ by a number, which is written after a colon and is what the function takes second."""

    parameter: str
    is_legal: Callable[[float], bool]
    definition: str
    of_curve: Callable[[Curve, float], float] | None = None
    of_counts: Callable[[Confusion, float], float] | None = None
    of_trials: Callable[[Any, float], float] | None = None

    @property
    def level(self) -> Level:
        """What it is a number of."""
        return "system" if self.of_counts is None else "operating point"


def _is_rate(value: float) -> bool:
    return 0.0 < value <= 1.0


def _is_prior(value: float) -> bool:
    return 0.0 < value < 1.0


def _is_positive(value: float) -> bool:
    return 0.0 < value < math.inf


FAMILIES = {
    "log_loss": Family(
        "BASE", lambda base: base > 1.0, "log-loss with logarithms to this base (a number above 1, or e)",
        lambda curve, base: log_loss_parts(curve).score / math.log2(base)),
    "partial_auc": Family("FPR", _is_rate, "area under the ROC up to this false positive rate",
                          lambda curve, fpr: curve.partial_auc(fpr=(0.0, fpr))),
    "corrected_partial_auc": Family(
        "FPR", _is_rate, "the same, scaled to 1/2 for chance and 1 for a perfect system (McClish)",
        lambda curve, fpr: curve.corrected_partial_auc((0.0, fpr))),
    "partial_auc_tpr": Family(
        "TPR", lambda tpr: 0.0 <= tpr < 1.0, "area to the right of the ROC from this true positive rate up",
        lambda curve, tpr: curve.partial_auc(tpr=(tpr, 1.0))),
    "cross_entropy": Family("PRIOR", _is_prior, "empirical cross-entropy at this prior, in bits",
                            empirical_cross_entropy),
    "min_cross_entropy": Family("PRIOR", _is_prior, "the same after isotonic (PAV) recalibration on the same trials",
                                min_cross_entropy),
    "top_k_accuracy": Family(
        "K", lambda k: k >= 1.0 and k.is_integer(),
        "several classes: share of trials whose class is among the K most probable",
        of_trials=lambda trials, k: top_k_accuracy(trials, int(k))),
    "precision_at_recalled": Family("K", _is_positive, "precision when the K-th target has been recalled, ties pooled",
                                    Curve.precision_at_recalled),
    "precision_at": Family("K", _is_positive, "precision among the K highest scores, averaged over tied orders",
                           Curve.precision_at),
    "recall_at": Family("K", _is_positive, "recall among the K highest scores, averaged over tied orders",
                        Curve.recall_at),
    "f_beta": Family(
        "BETA", _is_positive, "weighted harmonic mean of precision and recall: (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + "
        "FP)", of_counts=Confusion.f_beta),
    "ppv_at": Family("PRIOR", _is_prior, "precision if targets were this frequent", of_counts=Confusion.ppv_at),
    "npv_at": Family("PRIOR", _is_prior, "negative predictive value if targets were this frequent",
                     of_counts=Confusion.npv_at),
    "error_rate_at": Family("PRIOR", _is_prior, "error rate if targets were this frequent",
                            of_counts=Confusion.error_rate_at),
}  # fmt: skip


def definitions(level: Level) -> list[tuple[str, str]]:
    """Each quantity of a level with its definition; those with a parameter after a colon come last."""
    plain_names = [(one.name, one.definition) for one in _ALL if one.level == level]
    families = [(f"{name}:{one.parameter}", one.definition) for name, one in FAMILIES.items() if one.level == level]
    return plain_names + families


def is_larger_better(name: str) -> bool:
    """Whether more of a quantity is better."""
    return name.partition(":")[0] in LARGER_IS_BETTER


def named(name: str, called: str = "metrics") -> Quantity:
    """The quantity of this name; for an unknown one similar names are suggested.

    >>> named("partial_auc:0.1").definition
    'area under the ROC up to this false positive rate'
    """
    if name in QUANTITIES:
        return QUANTITIES[name]
    family, _, words = name.partition(":")
    if words and family in FAMILIES:
        return _of_family(name, FAMILIES[family], words, called)
    hint = did_you_mean(name, [*QUANTITIES, *(f"{one}:{how.parameter}" for one, how in FAMILIES.items())])
    raise WordError(f"{called}: no quantity is called {shown(name)}.{hint} `tercet metrics` lists them.")


def _of_family(name: str, family: Family, words: str, called: str) -> Quantity:
    try:
        value = math.e if words == "e" and family.parameter == "BASE" else float(words)
    except ValueError:
        value = math.nan
    if not family.is_legal(value):
        raise WordError(f"{called}: {family.parameter} of {shown(name)} is out of range: {family.definition}.")
    functions = (family.of_curve, family.of_counts, family.of_trials)
    return Quantity(name, family.level, family.definition, *(_with_second(one, value) for one in functions))


def _with_second(function: Callable[[Any, float], float] | None, value: float) -> Callable[[Any], float] | None:
    return None if function is None else lambda held: function(held, value)


def chosen(words: str | None) -> tuple[Quantity, ...]:
    """The quantities of a list of names separated by commas."""
    names = [] if words is None else [word.strip() for word in words.split(",")]
    return tuple(named(name, "--metrics") for name in dict.fromkeys(names))


def asked(names: Iterable[str] | None, default: Iterable[str]) -> tuple[Quantity, ...]:
    """The quantities of a list of names given in Python."""
    given = default if names is None else listed(names, "metrics")
    wanted = dict.fromkeys(text(name, "metrics") for name in given)
    return tuple(named(name) for name in wanted)


def is_held(systems: Sequence[Facts], name: str) -> bool:
    """Whether any of the systems has a quantity, or has it at an operating point."""
    return any(name in facts for system in systems for facts in (system, *system["applications"]))


def facts_of(evaluation: Any, wanted: Sequence[Quantity]) -> Facts:
    """The facts of an evaluation, without its curves, with these quantities among them."""
    if any(one.name == "calibration_loss" for one in wanted):
        for row in evaluation.applications:
            getattr(row, "calibration_loss", None)  # computed when it is asked for
    return with_quantities(evaluation.to_dict(curves=False), evaluation, wanted)


def with_quantities(facts: Facts, evaluation: Any, wanted: Sequence[Quantity]) -> Facts:
    """The facts of a system with these quantities beside the usual ones; undefined ones have a reason.

    `evaluation` brings the curve of a two-class system or the trials of several classes, None neither; rates are
    computed from the confusion matrices in the facts.
    """
    if not wanted:
        return facts
    found = dict(facts)
    curve, trials = getattr(evaluation, "curve", None), getattr(evaluation, "trials", None)
    for one in wanted:
        if one.of_trials is not None and trials is not None:
            _put(found, one.name, partial(one.of_trials, trials))
        if one.name == "perplexity" and one.name not in found and "classes" in found:
            found[one.name] = None if found.get("log_loss") is None else 2.0 ** found["log_loss"]
        elif one.of_curve is not None and one.name not in found and curve is not None:
            _put(found, one.name, partial(one.of_curve, curve))
    if not facts["applications"] and "confusion" in facts:
        return _with_rates(found, found, wanted)
    return found | {"applications": [_with_rates(facts, app, wanted) for app in facts["applications"]]}


def _with_rates(facts: Facts, app: Facts, wanted: Sequence[Quantity]) -> Facts:
    """The facts of an operating point with these rates of its confusion matrix, and their intervals if asked for."""
    new, table = dict(app), _table(facts, app)
    level = _binomial_level(facts)
    for one in wanted:
        if one.of_counts is None:
            continue
        if one.name not in new:
            _put(new, one.name, partial(_of_table, one.of_counts, table))
        if level is not None and f"{one.name}_ci" not in new and new[one.name] is not None:
            new |= _binomial_ends(table, one.name, level)
    return new


def _binomial_ends(table: Confusion | None, name: str, level: float) -> Facts:
    """The interval of a rate that is a proportion of whole counts; others have none."""
    own = RATES.get("for_" if name == "for" else name)
    if table is None or own is None or table.unit < 0:
        return {}
    return {f"{name}_ci": list(rate_interval(*table.proportion(own.name), level)[:2])}


def _binomial_level(facts: Facts) -> float | None:
    """The level of intervals in closed form; whole groups and resampled calibrations follow no binomial law."""
    made = facts.get("intervals", {})
    level: float | None = made.get("level")
    return None if made.get("by") or made.get("resamples") else level


def _table(facts: Facts, app: Facts) -> Confusion | None:
    matrix = app.get("confusion")
    if matrix is None:
        return None
    if "classes" not in facts:
        return Confusion(matrix, classes=["nontarget", "target"], target="target")
    classes = facts["classes"]
    target = classes[1] if len(classes) == 2 else None
    return Confusion(matrix, classes=classes, actions=app.get("actions") or facts.get("actions"), target=target)


def _of_table(compute: Callable[[Confusion], float], table: Confusion | None) -> float:
    if table is None:
        raise UndefinedError("there are no decisions: raw scores have no Bayes threshold, calibrate them first.")
    return compute(table)


def _put(facts: Facts, name: str, compute: Callable[[], float]) -> None:
    try:
        facts[name] = plain(compute())
    except (UndefinedError, InputError) as error:  # InputError: raw scores, a table of several classes
        facts[name] = None
        facts["reasons"] = {**facts.get("reasons", {}), name: str(error)}


# As a flat dictionary


def flat(facts: Facts, wanted: Sequence[Quantity]) -> dict[str, float]:
    """Numbers by name, undefined ones left out, with both ends of their intervals where there are some.

    With several operating points a name is followed by a slash and the point: "dcf/sre08", "dcf/0.5_1_1".
    """
    found = _numbers(facts, wanted)
    apps = facts["applications"]
    for app, key in zip(apps, _keys(apps), strict=True):
        own = _numbers(app, wanted)
        found |= own if len(apps) == 1 else {f"{name}/{key}": value for name, value in own.items()}
    return found


def _numbers(facts: Facts, wanted: Sequence[Quantity]) -> dict[str, float]:
    found = {}
    for one in wanted:
        value = value_of(facts, one.name)
        if value is not None:
            found[one.name] = value
            ends = facts.get(f"{one.name}_ci")
            found |= {} if ends is None else {f"{one.name}_low": float(ends[0]), f"{one.name}_high": float(ends[1])}
    return found


def value_of(facts: Facts, name: str) -> float | None:
    """A number of the facts; of the EER its value."""
    value = facts.get(name)
    value = value.get("value") if isinstance(value, dict) else value
    return None if value is None else float(value)


def _keys(apps: Sequence[Facts]) -> list[str]:
    """A short name for each operating point, of characters that experiment trackers accept; all are different."""
    found: list[str] = []
    for place, app in enumerate(apps):
        costs = f"{app['prior']:g}_{app['cost_fn']:g}_{app['cost_fp']:g}" if "prior" in app else str(place)
        key = re.sub(r"[^A-Za-z0-9_.-]+", "_", app.get("name") or costs)[:64]
        found.append(f"{key}_{place}" if key in found else key)
    return found
