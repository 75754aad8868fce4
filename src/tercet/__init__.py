"""tercet turns a classifier's scores into decisions and says what they cost."""

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
from tercet.intervals import Interval, clopper_pearson, enough_errors, interval, k_sigma, wilson
from tercet.posteriors import posteriors
from tercet.tally import Tally
from tercet.trials import Trials

__version__ = "0.1.0"

__all__ = [
    "Application",
    "BayesPlot",
    "CalibrationError",
    "Confusion",
    "Curve",
    "Decisions",
    "Evaluation",
    "Hull",
    "InputError",
    "Interval",
    "MulticlassApplication",
    "MulticlassEvaluation",
    "Rule",
    "Tally",
    "TercetError",
    "Trials",
    "UndefinedError",
    "bayes_error",
    "best_rules",
    "brier",
    "brier_parts",
    "cllr",
    "clopper_pearson",
    "confusion_of",
    "costs_from_utilities",
    "cross_entropy_of_truth",
    "decide",
    "decisions",
    "empirical_cross_entropy",
    "enough_errors",
    "entropy",
    "evaluate",
    "expected_costs",
    "hull_rule",
    "interval",
    "k_sigma",
    "log_loss",
    "log_loss_parts",
    "min_cllr",
    "min_cross_entropy",
    "neyman_pearson",
    "normalised_cross_entropy",
    "perplexity",
    "posteriors",
    "risk_curve",
    "risk_path",
    "top_k_accuracy",
    "wilson",
    "worth_using",
]
