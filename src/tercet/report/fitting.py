"""What a page holds of a result: everything where there is room, else what is shown, and curves thinned further.

The curve of a result gives every cost within 1e-4. Eight such curves make a page too large. A page over its
limit first holds only what its tables and figures show, and writes llrs to fewer decimals: every step stays, and a cost
differs only where the prior falls between an llr and its rounding. Then it keeps fewer points, all with exact counts,
and says how far a cost read between them may be off. Where that is not enough, half of the rows of several classes go
too, and the others weigh twice as much. Hulls and the operating points that were evaluated stay as they are: their
numbers are exact on every page. A page that no thinner curve brings under the limit (hundreds of conditions) keeps
every step of its curves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tercet._typing import Floats, Value
from tercet.application import normalised_dcf
from tercet.metrics.curve_summary import REACH, interpolated
from tercet.report.markup import Facts

LIMIT = 250_000  # bytes of a page
STATED = 3.0  # log-odds within which the error of a thinned curve is stated: those of the Bayes error plot
_DIGITS = (
    9  # of intervals and p-values; what they are about keeps all digits, so that it is rounded once, where it is shown
)
_DRAWN = 4  # of bands, which are only drawn
_SIZES = {"misses": "targets", "false_alarms": "nontargets"}
_DECIMALS = (8, 6)  # of the llrs, while every step is kept
_SHOWN_ROW = ("value", "input", "eer", "eer_ci", "applications", "intervals", "reasons")
_SHOWN_POINT = (
    "prior", "cost_fn", "cost_fp", "threshold", "min_threshold", "confusion", "dcf", "dcf_ci", "min_dcf", "min_dcf_ci",
    "warnings", "reasons",
)  # fmt: skip
_TOLERANCES = (2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2)  # of a normalised cost
_UNSHOWN = (
    "min_dcf_u", "min_dcf_u_ci", "actual_minus_min", "min_threshold_llr", "cross_fitted_min_dcf",
    "cross_fitted_min_dcf_ci",
)  # fmt: skip
_FINE_ROWS = 6000  # numbers of rows that a page holds as doubles; beyond, in 16 bits
_HALVED = 2e-3  # the tolerance from which on a page also holds fewer rows


def fitted(document: Facts, systems: Sequence[Facts], written: Callable[[Facts, Sequence[Facts]], str]) -> str:
    """The page as it is, or the finest one that keeps within the limit; if none does, one with every step."""
    page, brief = written(document, systems), {**document, "reduced": True}
    if _fits(page):
        return page
    if "conditions" in document:
        brief["conditions"] = [_shortened_condition(entry) for entry in document["conditions"]]
    if "comparison" in document:
        brief["comparison"] = _shortened_ends(document["comparison"])
    pages = []
    for less in _less(systems):
        pages.append(written(brief, less))
        if _fits(pages[-1]):
            return pages[-1]
    return pages[len(_DECIMALS)]


def _fits(page: str) -> bool:
    return len(page.encode("utf-8")) <= LIMIT


def _shortened_condition(entry: Facts) -> Facts:
    """Results by condition without what the page does not show of them."""
    whole = {key: _shortened_row(entry[key]) for key in ("pooled", "equalised") if entry.get(key)}
    return {**entry, **whole, "rows": [_shortened_row(row) for row in entry["rows"]]}


def _shortened_row(row: Facts) -> Facts:
    several = "classes" in row["input"]
    less: Facts = _shortened_ends({key: value for key, value in row.items() if several or key in _SHOWN_ROW})
    if "intervals" in less:
        less["intervals"] = {**less["intervals"], "methods": {}, "missing": {}, "notes": []}
    if not several:
        less["applications"] = [_shortened_point(app) for app in less["applications"] or ()]
    return less


def _shortened_point(app: Facts) -> Facts:
    """An operating point without what its counts and its costs imply."""
    rates = ("fnr", "fpr") if app["dcf"] is None else ()
    return {key: value for key, value in app.items() if key in (*_SHOWN_POINT, *rates)}


def _less(systems: Sequence[Facts]) -> Iterator[list[Facts]]:
    """The systems with less and less in them."""
    short = fewer = [_shortened(system) for system in systems]
    yield short
    for decimals in _DECIMALS:
        fewer = [{**one, "curve": coarser(one["curve"], decimals)} if _can_thin(one) else one for one in fewer]
        yield fewer
    for tolerance in _TOLERANCES:
        if tolerance == _HALVED:
            short = [{**one, "posteriors": halved(one["posteriors"])} if _can_halve(one) else one for one in short]
        yield [{**one, "curve": thinner(one["curve"], tolerance)} if _can_thin(one) else one for one in short]


def is_coarse(kept: Facts, part: float = 1.0) -> bool:
    """Whether this part of the rows is so large that a page holds it in 16 bits."""
    return part * len(kept["labels"]) * len(kept["log_likelihoods"][0]) > _FINE_ROWS


def _can_halve(system: Facts) -> bool:
    """Whether half of the rows are still held in 16 bits: fewer would take more room."""
    return "posteriors" in system and is_coarse(system["posteriors"], 0.5)


def halved(kept: Facts) -> Facts:
    """Half of the rows of each class, drawn, with the weight of all."""
    labels = np.array(kept["labels"], np.intp)
    own = np.ones(len(labels)) if kept["weights"] is None else np.array(kept["weights"], np.float64)
    seed = kept["seed"] or 0
    rng = np.random.default_rng(seed)
    members = [np.flatnonzero((labels == code) & (own > 0.0)) for code in np.unique(labels)]
    rows = np.sort(np.concatenate([rng.choice(one, -(-len(one) // 2), replace=False) for one in members]))
    whole, left = (np.bincount(labels[at], own[at], labels.max() + 1) for at in (np.arange(len(labels)), rows))
    shares = np.divide(whole, left, out=np.zeros(len(whole)), where=left > 0.0)
    return {
        **kept,
        "kept": len(rows),
        "seed": seed,
        "labels": labels[rows].tolist(),
        "log_likelihoods": [kept["log_likelihoods"][row] for row in rows.tolist()],
        "weights": (own[rows] * shares[labels[rows]]).tolist(),
    }


def _can_thin(system: Facts) -> bool:
    return "curve" in system and system["meaning"] != "raw" and len(system["curve"]["thresholds"]) > 60


def _shortened(system: Facts) -> Facts:
    """Fewer digits of bands and intervals, and without what the page computes or does not show."""
    found = {key: value for key, value in system.items() if key != "decision_curve"}
    for key, digits in (("bands", _DRAWN), ("bayes_plot", _DRAWN + 2)):
        if key in found:
            found[key] = _rounded(found[key], digits)
    if "roc" in found.get("bands", {}):
        band = found["bands"]["roc"]
        halves = {key: one[:-1:2] + one[-1:] for key, one in band.items() if isinstance(one, list)}  # with both ends
        found["bands"]["roc"] = band | halves
    if "curve" in found:
        apps = [{key: one for key, one in app.items() if key not in _UNSHOWN} for app in found["applications"] or ()]
        found["applications"] = _shortened_ends(apps)
    return found


def _shortened_ends(value: object) -> Value:
    """A result with fewer digits of its intervals and p-values."""
    if isinstance(value, dict):
        return {
            key: _rounded(one, _DIGITS)
            if key.endswith("_ci") or key in ("p_value", "adjusted")
            else _shortened_ends(one)
            for key, one in value.items()
        }
    return [_shortened_ends(one) for one in value] if isinstance(value, list) else value


def _rounded(value: object, digits: int) -> Value:
    if isinstance(value, dict):
        return {key: _rounded(one, digits) for key, one in value.items()}
    if isinstance(value, list):
        return [_rounded(one, digits) for one in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) and math.isfinite(value) else value


def coarser(curve: Facts, decimals: int) -> Facts:
    """The same steps with llrs to some decimals; the curve as it is where llrs are too close for that."""
    key = _scale(curve)
    short = _short_numbers(curve[key], decimals)
    moved = (float(new) - float(old) for new, old in zip(short, curve[key], strict=True) if new != old)
    close = max(moved, default=0.0) > 2.0 * 10.0**-decimals or len(set(short)) < len(set(curve[key]))
    return curve if close else {**curve, key: short}


def _scale(curve: Facts) -> str:
    """The column that priors are compared with."""
    return "llrs" if "llrs" in curve else "thresholds"


def thinner(curve: Facts, tolerance: float) -> Facts:
    """Fewer points of a curve, joined by lines that read its costs off to about this tolerance, which it states."""
    key = _scale(curve)
    x = np.array([float(value) for value in curve[key]])
    rates = [np.array(curve[name], np.float64) / curve[size] for name, size in _SIZES.items()]
    kept = _kept(x, rates, tolerance)
    found = {**curve, "complete": False, "path": "s" + "l" * (len(kept) - 1)}
    for name in ("thresholds", "llrs", "misses", "false_alarms"):
        if name in curve:
            found[name] = [curve[name][place] for place in kept]
    for decimals in (*_DECIMALS, 4):
        found = coarser(found, decimals)
    return {**found, "within": _off(curve, found, x)}


def _kept(x: Floats, rates: Sequence[Floats], tolerance: float) -> list[int]:
    """Places such that lines between them pass all others within the tolerance, each as far as the last one holds."""
    prices = [np.exp(np.clip(sign * x, 0.0, REACH)) for sign in (-1.0, 1.0)]
    cost = prices[0] * rates[0] + prices[1] * rates[1]
    room = [tolerance * np.maximum(cost, 1.0) / price / 2.0 for price in prices]
    kept, last = [0, 1] if len(x) > 1 else [0], 1
    places, own, spare = x.tolist(), [one.tolist() for one in rates], [one.tolist() for one in room]
    while last < len(x) - 1:
        last = _furthest(last, places, own, spare)
        kept.append(last)
    return kept


def _furthest(start: int, x: list[float], rates: Sequence[list[float]], room: Sequence[list[float]]) -> int:
    """The last point that a line from this one may end in: its slope stays inside the cone of all points before it."""
    low, high = [-math.inf, -math.inf], [math.inf, math.inf]
    best = start + 1
    for place in range(start + 1, len(x)):
        across = x[place] - x[start]
        if not math.isfinite(across) or across <= 0.0:
            return best
        slopes = [(own[place] - own[start]) / across for own in rates]
        if all(low[k] <= slopes[k] <= high[k] for k in (0, 1)):
            best = place
        for k in (0, 1):
            reach = room[k][place] / across
            low[k], high[k] = max(low[k], slopes[k] - reach), min(high[k], slopes[k] + reach)
        if low[0] > high[0] or low[1] > high[1]:
            return best
    return best


def _short_numbers(values: Sequence[float | str], decimals: int) -> list[float | str]:
    """Ascending numbers to some decimals, never below the number itself; those that differ still do."""
    found: list[float | str] = []
    last, before, unit = -math.inf, math.nan, 10.0**-decimals
    for value in values:
        if isinstance(value, str):
            found.append(value)
        else:
            if value != before:
                last = max(_raised(float(value), decimals), round(last + unit, decimals))
            found.append(last)
            before = value
    return found


def _raised(value: float, decimals: int) -> float:
    """The next number of this many decimals, or the number itself where it has no more."""
    return value if round(value, decimals) == value else math.ceil(value * 10.0**decimals) / 10.0**decimals


def _off(curve: Facts, less: Facts, x: Floats) -> float:
    """How far a cost that is read off fewer points may be from what the curve says, relative above 1."""
    inside = x[np.abs(x) <= STATED]
    if not len(inside):
        return 0.0
    at = np.concatenate((inside, np.nextafter(inside, -np.inf), inside[:-1] + np.diff(inside) / 2.0))
    costs = []
    for one in (curve, less):
        misses, alarms = (interpolated(one, key, at) for key in ("misses", "false_alarms"))
        costs.append(normalised_dcf(0.0 - at, misses / one["targets"], alarms / one["nontargets"]))
    off = np.nan_to_num(np.abs(costs[0] - costs[1]) / np.maximum(costs[0], 1.0), nan=0.0, posinf=0.0)
    worst = np.max(off, initial=0.0)
    return float(f"{worst + 1e-4:.2g}")
