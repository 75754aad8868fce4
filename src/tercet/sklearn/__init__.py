"""scikit-learn: cost-optimal decisions, calibrated probabilities, thresholds by rule, and scorers by name.

The only package that imports scikit-learn.
"""

try:
    from tercet.sklearn._classifiers import (
        BayesClassifier,
        CalibratedClassifier,
        GaussianCalibrator,
        IsotonicCalibrator,
        LogisticCalibrator,
        ThresholdClassifier,
    )
    from tercet.sklearn._scorers import cost_scorer, scorer
except ImportError as error:
    if str(error.name).partition(".")[0] != "sklearn":
        raise
    raise ImportError(
        "tercet.sklearn needs scikit-learn 1.6 or later: pip install 'tercet[sklearn]'.", name="sklearn"
    ) from error

__all__ = [
    "BayesClassifier",
    "CalibratedClassifier",
    "GaussianCalibrator",
    "IsotonicCalibrator",
    "LogisticCalibrator",
    "ThresholdClassifier",
    "cost_scorer",
    "scorer",
]
