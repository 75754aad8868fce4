"""Figures, drawn with matplotlib: each kind draws results on axes, and only draws. pyplot is never loaded."""

from tercet.report.plots._figure import FORMATS, KINDS, Plot, kinds_of, plot, save, save_all
from tercet.report.plots.displays import (
    BayesErrorDisplay,
    ConfusionDisplay,
    DecisionCurveDisplay,
    DetDisplay,
    PrecisionRecallDisplay,
    ReliabilityDisplay,
    RocDisplay,
    ScoreHistogramDisplay,
)

__all__ = [
    "FORMATS",
    "KINDS",
    "BayesErrorDisplay",
    "ConfusionDisplay",
    "DecisionCurveDisplay",
    "DetDisplay",
    "Plot",
    "PrecisionRecallDisplay",
    "ReliabilityDisplay",
    "RocDisplay",
    "ScoreHistogramDisplay",
    "kinds_of",
    "plot",
    "save",
    "save_all",
]
