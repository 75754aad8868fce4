"""Every public object has a numpydoc docstring that describes each parameter, each field and what is returned."""

import dataclasses
import importlib
import inspect
import typing

import pytest
from numpydoc.docscrape import ClassDoc
from numpydoc.validate import validate

import tercet as tc

MODULES = ("tercet", "tercet.errors", "tercet.uncertainty", *(f"tercet.{name}" for name in tc._MODULES))
# numpydoc's own codes: a summary that is a sentence; parameters known, in order, with type and text; what comes out.
OF_CLASSES = {"GL08", "SS01", "SS03", "PR02", "PR03", "PR04", "PR06", "PR07", "PR10"}
OF_FUNCTIONS = OF_CLASSES | {"PR01", "RT01", "RT03", "YD01"}


def public_objects():
    """Whatever a user can reach: names in `__all__`, what they return, methods and properties."""
    found = {}
    for module in MODULES:
        loaded = importlib.import_module(module)
        for name in getattr(loaded, "__all__", ()):
            enrol(getattr(loaded, name), found)
    return found


def enrol(value, found):
    if not (inspect.isclass(value) or inspect.isfunction(value)) or value in found:
        return
    if not value.__module__.startswith("tercet"):
        return
    found[value] = f"{value.__module__}.{value.__qualname__}"
    if inspect.isfunction(value):
        for kind in returned(value):
            enrol(kind, found)
    else:
        for base in value.__mro__:
            if base.__module__.startswith("tercet"):
                enrol_members(base, found)


def enrol_members(kind, found):
    for name, member in vars(kind).items():
        value = getattr(member, "__func__", member)
        if name.startswith("_") or value in found:
            continue
        function = value.fget if isinstance(value, property) else getattr(value, "func", value)
        if inspect.isfunction(function):
            found[value] = f"{kind.__module__}.{kind.__qualname__}.{name}"
            for one in returned(function):
                enrol(one, found)


def returned(function):
    """The classes of tercet that the annotation of the result names."""
    try:
        hints = typing.get_type_hints(inspect.unwrap(function))
    except NameError:  # the annotation names what is imported for type checkers only
        return []
    return [one for one in parts(hints.get("return")) if inspect.isclass(one)]


def parts(annotation):
    inner = typing.get_args(annotation)
    return [annotation] if not inner else [one for part in inner for one in parts(part)]


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
