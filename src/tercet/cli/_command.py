"""What every command is made of: options that declare what they go with, and errors in the command line's words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import click
from click.core import ParameterSource

Function = Callable[..., Any]
Decorator = Callable[[Function], Function]
VERBOSITY = "tercet.verbosity"  # in the context's meta: -1 quiet, 0, 1 verbose
_ALIASES = {  # parameters of Python functions that another name stands for here
    "applications": "apps", "by": "group_columns", "calibration_trials": "calibrate_on", "format": "format",
    "level": "ci", "memory": "memory_limit", "path": "scores", "classes": "class_columns",
}  # fmt: skip


class Option(click.Option):
    """An option that declares which others it needs or excludes, and with which meanings of scores it applies."""

    def __init__(
        self,
        *declarations: Any,
        needs: Sequence[str] = (),
        excludes: Sequence[str] = (),
        meanings: Sequence[str] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*declarations, **attributes)
        self.needs, self.excludes, self.meanings = tuple(needs), tuple(excludes), meanings

    @property
    def flag(self) -> str:
        """The option as it is typed: its long form."""
        return max(self.opts, key=len)


class Failure(click.ClickException):
    """A run that failed: one paragraph on stderr, exit code 1."""

    def show(self, file: Any = None) -> None:
        """Prints the paragraph."""
        click.echo(f"tercet: {self.message}", err=True)


class Command(click.Command):
    """A command whose options are used or refused, and whose errors are sentences."""

    def invoke(self, ctx: click.Context) -> Any:
        """Checks the options against each other, runs the command, and turns expected errors into a Failure."""
        debug = ctx.params.pop("debug")
        ctx.meta[VERBOSITY] = int(ctx.params.pop("verbose")) - int(ctx.params.pop("quiet"))
        self.check_use(ctx)
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, click.Abort, BrokenPipeError):
            raise
        except Exception as error:
            if debug:
                raise
            raise Failure(_sentence(error, self)) from error

    def check_use(self, ctx: click.Context) -> None:
        """Refuses every option that was given and would have no effect."""
        own = {str(one.name): one for one in self.params if isinstance(one, Option)}
        given = {name for name in own if _was_given(ctx, name)}
        for name in sorted(given):
            _check_option(ctx, own[name], own, given)


def _was_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) in (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)


def _check_option(ctx: click.Context, one: Option, own: dict[str, Option], given: set[str]) -> None:
    met = [need for need in one.needs if _is_met(ctx, need)]
    if one.needs and not met:
        ways = " or ".join(_typed(need, own) for need in one.needs)
        raise click.UsageError(f"{one.flag} has no effect without {ways}: add it, or leave {one.flag} out.", ctx)
    for other in one.excludes:
        if other in given:
            raise click.UsageError(f"{one.flag} does not go with {own[other].flag}: leave one of them out.", ctx)
    meaning = ctx.params.get("meaning")
    if one.meanings is not None and meaning is not None and meaning not in one.meanings:
        fitting = ", ".join(one.meanings)
        raise click.UsageError(f"{one.flag} does not go with --meaning {meaning}; it is for {fitting}.", ctx)


def _is_met(ctx: click.Context, need: str) -> bool:
    name, _, value = need.partition("=")
    found = ctx.params.get(name)
    return found == value if value else found not in (None, (), False)


def _typed(need: str, own: dict[str, Option]) -> str:
    name, _, value = need.partition("=")
    one = own[name]
    return f"{one.flag} {value or one.metavar or ''}".strip()


def _sentence(error: Exception, command: click.Command) -> str:
    """An error as the command line tells it: in options where Python has parameters."""
    from tercet.errors import TercetError

    if isinstance(error, TercetError):
        return in_options(str(error), command)
    if isinstance(error, OSError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"not enough memory. {error}".strip()
    return f"a fault in tercet itself ({type(error).__name__}: {error}). Run it with --debug and report the traceback."


def in_options(message: str, command: click.Command) -> str:
    """A message of a Python function with its parameters named as the options of this command.

    Two forms are known: `name=` anywhere, and `name` as the first word of a sentence that states a rule.
    """
    flags = {one.name: max(one.opts, key=len) for one in command.params if isinstance(one, click.Option)}
    flags |= {name: flags[alias] for name, alias in _ALIASES.items() if alias in flags}
    known = "|".join(sorted((name for name in flags if name), key=len, reverse=True))
    if not known:
        return message
    message = re.sub(rf"(?<![\w.-])({known})=(?=[\w'\"\[(.-])", lambda found: f"{flags[found[1]]} ", message)
    message = re.sub(rf"(?<![\w.-])({known})=", lambda found: flags[found[1]], message)
    rule = r"(?= (?:must|is|are|takes|needs|holds|hold)\b)"
    return re.sub(rf"(?:^|(?<=: ))({known}){rule}", lambda found: flags[found[1]], message)


def option(*declarations: str, **attributes: Any) -> Decorator:
    """click.option with the declarations of Option: needs, excludes, meanings."""
    return click.option(*declarations, cls=Option, **attributes)


def options(*wanted: Decorator) -> Decorator:
    """Several options as one decorator, in the order in which --help shows them."""

    def add(function: Function) -> Function:
        for one in reversed(wanted):
            function = one(function)
        return function

    return add


_COMMON = options(
    option("--verbose", is_flag=True, excludes=("quiet",), help="Say on stderr what is being done."),
    option("--quiet", is_flag=True, help="Say nothing on stderr but errors."),
    option("--debug", is_flag=True, help="Show a traceback."),
)


def new_command(name: str | None = None, **attributes: Any) -> Callable[[Function], Command]:
    """Makes a function a command, with the options that every command has."""

    def make(function: Function) -> Command:
        return click.command(name, cls=Command, **attributes)(_COMMON(function))

    return make
