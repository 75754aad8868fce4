# ruff: noqa: E501
"""Clean values: what each argument is when nothing is wrong, by its name or for one callable alone."""

from __future__ import annotations

import pathlib
from dataclasses import replace
from typing import Any

import numpy as np

import tercet as tc

LABELS = [1, 1, 1, 0, 0, 0, 1, 0]
LLR = [2.0, 1.0, -0.5, 0.3, -1.0, -2.0, 0.7, 0.9]
TRIALS = tc.Trials.of_llr(LLR, LABELS, groups={"speaker": list("aabbccdd")}, name="a")
OTHER = tc.Trials.of_llr([1.5, -0.2, 0.5, 0.4, -1.5, 0.1, 1.2, -0.3], LABELS, name="b")
GROUPED = replace(OTHER, groups=TRIALS.groups)
SHARES = np.random.default_rng(0).dirichlet(np.ones(3), 12)
CLASSES = [0, 1, 2] * 4
THREE = tc.Trials.of_posteriors(SHARES, CLASSES, trained_prior=[1 / 3] * 3)
POINTS = np.array([[0.0], [1.0], [2.0], [1.5], [3.0], [2.5], [0.5], [1.2]])
TABLE = tc.Confusion([[3, 1], [1, 3]])
TABLE_3 = tc.Confusion([[3, 1, 0], [1, 3, 1], [0, 0, 2]])
CURVE = tc.Curve.of(TRIALS)
APP = tc.Application(0.2, 5, 1)
APP_3 = tc.Application.multiclass([0.2, 0.3, 0.5], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
RULE = tc.neyman_pearson(CURVE, 0.3)
LOGISTIC = tc.Logistic.fit(TRIALS, 0.5)


SEXES = tc.Trials.of_llr(LLR * 3, LABELS * 3, groups={"sex": list("mfmfmfff") * 3})
ATTACKS = tc.Trials.of_llr(LLR, LABELS, groups={"pai": ["-", "-", "-", "mask", "mask", "photo", "-", "photo"]})
SPOOF_SCORES = [2.0, 1.0, 1.5, -1.0, 0.4, -2.0, 0.5, 0.3, -0.2, 1.7, -0.7, 0.9]
SPOOF_KEY = (
    ["target", "target", "target", "nontarget", "nontarget", "nontarget"]
    + ["spoof"] * 3
    + ["target", "nontarget", "spoof"]
)
SPOOF_ATTACKS = ["-"] * 6 + ["A1", "A1", "A2"] + ["-", "-", "A2"]
SPOOFED = tc.spoofing.of_key(SPOOF_SCORES, SPOOF_KEY, attacks=SPOOF_ATTACKS)
COUNTER = tc.spoofing.of_key(
    [1.0, 2.0, 1.5, 0.7, 1.2, 0.9, -1.0, 0.8, -2.0, 1.1, 0.6, -0.4], SPOOF_KEY, attacks=SPOOF_ATTACKS
)


def files(folder: pathlib.Path) -> dict[str, pathlib.Path]:
    """Small files to read."""
    scores = folder / "scores.csv"
    rows = [f"{s},{y},t{k},{1 + k % 3}" for k, (s, y) in enumerate(zip(LLR, LABELS, strict=True))]
    scores.write_text("\n".join(["score,label,trial,cost", *rows]) + "\n")
    decided = folder / "decided.csv"
    decided.write_text("decision,label\n1,1\n0,1\n0,0\n1,0\n1,1\n0,0\n")
    texts = folder / "texts.txt"
    texts.write_text("one two\nthree four\n")
    return {"scores": scores, "decided": decided, "texts": texts}


def clean_values(folder: pathlib.Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """By argument name, and for single callables."""
    stored = files(folder)
    out = folder / "out"
    common: dict[str, Any] = {
        "trials": TRIALS, "source": TRIALS, "curve": CURVE, "application": APP, "applications": [APP], "prior": 0.3,
        "level": 0.9, "seed": 1, "resamples": 39, "penalty": 0.1, "labels": LABELS, "scores": LLR, "llr": LLR,
        "count": 3, "out_of": 10, "k": 2, "z": 1.96, "base": 2.0, "confusion": TABLE, "fpr": 0.2, "fnr": 0.1, "tpr": 0.8,
        "folds": 2, "by": "speaker", "scheme": "stratified", "method": tc.Logistic, "ci": 0.9, "beta": 2.0,
        "prevalence": 0.2, "threads": 1, "progress": None, "path": stored["scores"], "n": 9, "first": OTHER,
        "second": TRIALS, "tally": tc.Tally.of(TRIALS), "threshold": 0.25, "height": 300, "classes": ["a", "b", "c"],
        "target": 1, "weights": [1.0] * 8, "name": "a", "pair_by": "position", "systems": [TRIALS, OTHER],
        "half_width": 0.2, "fpr_at_most": 0.3, "distribution": [0.5, 0.5], "rules": {"a": CURVE}, "text": LOGISTIC.to_json(), "X": POINTS,
        "y": LABELS, "cases": 100, "quantities": ["dcf", "auc"], "names": ["a", "b"], "bayes_plot": (-1.0, 1.0, 3),
        "ids": [f"t{k}" for k in range(8)], "groups": {"speaker": list("aabbccdd")}, "eer": "rocch",
        "samples": POINTS, "sample_weight": [1.0] * 8, "encoding": "utf-8", "format": "csv", "column": "speaker",
    }  # fmt: skip
    matrix = {"labels": CLASSES, "classes": ["0", "1", "2"], "weights": [1.0] * 12, "ids": [f"t{k}" for k in range(12)],
              "groups": {"speaker": list("aabbccddeeff")}, "orientation": "samples x classes"}  # fmt: skip
    matrix["classes"] = [0, 1, 2]
    reading = {"target": "1", "path": stored["scores"], "score_column": "score", "label_column": "label",
               "labels": None, "key": None, "id_column": "trial", "name": "a", "progress": None}  # fmt: skip
    options = {k: v for k, v in reading.items() if k != "path"} | {
        "format": "csv", "separator": ",", "columns": None, "header": None, "weight_column": None, "group_columns": [],
        "keep_ids": True, "meaning": "llr", "trained_prior": None, "class_columns": None, "missing": "error",
        "labelled": None, "memory": None, "notes": None}  # fmt: skip
    own: dict[str, dict[str, Any]] = {
        "Affine.fit": {"trials": THREE, "prior": [0.2, 0.3, 0.5], "kind": "offsets"},
        "Affine.__call__": {"scores": THREE},
        "Application.of": {"value": (0.2, 1, 1)},
        "Application.named": {"name": "sre08"},
        "Application": {"prior": 0.2, "cost_fn": 5.0, "cost_fp": 1.0, "name": "x"},
        "Application.multiclass": {"prior": [0.2, 0.8], "costs": [[0, 1], [1, 0]], "classes": ["a", "b"],
                                   "actions": ["a", "b"]},
        "MulticlassApplication.of": {"prior": [0.2, 0.8], "costs": [[0, 1], [1, 0]], "classes": ["a", "b"],
                                     "actions": ["a", "b"]},
        "MulticlassApplication.path_to": {"other": APP_3, "steps": 3},
        "MulticlassApplication.with_log_odds": {"place": 1, "log_odds": 0.5},
        "MulticlassApplication.renamed": {"classes": ("a", "b", "c")},
        "MulticlassApplication.check_classes": {"classes": ("0", "1", "2")},
        "CaseCosts": {"prior": 0.2, "cost_fn": [1.0, 2.0], "cost_fp": [1.0, 1.0], "cost_tp": [0.0, 0.0]},
        "CaseCostColumns": {"prior": 0.2, "cost_fn": "amount", "cost_fp": "fee", "cost_tp": "fee"},
        "CaseCosts.accepted": {"trials": TRIALS.select(slice(0, 2))},
        "CaseCosts.thresholds": {"cases": 2},
        "Confusion": {"matrix": [[3, 1], [1, 3]], "classes": ["a", "b"], "actions": ["a", "b"], "target": "b",
                      "transposed": False},
        "Confusion.of": {"decisions": [1, 0, 1], "labels": [1, 0, 0], "classes": [0, 1], "actions": [0, 1],
                         "weights": [1.0, 1.0, 2.0]},
        "CaseCosts.select": {"rows": [0]},
        "Tally.at": {"thresholds": [0.1, 0.5]},
        "Confusion.for_target": {"target": "1"},
        "Confusion.against_rest": {"label": "1"},
        "Confusion.proportion": {"name": "tpr"},
        "Confusion.per_class": {"name": "tpr"},
        "Confusion.average": {"name": "tpr", "how": "macro"},
        "Confusion.weighted_kappa": {"weights": "linear"},
        "Confusion.normalised": {"by": "class"},
        "Curve.eer": {"definition": "rocch"},
        "Curve.confusion": {"threshold": 0.4},
        "Curve.partial_auc": {"fpr": (0.0, 0.4), "tpr": None},
        "Curve.corrected_partial_auc": {"fpr": (0.0, 0.4)},
        "DecisionCurve.interventions_avoided": {"per": 100},
        "Fusion.fit": {"quality": [0.1, 0.4, 0.2, 0.3, 0.5, 0.1, 0.9, 0.2]},
        "Fusion.__call__": {"quality": None},
        "Gaussian.fit": {"shared_variance": True},
        "Isotonic.fit": {"raw": False, "pseudo_errors": 2, "interpolation": "linear"},
        "KernelDensity.fit": {"bandwidth": 0.5},
        "Plot.save": {"path": out / "figure.svg"},
        "RandomisedRule.__call__": {"scores": LLR},
        "Rule.fit": {"fpr_at_most": 0.5, "fnr_at_most": None, "recall_at_least": None, "specificity_at_least": None,
                     "precision_at_least": None, "alarms_at_most": None, "least_cost": None, "f_beta": None,
                     "best": None, "confidence": None, "by": None, "cases_per_day": None, "prevalence": None},
        "Threshold.fit": {},
        "Trials.of_llr": {"llr": LLR},
        "Trials.of_lr": {"lr": np.exp(LLR)},
        "Trials.of_log10_llr": {"log10_llr": LLR},
        "Trials.of_log_odds": {"log_odds": LLR, "trained_prior": 0.3},
        "Trials.of_posteriors": {"posteriors": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8], "trained_prior": 0.3,
                                 "classes": None, "orientation": None},
        "Trials.of_log_likelihoods": {"log_likelihoods": np.log(SHARES), **matrix},
        "Trials.of_logits": {"logits": np.log(SHARES), "trained_prior": [0.2, 0.3, 0.5], **matrix},
        "Trials.from_frame": {"frame": {"score": LLR, "label": LABELS, "g": list("aabbccdd"), "w": [1.0] * 8}, "score": "score",
                              "label": "label", "weight": "w", "groups": ["g"], "ids": "g", "meaning": "llr", "target": 1,
                              "trained_prior": None},
        "Trials.of_estimator": {"estimator": INSTANCES["sklearn.BayesClassifier"], "trained_prior": 0.3, "classes": None},
        "Trials.to_columns": {"score_column": "score", "label_column": "label", "weight_column": "weight",
                              "id_column": "trial"},
        "calibrate": {"method": "logistic", "by": None},
        "check": {"result": tc.evaluate(TRIALS, [APP]), "conditions": ["dcf > 9"], "baseline": None, "systems": [],
                  "other_trials": False},
        "count": {"rates": None, "prevalence": 0.2},
        "fuse": {"by": None},
        "rule": {"fpr_at_most": 0.5, "fnr_at_most": None, "recall_at_least": None, "specificity_at_least": None,
                 "precision_at_least": None, "alarms_at_most": None, "least_cost": None, "f_beta": None,
                 "best": None, "confidence": None, "by": None, "cases_per_day": None, "prevalence": None},
        "select": {"methods": ["logistic"], "priors": [0.3], "by": None, "nested": False},
        "Trials.select": {"rows": [0, 1, 2]},
        "Trials.versus": {"target": "0", "against": "1", "prior": [0.2, 0.3, 0.5]},
        "Trials.class_number": {"label": "0"},
        "bayes_error": {"log_odds": [-1.0, 0.0, 1.0], "llr": None},
        "bootstrap": {"by": None, "method": "bca", "roc": None, "bins": None, "rates": ["tpr"], "calibrate": None,
                      "calibration_trials": None, "prior": None, "extra": None},
        "by_condition": {"by": None, "method": "percentile"},
        "costs_from_utilities": {"utilities": [[1.0, 0.0], [0.0, 1.0]]},
        "compare": {"by": None, "unpaired": False, "method": "percentile"},
        "count_report": {"prevalence": 0.2},
        "cross_entropy_of_truth": {"true": [[0.5, 0.5]], "model": [[0.25, 0.75]]},
        "cross_fit": {"by": None},
        "rate_posterior": {"prior": "uniform"},
        "sample_size_for_rate": {"rate": 0.1},
        "sample_size_for_auc": {"auc": 0.9, "targets_share": 0.4},
        "sample_size_for_difference": {"difference": 0.2, "power": 0.9, "by": None, "pair_by": None},
        "difference_band": {"log_odds": (-1.0, 1.0, 3), "by": None, "pair_by": None, "names": None},
        "net_benefit_band": {"thresholds": [0.1, 0.2], "prevalence": None},
        "robust_thresholds": {"prior": (0.1, 0.3), "cost_fn": 5.0, "cost_fp": 1.0},
        "label_noise": {"wrong_targets": 0.05, "wrong_nontargets": [0.0, 0.1], "by": None},
        "verification_bias": {"accepted": (80, 20, 5), "rejected": (2, 98, 900)},
        "verification_bias_of": {"verified": TRIALS, "unverified": OTHER},
        "BetaPosterior": {"a": 3.5, "b": 7.5, "prior": "jeffreys"},
        "BetaPosterior.probability_below": {"bound": 0.3},
        "decision_curve": {"thresholds": [0.1, 0.2], "harm": 0.0, "prevalence": None},
        "compare_net_benefit": {"thresholds": [0.1, 0.2], "prevalence": None, "by": None},
        "evaluate": {"one_vs_rest": False, "by": None, "method": "percentile"},
        "compare_risk_coverage": {"first": TRIALS, "second": TRIALS, "by": None},
        "case_cost_calibration_loss": {"costs": tc.CaseCosts(0.2, np.ones(8), np.arange(1.0, 9.0)), "by": None},
        "case_cost_curve": {"costs": tc.CaseCosts(0.2, np.ones(8), np.arange(1.0, 9.0)), "by": None},
        "evaluate_case_costs": {"costs": tc.CaseCosts(0.2, np.ones(8), np.arange(1.0, 9.0)), "by": None},
        "fit_recognizer_and_calibrator": {
            "train": lambda samples, labels: (lambda x: np.asarray(x)[:, 0]), "groups": None, "classes": None,
            "target": None},
        "hand_till_auc": {"trials": THREE, "prior": [0.2, 0.3, 0.5]},
        "one_vs_rest_auc": {"trials": THREE, "average": "macro", "prior": [0.2, 0.3, 0.5]},
        "interval": {"rate": "tpr", "method": "wilson", "k": 2.0},
        "log_loss_as_given": {"trials": THREE},
        "mcnemar": {"first": [1, 0, 1], "second": [1, 1, 1], "labels": [1, 0, 0]},
        "min_risk": {"trials": THREE, "application": APP_3},
        "net_benefit": {"prevalence": None},
        "plot": {"evaluations": tc.evaluate(TRIALS, [APP]), "kind": "roc", "ax": None, "labels": ["a"],
                 "colors": ["black"], "size": None, "title": "t", "xlim": None, "ylim": None, "legend": True,
                 "path": out / "plot.svg", "sigma": 2.0, "log": False,
                 **dict.fromkeys(("bands", "parts", "density", "rule", "application", "normalise", "quantity", "x"))},
        "rates_report": {"fpr": 0.1},
        "estimate_prevalence": {"calibration": OTHER, "method": "em", "threshold": None},
        "deployed_cost": {"reference": OTHER},
        "group_gaps": {"column": "sex", "by": None, "reference": None, "trials": SEXES},
        "risk_coverage": {},
        "Evaluation.plot": {"kind": "roc"},
        "MulticlassEvaluation.plot": {"kind": "confusion"},
        "datasets.example": {"name": "speech"},
        "table": {"evaluations": tc.evaluate(TRIALS, [APP]), "format": "text", "metrics": ["auc"], "title": "t"},
        "RiskCoverage.at": {"coverage": 0.5, "error_at_most": None},
        "RiskCoverage.abstention_costs": {"prices": [0.1, 0.2]},
        "GroupGaps.of": {"quantity": "fnr"},
        "Prevalence.application": {"cost_fn": 2.0, "cost_fp": 1.0},
        "sweep": {"recognizer": tc.recognizers.LogisticRecognizer, "grid": {"penalty": [0.1, 1.0]},
                  "train": (POINTS, LABELS), "validation": (POINTS, LABELS), "held_out": None, "criterion": "dcf"},
        "sweep_trials": {"systems": {"a": TRIALS, "b": GROUPED}, "held_out": None, "criterion": "dcf"},
        "scan": {**{k: v for k, v in options.items() if k not in ("group_columns", "keep_ids", "labelled", "memory")},
                 "source": stored["scores"], "memory_limit": 10**9, "engine": "local", "scheduler": None, "workers": 1,
                 "resume": None, "hashes": False},
        "io.open_source": {**options, "path": stored["scores"], "one_thread": True},
        "read": {"path": stored["scores"], **options, **dict.fromkeys(("score", "label", "weight", "groups", "ids"))},
        "io.read": {"path": stored["scores"], **options, **dict.fromkeys(("score", "label", "weight", "groups", "ids"))},
        "model_card": {"evaluations": tc.evaluate(TRIALS, [APP]), "title": "t"},
        "report": {"evaluations": tc.evaluate(TRIALS, [APP]), "path": out / "report.html", "title": "t",
                   "posteriors": None},
        "risk_curve": {"trials": THREE, "application": APP_3, "label": "1", "log_odds": [-1.0, 1.0]},
        "risk_path": {"trials": THREE, "applications": [APP_3, APP_3]},
        "select_calibrator": {"methods": [tc.Logistic, tc.Gaussian], "priors": [0.3, 0.5], "by": None},
        "shift_prior": {"values": LLR, "from_prior": 0.2, "to_prior": 0.4, "meaning": "log-odds"},
        "split": {"shares": (2, 1), "by": None},
        "too_few_errors": {"evaluation": tc.evaluate(TRIALS, [APP])},
        "top_k_accuracy": {"trials": THREE, "prior": [0.2, 0.3, 0.5]},
        "entropy": {},
        "datasets.detection": {"mean": 1.0},
        "datasets.Detection.miscalibrated": {"scale": 2.0, "shift": 0.5},
        "recognizers.GaussianRecognizer.fit": {"classes": [0, 1], "covariance": "full", "shrinkage": 0.1},
        "recognizers.TextRecognizer.fit": {"texts": ["a b", "c d", "a c", "d d"], "labels": [0, 1, 0, 1],
                                           "pseudo_count": 1.0, "splitter": str.split, "classes": [0, 1]},
        "recognizers.TextRecognizer.log_likelihoods": {"texts": ["a b"]},
        "recognizers.TextRecognizer.known_words": {"texts": ["a b"]},
        "recognizers.TextRecognizer.trials": {"texts": ["a b"], "labels": [0]},
        "recognizers.TextRecognizer.from_json": {"text": TEXT.to_json(), "splitter": None},
        "recognizers.GaussianRecognizer.from_json": {"text": GAUSS.to_json()},
        "recognizers.GaussianRecognizer.trials": {"labels": LABELS},
        "recognizers.every_nth": {"k": 3, "first": 0},
        "recognizers.k_folds": {"k": 3},
        "recognizers.read_texts": {"path": stored["texts"]},
        "sklearn.BayesClassifier": {"estimator": None, "trained_prior": None, "target": None},
        "sklearn.cost_scorer": {"normalised": True, "target": None},
        "sklearn.scorer": {"metric": "min_dcf", "application": APP, "target": None, "trained_prior": None,
                           "threshold": None},
        "sklearn.CalibratedClassifier": {"cv": 2},
        "sklearn.ThresholdClassifier": {"cv": 2},
        "sklearn.LogisticCalibrator": {"column": -1, "target": None},
        "sklearn.IsotonicCalibrator": {"column": -1, "raw": False, "target": None},
        "sklearn.GaussianCalibrator": {"column": -1, "shared_variance": True, "target": None},
        "io.read_chunks": {"path": stored["scores"], **options, "rows": 4},
        "io.columns_like": {"trials": TRIALS, "id_column": "trial", "weight_column": "w", "label_column": "label", "first": 0},
        "io.write_like": {"path": out / "t.csv", "pieces": [(TRIALS, {"score": LLR})], "id_column": None,
                          "weight_column": None, "label_column": "label", "format": "csv"},
        "biometrics.comparisons_needed": {"rate": 0.01},
        "biometrics.fnmr_at_fmr": {"fmr": [0.5, 0.3], "development": OTHER, "method": "clopper-pearson", "by": None},
        "biometrics.presentation_attacks": {"trials": ATTACKS, "species": "pai", "threshold": 0.2, "by": None},
        "biometrics.rates_by": {"trials": SEXES, "column": "sex", "method": "wilson", "by": None},
        "biometrics.threshold_at_fmr": {"fmr": 0.3},
        "biometrics.verification_rates": {"failure_to_acquire": 0.01, "method": "wilson"},
        "forensics.Bounded.of": {"calibrator": LOGISTIC, "lower": 0.5, "upper": 2.0, "bounds_method": "given"},
        "forensics.bounded": {"calibrator": LOGISTIC, "method": "elub"},
        "forensics.ece": {"log10_odds": [-1.0, 0.0, 1.0], "by": None, "resamples": 39},
        "forensics.elub": {"misleading": 1},
        "forensics.lr_interval": {"scores": [0.1, 0.2], "calibrator": tc.Logistic, "by": None, "options": {"penalty": 0.1}},
        "forensics.misleading_evidence": {"strengths": [1.0, 10.0]},
        "forensics.tippett": {"kind": "survival", "points": 11},
        "forensics.validation": {"by": None},
        "forensics.Validation.to_html": {"title": "t"},
        "nist.c_primary": {"trials": SEXES, "points": [APP, (0.1, 1, 1)], "partitions": (), "by": None},
        "spoofing.SpoofingPoint": {"prior_target": 0.9, "prior_nontarget": 0.05, "prior_spoof": 0.05, "cost_miss": 1.0,
                                   "cost_nontarget": 10.0, "cost_spoof": 10.0},
        "spoofing.SpoofingPoint.of": {"value": "asvspoof5"},
        "spoofing.SpoofingPoint.cost": {"miss": 0.1, "nontarget": 0.1, "spoof": 0.1},
        "spoofing.a_dcf": {"trials": SPOOFED, "point": "asvspoof5", "threshold": 0.1, "key": "class", "by": None},
        "spoofing.a_dcf_by_attack": {"trials": SPOOFED, "point": "asvspoof5", "threshold": 0.1, "key": "class",
                                     "attack": "attack", "by": None},
        "spoofing.asv_rates": {"trials": SPOOFED, "threshold": 0.1, "key": "class"},
        "spoofing.mixture_llr": {"nontarget_llr": [0.1, 0.2], "spoof_llr": [1.0, 2.0], "point": "asvspoof5"},
        "spoofing.of_key": {"scores": SPOOF_SCORES, "key": SPOOF_KEY, "meaning": "raw",
                            "classes": ("target", "nontarget", "spoof"), "attacks": SPOOF_ATTACKS, "ids": None},
        "spoofing.t_dcf": {"by": None, "countermeasure": COUNTER, "asv": SPOOFED, "point": "asvspoof2021", "form": "2021",
                           "threshold": 0.1, "asv_threshold": 0.1, "key": "class"},
        "spoofing.t_dcf_by_attack": {"countermeasure": COUNTER, "asv": SPOOFED, "point": "asvspoof2021",
                                     "form": "2021", "threshold": 0.1, "asv_threshold": 0.1, "key": "class",
                                     "attack": "attack", "by": None},
        "spoofing.a_dcf_curve": {"trials": SPOOFED, "found": tc.spoofing.a_dcf(SPOOFED)},
        "spoofing.t_dcf_curve": {"countermeasure": COUNTER, "found": tc.spoofing.t_dcf(COUNTER, SPOOFED)},
        "spoofing.t_eer_curve": {"asv": SPOOFED, "countermeasure": COUNTER,
                                 "found": tc.spoofing.t_eer(SPOOFED, COUNTER), "key": "class"},
        "spoofing.t_eer": {"asv": SPOOFED, "countermeasure": COUNTER, "prevalence": 0.5, "key": "class", "by": None},
        "recognizers.LogisticRecognizer.fit": {"labels": LABELS, "expansion": "linear", "classes": [0, 1]},
        "recognizers.LogisticRecognizer.from_json": {"text": LOGIT.to_json()},
        "recognizers.LogisticRecognizer.trials": {"labels": LABELS},
        "io.fingerprint": {},
        "io.read_decisions": {"path": stored["decided"], "decision_column": "decision", "label_column": "label",
                              "labels": None, "key": None, "separator": ",", "columns": None, "header": None,
                              "weight_column": None, "id_column": None, "target": "1", "classes": ["0", "1"],
                              "actions": None, "missing": "error", "memory": None, "notes": None},
        "io.write_table": {"path": out / "t.csv", "columns": {"a": [1.0, 2.0]}},
        "io.write_tables": {"path": out / "t.csv", "tables": [{"a": [1.0, 2.0]}]},
        "io.write_text_atomically": {"path": out / "t.txt", "text": "hello"},
    }  # fmt: skip
    INSTANCES["Scan"] = tc.scan(stored["scores"], target="1")
    own["forensics.Bounded.from_json"] = {"text": INSTANCES["forensics.Bounded"].to_json()}
    for name in ("Affine", "Beta", "Fusion", "Gaussian", "Isotonic", "KernelDensity", "Logistic", "Offset", "Rule",
                 "Threshold"):  # fmt: skip
        model = INSTANCES[name]
        own[f"{name}.from_json"] = {"text": model.to_json()}
    return common, own


import tercet.outofcore  # noqa: E402

TEXT = tc.recognizers.TextRecognizer.fit(["a b", "c d", "a c", "d d"], [0, 1, 0, 1])
GAUSS = tc.recognizers.GaussianRecognizer.fit(POINTS, LABELS)
LOGIT = tc.recognizers.LogisticRecognizer.fit(POINTS, LABELS, penalty=0.1)
INSTANCES: dict[str, Any] = {
    "Checked": tc.check(tc.evaluate(TRIALS, [APP]), "dcf > 9"),
    "BetaPosterior": tc.rate_posterior(3, 10),
    "Beta": tc.Beta.fit(TRIALS), "Offset": tc.Offset.fit(TRIALS), "KernelDensity": tc.KernelDensity.fit(TRIALS),
    "GroupGaps": tc.group_gaps(SEXES, "sex", APP), "Prevalence": tc.estimate_prevalence(TRIALS, OTHER),
    "RiskCoverage": tc.risk_coverage(TRIALS), "Sweep": tc.sweep_trials({"a": TRIALS, "b": OTHER}),
    "recognizers.LogisticRecognizer": LOGIT, "outofcore.Arrays": tc.outofcore.Arrays(np.array(LLR), np.array(LABELS)),
    "biometrics.FnmrAtFmr": tc.biometrics.fnmr_at_fmr(TRIALS, [0.5])[0],
    "biometrics.PresentationAttacks": tc.biometrics.presentation_attacks(ATTACKS, threshold=0.2),
    "biometrics.VerificationRates": tc.biometrics.verification_rates(TRIALS, 0.2),
    "forensics.Bounded": tc.forensics.Bounded.of(LOGISTIC, 0.5, 2.0),
    "forensics.MisleadingEvidence": tc.forensics.misleading_evidence(TRIALS),
    "forensics.Validation": tc.forensics.validation(TRIALS, resamples=39),
    "nist.Primary": tc.nist.c_primary(TRIALS, [APP]), "spoofing.SpoofingPoint": tc.spoofing.SpoofingPoint.of("asvspoof5"),
    "spoofing.ADcf": tc.spoofing.a_dcf(SPOOFED), "spoofing.TDcf": tc.spoofing.t_dcf(COUNTER, SPOOFED),
    "spoofing.SpoofingCurve": tc.spoofing.a_dcf_curve(SPOOFED, tc.spoofing.a_dcf(SPOOFED)),
    "spoofing.TandemEerCurve": tc.spoofing.t_eer_curve(SPOOFED, COUNTER, tc.spoofing.t_eer(SPOOFED, COUNTER)),
    "spoofing.TEer": tc.spoofing.t_eer(SPOOFED, COUNTER),
    "Affine": tc.Affine.fit(THREE), "Application": APP, "MulticlassApplication": APP_3, "Confusion": TABLE,
    "CaseCostColumns": tc.CaseCostColumns(0.2, "amount", 1.0),
    "CaseCosts": tc.CaseCosts(0.2, [1.0, 2.0], [1.0, 1.0]), "Curve": CURVE, "Hull": CURVE.hull,
    "Fusion": tc.Fusion.fit([TRIALS, OTHER]), "Gaussian": tc.Gaussian.fit(TRIALS), "Isotonic": tc.Isotonic.fit(TRIALS),
    "Logistic": LOGISTIC, "Threshold": tc.Threshold.fit(TRIALS, APP), "Rule": tc.Rule.fit(TRIALS, fpr_at_most=0.5),
    "RandomisedRule": RULE, "Tally": tc.Tally.of(TRIALS), "Trials": THREE, "Evaluation": tc.evaluate(TRIALS, [APP]),
    "MulticlassEvaluation": tc.evaluate(THREE, [APP_3]), "datasets.Detection": tc.datasets.detection(9, 0.3, 1.0, 0),
    "recognizers.GaussianRecognizer": GAUSS, "recognizers.TextRecognizer": TEXT,
    "DecisionCurve": tc.decision_curve(TRIALS, [0.1, 0.2]),
    "CaseCostEvaluation": tc.evaluate_case_costs(TRIALS, tc.CaseCosts(0.2, np.ones(8), np.arange(1.0, 9.0))),
    "Plot": tc.plot(tc.evaluate(TRIALS, [APP]), "roc"), "ClassificationReport": tc.classification_report(TABLE), "CountReport": tc.count_report(TABLE),
}  # fmt: skip
INSTANCES |= {
    "ApplicationMean": tc.Application.mean([(0.5, 1, 1), (0.1, 1, 1)], name="a"),
    "AurcDifference": tc.compare_risk_coverage(TRIALS, OTHER), "BayesPlot": INSTANCES["Evaluation"].bayes_plot,
    "CaseCostCurve": tc.case_cost_curve(TRIALS, tc.CaseCosts(0.2, np.ones(8), np.arange(1.0, 9.0))),
    "CaseCostLoss": tc.CaseCostLoss(0.1, 0.0, 0.2, 0.5, 0.4, 0.95, "percentile"),
    "Decisions": tc.decisions(TRIALS, APP), "Interval": tc.Interval(0.1, 0.2, "wilson"),
    "biometrics.BpcerAt": INSTANCES["biometrics.PresentationAttacks"].bpcer10,
    "biometrics.NeededComparisons": tc.biometrics.comparisons_needed(0.01),
    "biometrics.Rate": INSTANCES["biometrics.FnmrAtFmr"].fmr,
    "biometrics.SpeciesRate": INSTANCES["biometrics.PresentationAttacks"].species[0],
    "datasets.Table": tc.datasets.iris(), "forensics.DevPav": tc.forensics.DevPav(0.1, -1.0, 1.0, 0.0, 0.1),
    "forensics.Ece": tc.forensics.ece(TRIALS), "forensics.GeometricMeans": tc.forensics.GeometricMeans(2.0, 0.5),
    "forensics.LrBounds": tc.forensics.LrBounds(0.5, 2.0, "elub"),
    "forensics.LrInterval": tc.forensics.LrInterval(0.1, 2.0, tc.Interval(1.5, 2.5, "percentile")),
    "forensics.Measure": INSTANCES["forensics.Validation"].measures[0],
    "forensics.Misleading": INSTANCES["forensics.MisleadingEvidence"].rows[0],
    "forensics.Tippett": tc.forensics.tippett(TRIALS, points=5), "recognizers.Split": tc.recognizers.k_folds(6, 2)[0],
    "spoofing.AsvRates": INSTANCES["spoofing.TDcf"].asv,
}  # fmt: skip
for _kind in ("BayesClassifier", "LogisticCalibrator", "IsotonicCalibrator", "GaussianCalibrator", "CalibratedClassifier",
              "ThresholdClassifier"):  # fmt: skip
    _more = {"cv": 2} if _kind in ("CalibratedClassifier", "ThresholdClassifier") else {}
    INSTANCES[f"sklearn.{_kind}"] = getattr(tc.sklearn, _kind)(**_more).fit(POINTS, LABELS)
