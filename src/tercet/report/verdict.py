"""The page's answer without JavaScript: what happens in this many cases, what it costs, which threshold to use.

Its sentences are those of page/verdict.js, letter for letter, at the operating point at which the page opens.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tercet._typing import Value
from tercet.application import Application, normalised_dcf
from tercet.metrics.curve_summary import count_at
from tercet.metrics.mover import Proportion, Sum
from tercet.report.language import Words
from tercet.report.markup import Facts, tag, text
from tercet.report.numbers import apportioned, llr_shown

Ends = tuple[float, float]
_SIZES = {"misses": "targets", "false_alarms": "nontargets"}
_LEAST_CASES, _MOST_CASES = 5, 12  # powers of ten
_HARMS = ("v.more", "v.times", "v.infinite")  # a harmful threshold is not recommended
_MANY = 3.0  # times the cost of the dummy, beyond which percentages are hard to read


class Point(NamedTuple):
    """An operating point."""

    prior: float
    cost_fn: float
    cost_fp: float
    own: bool = False  # the prior is the share of targets in the data


class Answer(NamedTuple):
    """What one system does at one operating point."""

    fnr: float
    fpr: float
    dcf: float
    threshold: float | None
    llr: float | None
    fnr_ends: Ends | None
    fpr_ends: Ends | None
    dcf_ends: Ends | None
    loss: tuple[float, Ends] | None


def own(systems: Sequence[Facts]) -> list[Facts]:
    """The systems that were evaluated, without their classes against the rest."""
    return [system for system in systems if "within" not in system]


def opening(document: Facts, systems: Sequence[Facts]) -> Point | None:
    """Where the page opens: the first operating point asked for, else the data's own share at equal costs."""
    first = next((system for system in systems if "curve" in system), None)
    if first is None:
        return None
    priced = [app for app in first["applications"] if app["cost_fn"] > 0 and app["cost_fp"] > 0]
    curve = first["curve"]
    share = curve["targets"] / (curve["targets"] + curve["nontargets"])
    if document.get("default_applications") or not priced:
        return Point(share, 1.0, 1.0, True) if 0.0 < share < 1.0 else Point(0.5, 1.0, 1.0)
    return Point(priced[0]["prior"], priced[0]["cost_fn"], priced[0]["cost_fp"], priced[0]["prior"] == share)


def known_ends(facts: Facts, key: str) -> Ends | None:
    """Both ends of an interval of the JSON, or None where one does not exist."""
    ends = facts.get(f"{key}_ci")
    return None if ends is None or None in ends else (float(ends[0]), float(ends[1]))


def groups_of(system: Facts) -> list[str]:
    """The columns whose groups were kept whole, as names."""
    by = system.get("intervals", {}).get("by") or []
    return [by] if isinstance(by, str) else [str(name) for name in by]


def level_of(system: Facts) -> float:
    """The level of the intervals that a page shows."""
    return float(system.get("intervals", {}).get("level", 0.95))


def answer(system: Facts, point: Point) -> Answer:
    """The decisions of one two-class system: Bayes, or the best in hindsight for raw scores."""
    curve, app = system.get("curve", {}), Application(*point[:3])
    known = next((one for one in system["applications"] if _same(one, point)), None)
    raw = system["meaning"] == "raw"
    threshold: float | None
    if raw or (known is not None and known["fnr"] is None):
        fnr, fpr, threshold = _in_hindsight(curve, app)
        llr = None
    elif known is not None:
        fnr, fpr, llr = float(known["fnr"]), float(known["fpr"]), float(known["threshold"])
        threshold = llr if system["meaning"] == "llr" else real(known.get("threshold_score"))
    else:
        llr = 0.0 - app.log_odds
        fnr, fpr = (count_at(curve, key, llr) / curve[size] for key, size in _SIZES.items())
        threshold = llr if system["meaning"] == "llr" else _kept_score(curve, llr)
    actual = None if known is None or raw else known["dcf"]
    dcf = float(normalised_dcf(app.log_odds, fnr, fpr)) if actual is None else float(actual)
    ends = _ends(system, None if raw else known, app, (fnr, fpr))
    return Answer(fnr, fpr, dcf, threshold, llr, *ends, None if known is None or raw else _loss(known))


def _same(app: Facts, point: Point) -> bool:
    return (app["prior"], app["cost_fn"], app["cost_fp"]) == point[:3]


def real(value: Value) -> float | None:
    """A number of the JSON, in which infinities are text."""
    return None if value is None else float(value)


def _in_hindsight(curve: Facts, app: Application) -> tuple[float, float, float]:
    """Rates and threshold of the hull's point of least cost."""
    hull = curve["hull"]
    misses, alarms = ([count / curve[size] for count in hull[key]] for key, size in _SIZES.items())
    costs = [float(normalised_dcf(app.log_odds, *pair)) for pair in zip(misses, alarms, strict=True)]
    least = min(costs) * (1.0 + 2.0**-50)
    place = next(i for i, cost in enumerate(costs) if cost <= least)
    return misses[place], alarms[place], float(hull["thresholds"][place]) if place else -math.inf


def _kept_score(curve: Facts, llr: float) -> float:
    """The last kept score whose llr is not above: it gives the same decisions on the kept points."""
    x = np.array([float(value) for value in curve["llrs"]])
    return float(curve["thresholds"][max(int(np.searchsorted(x, llr, "right")) - 1, 0)])


def _loss(app: Facts) -> tuple[float, Ends] | None:
    ends = known_ends(app, "calibration_loss")
    return None if ends is None or app.get("calibration_loss") is None else (float(app["calibration_loss"]), ends)


def _ends(
    system: Facts, known: Facts | None, app: Application, rates: tuple[float, float]
) -> tuple[Ends | None, Ends | None, Ends | None]:
    """Intervals of FNR, FPR and DCF: as evaluated, else in closed form where trials are independent and counted."""
    if known is not None and (dcf := known_ends(known, "dcf")) is not None:
        return known_ends(known, "fnr"), known_ends(known, "fpr"), dcf
    sizes = [float(system["input"].get(side, math.nan)) for side in ("targets", "nontargets")]
    if groups_of(system) or system.get("curve", {}).get("unit") or not all(size.is_integer() for size in sizes):
        return None, None, None
    parts = Proportion(rates[0], sizes[0]), Proportion(rates[1], sizes[1])
    costly = math.exp(min(abs(app.log_odds), 700.0))
    factors = (1.0, costly) if app.log_odds <= 0.0 else (costly, 1.0)
    with np.errstate(over="ignore"):
        found = [one.limits(level_of(system)) for one in (*parts, Sum(parts, factors, None, (0.0, math.inf)))]
    pairs = [(float(low), float(high)) for low, high in found]
    return pairs[0], pairs[1], pairs[2]


def verdicts(document: Facts, systems: Sequence[Facts], words: Words) -> str:
    """The setting, and for each system what happens and what it costs."""
    first, point = own(systems)[:6], opening(document, systems)
    two = [system for system in first if "curve" in system]
    told = [tag("p", text(setting(point, words), 300), "setting")] if point is not None and two else []
    for place, system in enumerate(first):
        kind = (" more" if place else "") + (" several" if "classes" in system else "")
        whole = "curve" in system or "classes" in system
        told.append(tag("p", sentence(system, point, words) if whole else brief(system, words), kind.strip()))
        if "curve" in system and point is not None and system is two[0]:
            told.append(tag("p", advice(system, point, words, len(two) > 1), "more advice"))
    return "".join(told + [tag("p", text(one, 400), "more unpriced") for one in _unpriced(first, words)])


def setting(point: Point, words: Words) -> str:
    """The operating point in words."""
    cases = words.share(point.prior, "cases") + (words("as_in_data") if point.own else "")
    return words("v.setting", cases=cases, costs=words.costs(point.cost_fn, point.cost_fp))


def sentence(system: Facts, point: Point | None, words: Words) -> str:
    """What a system's decisions do and cost, in plain words."""
    if "classes" in system:
        return _several(system, words)
    assert point is not None
    found = answer(system, point)
    hits, alarms, sizes = _per_cases(found, point.prior)
    key, slots = cost_sentence(found, words)
    how = words("how.min") if system["meaning"] == "raw" else ""
    told = words.rich(
        "v.found_one" if alarms[0] == 1 else "v.found", cases=words.whole(sum(sizes)), targets=words.whole(sizes[0]),
        name=words.called(system), how=how, hits=words.whole(hits[0]),
        hits_ends=words.brackets(hits[1], words.whole), alarms=words.whole(alarms[0]),
        alarms_ends=words.brackets(alarms[1], words.whole),
    )  # fmt: skip
    return f"{told} {words.rich(key, **slots)}"


def brief(system: Facts, words: Words | None = None) -> str:
    """The setting and the sentence at the first operating point evaluated, for a card; curves are not needed."""
    said = Words() if words is None else words
    if "classes" in system:
        return _several(system, said)
    app = next((one for one in system["applications"] if one["dcf"] is not None and one["fnr"] is not None), None)
    if app is None:
        name, eer = said.called(system), system["eer"]["value"]
        return said.rich("v.no_cost", name=name, eer=said.percent(eer), auc=said.number(system["auc"]))
    point = Point(app["prior"], app["cost_fn"], app["cost_fp"])
    return f"{text(setting(point, said), 300)} {sentence(system, point, said)}"


Counted = tuple[int, tuple[int, int] | None]


def _per_cases(found: Answer, prior: float) -> tuple[Counted, Counted, tuple[int, int]]:
    """Targets found and false alarms in this many cases: margins rounded first, then cells by largest remainder."""
    power = min(max(math.ceil(2 - math.log10(min(prior, 1 - prior))), _LEAST_CASES), _MOST_CASES)
    targets, others = apportioned(10**power, [prior, 1.0 - prior])
    hit = apportioned(targets, [1.0 - found.fnr, found.fnr])[0]
    alarm = apportioned(others, [found.fpr, 1.0 - found.fpr])[0]
    hits, alarms = None, None
    if found.fnr_ends is not None:
        low, high = found.fnr_ends
        hits = _cases(1.0 - high, targets), _cases(1.0 - low, targets)
    if found.fpr_ends is not None:
        low, high = found.fpr_ends
        alarms = _cases(low, others), _cases(high, others)
    return (hit, hits), (alarm, alarms), (targets, others)


def _cases(share: float, size: int) -> int:
    return math.floor(share * size + 0.5)


def cost_sentence(found: Answer, words: Words) -> tuple[str, dict[str, str]]:
    """The key and the slots of what it costs against deciding without the scores."""
    cost, ends = found.dcf, found.dcf_ends
    if cost == math.inf:
        return "v.infinite", {}
    if cost == 1.0:
        return "v.same", {}
    if ends is not None and ends[0] < 1.0 < ends[1]:
        more = (
            words("times_as_much", n=words.number(ends[1]))
            if ends[1] > _MANY
            else words("percent_more", n=words.percent(ends[1] - 1.0))
        )
        return "v.unsure", {"less": words.percent(1.0 - ends[0]), "more": more}
    if cost < 1.0:
        turned = None if ends is None else (1.0 - ends[1], 1.0 - ends[0])
        return "v.less", {"n": words.percent(1.0 - cost), "ends": words.brackets(turned, words.percent)}
    if cost > _MANY:
        return "v.times", {"n": words.number(cost), "ends": words.brackets(ends, words.number)}
    above = None if ends is None else (ends[0] - 1.0, ends[1] - 1.0)
    return "v.more", {"n": words.percent(cost - 1.0), "ends": words.brackets(above, words.percent)}


def advice(system: Facts, point: Point, words: Words, several: bool) -> str:
    """Which threshold to use, on the user's own scale first, and whether miscalibration is the cause."""
    found, name = answer(system, point), words.called(system)
    named = words("for_system", name=name) if several else ""
    if system["meaning"] == "raw":
        return words.rich("r.raw", threshold=words.number(found.threshold), several=named)
    llr = None if found.llr is None else llr_shown(found.llr)
    used = llr if system["meaning"] == "llr" else found.threshold
    beside = "" if system["meaning"] == "llr" or llr is None else f"; llr {words.number(llr)}"
    scale = words(f"scale.{system['meaning']}") + beside
    key = "r.harm" if cost_sentence(found, words)[0] in _HARMS else "r.use"
    told = words.rich(key, threshold=words.number(used), scale=scale, several=named)
    if found.loss is None or not found.loss[1][0] > 0.0:
        return told
    value, ends = found.loss
    key, said = ("r.blame_times", words.number) if value > _MANY else ("r.blame", words.percent)
    return f"{told} {words.rich(key, n=said(value), ends=words.brackets(ends, said))}"


def _several(system: Facts, words: Words) -> str:
    name = words.called(system)
    app = next((app for app in system["applications"] if app.get("dcf") is not None), None)
    right = system.get("accuracy")
    accuracy = "" if right is None else " " + words.rich(
        "v.accuracy", n=words.percent(right), ends=words.brackets(known_ends(system, "accuracy"), words.percent)
    )  # fmt: skip
    if app is None:
        return words.rich("v.none", name=name) + accuracy
    cost = float(app["dcf"])
    ends = words.brackets(known_ends(app, "dcf"), words.number)
    return (
        words.rich("v.several_harm" if cost > 1.0 else "v.several", name=name, n=words.number(cost), ends=ends)
        + accuracy
    )


def point_words(app: Facts, words: Words) -> str:
    """An operating point in few words."""
    if "priors" in app:
        return ", ".join(words.number(prior) for prior in app["priors"][:4]) + (" …" if len(app["priors"]) > 4 else "")
    return f"{words.number(app['prior'])}, {words.number(app['cost_fn'])} : {words.number(app['cost_fp'])}"


def _unpriced(systems: Sequence[Facts], words: Words) -> list[str]:
    """Applications at which an error costs nothing, so that there is no cost to compare with."""
    apps = [app for system in systems if "classes" not in system for app in system["applications"]]
    free = dict.fromkeys(point_words(app, words) for app in apps if not app["cost_fn"] or not app["cost_fp"])
    if not free:
        return []
    begins = "" if len(free) < len({point_words(app, words) for app in apps}) else words("v.begins")
    return [words("v.unpriced", points="; ".join(free)) + begins]
