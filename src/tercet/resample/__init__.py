"""How sure a number is, and whether one system is better than another: resampling over evaluate."""

from tercet.resample.bands import Bands, Reliability, RocBand, bands, reliability, roc_band, with_bands
from tercet.resample.bootstrap import Intervals, bootstrap, drawn, with_intervals
from tercet.resample.compare import Comparison, Difference, Rank, compare, holm
from tercet.resample.conditions import Conditions, Needed, by_condition, needed, too_few_errors
from tercet.resample.ends import Bound
from tercet.resample.engine import progress_bar

__all__ = [
    "Bands",
    "Bound",
    "Comparison",
    "Conditions",
    "Difference",
    "Intervals",
    "Needed",
    "Rank",
    "Reliability",
    "RocBand",
    "bands",
    "bootstrap",
    "by_condition",
    "compare",
    "drawn",
    "holm",
    "needed",
    "progress_bar",
    "reliability",
    "roc_band",
    "too_few_errors",
    "with_bands",
    "with_intervals",
]
