"""The door for arrays: whatever the outside calls a column becomes a checked, frozen numpy array, or is refused.

Lists, numpy arrays, pandas and polars series, Arrow arrays and CPU tensors are read through their own
conversion to numpy; none of these libraries is imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import over_parts
from tercet._typing import Floats
from tercet.errors import InputError

_STANDARD_PAIRS = (("0", "1"), ("false", "true"), ("nontarget", "target"))


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """The array itself, made read-only."""
    array.setflags(write=False)
    return array


def shown(value: object) -> str:
    """A value as an error message shows it: short, and harmless in a terminal."""
    text = ascii(value)
    return text if len(text) <= 64 else text[:61] + "..."


def number(value: object, name: str) -> float:
    """One number: no text, no truth value, no NaN, nothing that a double cannot hold."""
    try:
        if isinstance(value, str | bytes | bool | np.bool_):
            raise TypeError
        found = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number, not {shown(value)}.") from None
    if found != found:
        raise InputError(f"{name} must be a number, not NaN.")
    return found


def whole(value: object, name: str, least: int) -> int:
    """One whole number, at least this large."""
    found = number(value, name)
    if not found.is_integer() or found < least:
        raise InputError(f"{name} must be a whole number, at least {least}, not {shown(value)}.")
    return int(found)


def column(values: object, name: str) -> NDArray[Any]:
    """Any array-like as a numpy array, with missing entries refused."""
    if isinstance(values, np.ma.MaskedArray):
        _refuse_missing(np.ma.getmaskarray(values), name, "masked")
        values = values.data
    nulls = getattr(values, "null_count", 0)  # Arrow has it as a number, polars as a method
    if np.sum(np.asarray(nulls() if callable(nulls) else nulls)) > 0:
        marks = getattr(values, "is_null", None)
        _refuse_missing(np.asarray(marks()) if callable(marks) else np.ones(1, np.bool_), name, "missing (null)")
    device = getattr(getattr(values, "device", None), "type", "cpu")
    if device != "cpu":
        raise InputError(f"{name} lives on the device {shown(device)}: move it to the CPU first (.cpu()).")
    if hasattr(values, "detach"):
        values = values.detach()
    try:
        return np.asarray(values)
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise InputError(f"{name} cannot be read as an array: {error}.") from error


def _refuse_missing(marks: NDArray[np.bool_], name: str, kind: str) -> None:
    rows = np.flatnonzero(marks.reshape(len(marks), -1).any(axis=1)) if marks.size else np.zeros(0, np.intp)
    if len(rows):
        raise InputError(
            f"{name} has {kind} entries: {len(rows)} of {len(marks)} rows, the first in row {rows[0]} (counting "
            f"from 0). Drop these rows first."
        )


def same_index(columns: Mapping[str, object]) -> None:
    """Refuses pandas objects whose indexes differ: rows are matched by position, so they must agree."""
    indexed = [(name, value) for name, value in columns.items() if hasattr(value, "iloc")]
    for name, value in indexed[1:]:
        first_name, first = indexed[0]
        if not first.index.equals(value.index):  # type: ignore[attr-defined]
            raise InputError(
                f"{first_name} and {name} are pandas objects with different indexes, and rows are matched by "
                f"position. Align them first, or pass .to_numpy() to say that the order is right."
            )


def numbers(values: object, name: str, ndim: int = 1) -> Floats:
    """A frozen float64 copy of a numeric column, or of a table where ndim is 2, without NaN; -0.0 becomes 0.0."""
    array = column(values, name)
    if array.ndim != ndim:
        way_out = "" if array.ndim else " Pass a list or an array."
        raise InputError(f"{name} must be {ndim}-dimensional, not an array of shape {array.shape}.{way_out}")
    wide = _widened(array, name)
    result = np.empty(wide.shape)

    def copied(part: slice) -> bool:
        np.add(wide[part], 0.0, out=result[part])  # adding 0 turns -0.0 into 0.0
        return bool(np.isnan(result[part].min(initial=0.0)))

    if any(over_parts(copied, len(wide))):
        rows = np.flatnonzero(np.isnan(result).reshape(len(result), -1).any(axis=1))
        way_out = {
            "scores": " Drop these rows, or write -inf for a score that counts as a rejection.",
            "weights": " Drop these rows, or give them the weight 0.",
        }.get(name, "")
        raise InputError(
            f"{name} must not hold NaN: {len(rows)} of {len(result)} rows, the first in row {rows[0]} "
            f"(counting from 0).{way_out}"
        )
    return frozen(result)


def _widened(array: NDArray[Any], name: str) -> Floats:
    if array.dtype == np.object_:
        array = _from_objects(array, name)
    if array.dtype.kind not in "iuf":
        kind = {"b": "true/false values", "U": "text", "S": "bytes", "c": "complex numbers"}
        what = kind.get(array.dtype.kind, f"values of type {array.dtype}")
        raise InputError(f"{name} must be numbers, not {what}.")
    with np.errstate(over="ignore"):
        wide = array.astype(np.float64, copy=False)
    if array.dtype.kind in "iu":
        large = np.abs(wide) >= 2.0**53
        _refuse_rounding(array[large].tolist(), name) if large.any() else None
    elif array.dtype.itemsize > 8:
        _refuse_rounding(array[wide.astype(array.dtype) != array].tolist(), name)
    return wide


def _refuse_rounding(values: Iterable[Any], name: str) -> None:
    """Refuses numbers that a double would round: neighbours could merge."""
    lost = next((value for value in values if value == value and _rounds(value)), None)
    if lost is not None:
        raise InputError(
            f"{name} does not fit into 64-bit floating point without merging neighbours: first value {shown(lost)}. "
            f"Round or rescale it on purpose."
        )


def _rounds(value: Any) -> bool:
    try:
        return bool(float(value) != value)
    except OverflowError:
        return True


def _from_objects(array: NDArray[np.object_], name: str) -> NDArray[Any]:
    """Python numbers kept in an object array; text, None and the like are refused by place."""
    for place, value in enumerate(array.ravel()):
        if isinstance(value, str | bytes | bool | np.bool_) or not hasattr(value, "__float__"):
            raise InputError(f"{name} must be numbers: entry {place} is {shown(value)}.")
    _refuse_rounding((value for value in array.ravel() if isinstance(value, int)), name)
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{name} must be numbers: {error}.") from error


def names(values: object, name: str) -> NDArray[Any]:
    """A frozen copy of a one-dimensional column of labels, ids or groups, nothing missing."""
    array = column(_as_objects(values) if isinstance(values, list | tuple) else values, name)
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, not an array of shape {array.shape}. Pass a list or an array."
        )
    if array.dtype.kind == "O":
        missing = [place for place, value in enumerate(array) if value is None or _is_na(value) or value != value]
    elif array.dtype.kind in "fcmM":
        missing = list(np.flatnonzero(np.isnan(array)))
    else:
        missing = []
    if missing:
        raise InputError(
            f"{name} must not be missing: {len(missing)} of {len(array)} rows, the first in row {missing[0]} "
            f"(counting from 0). Drop these rows, or give them a name of their own."
        )
    return frozen(array.copy())


def _as_objects(values: list[Any] | tuple[Any, ...]) -> object:
    """Lists in which numpy would turn a NaN into the word, or drop a trailing NUL: kept as they are."""
    words = [value for value in values if isinstance(value, str)]
    if not words or (len(words) == len(values) and not any(word.endswith("\0") for word in words)):
        return values
    objects = np.empty(len(values), np.object_)
    objects[:] = values
    return objects


def _is_na(value: object) -> bool:
    return type(value).__name__ in ("NAType", "NaTType")


def same_length(length: int, columns: Mapping[str, NDArray[Any] | None]) -> None:
    """Refuses columns that are not as long as the scores."""
    for name, values in columns.items():
        if values is not None and len(values) != length:
            raise InputError(f"{name} has {len(values)} entries for {length} rows of scores.")


def distinct(values: NDArray[Any]) -> list[Any]:
    """The distinct values in order of appearance, as Python objects."""
    return list(dict.fromkeys(values.tolist()))


def is_target(labels: object, target: object) -> tuple[NDArray[np.bool_], tuple[str, str]]:
    """Two-class labels as a mask (true = target) and the names (non-target, target).

    Without `target` only labels that say it themselves are taken: 0/1, false/true, nontarget/target.
    """
    array = names(labels, "labels")
    if target is not None:
        return _equals_target(array, target)
    if array.dtype == np.bool_:
        return array, ("nontarget", "target")
    if array.dtype.kind in "iuf" and (array.size == 0 or (array.min() >= 0 and array.max() <= 1)):
        mask = array.astype(np.bool_)
        if array.dtype.kind != "f" or np.array_equal(mask, array):
            return frozen(mask), ("nontarget", "target")
    found = distinct(array)
    words = {value: str(value).lower() for value in found}
    for pair in _STANDARD_PAIRS:
        if set(words.values()) <= set(pair):
            positive = [value for value in found if words[value] == pair[1]]
            return frozen(np.isin(array, positive)), ("nontarget", "target")
    raise InputError(
        f"labels hold {', '.join(shown(value) for value in found[:4])}{', ...' if len(found) > 4 else ''}: "
        f"name the one that is the target (target=...); only 0/1, false/true and nontarget/target go without."
    )


def _equals_target(array: NDArray[Any], target: object) -> tuple[NDArray[np.bool_], tuple[str, str]]:
    found = distinct(array)
    if array.size and target not in found:
        raise InputError(
            f"target={shown(target)} is not among the labels, which hold "
            f"{', '.join(shown(value) for value in found[:4])}{', ...' if len(found) > 4 else ''}."
        )
    others = [value for value in found if value != target]
    return frozen(equal_to(array, target)), (str(others[0]) if len(others) == 1 else f"not {target}", str(target))


def equal_to(labels: NDArray[Any], target: object) -> NDArray[np.bool_]:
    """Which labels are this one, none perhaps."""
    if labels.dtype == np.object_:
        return np.fromiter((value == target for value in labels.tolist()), np.bool_, len(labels))
    return np.broadcast_to(np.asarray(labels == target), labels.shape)


def class_codes(labels: NDArray[Any], classes: tuple[str, ...], given: Iterable[object] | None) -> NDArray[np.intp]:
    """K-class labels as 0..K-1: whole numbers already, or the class names in the order of the columns."""
    if given is None:
        return _numbered(labels, len(classes))
    codes = {value: code for code, value in enumerate(given)}
    try:
        return frozen(np.fromiter((codes[value] for value in labels.tolist()), np.intp, len(labels)))
    except KeyError as error:
        raise InputError(
            f"labels hold {shown(error.args[0])}, which is not among the classes "
            f"{', '.join(shown(value) for value in list(codes)[:4])}{', ...' if len(codes) > 4 else ''}."
        ) from None


def _numbered(labels: NDArray[Any], count: int) -> NDArray[np.intp]:
    whole = labels.dtype.kind in "iub" or (labels.dtype.kind == "f" and np.array_equal(labels, np.floor(labels)))
    if not whole:
        raise InputError("labels are not class numbers: name the classes in the order of the columns (classes=...).")
    if labels.size and not 0 <= labels.min() <= labels.max() < count:
        bad = np.flatnonzero((labels < 0) | (labels >= count))
        raise InputError(
            f"labels must lie in 0..{count - 1} for {count} columns of scores: row {bad[0]} holds "
            f"{shown(labels[bad[0]].item())}. Name the classes with classes=... if they are called otherwise."
        )
    return frozen(labels.astype(np.intp))
