"""Words of the command line as values: numbers, applications, reading options, sizes, levels, calibrators."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import click

from tercet._numeric.validation import shown
from tercet._typing import JSON, Value
from tercet.application import Application, MulticlassApplication
from tercet.cli._config import POINTS
from tercet.errors import InputError, did_you_mean
from tercet.metrics.mean_cost import without_means

Facts = JSON
DEFAULT_PRIORS = (0.001, 0.01, 0.1, 0.5)
MOST_POINTS = 100_000  # of a Bayes error plot: more than any screen or paper can show
READING = (
    "labels", "key", "format", "separator", "columns", "score_column", "label_column", "class_columns", "classes",
    "weight_column", "group_columns", "id_column", "target", "meaning", "trained_prior", "missing",
)  # fmt: skip


def numbers(words: str, flag: str, count: int | None = None) -> list[float]:
    """Numbers separated by commas."""
    try:
        values = [float(word) for word in words.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be numbers separated by commas, not {shown(words)}.") from None
    if count is not None and len(values) != count:
        raise InputError(f"{flag} takes {count} numbers separated by commas, not {shown(words)}.")
    return values


def training_prior(words: str | None, method: str, flag: str) -> float | list[float] | None:
    """The prior that a calibrator is trained for; refused by those that do not depend on one."""
    from tercet.calibration.methods import PRIOR_FREE

    if words is not None and method in PRIOR_FREE:
        raise InputError(f"{flag} has no effect on {method}, which is the same at every prior: leave it out.")
    return prior(words, flag)


def prior(words: str | None, flag: str = "--prior") -> float | list[float] | None:
    """One prior, or one per class."""
    if words is None:
        return None
    values = numbers(words, flag)
    return values[0] if len(values) == 1 else values


def level(ci: float, flag: str = "--ci") -> float:
    """A level in per cent as a share."""
    if not 1.0 < ci < 100.0:
        raise InputError(f"{flag} is a level in per cent, such as 95, not {ci:g}.")
    return ci / 100.0


def log_odds_grid(words: str, flag: str = "--bayes-plot") -> tuple[float, float, int]:
    """The grid of a Bayes error plot: from, to, how many points."""
    low, high, count = numbers(words, flag, 3)
    if not (-math.inf < low < high < math.inf) or not count.is_integer() or not 2 <= count <= MOST_POINTS:
        raise InputError(
            f"{flag} is LOW,HIGH,POINTS with LOW < HIGH and 2 to {MOST_POINTS:,} points, not {shown(words)}."
        )
    return low, high, int(count)


def size_in_bytes(words: str) -> int:
    """A size such as 500MB or 2GiB."""
    parsed = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kKMGT]?)(i?)[bB]?\s*", words, re.ASCII)
    if parsed is None:
        raise InputError(f"--memory-limit is a size such as 500MB or 2GB, not {shown(words)}.")
    return int(float(parsed[1]) * (1024 if parsed[3] else 1000) ** " KMGT".index(parsed[2].upper() or " "))


def reading(options: Facts) -> Facts:
    """The reading options as tercet.read takes them, taken out of the options."""
    if "engine" not in options:
        options.pop("memory_limit", None)  # `read_trials` keeps to it
    source = {name: options.pop(name) for name in READING if name in options}
    source = {name: value for name, value in source.items() if value is not None and value != ()}
    if maps := _group_maps(options):  # their groups are group columns like any other
        made, named = [name for name, _, _ in maps], source.get("group_columns", ())
        if _from_settings("group_columns"):
            named = [name for name in named if name not in made]
        for name in set(made) & set(named):
            raise InputError(f"--group-column and --group-map both make the group {name!a}: name the map (NAME=FILE).")
        source |= {"group_maps": maps, "group_columns": [*named, *made]}
    if "trained_prior" in source:
        source["trained_prior"] = prior(source["trained_prior"], "--trained-prior")
    for name in ("columns", "class_columns", "classes"):
        if name in source:
            source[name] = source[name].split(",")
    if "classes" in source:  # names in the order of the columns, or of the confusion matrix
        source["class_columns"] = source.pop("classes")
    return source


_MAPS = (("group_map", -1, "speaker"), ("enrolment_map", 0, "model_speaker"))  # option, field of the id, usual name


def _group_maps(options: Facts) -> list[tuple[str, str, int]]:
    """The maps from utterances to groups: the group's name, the file, and the field of the trial id."""
    found = []
    for key, field, usual in _MAPS:
        for words in options.pop(key, ()):
            name, equals, path = words.rpartition("=")
            found.append((name if equals else usual, path, field))
    names = [name for name, _, _ in found]
    if len(set(names)) < len(names):
        raise InputError("--group-map: two maps make a group of the same name; name them (NAME=FILE).")
    return found


def applications(options: Facts) -> list[Application | MulticlassApplication]:
    """The applications of --app, and the multiclass ones of --priors and --costs, taken out of the options."""
    asked: list[Application | MulticlassApplication] = [application(words) for words in options.pop("apps")]
    priors, costs = options.pop("priors", ()), options.pop("costs", ())
    actions = options.pop("actions", None)
    if len(costs) > 1 and len(costs) != len(priors):
        raise InputError(f"--costs was given {len(costs)} times for {len(priors)} --priors: once, or for each.")
    named = None if actions is None else actions.split(",")
    for place, words in enumerate(priors):
        matrix = _cost_matrix(costs[place if len(costs) > 1 else 0]) if costs else "0-1"
        asked.append(Application.multiclass(numbers(words, "--priors"), matrix, actions=named))
    return asked


Means = list[tuple[str | None, tuple[int, ...]]]  # per mean: its name, and the places of its points


def points_and_means(options: Facts) -> tuple[list[Application | MulticlassApplication], Means]:
    """The applications, where the name of an evaluation stands for the points whose costs it averages."""
    known = Application.means()
    words = [(Application.mean(one) if one in known else application(one)) for one in options["apps"]]
    points, means = without_means(words)
    options["apps"] = ()
    return [*map(Application.of, points), *applications(options)], means


def _cost_matrix(words: str) -> Value:
    """Rows of numbers, or the name of a matrix."""
    return [numbers(row, "--costs") for row in words.split(";")] if ";" in words or "," in words else words


def application(words: str, flag: str = "--app") -> Application:
    """An operating point: three numbers, a prior alone, or a name."""
    own = own_points()
    if words in own:
        return replace(_point(own[words], f"{flag} {words}"), name=words)
    return _point(words, flag, tuple(own))


def own_points() -> dict[str, str]:
    """The operating points that the settings file names, as they would be typed."""
    context = click.get_current_context(silent=True)
    return {} if context is None else context.meta.get(POINTS, {})


def _point(words: str, flag: str, own: tuple[str, ...] = ()) -> Application:
    if "," in words:
        return Application.of(tuple(numbers(words, flag, 3)))
    try:
        return Application.of(float(words))
    except ValueError:
        known = {*own, *Application.names()}
        if words in known:
            return Application.of(words)
        hint = did_you_mean(words, known) or f" Known: {', '.join([*own, *Application.names()])}."
        raise InputError(f"{flag}: {shown(words)} is not a known operating point.{hint}") from None


def without_settings(options: Facts, *names: str) -> None:
    """Empties options that were not typed but read from tercet.toml, and do not apply to this run."""
    for name in names:
        if _from_settings(name):
            options[name] = () if isinstance(options[name], tuple) else None


def _from_settings(option: str) -> bool:
    """Whether an option was not typed but read from tercet.toml."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source(option) is click.core.ParameterSource.DEFAULT_MAP


def read_options(source: Facts) -> Facts:
    """What tercet.read takes of the reading options: groups of maps are added to the trials afterwards."""
    own = {name: value for name, value in source.items() if name != "group_maps"}
    made = {name for name, _, _ in source.get("group_maps", ())}
    if made:
        own |= {"group_columns": [one for one in own["group_columns"] if one not in made], "keep_ids": True}
    return own


def with_columns(source: Facts, columns: Iterable[str]) -> Facts:
    """Reading options that also bring these columns along."""
    return {**source, "group_columns": [*dict.fromkeys([*source.get("group_columns", ()), *columns])]}


def grouping(source: Facts) -> str | tuple[str, str] | None:
    """The groups to resample by: none, one column, or two crossed ones."""
    groups: Sequence[str] = source.get("group_columns", ())
    if len(groups) > 2:
        raise InputError("At most two --group-column can be resampled by.")
    return (groups[0], groups[1]) if len(groups) == 2 else groups[0] if groups else None


def one_group(source: Facts) -> str | None:
    """The group to resample by, of commands that take at most one."""
    found = grouping(source)
    if isinstance(found, tuple):
        raise click.UsageError("This command resamples by one group: give one --group-column or --group-map.")
    return found


def with_group(source: Facts, column: str, flag: str) -> Facts:
    """The reading options with the one group column that a command uses; another one is refused."""
    for other in source.get("group_columns", ()):
        if other != column:
            raise click.UsageError(f"The group {other!a} has no effect: {flag} names {column!a}; leave one out.")
    return source | {"group_columns": (column,)}


def method(name: str) -> tuple[Any, Facts]:
    """A calibrator's class and its settings, by the name that --method takes."""
    from tercet.calibration.fusion import Fusion
    from tercet.calibration.methods import method_of

    return (Fusion, {}) if name == "fusion" else method_of(name)
