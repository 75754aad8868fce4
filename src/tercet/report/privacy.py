"""A result from which no single score can be recovered: a coarser curve and histogram, and the resulting error."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from tercet._numeric.plain import plain
from tercet._typing import JSON, Array, Floats, Value
from tercet.errors import InputError
from tercet.metrics.curve_summary import interpolated, shortest, unshifted_llrs
from tercet.metrics.curves import convex_vertices
from tercet.report.language import Words
from tercet.report.numbers import localised

Facts = JSON
_COLUMNS = ("misses", "false_alarms", "thresholds")
LEAST = 10  # trials of a class between two points of the curve, or none
_BINS = 20
_RANGE = 3.0  # the log-odds within which the error of costs is stated: those of the Bayes error plot
_ROUNDING = 1e-4  # how far the original curve may already be off


def private(document: Facts) -> Facts:
    """The result as `tercet evaluate --json` gives it, with curves and histograms that hold no single trial.

    Between two points of a curve lie at least 10 trials of a class or none, its thresholds are the shortest numbers
    between two scores, and a bin of the histogram with fewer than 10 trials is shown as empty. The curve says under
    "private" how far a cost read off it may be off. Rates, costs and intervals of the operating points stay exact. A
    trial whose weight is a whole number counts as that many trials.

    Parameters
    ----------
    document : dict
        A result with its "systems".

    Returns
    -------
    dict
        The same with coarser curves; what came in is not changed.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([k / 100 - (k % 2) for k in range(400)], [k % 2 == 0 for k in range(400)])
    >>> coarse = private({"systems": [tc.evaluate(trials).to_dict()]})["systems"][0]["curve"]
    >>> len(coarse["misses"]), coarse["private"]["least"]
    (26, 10)
    """
    return {**document, "systems": [_coarse(one) for one in document["systems"]]}


def _coarse(system: Facts) -> Facts:
    """A system with coarser curves, those of its classes included."""
    if "posteriors" in system:
        raise InputError("A private result cannot contain rows of posteriors: leave one of the two out.")
    found = {**system, "versus": [_coarse(one) for one in system["versus"]]} if "versus" in system else dict(system)
    if "curve" not in system:
        return found
    if system["curve"].get("unit", 0):
        raise InputError("A private result needs trials of equal weight: with weights, few trials may look like many.")
    found["curve"] = _curve(system)
    if system.get("histogram", {}).get("edges"):
        found["histogram"] = _histogram(system["histogram"])
    found["applications"] = [_snapped(one, found["curve"]) for one in system.get("applications", ())]
    if "threshold" in system.get("eer", {}):
        found["eer"] = {
            **system["eer"],
            "threshold": _nearest(system["eer"]["threshold"], found["curve"]["thresholds"]),
        }
    return found


def _curve(system: Facts) -> Facts:
    """The points of a curve that at least this many trials of either class, or none of it, lie between."""
    curve = system["curve"]
    misses, alarms = (np.array(curve[key], np.int64) for key in ("misses", "false_alarms"))
    places = [0]
    for place in range(1, len(misses)):
        steps = misses[place] - misses[places[-1]], alarms[places[-1]] - alarms[place]
        rest = misses[-1] - misses[place], alarms[place] - alarms[-1]
        if any(steps) and all(step == 0 or step >= LEAST for step in (*steps, *rest)):
            places.append(place)
    if places[-1] != len(misses) - 1:
        places.append(len(misses) - 1)
    scores, llrs = _thresholds(system, np.array(places))
    coarse = {
        **{key: curve[key] for key in ("targets", "nontargets", "unit") if key in curve},
        "complete": False,
        "thresholds": plain(scores),
        "misses": misses[places].tolist(),
        "false_alarms": alarms[places].tolist(),
        "path": "s" + "".join("l" if np.isfinite(pair).all() else "s" for pair in pairwise(llrs)),
        **({"llrs": plain(llrs)} if "llrs" in curve else {}),
    }
    corners = convex_vertices(alarms[0] - alarms[places], misses[places], curve["targets"] * curve["nontargets"])
    coarse["hull"] = {key: [coarse[key][place] for place in corners.tolist()] for key in _COLUMNS}
    coarse["private"] = {"least": LEAST, **_errors(system["meaning"], curve, coarse)}
    return coarse


def _thresholds(system: Facts, places: Array) -> tuple[Floats, Floats]:
    """The shortest numbers from each kept threshold up to the next of all, and the llrs that they state."""
    curve, meaning = system["curve"], system["meaning"]
    every = np.array([float(value) for value in curve["thresholds"]])
    after = np.append(every[1:], every[-1] + abs(every[-1]) + 1.0)
    with np.errstate(invalid="ignore"):
        short = np.where(np.isfinite(every) & np.isfinite(after), shortest(every, after), every)[places]
    if "llrs" not in curve:
        return short, short
    llrs = np.array([float(value) for value in curve["llrs"]])
    stated = unshifted_llrs(every[1:], meaning)
    near = int(np.argmin(np.where(np.isfinite(stated), np.abs(stated), np.inf)))
    shift = stated[near] - llrs[1:][near]
    return short, np.append(-np.inf, unshifted_llrs(short[1:], meaning) - shift)


def _errors(meaning: str, curve: Facts, coarse: Facts) -> dict[str, float]:
    """How far rates, and normalised costs of Bayes decisions at log-odds in -3..3, are off on the coarse curve.

    Between two thresholds at which either curve steps or bends, the difference of the curves is a straight line: its
    ends bound it, and the larger of the ends' prices bounds what it costs.
    """
    key = "llrs" if "llrs" in curve else "thresholds"
    every = np.unique([float(value) for one in (curve, coarse) for value in one[key]])
    bends = np.unique(np.concatenate((every[np.isfinite(every)], [-_RANGE, _RANGE])))
    starts, ends = bends[:-1], np.nextafter(bends[1:], -np.inf)
    off = {}
    for name, total in (("misses", "targets"), ("false_alarms", "nontargets")):
        apart = [np.abs(interpolated(curve, name, at) - interpolated(coarse, name, at)) for at in (starts, ends)]
        off[name] = np.maximum(*apart) / curve[total]
    rates = {"rate_error": float(max(one.max(initial=0.0) for one in off.values()))}
    if meaning == "raw":
        return rates
    prices = [np.exp(np.maximum(0.0, np.maximum(sign * starts, sign * ends))) for sign in (-1.0, 1.0)]
    within = (starts >= -_RANGE) & (ends <= _RANGE)
    costs = (off["misses"] * prices[0] + off["false_alarms"] * prices[1])[within]
    return rates | {"cost_error": float(costs.max(initial=0.0)) + _ROUNDING}


def _histogram(histogram: Facts) -> Facts:
    """Fewer bins between rounded ends; those with few trials are shown as empty."""
    edges = histogram["edges"]
    groups = np.array_split(np.arange(len(edges) - 1), min(_BINS, len(edges) - 1))
    kept = [edges[group[0]] for group in groups] + [edges[-1]]
    size = 10.0 ** np.floor(np.log10(max(kept[-1] - kept[0], 1e-300)) - 1)
    low, high = float(np.floor(kept[0] / size) * size), float(np.ceil(kept[-1] / size) * size)
    sides = {}
    for key in ("targets", "nontargets"):
        bins = [int(sum(histogram[key]["bins"][place] for place in group)) for group in groups]
        below, above = (int(histogram[key][end]) for end in ("below", "above"))
        few = [count if count >= LEAST else 0 for count in (below, *bins, above)]
        sides[key] = {"below": few[0], "bins": few[1:-1], "above": few[-1]}
    return {"edges": np.linspace(low, high, len(groups) + 1).tolist(), **sides}


def _snapped(application: Facts, curve: Facts) -> Facts:
    """An operating point whose threshold of least cost, which is a score, is moved to the nearest kept one."""
    moved = {}
    for key, points in (
        ("min_threshold", curve["thresholds"]),
        ("min_threshold_llr", curve.get("llrs", curve["thresholds"])),
    ):
        if application.get(key) is not None:
            moved[key] = _nearest(application[key], points)
    return {**application, **moved}


def _nearest(value: object, points: Value) -> Value:
    if isinstance(value, str) or value is None:
        return value
    finite = [one for one in points if not isinstance(one, str)]
    return min(finite, key=lambda one: abs(one - value)) if finite else value


def sentence(curves: list[Facts], words: Words) -> str:
    """Whether scores can be read back from these curves, in plain words."""
    if all("private" in curve for curve in curves):
        errors = [curve["private"].get("cost_error") for curve in curves]
        costs = [error for error in errors if error is not None]
        rates = max(curve["private"]["rate_error"] for curve in curves)
        off = words("o.off_rates", n=localised(f"{rates:.2g}", words.language))
        off += words("o.off_costs", n=localised(f"{max(costs):.2g}", words.language)) if costs else ""
        return words("o.private", least=LEAST, off=off)
    return words("o.read_every" if any(curve.get("complete") for curve in curves) else "o.read_some")
