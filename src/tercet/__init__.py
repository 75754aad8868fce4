"""tercet turns a classifier's scores into decisions and says what they cost.

Each public name is imported when it is first used, so `import tercet` itself loads nothing else.
"""

from __future__ import annotations

from importlib import import_module as _import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tercet import biometrics, datasets, forensics, io, nist, recognizers, sklearn, spoofing, testing  # noqa: F401
    from tercet.application import Application, ApplicationMean, MulticlassApplication, costs_from_utilities
    from tercet.calibration.assessment import (
        calibration_line,
        corp_diagram,
        expected_calibration_error,
        spiegelhalter_test,
    )
    from tercet.calibration.beta import Beta
    from tercet.calibration.cross_fit import cross_fit, fit_recognizer_and_calibrator, select_calibrator, split
    from tercet.calibration.fusion import Fusion, load_model
    from tercet.calibration.kernel_density import KernelDensity
    from tercet.calibration.methods import calibrate, fuse, select
    from tercet.calibration.multiclass import Affine
    from tercet.calibration.offset import Offset
    from tercet.calibration.two_class import Gaussian, Isotonic, Logistic, Threshold, shift_prior
    from tercet.conditions import by_condition, too_few_errors
    from tercet.decision import (
        Decisions,
        RandomisedRule,
        confusion_of,
        decide,
        decisions,
        expected_costs,
        hull_rule,
        neyman_pearson,
    )
    from tercet.deployment.abstention import AurcDifference, RiskCoverage, compare_risk_coverage, risk_coverage
    from tercet.deployment.gaps import GroupGaps, group_gaps
    from tercet.deployment.prevalence import Prevalence, deployed_cost, estimate_prevalence
    from tercet.deployment.rules import Rule, rule
    from tercet.deployment.sweeping import Sweep, sweep, sweep_trials
    from tercet.errors import CalibrationError, InputError, TercetError, UndefinedError
    from tercet.evaluation import Evaluation, MulticlassEvaluation, evaluate, risk_curve, risk_path
    from tercet.io.read import read
    from tercet.metrics.binomial import (
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
    from tercet.metrics.case_costs import CaseCostEvaluation, CaseCosts, evaluate_case_costs
    from tercet.metrics.classification import (
        ClassificationReport,
        classification_report,
        hand_till_auc,
        log_loss_as_given,
        one_vs_rest_auc,
    )
    from tercet.metrics.confusion import Confusion
    from tercet.metrics.costs import (
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
        useful_priors,
    )
    from tercet.metrics.counting import CountReport, count, count_report, rates_report
    from tercet.metrics.curves import Curve, Hull, best_rules
    from tercet.metrics.min_risk import min_risk
    from tercet.metrics.net_benefit import DecisionCurve, decision_curve, net_benefit
    from tercet.metrics.posteriors import posteriors
    from tercet.metrics.tally import Tally
    from tercet.outofcore.case_costs import scan_case_costs
    from tercet.outofcore.scan import Scan, scan
    from tercet.report import report
    from tercet.report.gates import Checked, check
    from tercet.report.model_card import model_card
    from tercet.report.plots import Plot, plot
    from tercet.report.system_table import table
    from tercet.trials import Trials
    from tercet.uncertainty.bayes import BetaPosterior, rate_posterior
    from tercet.uncertainty.bootstrap import bootstrap
    from tercet.uncertainty.case_costs import CaseCostLoss, case_cost_calibration_loss
    from tercet.uncertainty.compare import compare
    from tercet.uncertainty.sample_size import (
        sample_size,
        sample_size_for_auc,
        sample_size_for_difference,
        sample_size_for_rate,
    )
    from tercet.uncertainty.sensitivity import label_noise, robust_thresholds, verification_bias, verification_bias_of
    from tercet.uncertainty.simultaneous import difference_band, net_benefit_band

__version__ = "0.1.0"

_PUBLIC = {
    "deployment.abstention": (
        "AurcDifference",
        "RiskCoverage",
        "compare_risk_coverage",
        "risk_coverage",
    ),
    "application": (
        "Application",
        "ApplicationMean",
        "MulticlassApplication",
        "costs_from_utilities",
    ),
    "calibration.assessment": (
        "calibration_line",
        "corp_diagram",
        "expected_calibration_error",
        "spiegelhalter_test",
    ),
    "calibration.beta": ("Beta",),
    "calibration.cross_fit": (
        "cross_fit",
        "fit_recognizer_and_calibrator",
        "select_calibrator",
        "split",
    ),
    "calibration.fusion": (
        "Fusion",
        "load_model",
    ),
    "calibration.kernel_density": ("KernelDensity",),
    "calibration.methods": (
        "calibrate",
        "fuse",
        "select",
    ),
    "calibration.multiclass": ("Affine",),
    "calibration.offset": ("Offset",),
    "calibration.two_class": (
        "Gaussian",
        "Isotonic",
        "Logistic",
        "Threshold",
        "shift_prior",
    ),
    "conditions": (
        "by_condition",
        "too_few_errors",
    ),
    "decision": (
        "Decisions",
        "RandomisedRule",
        "confusion_of",
        "decide",
        "decisions",
        "expected_costs",
        "hull_rule",
        "neyman_pearson",
    ),
    "errors": (
        "CalibrationError",
        "InputError",
        "TercetError",
        "UndefinedError",
    ),
    "evaluation": (
        "Evaluation",
        "MulticlassEvaluation",
        "evaluate",
        "risk_curve",
        "risk_path",
    ),
    "deployment.gaps": (
        "GroupGaps",
        "group_gaps",
    ),
    "io.read": ("read",),
    "metrics.binomial": (
        "Interval",
        "clopper_pearson",
        "delong",
        "delong_test",
        "enough_errors",
        "interval",
        "k_sigma",
        "mcnemar",
        "wilson",
    ),
    "metrics.case_cost_curve": (
        "CaseCostCurve",
        "case_cost_curve",
    ),
    "metrics.case_costs": (
        "CaseCostEvaluation",
        "CaseCosts",
        "evaluate_case_costs",
    ),
    "metrics.classification": (
        "ClassificationReport",
        "classification_report",
        "hand_till_auc",
        "log_loss_as_given",
        "one_vs_rest_auc",
    ),
    "metrics.confusion": ("Confusion",),
    "metrics.costs": (
        "BayesPlot",
        "bayes_error",
        "brier",
        "brier_parts",
        "cllr",
        "cross_entropy_of_truth",
        "empirical_cross_entropy",
        "entropy",
        "log_loss",
        "log_loss_parts",
        "min_cllr",
        "min_cross_entropy",
        "normalised_cross_entropy",
        "perplexity",
        "top_k_accuracy",
        "useful_priors",
    ),
    "metrics.counting": (
        "CountReport",
        "count",
        "count_report",
        "rates_report",
    ),
    "metrics.curves": (
        "Curve",
        "Hull",
        "best_rules",
    ),
    "metrics.min_risk": ("min_risk",),
    "metrics.net_benefit": (
        "DecisionCurve",
        "decision_curve",
        "net_benefit",
    ),
    "metrics.posteriors": ("posteriors",),
    "metrics.tally": ("Tally",),
    "outofcore.case_costs": ("scan_case_costs",),
    "outofcore.scan": (
        "Scan",
        "scan",
    ),
    "deployment.prevalence": (
        "Prevalence",
        "deployed_cost",
        "estimate_prevalence",
    ),
    "report.gates": (
        "Checked",
        "check",
    ),
    "report.model_card": ("model_card",),
    "report.plots": (
        "Plot",
        "plot",
    ),
    "report.system_table": ("table",),
    "deployment.rules": (
        "Rule",
        "rule",
    ),
    "deployment.sweeping": (
        "Sweep",
        "sweep",
        "sweep_trials",
    ),
    "trials": ("Trials",),
    "uncertainty.bayes": (
        "BetaPosterior",
        "rate_posterior",
    ),
    "uncertainty.bootstrap": ("bootstrap",),
    "uncertainty.case_costs": ("CaseCostLoss", "case_cost_calibration_loss"),
    "uncertainty.compare": ("compare",),
    "uncertainty.sample_size": (
        "sample_size",
        "sample_size_for_auc",
        "sample_size_for_difference",
        "sample_size_for_rate",
    ),
    "uncertainty.sensitivity": (
        "label_noise",
        "robust_thresholds",
        "verification_bias",
        "verification_bias_of",
    ),
    "uncertainty.simultaneous": (
        "difference_band",
        "net_benefit_band",
    ),
}
_MODULES = (
    "biometrics",
    "datasets",
    "forensics",
    "io",
    "nist",
    "recognizers",
    "report",
    "sklearn",
    "spoofing",
    "testing",
)
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names}

__all__ = [
    "Affine",
    "Application",
    "ApplicationMean",
    "AurcDifference",
    "BayesPlot",
    "Beta",
    "BetaPosterior",
    "CalibrationError",
    "CaseCostCurve",
    "CaseCostEvaluation",
    "CaseCostLoss",
    "CaseCosts",
    "Checked",
    "ClassificationReport",
    "Confusion",
    "CountReport",
    "Curve",
    "DecisionCurve",
    "Decisions",
    "Evaluation",
    "Fusion",
    "Gaussian",
    "GroupGaps",
    "Hull",
    "InputError",
    "Interval",
    "Isotonic",
    "KernelDensity",
    "Logistic",
    "MulticlassApplication",
    "MulticlassEvaluation",
    "Offset",
    "Plot",
    "Prevalence",
    "RandomisedRule",
    "RiskCoverage",
    "Rule",
    "Scan",
    "Sweep",
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
    "calibrate",
    "calibration_line",
    "case_cost_calibration_loss",
    "case_cost_curve",
    "check",
    "classification_report",
    "cllr",
    "clopper_pearson",
    "compare",
    "compare_risk_coverage",
    "confusion_of",
    "corp_diagram",
    "costs_from_utilities",
    "count",
    "count_report",
    "cross_entropy_of_truth",
    "cross_fit",
    "decide",
    "decision_curve",
    "decisions",
    "delong",
    "delong_test",
    "deployed_cost",
    "difference_band",
    "empirical_cross_entropy",
    "enough_errors",
    "entropy",
    "estimate_prevalence",
    "evaluate",
    "evaluate_case_costs",
    "expected_calibration_error",
    "expected_costs",
    "fit_recognizer_and_calibrator",
    "fuse",
    "group_gaps",
    "hand_till_auc",
    "hull_rule",
    "interval",
    "k_sigma",
    "label_noise",
    "load_model",
    "log_loss",
    "log_loss_as_given",
    "log_loss_parts",
    "mcnemar",
    "min_cllr",
    "min_cross_entropy",
    "min_risk",
    "model_card",
    "net_benefit",
    "net_benefit_band",
    "neyman_pearson",
    "normalised_cross_entropy",
    "one_vs_rest_auc",
    "perplexity",
    "plot",
    "posteriors",
    "rate_posterior",
    "rates_report",
    "read",
    "report",
    "risk_coverage",
    "risk_curve",
    "risk_path",
    "robust_thresholds",
    "rule",
    "sample_size",
    "sample_size_for_auc",
    "sample_size_for_difference",
    "sample_size_for_rate",
    "scan",
    "scan_case_costs",
    "select",
    "select_calibrator",
    "shift_prior",
    "spiegelhalter_test",
    "split",
    "sweep",
    "sweep_trials",
    "table",
    "too_few_errors",
    "top_k_accuracy",
    "useful_priors",
    "verification_bias",
    "verification_bias_of",
    "wilson",
]


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return _import_module(f"tercet.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'tercet' has no attribute {name!r}")
    value: object = getattr(_import_module(f"tercet.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_MODULES})
