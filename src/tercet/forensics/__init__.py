"""Validation of forensic likelihood ratios: calibration, misleading evidence, and the LRs that the data support.

Same-source trials are the targets, different-source trials the non-targets. Likelihood ratios are given as such,
not as logarithms; on axes they are log10.
"""

from tercet.calibration.two_class import Bounded
from tercet.forensics._measures import (
    DevPav,
    Ece,
    GeometricMeans,
    LrBounds,
    LrInterval,
    Misleading,
    MisleadingEvidence,
    Tippett,
    bounded,
    cllr_cal,
    dev_pav,
    ece,
    elub,
    geometric_mean_lr,
    iv_bounds,
    lr_interval,
    misleading_evidence,
    tippett,
)
from tercet.forensics._sheet import Measure, Validation, validation

__all__ = [
    "Bounded",
    "DevPav",
    "Ece",
    "GeometricMeans",
    "LrBounds",
    "LrInterval",
    "Measure",
    "Misleading",
    "MisleadingEvidence",
    "Tippett",
    "Validation",
    "bounded",
    "cllr_cal",
    "dev_pav",
    "ece",
    "elub",
    "geometric_mean_lr",
    "iv_bounds",
    "lr_interval",
    "misleading_evidence",
    "tippett",
    "validation",
]
