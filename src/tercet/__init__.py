"""tercet turns a classifier's scores into decisions and says what they cost.

Each public name is imported when it is first used, so `import tercet` itself loads nothing else. Type checkers read the
same names in `__init__.pyi`; `tests/test_public_names.py` compares both.
"""

__version__ = "0.1.0"

_PUBLIC = {  # modules, and the public names imported from each
    "application": "Application ApplicationMean MulticlassApplication costs_from_utilities",
    "calibration.assessment": "calibration_line corp_diagram expected_calibration_error spiegelhalter_test",
    "calibration.beta": "Beta Offset",
    "calibration.cross_fit": "cross_fit fit_recognizer_and_calibrator select_calibrator split",
    "calibration.fusion": "Fusion load_model",
    "calibration.kernel_density": "KernelDensity",
    "calibration.methods": "calibrate fuse select",
    "calibration.multiclass": "Affine",
    "calibration.two_class": "Gaussian Isotonic Logistic Threshold shift_prior",
    "conditions": "by_condition too_few_errors",
    "decision": "Decisions RandomisedRule confusion_of decide decisions expected_costs hull_rule neyman_pearson",
    "deployment.abstention": "AurcDifference RiskCoverage compare_risk_coverage risk_coverage",
    "deployment.decision_curves": "compare_net_benefit decision_curve",
    "deployment.gaps": "GroupGaps group_gaps",
    "deployment.prevalence": "Prevalence deployed_cost estimate_prevalence",
    "deployment.rules": "Rule rule",
    "deployment.sweeping": "Sweep sweep sweep_trials",
    "errors": "CalibrationError InputError TercetError UndefinedError",
    "evaluation": "Evaluation MulticlassEvaluation evaluate risk_curve risk_path",
    "io.read": "read",
    "metrics.binomial": "Interval clopper_pearson delong delong_test enough_errors interval k_sigma mcnemar wilson",
    "metrics.case_costs": "CaseCostColumns CaseCostEvaluation CaseCosts",
    "metrics.classification": (
        "ClassificationReport classification_report hand_till_auc log_loss_as_given one_vs_rest_auc"
    ),
    "metrics.confusion": "Confusion",
    "metrics.costs": (
        "BayesPlot bayes_error brier brier_parts cllr cross_entropy_of_truth empirical_cross_entropy entropy log_loss "
        "log_loss_parts min_cllr min_cross_entropy normalised_cross_entropy perplexity top_k_accuracy useful_priors"
    ),
    "metrics.counting": "CountReport count count_report rates_report",
    "metrics.curves": "Curve Hull best_rules",
    "metrics.min_risk": "min_risk",
    "metrics.net_benefit": "DecisionCurve net_benefit",
    "metrics.posteriors": "posteriors",
    "metrics.tally": "Tally",
    "outofcore.scan": "Scan scan",
    "report.gates": "Checked check",
    "report.model_card": "model_card",
    "report.plots": "Plot plot",
    "report.system_table": "table",
    "trials": "Trials",
    "uncertainty.bayes": "BetaPosterior rate_posterior",
    "uncertainty.bootstrap": "bootstrap",
    "uncertainty.case_costs": (
        "CaseCostCurve CaseCostLoss case_cost_calibration_loss case_cost_curve evaluate_case_costs"
    ),
    "uncertainty.compare": "compare",
    "uncertainty.sample_size": "sample_size sample_size_for_auc sample_size_for_difference sample_size_for_rate",
    "uncertainty.sensitivity": "label_noise robust_thresholds verification_bias verification_bias_of",
    "uncertainty.simultaneous": "difference_band net_benefit_band",
}
_MODULES = (
    "biometrics", "datasets", "forensics", "io", "nist", "recognizers", "report", "sklearn", "spoofing", "testing",
)  # fmt: skip
_MODULE_OF = {name: module for module, names in _PUBLIC.items() for name in names.split()}

__all__ = sorted((*_MODULE_OF, "report"))


def __getattr__(name: str) -> object:
    from importlib import import_module

    if name in _MODULES:
        return import_module(f"tercet.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'tercet' has no attribute {name!r}")
    value: object = getattr(import_module(f"tercet.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF, *_MODULES})
