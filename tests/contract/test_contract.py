"""The contract of everything public: hostile arguments give the right answer or a sentence that names the argument.

Here a sample of the calls, drawn by hash, of every public callable; `python tests/contract/full.py` makes all of them.
"""

from __future__ import annotations

import importlib.util
import os
import pathlib
import sys
import tempfile
import warnings

import pytest

import tercet as tc

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib").use("Agg")

HERE = pathlib.Path(__file__).parent
EVERY = int(os.environ.get("TERCET_CONTRACT_EVERY", "40"))  # 1 of this many calls is made


def _loaded(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


_loaded("values")
harness = _loaded("harness")


def test_every_public_callable_has_clean_values_and_answers_them(tmp_path):
    found = harness.targets(tmp_path)
    assert harness.WITHOUT_VALUES == {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for target in found:
            harness.clean_call(target)


def test_every_argument_is_given_at_least_sixty_hostile_values():
    assert len(harness.HOSTILE) >= 60


@pytest.fixture
def open_folder():
    """A folder that an unprivileged process can use: pytest's own is closed to others."""
    with tempfile.TemporaryDirectory(prefix="tercet-contract-") as name:
        pathlib.Path(name).chmod(0o777)
        yield pathlib.Path(name)


@pytest.mark.parametrize("part", range(6))
def test_hostile_arguments_give_an_answer_or_a_sentence_that_names_them(part, open_folder):
    found = harness.targets(open_folder)[part::6]
    for target in found:
        harness.clean_call(target)  # loads what the unprivileged child may not be able to read

    def work():
        for target in found:
            yield from harness.outcomes(target, open_folder, EVERY)

    outcomes = harness.in_child(work, open_folder)
    assert len(outcomes) > 50
    assert [str(one) for one in outcomes if not one.allowed] == []


def test_a_new_callable_without_clean_values_is_named(tmp_path, monkeypatch):
    def newcomer(something_new):
        """Without values."""

    known = harness.public_callables
    monkeypatch.setattr(harness, "public_callables", lambda: {**known(), "newcomer": (newcomer, None)})
    harness.targets(tmp_path)
    assert "tests/contract/values.py" in harness.WITHOUT_VALUES["newcomer"]


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda count: [1][count], "raw"),
        (lambda count: tc.Application("x"), "unnamed"),
        (lambda count: warnings.warn("hm", stacklevel=1), "warning"),
        (lambda count: float("nan"), "nan"),
        (lambda count: 3, "accepted"),
    ],
)
def test_what_is_not_allowed_is_found(call, kind, tmp_path):
    target = harness.Target("broken", call, {"count": 0})
    kinds = {harness.attempt(target, "count", k, v, tmp_path).kind for k, v in harness.hostile_values().items()}
    assert kind in kinds


def test_text_that_is_taken_for_a_number_is_found(tmp_path):
    target = harness.Target("broken", lambda count: float(count), {"count": 0.5})
    assert harness.attempt(target, "count", "number as text", "0.5", tmp_path).kind == "accepted"
    named = harness.Target("fine", lambda count: str(count), {"count": "a"})
    assert harness.attempt(named, "count", "number as text", "0.5", tmp_path).kind == "fine"


def test_another_answer_to_an_equivalent_value_is_found(tmp_path):
    target = harness.Target("broken", lambda count: type(count).__name__, {"count": 0.5})
    found = {one.value: one.kind for one in harness.outcomes(target, tmp_path)}
    assert found["numpy float64"] == "different"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
def test_the_child_has_no_privileges_and_its_own_home(open_folder):
    def work():
        yield harness.Outcome(str(os.geteuid()), os.environ["HOME"], str(pathlib.Path.cwd()), "fine")

    (found,) = harness.in_child(work, open_folder)
    assert int(found.target) != 0
    assert found.argument == str(open_folder)
    assert pathlib.Path(found.value) == open_folder.resolve()
    assert pathlib.Path.cwd() != open_folder.resolve()


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "x", "~/x", b"/etc/x", 1, True, pathlib.Path("/home/x"), "a\0b"]
)
def test_the_guard_refuses_paths_outside_the_folder(path, tmp_path):
    assert not harness.harmless(path, tmp_path)
    called = []
    writer = harness.Target("io.write_table", lambda path: called.append(path), {"path": tmp_path / "x"})
    assert harness.attempt(writer, "path", "hostile", path, tmp_path).kind == "fine"
    assert called == []


def test_the_guard_refuses_a_path_that_leaves_by_a_link(tmp_path):
    (tmp_path / "away").symlink_to("/tmp")
    assert not harness.harmless(tmp_path / "away" / "x", tmp_path)
    assert not harness.harmless(str(tmp_path / ".." / "x"), tmp_path)
    assert harness.harmless(tmp_path / "x.csv", tmp_path)
    assert harness.harmless([1, 2], tmp_path)
