"""Everything that a user of the package can reach, for the reference and for the test that holds it complete."""

from __future__ import annotations

import importlib
import inspect
import typing
from collections.abc import Callable, Iterator

import tercet

# The modules whose `__all__` is public; the names of `tercet` itself come first.
MODULES = (
    "tercet",
    "tercet.errors",
    "tercet.uncertainty",
    *(f"tercet.{name}" for name in tercet._MODULES),
    "tercet.io.score_sets",
    "tercet.outofcore",
)


def names_of(module: str) -> list[str]:
    """The public names of a module."""
    return list(getattr(importlib.import_module(module), "__all__", ["report"] if module == "tercet.report" else []))


def public_objects() -> dict[object, str]:
    """Names in `__all__`, the classes of what they return, methods and properties, each with its full path."""
    found: dict[object, str] = {}
    for module in MODULES:
        for name in names_of(module):
            _enrol(getattr(importlib.import_module(module), name), found)
    return found


def listed() -> set[object]:
    """What a module's `__all__` names."""
    values = (getattr(importlib.import_module(module), name) for module in MODULES for name in names_of(module))
    return {value for value in values if inspect.isclass(value) or inspect.isfunction(value)}


def is_member(path: str) -> bool:
    """Whether the path is that of a method or a property."""
    return path.split(".")[-2].lstrip("_")[:1].isupper()


def _enrol(value: object, found: dict[object, str]) -> None:
    if not (inspect.isclass(value) or inspect.isfunction(value)) or value in found:
        return
    if not value.__module__.startswith("tercet"):
        return
    found[value] = f"{value.__module__}.{value.__qualname__}"
    if inspect.isfunction(value):
        for kind in returned(value):
            _enrol(kind, found)
    elif inspect.isclass(value):
        for base in value.__mro__:
            if base.__module__.startswith("tercet"):
                _enrol_members(base, found)


def _enrol_members(kind: type, found: dict[object, str]) -> None:
    for name, member in vars(kind).items():
        value = getattr(member, "__func__", member)
        if name.startswith("_") or value in found:
            continue
        function = value.fget if isinstance(value, property) else getattr(value, "func", value)
        if inspect.isfunction(function):
            found[value] = f"{kind.__module__}.{kind.__qualname__}.{name}"
            for one in returned(function):
                _enrol(one, found)


def returned(function: Callable[..., object]) -> list[type]:
    """The classes that the annotation of the result names."""
    try:
        hints = typing.get_type_hints(inspect.unwrap(function))
    except NameError:  # the annotation names what is imported for type checkers only
        return []
    return [one for one in _parts(hints.get("return")) if inspect.isclass(one)]


def _parts(annotation: object) -> Iterator[object]:
    inner = typing.get_args(annotation)
    if not inner:
        yield annotation
    for part in inner:
        yield from _parts(part)
