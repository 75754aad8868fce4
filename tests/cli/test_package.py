"""The package of commands: each is there, lazily, with the sentence that --help shows."""

import pkgutil
import re
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import tercet.cli
from tercet.cli._command import Option, in_options
from tercet.cli.main import COMMANDS, main

NOT_COMMANDS = {"main", "entry"}


def commands():
    """Every command of the tree that runs something, as (words, command)."""
    context = click.Context(main)
    for name in COMMANDS:
        found = main.get_command(context, name)
        if isinstance(found, click.Group):
            yield from (((name, inner), one) for inner, one in found.commands.items())
        else:
            yield (name,), found


EACH = [pytest.param(words, one, id="-".join(words)) for words, one in commands()]


def test_each_module_is_a_command_of_the_list():
    modules = {name.replace("_", "-") for _, name, _ in pkgutil.iter_modules(tercet.cli.__path__)}
    assert {name for name in modules if not name.startswith("-")} - NOT_COMMANDS == set(COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_says_what_the_command_says_of_itself(name):
    found = main.get_command(click.Context(main), name)
    assert found.help.split("\n\n")[0] == COMMANDS[name]


def test_help_imports_no_command():
    code = (
        "import sys\nfrom tercet.cli.main import main\ntry:\n    main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'rich', 'duckdb', 'scipy', 'tercet.cli.evaluate', 'tercet.cli.check'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(("words", "one"), EACH)
def test_what_an_option_declares_names_options_of_its_command(words, one):
    own = {param.name: param for param in one.params}
    for param in one.params:
        if isinstance(param, Option):
            parts = [part.partition("=")[0] for need in param.needs for part in need.split("&")]
            assert [other for other in parts if other not in own] == [], (words, param.name)
            for other in param.excludes:
                assert isinstance(own.get(other), Option), (words, param.name, other)


@pytest.mark.parametrize(("words", "one"), EACH)
def test_every_command_has_help(words, one):
    found = CliRunner().invoke(main, [*words, "--help"])
    assert found.exit_code == 0
    assert "--debug" in found.stdout


@pytest.mark.parametrize(("words", "one"), EACH)
def test_help_shows_every_option_in_a_section_the_commands_own_first(words, one):
    text = CliRunner().invoke(main, [*words, "--help"]).output
    heads = re.findall(r"^(\w[\w ]+):$", text, re.MULTILINE)
    assert heads[-1] == "Every command" and heads.index("Options") == 0 if "Options" in heads else heads
    for param in one.params:
        if isinstance(param, click.Option):
            assert re.search(rf"^  .*{max(param.opts, key=len)}(?![\w-])", text, re.MULTILINE), param.name
            assert param.help, param.name


def test_a_near_name_is_offered():
    found = CliRunner().invoke(main, ["evalute"])
    assert found.exit_code == 2
    assert "Did you mean evaluate" in found.stderr


def test_errors_name_options_on_the_command_line():
    evaluate = dict(commands())["evaluate",]
    assert in_options("name the target (target=...)", evaluate) == "name the target (--target ...)"
    assert in_options("a.csv: target='x' is not among the labels", evaluate).startswith("a.csv: --target 'x' is not")
    assert in_options("resamples must be a whole number", evaluate) == "--bootstrap must be a whole number"
    assert in_options("read them with labels=.", evaluate) == "read them with --labels."
    assert in_options("labels= are matched by position", evaluate) == "--labels are matched by position"
    assert in_options("from labels= or key=.", evaluate) == "from --labels or --key."
    assert in_options("not target=.5", evaluate) == "not --target .5"
    assert in_options("the target is not known", evaluate) == "the target is not known"
    assert in_options("say unpaired=True.", dict(commands())["compare",]) == "say --unpaired."
    assert in_options("are not: leave engine out.", evaluate) == "are not: leave --engine out."
    assert in_options("a memory_limit of 1 MB is too small", evaluate) == "a --memory-limit of 1 MB is too small"
