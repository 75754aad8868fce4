"""Decided labels instead of scores: a confusion matrix and its costs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tercet.cli._output import Facts, show
from tercet.cli._systems import name_of, with_files
from tercet.metrics.confusion import Confusion
from tercet.report import text


def evaluate(paths: Sequence[str], apps: Sequence[Any], output: str, source: Facts) -> int:
    """Counts decided labels against the true ones, and prices them for every application."""
    from tercet.io import read_decisions

    wanted = {key: value for key, value in source.items() if key not in ("meaning", "score_column")}
    systems = [_facts(path, read_decisions(path, **wanted), apps, source) for path in paths]
    if output in ("json", "tsv"):
        show(systems, output)
        return 0
    for system in systems:
        print(Confusion(system["confusion"], classes=system["classes"], actions=system["actions"]))
        print(", ".join(text.summaries([system])))
    if apps:
        show(systems, output)
    return 0


def _facts(path: str, table: Confusion, apps: Sequence[Any], source: Facts) -> Facts:
    facts: Facts = {
        "name": name_of(path),
        "meaning": "decisions",
        "input": {"trials": sum(map(sum, table.matrix))},
        "classes": list(table.classes),
        "actions": list(table.actions),
        "confusion": table.matrix,
        "accuracy": table.accuracy,
    }
    facts["applications"] = [
        {
            "priors": app.prior.tolist(),
            "costs": app.costs.tolist(),
            "confusion": table.matrix,
            "risk": table.risk(app),
            "dcf": table.normalised_risk(app),
            "dummy_cost": app.dummy_cost,
            "dummy_action": app.renamed(table.classes).dummy_action,
        }
        for app in (table.matched(app) for app in apps)
    ]
    return with_files(facts, path, source)
