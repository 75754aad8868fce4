"""Records check what they are given: every field is converted by its annotation, or refused by its name.

Annotations are read as text, so that a class which is imported for type checkers only needs no import here: a value
belongs to a class if one of its bases has that name. What belongs together is each class's own rule.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import fields
from functools import cache
from os import PathLike
from typing import Any, NoReturn, TypeVar

import numpy as np

from tercet._numeric.parallel import over_parts
from tercet._numeric.plain import plain as as_plain
from tercet._numeric.validation import (
    callback,
    column,
    flag,
    listed,
    mapping,
    names,
    number,
    numbers,
    shown,
    text,
    whole,
)
from tercet._typing import JSON, Array, Floats, Value
from tercet.errors import InputError

Take = Callable[[Value, str], Value]  # a value and the name it is called by: the value converted, or an InputError
Kind = TypeVar("Kind", bound=type)
Made = TypeVar("Made")
K = TypeVar("K")
V = TypeVar("V", covariant=True)


class ReadOnly(Mapping[K, V]):
    """A copy of a mapping, read-only; equal to a dict and shown as one. Unlike Python's own it can be pickled."""

    __slots__ = ("_items",)

    _items: dict[K, V]

    def __init__(self, items: Mapping[K, V]) -> None:
        object.__setattr__(self, "_items", dict(items))

    def __getitem__(self, key: K) -> V:
        return self._items[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __or__(self, other: Mapping[K, V]) -> dict[K, V]:
        return {**self, **other}

    def __ror__(self, other: Mapping[K, V]) -> dict[K, V]:
        return {**other, **self}

    def __repr__(self) -> str:
        return repr(self._items)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"{name} cannot be set: the mapping is read-only.")

    def __delattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"{name} cannot be deleted: the mapping is read-only.")

    def __reduce__(self) -> tuple[type, tuple[dict[K, V]]]:
        return type(self), (self._items,)


class Record:
    """A frozen dataclass whose constructor checks the types of its fields."""

    __slots__ = ()

    def __post_init__(self) -> None:
        check_fields(self)


class PlainRecord(Record):
    """A record whose fields are its JSON."""

    __slots__ = ()

    def to_dict(self) -> JSON:
        """Everything as plain numbers and text.

        Returns
        -------
        dict
            Plain values; infinities as text.
        """
        return dict(as_plain(self))


def check_fields(record: object, known: Container[str] = ()) -> None:
    """Converts every field of a dataclass to the type that its annotation names; other types are refused.

    `known` names fields that have been checked: a look at each of many numbers takes time.
    """
    kind: Value = type(record)
    for name, plain, take in _plan(kind):
        value = getattr(record, name)
        if name not in known and type(value) not in plain and (taken := take(value, name)) is not value:
            object.__setattr__(record, name, taken)


def computed(kind: type[Made], **values: object) -> Made:
    """A record of values that tercet computed, so they are not checked; give every field, because no default is set."""
    made = object.__new__(kind)
    for name, value in values.items():
        object.__setattr__(made, name, value)
    return made


def derived(record: Made, **changed: object) -> Made:
    """A record with other values in some fields, as dataclasses.replace gives it, for values that need no look."""
    kind: Value = type(record)
    made: Made = object.__new__(kind)
    for name, _, _ in _plan(kind):
        object.__setattr__(made, name, changed[name] if name in changed else getattr(record, name))
    return made


def checked_tuple(kind: Kind) -> Kind:
    """The same for a NamedTuple, as a decorator: such a class cannot have a constructor of its own."""
    made = kind.__new__
    plan = cache(lambda: [(name, _parsed(_words(one))[1]) for name, one in kind.__annotations__.items()])

    def checked(cls: type, *values: object, **named: object) -> object:
        found: Value = made(cls, *values, **named)
        return tuple.__new__(cls, [take(value, name) for value, (name, take) in zip(found, plan(), strict=True)])

    checked.__wrapped__ = made  # type: ignore[attr-defined]
    kind.__new__ = checked  # type: ignore[assignment,method-assign]
    return kind


@cache
def _plan(kind: type[Any]) -> list[tuple[str, set[type], Take]]:
    """For each field its name, the types that need no look, and what takes the others."""
    return [(one.name, *_parsed(str(one.type))) for one in fields(kind) if one.init]


def _words(annotation: object) -> str:
    """The text of an annotation, to which a NamedTuple keeps a reference."""
    return str(getattr(annotation, "__forward_arg__", annotation))


@cache
def _parsed(annotation: str) -> tuple[set[type], Take]:
    return _of(ast.parse(annotation, mode="eval").body)


_PLAIN: dict[str, type] = {"str": str, "int": int, "bool": bool, "None": type(None)}


def _of(node: ast.expr) -> tuple[set[type], Take]:
    """For an annotation the types that need no look, which grow with what is taken, and what takes the others."""
    parts = _alternatives(node)
    plain = {_PLAIN[word] for part in parts if (word := ast.unparse(part)) in _PLAIN}
    takes = [_one(part) for part in parts if ast.unparse(part) != "None"]
    of_tuples = sorted(takes, key=lambda one: not one.__qualname__.startswith("_tuple_of"))

    def either(value: Value, name: str) -> Value:
        refusal = None
        for one in of_tuples if type(value) is tuple else takes:
            try:
                return one(value, name)
            except InputError as error:
                refusal = refusal or error
        raise refusal or InputError(f"{name} must be None, not {shown(value)}.")

    take = takes[0] if len(takes) == 1 else either

    def learning(value: Value, name: str) -> Value:
        if type(value) in plain:
            return value
        taken = take(value, name)
        if taken is value and type(value).__module__.startswith("tercet.") and type(value) is not ReadOnly:
            plain.add(type(value))  # a class of tercet's own is taken by its type alone, a mapping by what it holds
        return taken

    return plain, learning


def _alternatives(node: ast.expr) -> list[ast.expr]:
    """A | B | C as its parts."""
    if isinstance(node, ast.BinOp):
        return [*_alternatives(node.left), *_alternatives(node.right)]
    return [node]


def _one(node: ast.expr) -> Take:
    """What takes values of one type."""
    word, _, inside = ast.unparse(node).partition("[")
    if inside and word not in ("NDArray", "Callable", "Literal"):
        assert isinstance(node, ast.Subscript)
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if word == "tuple" and ast.unparse(inner[-1]) != "...":
            return _tuple_of([_of(one)[1] for one in inner])
        if word in ("tuple", "Sequence"):
            return _tuple_of_any(*_of(inner[0]))
        if word in ("Mapping", "dict"):
            return _mapping_of(_of(inner[1])[1], dict if word == "dict" else None)
    return _TAKES.get(word if word != "NDArray" else f"{word}[{inside}", _instance_of(word))


def _tuple_of(takes: list[Take]) -> Take:
    """So many values of these types."""

    def take(value: Value, name: str) -> tuple[object, ...]:
        entries = listed(value, name)
        if len(entries) != len(takes):
            raise InputError(f"{name} must have {len(takes)} entries, not {shown(value)}.")
        return tuple(one(entry, f"{name}[{k}]") for k, (one, entry) in enumerate(zip(takes, entries, strict=True)))

    return take


def _tuple_of_any(plain: set[type], take_one: Take) -> Take:
    """Any number of values of one type."""

    def take(value: Value, name: str) -> tuple[object, ...]:
        if type(value) is tuple and plain.issuperset(map(type, value)):
            return value
        entries = value if type(value) is tuple else listed(value, name)
        return tuple(take_one(one, f"{name}[{k}]") for k, one in enumerate(entries))

    return take


def _mapping_of(take_value: Take, kind: type | None) -> Take:
    """Named values of one type; a dict where a dict is annotated."""

    def take(value: Value, name: str) -> Value:
        if type(value) is not dict:
            value = mapping(value, name) if kind is None else dict(mapping(value, name))
        if take_value is _anything:
            return value
        taken = {key: take_value(one, f"{name}[{shown(key)}]") for key, one in value.items()}
        return value if all(map(operator.is_, taken.values(), value.values())) else taken

    return take


def _instance_of(word: str) -> Take:
    kind = word.rpartition(".")[2]
    protocol = {"Chunks": "chunks"}.get(kind, "")  # a class that the caller writes, by the method that it must have

    def take(value: Value, name: str) -> Value:
        if not any(base.__name__ == kind for base in type(value).__mro__) and not hasattr(type(value), protocol):
            raise InputError(f"{name} must be of the class {kind}, not {shown(value)}.")
        return value

    return take


def _whole(value: Value, name: str) -> int:
    return value if type(value) is int else whole(value, name, -(2**1100), 2**1100)


def _floats(value: Value, name: str) -> Floats:
    """Doubles of any number of dimensions, none of them NaN; a float64 array is kept as it is."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim:
        least = over_parts(lambda rows: np.minimum.reduce(value[rows], axis=None, initial=0.0), len(value))
        if any(one != one for one in least):
            raise InputError(f"{name} must not contain NaN.")
        return value
    return numbers(value, name, max(column(value, name).ndim, 1))


def _integers(value: Value, name: str) -> Array:
    """Whole numbers of any number of dimensions; Python's own where they leave 64 bits."""
    array = column(value, name)
    objects = array.dtype == np.object_ and all(type(one) is int for one in array.ravel().tolist())
    if not (array.dtype.kind in "iu" or objects) or array.ndim == 0:
        raise InputError(f"{name} must be whole numbers, not {shown(value)}.")
    return array


def _values(value: Value, name: str) -> Array:
    """A column of any values, nothing missing; what is not text or objects may have several dimensions."""
    array = value if type(value) is np.ndarray else None
    if array is not None and (array.dtype.kind in "biuU" or (array.dtype.kind == "O" and not array.flags.writeable)):
        return array  # objects that cannot be changed have been looked at when they were frozen
    if array is not None and array.dtype.kind == "f":
        return _floats(array.astype(np.float64), name) if array.dtype != np.float64 else _floats(array, name)
    found = names(value, name)
    if found.dtype.kind not in "biufUSTO":
        raise InputError(f"{name} must be numbers or names, not values of type {found.dtype}.")
    return found


def _path(value: Value, name: str) -> Value:
    if not isinstance(value, str | PathLike):
        raise InputError(f"{name} must be the name of a file (text or a path), not {shown(value)}.")
    return value


def _anything(value: Value, name: str) -> Value:
    return value


_TAKES: dict[str, Take] = {
    "float": number, "int": _whole, "str": text, "bool": flag, "Floats": _floats, "Array": _values,
    "Counts": _integers, "Ints": _integers, "NDArray[np.int64]": _integers, "NDArray[np.intp]": _integers,
    "Facts": _mapping_of(_anything, None), "JSON": _mapping_of(_anything, dict), "StrPath": _path,
    "Progress": callback, "Splitter": callback, "Callable": callback, "Any": _anything, "object": _anything,
    "Value": _anything,
}  # fmt: skip
