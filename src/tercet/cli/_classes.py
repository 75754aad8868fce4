"""The operating points where none is given, and for several classes the least risk that offsets reach."""

from __future__ import annotations

from collections.abc import Sequence

from tercet._numeric.plain import plain
from tercet.application import Application, MulticlassApplication
from tercet.cli._options import SEVERAL
from tercet.cli._output import Facts, working
from tercet.cli._systems import System
from tercet.cli._values import DEFAULT_PRIORS
from tercet.report.tables import name_of, point
from tercet.report.text import short


def usual_applications(paths: Sequence[str], source: Facts) -> list[Application] | list[MulticlassApplication]:
    """Where no operating point is given: the usual priors, or equal costs and as many classes as the first file has."""
    from tercet.io import read_chunks

    if source["meaning"] not in SEVERAL:
        return [Application(prior) for prior in DEFAULT_PRIORS]
    names = source.get("class_columns")
    count = len(names) if names else len(next(iter(read_chunks(paths[0], 1, **source))).classes)
    return [Application.multiclass([1.0 / count] * count)]


def with_least_risk(one: System, asked: Sequence[object]) -> System:
    """The system with the least risk of each operating point beside its risk."""
    from tercet.metrics.confusion import FREE_DUMMY
    from tercet.metrics.min_risk import min_risk

    rows = []
    with working(f"searching for the least risk of {one.name}"):
        for app, facts in zip(asked, one.known()["applications"], strict=True):
            least = min_risk(one.used(), app)
            found = {"min_risk": least.risk, "min_dcf": least.normalised, "min_risk_bound": least.lower_bound}
            why = {"min_dcf": FREE_DUMMY} if least.normalised is None else {}
            reasons = {**facts.get("reasons", {}), **why}
            rows.append({**facts, **plain(found), **({"reasons": reasons} if reasons else {})})
    return one.with_facts(applications=rows)


def least_risk_lines(systems: Sequence[Facts]) -> list[str]:
    """The least risk of each operating point in words."""
    return [
        f"{name_of(system)}, {point(app)}: minimum risk {short(app['min_risk'])}, minimum DCF {short(app['min_dcf'])}"
        + ("" if app["min_risk"] == app["min_risk_bound"] else f" (at least {short(app['min_risk_bound'])})")
        for system in systems
        for app in system["applications"]
    ]
