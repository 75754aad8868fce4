"""tercet turns a classifier's scores into decisions and says what they cost."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING
from typing import Any as _Any

from tercet.application import Application, MulticlassApplication, costs_from_utilities
from tercet.confusion import Confusion
from tercet.costs import (
    BayesPlot,
    bayes_error,
    brier,
    brier_parts,
    cllr,
    cross_entropy_of_truth,
    empirical_cross_entropy,
    entropy,
    log_loss,
    log_loss_parts,
    min_cllr,
    min_cross_entropy,
    normalised_cross_entropy,
    perplexity,
    top_k_accuracy,
    worth_using,
)
from tercet.curves import Curve, Hull, best_rules
from tercet.decide import Decisions, Rule, confusion_of, decide, decisions, expected_costs, hull_rule, neyman_pearson
from tercet.errors import CalibrationError, InputError, TercetError, UndefinedError
from tercet.evaluate import Evaluation, MulticlassEvaluation, evaluate, risk_curve, risk_path
from tercet.intervals import (
    Interval,
    clopper_pearson,
    delong,
    delong_test,
    enough_errors,
    interval,
    k_sigma,
    mcnemar,
    wilson,
)
from tercet.posteriors import posteriors
from tercet.report import plot, report
from tercet.tally import Tally
from tercet.trials import Trials

if TYPE_CHECKING:
    from tercet.calibrate import Gaussian, Isotonic, Logistic, Threshold, shift_prior
    from tercet.folds import choose, cross_fit, split, two_step
    from tercet.fusion import Fusion, load
    from tercet.minimum import min_risk
    from tercet.multiclass import Affine
    from tercet.resample.bootstrap import bootstrap
    from tercet.resample.compare import compare
    from tercet.resample.conditions import by_condition, needed, too_few_errors
    from tercet.scale import evaluate_files
    from tercet.scale_fit import fit_files
    from tercet.sources import read

__version__ = "0.1.0"

# Rooms that not everyone enters are opened when they are asked for, so that `import tercet` stays quick.
_LATER = {
    "Affine": "multiclass",
    "Fusion": "fusion",
    "Gaussian": "calibrate",
    "Isotonic": "calibrate",
    "Logistic": "calibrate",
    "Threshold": "calibrate",
    "bootstrap": "resample",
    "by_condition": "resample",
    "choose": "folds",
    "compare": "resample",
    "cross_fit": "folds",
    "evaluate_files": "scale",
    "fit_files": "scale_fit",
    "load": "fusion",
    "min_risk": "minimum",
    "needed": "resample",
    "read": "sources",
    "shift_prior": "calibrate",
    "split": "folds",
    "too_few_errors": "resample",
    "two_step": "folds",
}
_MODULES = ("datasets", "recognize", "sklearn", "testing")

__all__ = [
    "Affine",
    "Application",
    "BayesPlot",
    "CalibrationError",
    "Confusion",
    "Curve",
    "Decisions",
    "Evaluation",
    "Fusion",
    "Gaussian",
    "Hull",
    "InputError",
    "Interval",
    "Isotonic",
    "Logistic",
    "MulticlassApplication",
    "MulticlassEvaluation",
    "Rule",
    "Tally",
    "TercetError",
    "Threshold",
    "Trials",
    "UndefinedError",
    "bayes_error",
    "best_rules",
    "bootstrap",
    "brier",
    "brier_parts",
    "by_condition",
    "choose",
    "cllr",
    "clopper_pearson",
    "compare",
    "confusion_of",
    "costs_from_utilities",
    "cross_entropy_of_truth",
    "cross_fit",
    "decide",
    "decisions",
    "delong",
    "delong_test",
    "empirical_cross_entropy",
    "enough_errors",
    "entropy",
    "evaluate",
    "evaluate_files",
    "expected_costs",
    "fit_files",
    "hull_rule",
    "interval",
    "k_sigma",
    "load",
    "log_loss",
    "log_loss_parts",
    "mcnemar",
    "min_cllr",
    "min_cross_entropy",
    "min_risk",
    "needed",
    "neyman_pearson",
    "normalised_cross_entropy",
    "perplexity",
    "plot",
    "posteriors",
    "read",
    "report",
    "risk_curve",
    "risk_path",
    "shift_prior",
    "split",
    "too_few_errors",
    "top_k_accuracy",
    "two_step",
    "wilson",
    "worth_using",
]


def __getattr__(name: str) -> _Any:
    if name in _MODULES:
        return _import_module(f"tercet.{name}")
    if name not in _LATER:
        raise AttributeError(f"module 'tercet' has no attribute {name!r}")
    value = getattr(_import_module(f"tercet.{_LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_MODULES})
