"""Results of other versions: what the page needs and a result lacks is computed or left unknown, and named."""

from __future__ import annotations

from tercet.metrics.curve_summary import count_at
from tercet.report.markup import Facts

_SIDE: Facts = {"bins": [], "below": 0, "above": 0}
_UNKNOWN: Facts = {
    "auc": None, "cllr": None, "min_cllr": None, "bayes_plot": {"log_odds": [], "dcf": None, "min_dcf": []},
    "histogram": {"edges": [], "targets": _SIDE, "nontargets": _SIDE},
}  # fmt: skip
_OF_POINTS = ("confusion", "fnr", "fpr", "dcf_u")


def completed(system: Facts) -> Facts:
    """A system with everything that the page reads; "lacking" names what was not in the result."""
    return _of_classes(system) if "classes" in system else _of_two(system)


def _of_classes(system: Facts) -> Facts:
    names = [str(name) for name in system["classes"]]
    apps = [
        {"actions": names if len(app["costs"]) == len(names) else [str(row) for row, _ in enumerate(app["costs"], 1)],
         "contributions": None, **app}
        for app in system["applications"]
    ]  # fmt: skip
    found = {**system, "applications": apps}
    lacking = {key for app, whole in zip(system["applications"], apps, strict=True) for key in whole if key not in app}
    if "posteriors" in system:
        count = len(system["posteriors"]["labels"])
        found["posteriors"] = {"weights": None, "kept": count, "of": count, "seed": None, **system["posteriors"]}
    return {**found, "lacking": sorted(lacking)} if lacking else found


def _of_two(system: Facts) -> Facts:
    lacking = [key for key in ("curve", *_UNKNOWN) if key not in system]
    lacking += [key for key in _OF_POINTS if any(key not in app for app in system["applications"])]
    if not lacking and "unit" in system["curve"] and "targets" in system["input"]:
        return system
    found = {**_UNKNOWN, **system, "lacking": lacking}
    if "curve" in system:
        curve = found["curve"] = {"unit": 0, **system["curve"]}
        sizes = {side: curve[side] * 2.0 ** curve["unit"] for side in ("targets", "nontargets")}
        found["input"] = {**sizes, **system["input"]}
    found["applications"] = [_completed_point(app, found.get("curve")) for app in system["applications"]]
    return found


def _completed_point(app: Facts, curve: Facts | None) -> Facts:
    """An operating point with its rates and its cost per case, read off the curve where they are not in the result."""
    found = {**dict.fromkeys(_OF_POINTS), **app}
    if curve is not None and app["dcf"] is not None:
        read = {key: count_at(curve, key, float(app["threshold"])) for key in ("misses", "false_alarms")}
        rates = {"fnr": read["misses"] / curve["targets"], "fpr": read["false_alarms"] / curve["nontargets"]}
        found |= {key: rate for key, rate in rates.items() if found[key] is None}
    if found["fnr"] is not None and found["dcf_u"] is None:
        prior = app["prior"]
        found["dcf_u"] = prior * app["cost_fn"] * found["fnr"] + (1.0 - prior) * app["cost_fp"] * found["fpr"]
    return found
