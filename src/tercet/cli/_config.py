"""`tercet.toml`: a team's columns, target and operating points, read by every command.

Top-level keys are long options without the dashes and apply to every command that has them; a table of a command's
name ([evaluate], [calibrate.fit]) holds options of that command; [points] names operating points for --app:

    target = "fraud"
    group-column = ["customer"]
    app = ["live"]

    [points]
    live = [0.005, 200, 5]

Options that are typed take precedence over the file. An option in the file that does not apply to a run is left out.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable

import click

from tercet._typing import JSON, Value
from tercet.cli._command import Failure
from tercet.errors import did_you_mean

NAME = "tercet.toml"
POINTS = "tercet.points"  # in the context's meta
SHARED = frozenset((
    "labels", "key", "key-format", "separator", "columns", "score-column", "label-column", "class-columns", "classes",
    "weight-column", "group-column", "id-column", "target", "meaning", "trained-prior", "missing", "app", "priors",
    "costs", "actions", "ci", "bootstrap", "seed", "memory-limit", "prior", "folds", "by", "format",
))  # fmt: skip


def configure(ctx: click.Context, param: click.Parameter, path: str | None) -> None:
    """Makes the file's settings the defaults of the command that is about to run."""
    if path is None and not os.path.exists(NAME):
        return
    path = path or NAME
    from tercet.cli.main import COMMANDS  # which is what imports the commands

    found = _loaded(path)
    words = ctx.command_path.split(" ")[1:]
    own: Value = found
    for word in words:
        own = own.get(word, {}) if isinstance(own, dict) and words != ["points"] else {}  # [points] are not options
    _check_keys(path, found, {*SHARED, *COMMANDS, "points"}, "")
    params = {_key(one): one for one in ctx.command.params if isinstance(one, click.Option)}
    if not isinstance(own, dict):
        raise Failure(f"{path!a}: [{'.'.join(words)}] must be a table of options.")
    _check_keys(path, own, params, f" in [{'.'.join(words)}]")
    points = found.get("points", {})
    if not isinstance(points, dict):
        raise Failure(f"{path!a}: [points] must be a table of operating points, such as live = [0.005, 200, 5].")
    ctx.meta[POINTS] = {str(name): _word(path, name, value) for name, value in points.items()}
    shared = {key: value for key, value in found.items() if key in SHARED and key in params}
    ctx.default_map = {
        str(params[key].name): _value(path, key, value, params[key]) for key, value in {**shared, **own}.items()
    }


def _key(one: click.Parameter) -> str:
    return max(one.opts, key=len).lstrip("-")


def _loaded(path: str) -> JSON:
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except OSError as error:
        raise Failure(f"{path!a} cannot be read: {error.strerror}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise Failure(f"{path!a} is not TOML: {error}.") from None


def _check_keys(path: str, found: JSON, known: Iterable[str], where: str) -> None:
    names = set(known)
    for key in found:
        if key not in names:
            hint = did_you_mean(key, names) or f" Known: {', '.join(sorted(names))}."
            raise Failure(f"{path!a}: {key!a}{where} is not a setting.{hint}")


def _value(path: str, key: str, value: Value, one: click.Option) -> Value:
    """A value of the file as the option takes it."""
    if one.is_flag:
        if not isinstance(value, bool):
            raise Failure(f"{path!a}: {key} is true or false, not {value!a}.")
        return value
    if one.multiple:
        single = not isinstance(value, list) or all(isinstance(item, int | float) for item in value)
        return tuple(_word(path, key, item) for item in ([value] if single else value))
    return _word(path, key, value)


def _word(path: str, key: str, value: object) -> str:
    """A value as it would be typed: lists with commas, rows with semicolons."""
    if isinstance(value, list):
        inner = ";" if value and isinstance(value[0], list) else ","
        return inner.join(_word(path, key, item) for item in value)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise Failure(f"{path!a}: {key} cannot be {value!a}.")
    return str(value)
