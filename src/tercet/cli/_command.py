"""What every command is made of: options that declare what they go with, and errors in the command line's words.

`tercet.toml`: a team's columns, target and operating points, read by every command.

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

import glob
import os
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import click
from click.core import ParameterSource, augment_usage_errors

from tercet._typing import JSON, Value
from tercet.errors import did_you_mean

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
Parse = Callable[[Any, str], Any]
VERBOSITY = "tercet.verbosity"  # in the context's meta: -1 quiet, 0, 1 verbose
_ALIASES = {  # parameters of Python functions that have another name here
    "applications": "apps", "by": "group_columns", "calibration_trials": "calibrate_on", "format": "format",
    "level": "ci", "memory": "memory_limit", "path": "scores",
}  # fmt: skip

_SECTIONS = {  # of --help, below the options that are a command's own
    "Operating points and costs": (
        "apps", "priors", "costs", "actions", "cost_fn_column", "cost_fp_column", "cost_tp_column",
    ),
    "Intervals and random draws": ("ci", "resamples", "bayes", "seed", "bands", "sigma"),
    "Calibration before evaluating": (
        "calibrate_on", "calibrate_with", "calibrate_prior", "calibrate_labels", "calibrate_key",
    ),
    "Page and figures": (
        "report", "open_page", "private", "language", "with_posteriors", "plots", "plot_formats", "figure",
    ),
    "Output": ("out", "layout", "output", "as_json", "metrics", "names", "sort", "title"),
    "Large files and clusters": ("engine", "scheduler", "memory_limit", "resume"),
    "How files are read": (
        "labels", "key", "format", "separator", "columns", "score_column", "label_column", "class_columns", "classes",
        "weight_column", "group_columns", "group_map", "enrolment_map", "id_column", "target", "meaning",
        "trained_prior", "missing",
    ),
    "Every command": ("config", "verbose", "quiet", "debug"),
}  # fmt: skip
_SECTION_OF = {name: section for section, names in _SECTIONS.items() for name in names}


def as_number(words: str) -> str:
    """A number that was written in per cent or with a decimal comma, as the way out of a message."""
    if found := re.search(r"(\d+(?:\.\d+)?) ?%", words):
        return f" {found[1]} % is {float(found[1]) / 100.0:g}."
    return " Write a decimal point, not a comma." if re.match(r"'?\d+,\d+'?(?: |$)", words) else ""


class _Number(click.types.FloatParamType):
    """A number, whose message says how to write it."""

    def fail(self, message: str, param: click.Parameter | None = None, ctx: click.Context | None = None) -> NoReturn:
        super().fail(message.replace("a valid float", "a number") + as_number(message), param, ctx)


class Option(click.Option):
    """An option that declares what it goes with.

    needs: options of which at least one must be given ("name", or "name=value"); excludes: options that must not be;
    meanings: the meanings of scores with which it applies; parse: what makes a value of what was typed (and of the
    option's flag, for messages); reads, writes: its value is the path of a file that is read or written; folder: its
    value is a folder that is written to, made if it does not exist. A file that is read, by such an option or as an
    argument, is never written.
    """

    def __init__(
        self,
        *declarations: Any,
        needs: Sequence[str] = (),
        excludes: Sequence[str] = (),
        meanings: Sequence[str] | None = None,
        parse: Parse | None = None,
        reads: bool = False,
        writes: bool = False,
        folder: bool = False,
        **attributes: Value,
    ) -> None:
        super().__init__(*declarations, **attributes)
        self.type = _Number() if self.type is click.FLOAT else self.type
        self.needs, self.excludes, self.meanings, self.parse = tuple(needs), tuple(excludes), meanings, parse
        self.reads, self.writes, self.folder = reads, writes, folder

    @property
    def flag(self) -> str:
        """The option as it is typed: its long form."""
        return max(self.opts, key=len)

    def value(self, typed: Value) -> Value:
        """What was typed as the value that the command takes; what cannot be one is wrong use.

        A value of tercet.toml that cannot be one is a fault of that file.
        """
        from tercet.errors import InputError

        if self.parse is None or typed is None:
            return typed
        found = []
        for one in typed if self.multiple else (typed,):
            try:
                found.append(self.parse(one, self.flag))
            except InputError as error:
                words = in_flags(str(error), {str(self.name): self.flag})
                words = words if words.startswith(self.flag) else f"{self.flag} {one}: {words}"
                origin = click.get_current_context().get_parameter_source(str(self.name))
                raise (Failure if origin is ParameterSource.DEFAULT_MAP else click.UsageError)(words) from error
        return tuple(found) if self.multiple else found[0]


class Failure(click.ClickException):
    """A run that failed: one paragraph on stderr, exit code 1."""

    def show(self, file: object = None) -> None:
        """Prints the paragraph."""
        click.echo(f"tercet: {self.message}", err=True)


class Command(click.Command):
    """A command whose options are used or refused, and whose errors are sentences."""

    def invoke(self, ctx: click.Context) -> Any:
        """Checks the options against each other, runs the command, and turns expected errors into a Failure."""
        debug = ctx.params.pop("debug")
        ctx.meta[VERBOSITY] = int(ctx.params.pop("verbose")) - int(ctx.params.pop("quiet"))
        self.check_use(ctx)
        assert self.callback is not None
        try:
            with augment_usage_errors(ctx):
                values = self.values(ctx)
            return ctx.invoke(self.callback, **values)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            from tercet.errors import WordError

            if debug:
                raise
            if isinstance(error, WordError):
                raise click.UsageError(in_options(str(error), self), ctx) from error
            raise Failure(_sentence(error, self)) from error

    def values(self, ctx: click.Context) -> dict[str, Value]:
        """What the function of a command is given: parsed values, the format of the output, and how files are read."""
        given = dict(ctx.params)
        own = {str(one.name): one for one in self.params if isinstance(one, Option)}
        given |= {name: own[name].value(value) for name, value in given.items() if name in own}
        if "output" in given:
            given["output"] = _format(ctx)
            del given["as_json"]
        if "meaning" in given:
            from tercet.cli._values import reading  # which imports this module

            given["source"] = reading(given)
        return given

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options in --help by section, those specific to this command first: most others are shared."""
        sections: dict[str, list[tuple[str, str]]] = {name: [] for name in ("Options", *_SECTIONS)}
        for one in self.get_params(ctx):
            if isinstance(one, click.Option) and (record := one.get_help_record(ctx)) is not None:
                own = "Options" if isinstance(one, Option) else "Every command"  # click's own --help
                sections[_SECTION_OF.get(str(one.name), own)].append(record)
        for name, records in sections.items():
            if records:
                with formatter.section(name):
                    formatter.write_dl(records)

    def check_use(self, ctx: click.Context) -> None:
        """Refuses every option that was typed and would have no effect; one of tercet.toml is left out instead."""
        own = {str(one.name): one for one in self.params if isinstance(one, Option)}
        typed = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
        given = {name for name in own if ctx.get_parameter_source(name) in typed}
        for name, one in sorted(own.items()):
            if ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP and _misuse(ctx, one, own, given):
                usual = one.default if isinstance(one.default, str | bool | int | float) else None
                ctx.params[name] = () if one.multiple else usual
        for name in sorted(given):
            if (problem := _misuse(ctx, own[name], own, given)) is not None:
                raise click.UsageError(problem, ctx)
        _check_files(ctx)


def _misuse(ctx: click.Context, one: Option, own: dict[str, Option], given: set[str]) -> str | None:
    """Why an option would have no effect; None if it has one."""
    meaning = ctx.params.get("meaning")
    if one.meanings is not None and meaning is not None and meaning not in one.meanings:
        return f"{one.flag} cannot be combined with --meaning {meaning}; it is for {', '.join(one.meanings)}."
    for other in one.excludes:
        if other in given:
            return f"{one.flag} cannot be combined with {own[other].flag}: leave one of them out."
    if one.needs and not any(_is_met(ctx, need) for need in one.needs):
        ways = " or ".join(_typed(need, own) for need in one.needs)
        return f"{one.flag} has no effect without {ways}: add it, or leave {one.flag} out."
    return None


def _check_files(ctx: click.Context) -> None:
    """Refuses to write a file that is read, by device and inode, and a folder where a file is."""
    inputs: dict[tuple[int, int] | None, str] = {}
    for one in ctx.command.params:
        if isinstance(one, click.Argument) or (isinstance(one, Option) and one.reads):
            inputs |= {identity: path for path in _paths(ctx, one) if (identity := _identity(path)) is not None}
    for one in (one for one in ctx.command.params if isinstance(one, Option) and (one.folder or one.writes)):
        for path in _paths(ctx, one):
            if one.folder and os.path.exists(path) and not os.path.isdir(path):
                raise click.UsageError(f"{one.flag} must be a folder, and {path!a} is a file: name another.", ctx)
            if one.writes and (same := inputs.get(_identity(path))) is not None:
                raise click.UsageError(f"{one.flag} would replace {same!a}, which is read: name another file.", ctx)


def _paths(ctx: click.Context, one: click.Parameter) -> Iterator[str]:
    value = ctx.params.get(str(one.name))
    for path in (value,) if isinstance(value, str) else value or ():
        yield path
        if "=" in path:  # NAME=FILE
            yield path.rpartition("=")[2]
        if any(mark in path for mark in "*?["):
            yield from glob.glob(path, recursive=True)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino


def _is_met(ctx: click.Context, need: str) -> bool:
    """Whether what an option needs is there: "name", "name=value", "name=" (not given), joined by &."""
    for part in need.split("&"):
        name, equals, value = part.partition("=")
        found = _format(ctx) if name == "output" else ctx.params.get(name)
        given = found not in (None, (), False)
        if found != value if value else given if equals else not given:
            return False
    return True


def _format(ctx: click.Context) -> str:
    """The format asked for, either way: else a table on a terminal and TSV in a pipe."""
    if ctx.params.get("as_json"):
        return "json"
    asked: str | None = ctx.params.get("output")
    return asked or ("table" if sys.stdout.isatty() else "tsv")


def _typed(need: str, own: dict[str, Option]) -> str:
    words = []
    for part in need.split("&"):
        name, equals, value = part.partition("=")
        if name not in own:  # an argument
            words.append(name.upper())
            continue
        one = own[name]
        words.append(f"no {one.flag}" if equals and not value else f"{one.flag} {value or one.metavar or ''}".strip())
    return " and ".join(words)


_EXTRAS = {"matplotlib": "plot", "dask": "dask", "distributed": "dask", "pyspark": "spark", "sklearn": "sklearn"}


def _sentence(error: Exception, command: click.Command) -> str:
    """An error in the words of the command line: options where Python has parameters."""
    from tercet.errors import TercetError

    if isinstance(error, TercetError):
        return in_options(str(error), command)
    if isinstance(error, ModuleNotFoundError) and (extra := _EXTRAS.get(str(error.name).split(".")[0])):
        return f"this needs {error.name}, which is not installed: pip install 'tercet[{extra}]'"
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename!a}: {error.strerror}." if error.filename else f"{error.strerror}."
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    return f"a fault in tercet itself ({type(error).__name__}: {error}). Run it with --debug and report the traceback."


def in_options(message: str, command: click.Command) -> str:
    """A message of a Python function with its parameters named as the options of this command."""
    flags = {str(one.name): max(one.opts, key=len) for one in command.params if isinstance(one, click.Option)}
    if method := next((flag for flag in ("--method", "--calibrate-with") if flag in flags.values()), None):
        message = re.sub(r"\buse Isotonic\b", f"use {method} isotonic", message)
    return in_flags(message, flags | {name: flags[alias] for name, alias in _ALIASES.items() if alias in flags})


def in_flags(message: str, flags: Mapping[str, str]) -> str:
    """A message with these parameters named as options.

    Four forms are known: `name=` anywhere, a name with an underscore anywhere, any name in "leave name out", and any
    name as the first word of a sentence that states a rule.
    """
    known = _either(flags)
    long = _either(name for name in flags if "_" in name)
    message = re.sub(r" \(of_\w+\)", "", message)  # the meaning before it is an option's value
    message = re.sub(rf"(?<![\w.-])({known})=True\b", lambda found: flags[found[1]], message)
    message = re.sub(rf"(?<![\w.-])({known})=(?=[\w'\"\[(-]|\.[\d.])", lambda found: f"{flags[found[1]]} ", message)
    message = re.sub(rf"(?<![\w.-])({known})=", lambda found: flags[found[1]], message)
    message = re.sub(rf"(?<![\w.-])({long})(?![\w(])", lambda found: flags[found[1]], message)
    message = re.sub(rf"(?<=\bleave )({known})(?= out\b)", lambda found: flags[found[1]], message)
    rule = r"(?= (?:must|is|are|takes|needs|holds|hold)\b)"
    return re.sub(rf"(?:^|(?<=: ))({known}){rule}", lambda found: flags[found[1]], message)


def _either(names: Iterable[str]) -> str:
    """A pattern for any of these names, the longest first; one that never matches where there is none."""
    return "|".join(sorted((re.escape(name) for name in names), key=len, reverse=True)) or r"(?!)"


def option(*declarations: str, **attributes: object) -> Decorator:
    """click.option with the declarations of Option: needs, excludes, meanings."""
    return click.option(*declarations, cls=Option, **attributes)


def options(*wanted: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which --help shows them."""

    def add(function: Function) -> Function:
        for one in reversed(wanted):
            function = one(function)
        return function

    return add


def _configure(ctx: click.Context, param: click.Parameter, value: str | None) -> None:
    from tercet.cli._command import configure  # which imports this module

    configure(ctx, param, value)


_COMMON = options(
    option("--config", metavar="FILE.toml", is_eager=True, expose_value=False, callback=_configure,
           help="A file with settings. [default: tercet.toml, if it exists]"),
    option("--verbose", is_flag=True, excludes=("quiet",), help="Print progress on stderr."),
    option("--quiet", is_flag=True, help="Print nothing but errors on stderr."),
    option("--debug", is_flag=True, help="Show a traceback."),
)  # fmt: skip


WORDS = """\b
llr          natural log of how many times more probable the data are if the target hypothesis is true
prior        how frequent targets are where the scores will be used, not in the test set
application  an operating point: PRIOR,COST_OF_A_MISS,COST_OF_A_FALSE_ALARM
"""


def new_command(
    name: str | None = None, *, group: click.Group | None = None, epilog: str | None = WORDS
) -> Callable[[Function], Command]:
    """Makes a function a command, with the options that every command has, on its own or in a group."""

    def make(function: Function) -> Command:
        made = click.command(name, cls=Command, epilog=epilog)(_COMMON(function))
        if group is not None:
            group.add_command(made)
        return made

    return make


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
