"""A grid of models, evaluated alike: minimum and actual cost on validation data, the choice, and its held-out cost."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from tercet._numeric.plain import plain
from tercet._numeric.records import ReadOnly, Record
from tercet._numeric.validation import chosen, function, listed, mapping, shown
from tercet._typing import JSON, Facts
from tercet.application import Application
from tercet.errors import InputError, TercetError
from tercet.evaluation import evaluate
from tercet.metrics.binomial import Interval
from tercet.trials import Trials, probability

Samples = tuple[object, object]
_CRITERIA = ("dcf", "min_dcf", "cllr")
COSTS = ("min_dcf", "dcf", "cllr", "held_out_min_dcf", "held_out_dcf", "held_out_cllr")


@dataclass(frozen=True, slots=True)
class SweepRow:
    """One model of the grid.

    Attributes
    ----------
    parameters : mapping of str to object
        What it was trained with.
    min_dcf, dcf, cllr : float or None
        Minimum and actual normalised DCF and Cllr on the validation data.
    held_out_min_dcf, held_out_dcf, held_out_cllr : float or None
        The same on the held-out data, where there are some.
    reason : str or None
        Why the model could not be trained or judged.
    intervals : mapping of str to Interval
        Of the costs above by their names, where a level was given; they do not account for the choice.
    """

    parameters: Facts
    min_dcf: float | None = None
    dcf: float | None = None
    cllr: float | None = None
    held_out_min_dcf: float | None = None
    held_out_dcf: float | None = None
    held_out_cllr: float | None = None
    reason: str | None = None
    intervals: Mapping[str, Interval] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Sweep(Record):
    """All models of a grid, and the one chosen on the validation data.

    Attributes
    ----------
    application : Application
        The operating point of the costs.
    rows : tuple of SweepRow
        In the order of the grid.
    criterion : str
        The number that decides: "dcf", "min_dcf" or "cllr" on the validation data.
    chosen : SweepRow
        The model with the lowest value of the criterion, the first on ties; held-out costs play no part in the choice.

    Examples
    --------
    >>> import tercet as tc
    >>> data = ([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]], [0, 0, 1, 0, 1, 1])
    >>> found = tc.sweep(tc.recognizers.LogisticRecognizer, {"penalty": [0.0, 10.0]}, data, data)
    >>> len(found.rows), round(found.chosen.dcf, 3)
    (2, 0.667)
    """

    application: Application
    rows: tuple[SweepRow, ...]
    criterion: str
    chosen: SweepRow

    def to_dict(self) -> JSON:
        """Everything as plain numbers and text.

        Returns
        -------
        dict
            Plain values.
        """
        place = [row is self.chosen for row in self.rows].index(True)  # arrays among the parameters have no ==
        rows = [plain({name: getattr(row, name) for name in (*COSTS, "reason")}) for row in self.rows]
        for row, own in zip(rows, self.rows, strict=True):
            row["parameters"] = {name: _json(value) for name, value in own.parameters.items()}
            if own.intervals:
                row["intervals"] = plain(dict(own.intervals))
        app = plain(self.application)
        return {"application": app, "criterion": self.criterion, "rows": rows, "chosen": place}

    def __str__(self) -> str:
        names = list(self.rows[0].parameters)
        costs = [name for name in COSTS if any(getattr(row, name) is not None for row in self.rows)]
        lines = ["  ".join(f"{name:>16}" for name in (*names, *costs))]
        for row in self.rows:
            cells = [_short(row.parameters.get(name)) for name in names] + [
                _short(getattr(row, name)) for name in costs
            ]
            mark = "  <- chosen" if row is self.chosen else f"  {row.reason}" if row.reason else ""
            lines.append("  ".join(f"{cell:>16}" for cell in cells) + mark)
        return "\n".join(lines)


def sweep(
    recognizer: object,
    grid: Mapping[str, Sequence[object]] | Iterable[Facts],
    train: Samples,
    validation: Samples,
    application: object = 0.5,
    *,
    held_out: Samples | None = None,
    criterion: Literal["dcf", "min_dcf", "cllr"] = "dcf",
    ci: float | None = None,
) -> Sweep:
    """Train every model of a grid, choose one on validation data, and report its cost on held-out data.

    Parameters
    ----------
    recognizer : class with `fit`, or callable
        `fit(samples, labels, **parameters)` gives a model with `trials(samples, labels)`, such as LogisticRecognizer
        and GaussianRecognizer, or a function from samples to llrs.
    grid : mapping of str to sequence, or iterable of mappings
        {"penalty": [0, 1e-3], "expansion": ["linear", "quadratic"]} stands for every combination; an iterable names
        each model's parameters itself.
    train : tuple of (samples, labels)
        Data to train on.
    validation : tuple of (samples, labels)
        Data to choose by.
    application : Application, tuple, float or str, default 0.5
        The operating point; prior 0.5 and equal costs by default.
    held_out : tuple of (samples, labels), optional
        Data that are not used to choose.
    criterion : {"dcf", "min_dcf", "cllr"}, default "dcf"
        The number that decides.
    ci : float, optional
        Level of the intervals of all costs, those of `evaluate` for independent samples; none without it.

    Returns
    -------
    Sweep
        Each model's costs, and the chosen one.

    Examples
    --------
    >>> from tercet.recognizers import LogisticRecognizer
    >>> data = ([[0.], [0.], [0.], [1.], [1.], [1.]], [0, 0, 1, 0, 1, 1])
    >>> found = sweep(LogisticRecognizer, {"penalty": [0.0, 10.0]}, data, data)
    >>> [round(row.dcf, 4) for row in found.rows], found.chosen.parameters["penalty"]
    ([0.6667, 0.6667], 0.0)
    """
    app = Application.of(application)
    chosen(criterion, "criterion", _CRITERIA)
    if ci is not None:
        probability(ci, "ci")
    fit = getattr(recognizer, "fit", recognizer)
    if not callable(fit):
        raise InputError(f"recognizer must have a fit method or be a function, not {shown(recognizer)}.")
    sets = [_pair(validation, "validation")] + ([] if held_out is None else [_pair(held_out, "held_out")])
    rows = tuple(_row(fit, parameters, _pair(train, "train"), sets, app, ci) for parameters in _combinations(grid))
    return Sweep(app, rows, criterion, _chosen(rows, criterion))


def sweep_trials(
    systems: Mapping[str, Trials],
    application: object = 0.5,
    *,
    held_out: Mapping[str, Trials] | None = None,
    criterion: Literal["dcf", "min_dcf", "cllr"] = "dcf",
    ci: float | None = None,
    by: str | None = None,
) -> Sweep:
    """Choose among systems that have already been scored, as `sweep` does among models.

    Parameters
    ----------
    systems : mapping of str to Trials
        Each system's labelled validation trials.
    application : Application, tuple, float or str, optional
        The operating point.
    held_out : mapping of str to Trials, optional
        Each system's trials that play no part in the choice.
    criterion : {"dcf", "min_dcf", "cllr"}, optional
        The number that decides; "min_dcf" for raw scores.
    ci : float, optional
        Level of the intervals of all costs, those of `evaluate`; none without it.
    by : str, optional
        Name of the group column whose whole groups are the unit of the intervals.

    Returns
    -------
    Sweep
        Each system's costs, and the chosen one.

    Examples
    --------
    >>> good, bad = Trials.of_llr([1., -1.], [1, 0]), Trials.of_llr([-1., 1.], [1, 0])
    >>> chosen = sweep_trials({"bad": bad, "good": good}).chosen
    >>> chosen.parameters["system"], chosen.min_dcf
    ('good', 0.0)
    """
    app = Application.of(application)
    chosen(criterion, "criterion", _CRITERIA)
    mapping(systems, "systems")
    if held_out is not None:
        mapping(held_out, "held_out")
    missing = [name for name in systems if held_out is not None and name not in held_out]
    if missing:
        raise InputError(f"held_out has no trials of {shown(missing[0])} ({len(missing)} of {len(systems)} systems).")
    rows = []
    for name, trials in systems.items():
        sets = [trials] if held_out is None else [trials, held_out[name]]
        rows.append(SweepRow(ReadOnly({"system": name}), **_costs(sets, app, ci, by)))
    if not rows:
        raise InputError("systems must hold at least one system.")
    return Sweep(app, tuple(rows), criterion, _chosen(tuple(rows), criterion))


def _combinations(grid: object) -> list[JSON]:
    if isinstance(grid, Mapping):
        for name, values in grid.items():
            if isinstance(values, str) or not isinstance(values, Iterable):
                raise InputError(f"grid[{shown(name)}] must be a list of values, not {shown(values)}.")
        every = itertools.product(*(list(values) for values in grid.values()))
        found = [dict(zip(grid, values, strict=True)) for values in every]
    else:
        found = [dict(mapping(parameters, "grid (each model's parameters)")) for parameters in listed(grid, "grid")]
    if not found:
        raise InputError("grid must stand for at least one model.")
    return found


def _pair(data: object, name: str) -> Samples:
    if not isinstance(data, tuple | list) or len(data) != 2:
        raise InputError(f"{name} must be a pair (samples, labels).")
    return data[0], data[1]


def _row(
    fit: Callable[..., object],
    parameters: JSON,
    train: Samples,
    sets: Sequence[Samples],
    app: Application,
    ci: float | None,
) -> SweepRow:
    known = ReadOnly(parameters)
    try:
        model = fit(*train, **parameters)
        judged = [_trials(model, samples, labels) for samples, labels in sets]
        return SweepRow(known, **_costs(judged, app, ci, None))
    except TercetError as error:
        return SweepRow(known, reason=str(error))


def _trials(model: Any, samples: object, labels: Any) -> Trials:
    if hasattr(model, "trials"):
        found: Trials = model.trials(samples, labels)
        return found
    return Trials.of_llr(function(model, "what recognizer fits")(samples), labels)


def _costs(sets: Sequence[Trials], app: Application, ci: float | None, by: str | None) -> JSON:
    """Costs on the validation trials, and on the held-out ones where there are some, with intervals where asked for."""
    costs: JSON = {}
    ends: dict[str, Interval] = {}
    for prefix, trials in zip(("", "held_out_"), sets, strict=False):
        found = evaluate(trials, [app], ci=ci, by=by)
        costs[f"{prefix}min_dcf"] = found.applications[0].min_dcf
        costs[f"{prefix}dcf"] = found.applications[0].dcf
        costs[f"{prefix}cllr"] = found.cllr
        for name in _CRITERIA:
            known = "cllr" if name == "cllr" else f"applications.0.{name}"
            if found.intervals is not None and known in found.intervals:
                own = found.intervals[known]
                ends[prefix + name] = Interval(float(own.low), float(own.high), own.method)
    return costs | {"intervals": ReadOnly(ends)}


def _chosen(rows: tuple[SweepRow, ...], criterion: str) -> SweepRow:
    known = [row for row in rows if getattr(row, criterion) is not None]
    if not known:
        raise InputError(
            f"No model of the grid has a {criterion} to choose by. The first says: "
            f"{rows[0].reason or 'raw scores have no actual cost; choose by min_dcf, or calibrate first'}"
        )
    return min(known, key=lambda row: float(getattr(row, criterion)))


def _json(value: object) -> object:
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _short(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)
