"""Decided labels instead of scores: a confusion matrix and its costs."""

from __future__ import annotations

from collections.abc import Sequence

from tercet._numeric.plain import plain
from tercet.cli._output import Facts
from tercet.cli._systems import System, distinct_names, with_files
from tercet.cli._values import points_of
from tercet.metrics.confusion import Confusion


def decided_systems(paths: Sequence[str], names: Sequence[str], apps: Sequence[object], source: Facts) -> list[System]:
    """Decided labels counted against the true ones, and priced for every application."""
    from tercet.io import read_decisions

    apps = points_of(apps)
    wanted = {key: value for key, value in source.items() if key not in ("meaning", "score_column", "class_columns")}
    found = []
    for path, name in zip(paths, names or distinct_names(paths), strict=True):
        table = read_decisions(path, classes=source.get("class_columns"), **wanted)
        found.append(System(path, name, facts=with_files(_facts(name, table, apps), path, source)))
    return found


def _facts(name: str, table: Confusion, apps: Sequence[object]) -> Facts:
    return {
        "name": name,
        "meaning": "decisions",
        "input": {"trials": sum(map(sum, table.matrix))},
        "classes": list(table.classes),
        "actions": list(table.actions),
        "confusion": table.matrix,
        "accuracy": plain(table.accuracy),
        "applications": [_priced(table, app) for app in apps],
    }


def _priced(table: Confusion, app: object) -> Facts:
    laid = table.matched(app)
    return {
        "priors": laid.prior.tolist(),
        "costs": laid.costs.tolist(),
        "actions": list(table.actions),
        "confusion": table.matrix,
        "risk": plain(table.risk(laid)),
        "dcf": plain(table.normalised_risk(laid)),
        "dummy_cost": laid.dummy_cost,
        "dummy_action": laid.renamed(table.classes).dummy_action,
    }
