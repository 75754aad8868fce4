"""The classes that decisions and labels name, their order, and the target among them."""

from __future__ import annotations

from collections.abc import Hashable

from tercet._numeric.coded import occurring
from tercet._numeric.validation import class_place, same_kind
from tercet._typing import Array
from tercet.errors import InputError

_STANDARD_TARGETS = {("0", "1"): "1", ("false", "true"): "true", ("nontarget", "target"): "target"}


def target_of(target: object, classes: tuple[str, ...]) -> str | None:
    """The named target, or the one that standard class names imply."""
    if target is None:
        wanted = _STANDARD_TARGETS.get(tuple(sorted(name.lower() for name in classes)))  # type: ignore[arg-type]
        return next((name for name in classes if name.lower() == wanted), None)
    return classes[class_place(target, classes, "target")]


def known_classes(decided: Array, true: Array, target: object) -> tuple[list[Hashable], bool]:
    """The classes that decisions and labels name, and whether their order is known.

    Numbers are in their order, and 0 and 1 are both there; of two classes the named target is the last, as everywhere;
    other names are sorted, and their order counts as unknown.
    """
    same_kind(decided, "decisions", true, "labels")
    found = list(dict.fromkeys([*occurring(true), *occurring(decided)]))
    if not found:
        raise InputError("There are no decisions to count: name the classes (classes=...).")
    if all(not isinstance(value, str) and value in (0, 1) for value in found):
        return [0, 1], True
    digits = all(isinstance(value, str) and value.isascii() and value.isdigit() for value in found)
    try:
        ordered = sorted(found, key=_as_digits) if digits else sorted(found)  # type: ignore[type-var]
    except TypeError:
        raise InputError("decisions and labels mix text and numbers: name the classes (classes=...).") from None
    if len(ordered) == 2 and target is not None:
        return (ordered[::-1] if str(ordered[0]) == str(target) else ordered), True
    standard = tuple(str(value).lower() for value in ordered) in _STANDARD_TARGETS
    return ordered, standard or digits or not isinstance(ordered[0], str)


def _as_digits(value: object) -> tuple[int, str]:
    return int(str(value)), str(value)
