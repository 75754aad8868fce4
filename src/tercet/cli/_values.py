"""Words of the command line as values: numbers, applications, reading options, sizes, levels, calibrators."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import click

from tercet._numeric.matrices import prior_vector
from tercet._numeric.validation import chosen, number, probability, shown
from tercet._typing import JSON, Value
from tercet.application import Application, MulticlassApplication
from tercet.cli._command import POINTS, as_number
from tercet.errors import InputError, WordError, did_you_mean
from tercet.metrics.costs import without_means

Facts = JSON
DEFAULT_PRIORS = (0.001, 0.01, 0.1, 0.5)
MOST_POINTS = 100_000  # of a Bayes error plot: more than a screen or page can show
READING = (
    "labels", "key", "format", "separator", "columns", "score_column", "label_column", "class_columns", "classes",
    "weight_column", "group_columns", "id_column", "target", "meaning", "trained_prior", "missing",
)  # fmt: skip


def numbers(words: str, flag: str, count: int | None = None) -> list[float]:
    """Numbers separated by commas."""
    try:
        values = [float(word) for word in words.split(",")]
    except ValueError:
        raise InputError(f"{flag} must be numbers separated by commas, not {shown(words)}.{as_number(words)}") from None
    if count is not None and len(values) != count:
        raise InputError(f"{flag} takes {count} numbers separated by commas, not {shown(words)}.")
    return values


def each(check: Callable[[float, str], float], count: int | None = None) -> Callable[[str, str], list[float]]:
    """A parser of numbers separated by commas, each of which must pass the check."""
    return lambda words, flag: [check(value, flag) for value in numbers(words, flag, count)]


def ranged(rule: str, is_inside: Callable[[float], bool]) -> Callable[[float, str], float]:
    """A parser of a number in a range; `rule` is the range in an error's words."""

    def parse(value: float, flag: str) -> float:
        if not is_inside(number(value, flag)):
            raise InputError(f"{flag} must be {rule}, not {value}.")
        return value

    return parse


def words_of(words: str, flag: str) -> list[str]:
    """Words separated by commas."""
    return words.split(",")


def matrix(words: str, flag: str) -> list[list[float]]:
    """Rows of numbers, separated by semicolons."""
    rows = [numbers(row, flag) for row in words.split(";")]
    if len(set(map(len, rows))) > 1:
        raise InputError(f"{flag} has rows of different lengths: {', '.join(str(len(row)) for row in rows)}.")
    return rows


def prior(words: str, flag: str) -> float | list[float]:
    """One prior, or one per class."""
    values = numbers(words, flag)
    return probability(values[0], flag) if len(values) == 1 else priors(words, flag)


def priors(words: str, flag: str) -> list[float]:
    """One prior per class."""
    values = numbers(words, flag)
    prior_vector(values, len(values), flag)
    return values


def training_settings(prior: Value, method: str, flag: str) -> Facts:
    """The prior that a calibrator is trained for as its `fit` takes it; refused by those that do not depend on one."""
    from tercet.calibration.methods import PRIOR_FREE

    if prior is None:
        return {}
    if method in PRIOR_FREE:
        raise click.UsageError(f"{flag} has no effect on {method}, which is the same at every prior: leave it out.")
    return {"prior": prior}


def level(ci: float, flag: str) -> float:
    """A level in per cent as a share."""
    if not 1.0 < ci < 100.0:
        raise InputError(f"{flag} is a level in per cent, such as 95, not {ci:g}.")
    return ci / 100.0


def log_odds_grid(words: str, flag: str) -> tuple[float, float, int]:
    """The grid of a Bayes error plot: from, to, how many points."""
    low, high, count = numbers(words, flag, 3)
    if not (-math.inf < low < high < math.inf) or not count.is_integer() or not 2 <= count <= MOST_POINTS:
        raise InputError(
            f"{flag} is LOW,HIGH,POINTS with LOW < HIGH and 2 to {MOST_POINTS:,} points, not {shown(words)}."
        )
    return low, high, int(count)


def resamples(count: int, flag: str) -> int:
    """How many resamples are drawn: enough for the level of --ci."""
    from tercet.uncertainty._kernel.engine import enough_resamples

    ci = click.get_current_context().params.get("ci")
    return enough_resamples(count, 0.0 if ci is None else level(ci, "--ci"), flag)


def file_format(word: str, flag: str) -> str:
    """The name of a format."""
    from tercet.io.formats.trial_lists import FORMATS

    return chosen(word, flag, FORMATS)


def separator(word: str, flag: str) -> str:
    """What stands between columns."""
    from tercet.io.formats.trial_lists import checked_separator

    return checked_separator(word)


def size_in_bytes(words: str, flag: str) -> int:
    """A size such as 500MB or 2GiB."""
    parsed = re.fullmatch(r"\s*(\d+\.?\d*|\.\d+)\s*([kKMGT]?)(i?)[bB]?\s*", words, re.ASCII)
    size = 0
    if parsed is not None:
        size = int(float(parsed[1]) * (1024 if parsed[3] else 1000) ** " KMGT".index(parsed[2].upper() or " "))
    if size < 1:
        raise InputError(f"{flag} is a size such as 500MB or 2GB, not {shown(words)}.")
    return size


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
            raise click.UsageError(
                f"--group-column and --group-map both make the group {name!a}: name the map (NAME=FILE)."
            )
        source |= {"group_maps": maps, "group_columns": [*named, *made]}
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
        raise click.UsageError("--group-map: two maps make a group of the same name; name them (NAME=FILE).")
    return found


def applications(options: Facts) -> list[Application | MulticlassApplication]:
    """The applications of --app, and the multiclass ones of --priors and --costs, taken out of the options."""
    asked: list[Application | MulticlassApplication] = [*options.pop("apps")]
    priors, costs = options.pop("priors", ()), options.pop("costs", ())
    actions = options.pop("actions", None)
    if len(costs) > 1 and len(costs) != len(priors):
        raise click.UsageError(f"There are {len(costs)} --costs for {len(priors)} --priors: give one, or one for each.")
    for place, prior in enumerate(priors):
        matrix = costs[place if len(costs) > 1 else 0] if costs else "0-1"
        try:
            asked.append(Application.multiclass(prior, matrix, actions=actions))
        except InputError as error:  # priors, costs and actions that do not go together
            raise WordError(str(error)) from error
    return asked


def at_most_one(options: Facts, command: str) -> Application | MulticlassApplication | None:
    """The operating point of a command that takes one, if it was given; several in tercet.toml are left out."""
    if len(options["apps"]) > 1:
        without_settings(options, "apps")
    apps = applications(options)
    if len(apps) > 1:
        raise click.UsageError(f"{command} takes one operating point.")
    return apps[0] if apps else None


def points_of(asked: Sequence[Value]) -> list[Value]:
    """The applications with the points of each mean in its place."""
    return without_means(asked)[0]


def cost_matrix(words: str, flag: str) -> Value:
    """Rows of numbers, or the name of a matrix."""
    return matrix(words, flag) if ";" in words or "," in words else words


def mean_name(word: str, flag: str) -> str:
    """The name of an evaluation that averages the costs of several operating points."""
    if word not in Application.means():
        raise InputError(f"{flag} {shown(word)} is not a known mean. Known: {', '.join(Application.means())}.")
    return word


def point_or_mean(words: str, flag: str) -> Value:
    """An operating point, or the name of an evaluation that averages the costs of several."""
    return Application.mean(words) if words in Application.means() else application(words, flag)


def application(words: str, flag: str) -> Application:
    """An operating point: three numbers, a prior alone, or a name, which may be one of tercet.toml."""
    own = own_points()
    if words in own:
        return replace(_point(own[words], f"{flag} {words}", ()), name=words)
    return _point(words, flag, tuple(own))


def _point(words: str, flag: str, own: tuple[str, ...]) -> Application:
    """An operating point without those that tercet.toml names, which only an error lists."""
    if "," in words:
        return Application.of(tuple(numbers(words, flag, 3)))
    known = [*own, *Application.names()]
    if words in known:
        return Application.of(words)
    try:
        prior = float(words)
    except ValueError:
        hint = as_number(words) or did_you_mean(words, known) or f" Known: {', '.join(known)}."
        raise InputError(f"{flag}: {shown(words)} is not a known operating point.{hint}") from None
    return Application.of(prior)


def own_points() -> dict[str, str]:
    """The operating points that the settings file names, as they would be typed."""
    points: dict[str, str] = click.get_current_context().meta.get(POINTS, {})
    return points


def without_settings(options: Facts, *names: str) -> None:
    """Empties options that were not typed but read from tercet.toml, and do not apply to this run."""
    for name in names:
        if _from_settings(name):
            options[name] = () if isinstance(options[name], tuple) else None


def _from_settings(option: str) -> bool:
    """Whether an option was not typed but read from tercet.toml."""
    return click.get_current_context().get_parameter_source(option) is click.core.ParameterSource.DEFAULT_MAP


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
        raise click.UsageError("At most two --group-column can be resampled by.")
    return (groups[0], groups[1]) if len(groups) == 2 else groups[0] if groups else None


def one_group(source: Facts) -> str | None:
    """The group to resample by, of commands that take at most one."""
    found = grouping(source)
    if isinstance(found, tuple):
        raise click.UsageError("This command resamples by one group: give one --group-column or --group-map.")
    return found
