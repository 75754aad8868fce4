"""scikit-learn: cost-optimal decisions, calibrated probabilities, thresholds by rule, and scorers by name.

The only package that imports scikit-learn.
"""

from tercet.sklearn._bayes import BayesClassifier
from tercet.sklearn._calibrated import CalibratedClassifier
from tercet.sklearn._columns import GaussianCalibrator, IsotonicCalibrator, LogisticCalibrator
from tercet.sklearn._scorers import cost_scorer, scorer
from tercet.sklearn._threshold import ThresholdClassifier

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
