"""Every public object is in the reference, with a docstring that describes it and an example that ends in a number."""

import dataclasses
import doctest
import importlib
import inspect
import re
import sys
from pathlib import Path

import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate

sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))

import api
from public import is_member, names_of, public_objects

# numpydoc's own codes: a summary that is a sentence; parameters known, in order, with type and text; what comes out.
OF_CLASSES = {"GL08", "SS01", "SS03", "PR02", "PR03", "PR04", "PR06", "PR07", "PR10"}
OF_FUNCTIONS = OF_CLASSES | {"PR01", "RT01", "RT03", "YD01"}


def fields(kind):
    if dataclasses.is_dataclass(kind):
        names = [field.name for field in dataclasses.fields(kind)]
    else:
        names = getattr(kind, "_fields", ())
    return [name for name in names if not name.startswith("_")]


def described(kind):
    doc = ClassDoc(kind)
    entries = [entry for part in ("Parameters", "Attributes") for entry in doc[part] if any(entry.desc)]
    return {name.strip() for entry in entries for name in entry.name.split(",")}


def problems(value, path):
    """What numpydoc finds wrong, and the fields of a result that nothing describes."""
    codes = OF_FUNCTIONS if inspect.isfunction(value) else OF_CLASSES
    found = [f"{code}: {text}" for code, text in validate(path)["errors"] if code in codes]
    if inspect.isclass(value):
        missing = [name for name in fields(value) if name not in described(value)]
        found += [f"the field {name} is not described" for name in missing]
    return found


OBJECTS = public_objects()
OWN_PAGE = sorted(path for path in OBJECTS.values() if not is_member(path))  # members stand on the page of their class


def test_everything_public_was_found():
    paths = set(OBJECTS.values())
    assert len(paths) > 400
    assert {
        "tercet.trials.Trials.of_llr", "tercet.application.Application.threshold", "tercet.metrics.curves.Eer",
        "tercet.spoofing._agnostic.a_dcf", "tercet.io.read.read",
    } <= paths  # fmt: skip


@pytest.mark.parametrize("path", sorted(set(OBJECTS.values())))
def test_a_docstring_describes_all_that_goes_in_and_comes_out(path):
    value = next(value for value, known in OBJECTS.items() if known == path)
    assert problems(value, path) == []


def test_so_does_every_name_in_the_all_of_a_module_without_underscore():
    """Also what users reach only by the name of its module, such as displays."""
    root = Path(importlib.import_module("tercet").__file__).parent
    paths = [path.relative_to(root).with_suffix("").parts for path in root.rglob("*.py")]
    named = {".".join(("tercet", *parts)).removesuffix(".__init__") for parts in paths if parts[0] != "cli"}
    found = {}
    for module in [importlib.import_module(name) for name in sorted(named) if "._" not in name]:
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and value.__module__.startswith("tercet"):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    assert len(found) > 220
    assert {path: wrong for path, value in found.items() if (wrong := problems(value, path))} == {}


def shown_number(doc):
    """Whether an example prints a number, or shows an error: a docstring's examples are run as doctests."""
    wants = [example.want for example in doctest.DocTestParser().get_examples(doc or "")]
    return any(re.search(r"\d|Error", want) for want in wants)


@pytest.mark.parametrize("path", OWN_PAGE)
def test_an_example_shows_a_number(path):
    value = next(value for value, known in OBJECTS.items() if known == path)
    assert shown_number(inspect.getdoc(value)), f"{path} has no example that prints a number"


def test_an_example_that_prints_nothing_is_not_enough():
    assert not shown_number(">>> number = 1 + 1")
    assert not shown_number("The number is 2.")
    assert shown_number(">>> 1 + 1\n2")


def test_the_reference_lists_everything_public(tmp_path):
    api.write(tmp_path / "api.md")
    text = (tmp_path / "api.md").read_text(encoding="utf-8")
    listed = set()
    for module, names in re.findall(r"currentmodule:: (\S+)\n\n.*?toctree: generated\n\n(.*?)\n```", text, re.S):
        listed |= {f"{module}.{name.strip()}" for name in names.splitlines()}
    found = {getattr_path(path) for path in listed}
    assert [path for value, path in OBJECTS.items() if not is_member(path) and value not in found] == []
    assert len(names_of("tercet")) > 130


def getattr_path(path):
    """The object at a dotted path, from the deepest module on."""
    words = path.split(".")
    for cut in range(len(words) - 1, 0, -1):
        try:
            value = importlib.import_module(".".join(words[:cut]))
        except ModuleNotFoundError:
            continue
        for word in words[cut:]:
            value = getattr(value, word)
        return value
    raise AssertionError(path)


def test_a_parameter_without_description_is_found():
    def half(first, second):
        """Add.

        Parameters
        ----------
        first : int
            One.

        Returns
        -------
        int
            The sum.
        """
        return first + second

    globals()["half"] = half
    assert problems(half, f"{__name__}.half") == ["PR01: Parameters {'second'} not documented"]
