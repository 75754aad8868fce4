"""How sure a number is, and whether one system is better than another: resampling over evaluate."""

from tercet.uncertainty._kernel.ends import Bound
from tercet.uncertainty._kernel.engine import progress_bar
from tercet.uncertainty.bands import Bands, Reliability, RocBand, bands, reliability, roc_band, with_bands
from tercet.uncertainty.bootstrap import Intervals, bootstrap, drawn, with_intervals
from tercet.uncertainty.compare import Comparison, Difference, Rank, compare, holm
from tercet.uncertainty.conditions import Conditions, SampleSize, by_condition, sample_size, too_few_errors

__all__ = [
    "Bands",
    "Bound",
    "Comparison",
    "Conditions",
    "Difference",
    "Intervals",
    "Rank",
    "Reliability",
    "RocBand",
    "SampleSize",
    "bands",
    "bootstrap",
    "by_condition",
    "compare",
    "drawn",
    "holm",
    "progress_bar",
    "reliability",
    "roc_band",
    "sample_size",
    "too_few_errors",
    "with_bands",
    "with_intervals",
]
