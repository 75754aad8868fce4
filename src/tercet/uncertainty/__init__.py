"""The uncertainty of a number, and whether one system is better than another."""

from tercet.uncertainty._kernel.engine import progress_bar
from tercet.uncertainty.bands import Bands, Reliability, RocBand, bands, reliability, roc_band
from tercet.uncertainty.bayes import BetaPosterior, Probability, rate_posterior
from tercet.uncertainty.bootstrap import bootstrap, drawn
from tercet.uncertainty.compare import compare, holm
from tercet.uncertainty.comparison import Comparison, Difference, MarginTest, Rank
from tercet.uncertainty.intervals import Bound, Intervals
from tercet.uncertainty.sample_size import (
    SampleSize,
    sample_size,
    sample_size_for_auc,
    sample_size_for_difference,
    sample_size_for_rate,
)
from tercet.uncertainty.sensitivity import (
    NoisyLabels,
    RobustThreshold,
    RobustThresholds,
    VerificationBias,
    label_noise,
    robust_thresholds,
    verification_bias,
    verification_bias_of,
)
from tercet.uncertainty.simultaneous import DifferenceBand, NetBenefitBand, difference_band, net_benefit_band

__all__ = [
    "Bands",
    "BetaPosterior",
    "Bound",
    "Comparison",
    "Difference",
    "DifferenceBand",
    "Intervals",
    "MarginTest",
    "NetBenefitBand",
    "NoisyLabels",
    "Probability",
    "Rank",
    "Reliability",
    "RobustThreshold",
    "RobustThresholds",
    "RocBand",
    "SampleSize",
    "VerificationBias",
    "bands",
    "bootstrap",
    "compare",
    "difference_band",
    "drawn",
    "holm",
    "label_noise",
    "net_benefit_band",
    "progress_bar",
    "rate_posterior",
    "reliability",
    "robust_thresholds",
    "roc_band",
    "sample_size",
    "sample_size_for_auc",
    "sample_size_for_difference",
    "sample_size_for_rate",
    "verification_bias",
    "verification_bias_of",
]
