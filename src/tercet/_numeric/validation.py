"""Validate the arguments of public functions: numbers, words, lists and columns become typed values or are refused.

Lists, numpy arrays, pandas and polars series, Arrow arrays and CPU tensors are read through their own
conversion to numpy; none of these libraries is imported. Every message names the argument.
"""

from __future__ import annotations

import numbers as abstract
import operator
import re
import unicodedata
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from os import PathLike, fspath
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.coded import Coded, coded, codes_among
from tercet._numeric.coded import distinct as distinct
from tercet._numeric.parallel import over_parts
from tercet._typing import Array, Facts, Floats
from tercet.errors import InputError, did_you_mean

_BLOCK = 1 << 17  # numbers that stay in the cache while they are judged
TINY = float(np.finfo(np.float64).tiny)  # below lie the subnormal numbers, whose reciprocals overflow
_GREEK_OR_CYRILLIC = re.compile("[\u0370-\u052f]").search
_NEVER_MISSING = {str, int, bool, bytes, tuple}
STANDARD_PAIRS = (("0", "1"), ("false", "true"), ("nontarget", "target"))


def frozen(array: Array) -> Array:
    """The array itself, made read-only."""
    array.setflags(write=False)
    return array


def unchangeable(array: Array) -> bool:
    """Whether nobody can write to its memory: it and the array that it is a part of own it and are read-only."""
    owner = array if array.base is None else array.base
    return type(owner) is np.ndarray and owner.flags.owndata and not (owner.flags.writeable or array.flags.writeable)


def shown(value: object) -> str:
    """A value as an error message shows it: short, and harmless in a terminal."""
    try:
        text = _visible(value)
    except Exception:  # third-party reprs may raise anything
        text = f"<{type(value).__name__}>"
    return text if len(text) <= 64 else text[:61] + "..."


def some(values: Iterable[object], most: int = 6) -> str:
    """The first values as a message shows them, and dots where there are more."""
    given = list(values)
    return ", ".join(map(shown, given[:most])) + (", ..." if len(given) > most else "")


def _visible(value: object) -> str:
    """Letters of every language as they are, but escaped in words that may look like others, or harm a terminal."""
    text = repr(value)
    alike = not unicodedata.is_normalized("NFKC", text) or (re.search("[A-Za-z]", text) and _GREEK_OR_CYRILLIC(text))
    return ascii(value) if alike or not text.isprintable() else text


def shown_path(path: object) -> str:
    """A path as an error message shows it: a long one loses its beginning, because its end tells files apart."""
    text = _visible(str(path))
    return text if len(text) <= 128 else f"'...{text[-120:]}"


def number(value: object, name: str) -> float:
    """One number: no text, no truth value, no date, no complex number, no NaN, nothing that a double cannot hold."""
    found = value if type(value) is float else _real(_scalar(value), value, name)
    if found != found:
        raise InputError(f"{name} must be a number, not NaN.")
    return found


def positive(value: object, name: str) -> float:
    """A finite number above 0."""
    found = number(value, name)
    if not 0.0 < found < np.inf:
        raise InputError(f"{name} must be positive and finite, not {found}.")
    return found


def not_negative(value: object, name: str) -> float:
    """A finite number of at least 0."""
    found = number(value, name)
    if not 0.0 <= found < np.inf:
        raise InputError(f"{name} must be finite and not negative, not {found}.")
    return found


def _scalar(value: object) -> object:
    """A zero-dimensional array or tensor as the scalar it holds; anything else as it is."""
    if isinstance(value, np.ma.MaskedArray | np.generic) or getattr(value, "ndim", None) != 0:
        return value
    item = getattr(value, "item", None)
    return item() if callable(item) else value


def _real(value: object, given: object, name: str) -> float:
    if isinstance(value, bool | np.bool_ | np.timedelta64) or not isinstance(value, abstract.Real | Decimal):
        raise InputError(f"{name} must be a number, not {shown(given)}.")
    try:
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name} must be a number that 64-bit floating point can hold, not {shown(given)}.") from None
    if abs(found) == np.inf and value != found:
        raise InputError(f"{name} must be a number that 64-bit floating point can hold, not {shown(given)}.")
    return found


def whole(value: object, name: str, least: int, most: int = 10**300) -> int:
    """One whole number between two ends, exact at any size."""
    plain = _scalar(value)
    try:
        odd = isinstance(plain, bool | np.bool_ | np.timedelta64)
        found = None if odd else operator.index(plain)  # type: ignore[arg-type]
    except TypeError:
        rough = number(plain, name)
        found = int(rough) if rough.is_integer() else None
    if found is None or found < least:
        raise InputError(f"{name} must be a whole number, at least {least}, not {shown(value)}.")
    if found > most:
        raise InputError(f"{name} must be a whole number, at most {most:.3g}, not {shown(value)}.")
    return found


def row_numbers(values: object, count: int, name: str = "rows") -> Array:
    """A mask of this many rows, or row numbers that exist."""
    array = column(values, name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "biu"):
        raise InputError(f"{name} must be a mask, a slice or a list of row numbers, not {shown(values)}.")
    if array.dtype.kind == "b" and len(array) != count:
        raise InputError(f"{name} is a mask of {len(array)} entries for {count} trials.")
    if array.dtype.kind in "iu" and array.size and not -count <= array.min() <= array.max() < count:
        raise InputError(f"{name} must be row numbers below {count}, not {shown(array.tolist())}.")
    return array if array.size else array.astype(np.intp)


def rate(value: object, name: str) -> float:
    """A number between 0 and 1, both ends included."""
    found = number(value, name)
    if not 0.0 <= found <= 1.0:
        raise InputError(f"{name} must be a rate between 0 and 1, not {found}.{_as_percentage(found)}")
    if 0.0 < found < TINY:
        raise InputError(f"{name} must be 0 or at least {TINY:.3g}, not {found}.")
    return found


def probability(value: object, name: str) -> float:
    """A number strictly between 0 and 1, and above the subnormal numbers, whose reciprocals overflow."""
    found = number(value, name)
    if not 0.0 < found < 1.0:
        raise InputError(f"{name} must lie strictly between 0 and 1, not {found}.{_as_percentage(found)}")
    if found < TINY:
        raise InputError(f"{name} must be at least {TINY:.3g}, not {found}.")
    return found


def _as_percentage(found: float) -> str:
    return f" {found:g} % is {found / 100.0:g}." if 1.0 < found < 100.0 else ""


def seed_number(value: object, name: str = "seed") -> int:
    """A seed: a whole number that is not negative."""
    return whole(value, name, 0)


def flag(value: object, name: str) -> bool:
    """True or False, and nothing that merely behaves like one of them."""
    if not isinstance(value, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {shown(value)}.")
    return bool(value)


def text(value: object, name: str) -> str:
    """One string."""
    if not isinstance(value, str):
        raise InputError(f"{name} must be text, not {shown(value)}.")
    return str(value)


Word = TypeVar("Word", bound=str)


def chosen(value: object, name: str, options: Iterable[Word]) -> Word:
    """One of the words that an argument may be."""
    known = list(options)
    for option in known:
        if isinstance(value, str) and value == option:
            return option
    hint = did_you_mean(value, known, 1) if isinstance(value, str) else ""
    raise InputError(f"{name} must be one of {', '.join(map(repr, known))}, not {shown(value)}.{hint}")


_LONGEST_LIST = 1_000_000  # an endless generator must not be read for ever


def listed(values: object, name: str) -> list[Any]:
    """The entries of a list or another finite collection; one string is not a collection."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be a list, not {shown(values)}.")
    try:
        found = list(islice(values, _LONGEST_LIST + 1))
    except Exception as error:
        raise InputError(f"{name} cannot be read as a list: {error}.") from error
    if len(found) > _LONGEST_LIST:
        raise InputError(f"{name} must be a list of at most {_LONGEST_LIST} entries.")
    return found


Kind = TypeVar("Kind")
Key = TypeVar("Key")
Entry = TypeVar("Entry")


def instance(value: object, kind: type[Kind] | tuple[type[Kind], ...], name: str, way_out: str = "") -> Kind:
    """A value of this type, or of one of these."""
    if not isinstance(value, kind):
        wanted = kind[0] if isinstance(kind, tuple) else kind
        given = _article(type(value).__name__)
        raise InputError(f"{name} must be {_article(wanted.__name__)}, not {given}.{way_out and ' '}{way_out}")
    return value


def function(value: object, name: str) -> Callable[..., Any]:
    """Something that can be called."""
    if not callable(value):
        raise InputError(f"{name} must be a function, not {shown(value)}.")
    return value


def callback(value: object, name: str) -> Callable[..., Any] | None:
    """A function that is called during the work, or None; its exceptions pass through."""
    return None if value is None else function(value, name)


def path(value: object, name: str) -> str:
    """The name of a file as text; bytes, open files and names that no file can have are refused."""
    if not isinstance(value, str | PathLike):
        raise InputError(f"{name} must be the name of a file (text or a path), not {shown(value)}.")
    try:
        found = fspath(value)
    except Exception as error:  # third-party __fspath__ methods may raise anything
        raise InputError(f"{name} must be the name of a file (text or a path): {error}.") from error
    if not isinstance(found, str) or not found or "\0" in found:
        raise InputError(f"{name} must be the name of a file (text or a path), not {shown(value)}.")
    return str(found)


def group_name(value: object, groups: Facts, name: str) -> str:
    """The name of one of the columns of groups."""
    if not isinstance(value, str) or value not in groups:
        known = ", ".join(map(shown, groups)) or "none"
        raise InputError(
            f"{name}={shown(value)} is not among the groups of these trials ({known}): give groups={{...}}."
        )
    return str(value)


@overload
def mapping(value: Mapping[Key, Entry], name: str) -> Mapping[Key, Entry]: ...
@overload
def mapping(value: object, name: str) -> Mapping[object, object]: ...
def mapping(value: object, name: str) -> Mapping[Key, Entry] | Mapping[object, object]:
    """A mapping such as a dict."""
    if not isinstance(value, Mapping):
        raise InputError(f"{name} must be a mapping (a dict), not {shown(value)}.")
    return value


def _article(word: str) -> str:
    return word if word.endswith("s") else f"an {word}" if word[:1].lower() in "aeio" else f"a {word}"


def column(values: object, name: str) -> Array:
    """Any array-like as a numpy array, with missing entries refused."""
    if type(values) is np.ndarray:
        return values
    if isinstance(values, np.ma.MaskedArray):
        _refuse_missing(np.ma.getmaskarray(values), name, "masked")
        values = values.data
    if isinstance(values, type) or callable(values):
        raise InputError(f"{name} must be a list or an array, not {shown(values)}.")
    nulls = getattr(values, "null_count", 0)  # Arrow has it as a number, polars as a method
    if np.sum(np.asarray(nulls() if callable(nulls) else nulls)) > 0:
        marks = getattr(values, "is_null", None)
        _refuse_missing(np.asarray(marks()) if callable(marks) else np.ones(1, np.bool_), name, "missing (null)")
    device = getattr(getattr(values, "device", None), "type", "cpu")
    if device != "cpu":
        raise InputError(f"{name} is on the device {shown(device)}: move it to the CPU first (.cpu()).")
    if hasattr(values, "detach"):
        values = values.detach()
    try:
        return np.asarray(values)
    except Exception as error:  # third-party conversions may raise anything
        raise InputError(f"{name} cannot be read as an array: {error}.") from error


def _refuse_missing(marks: NDArray[np.bool_], name: str, kind: str) -> None:
    marks = np.atleast_1d(marks)
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
    if isinstance(values, Coded):
        raise InputError(f"{name} must be numbers, and they hold {some(values.values, 2)}.")
    array = column(values, name)
    if array.ndim != ndim:
        way_out = "" if array.ndim else " Pass a list or an array."
        raise InputError(f"{name} must be {ndim}-dimensional, not an array of shape {array.shape}.{way_out}")
    plain = array.dtype.kind in "iuf" and array.dtype.itemsize <= 8
    given = array if plain else _widened(array, name)
    result, missing, largest = _copied(given)
    if missing:
        rows = np.flatnonzero(np.isnan(result).reshape(len(result), -1).any(axis=1))
        way_out = {
            "scores": " Drop these rows; a score that stands for a rejection is -inf (0 for lr and posterior).",
            "weights": " Drop these rows, or give them the weight 0.",
        }.get(name, " Drop these rows, or fill them in.")
        raise InputError(
            f"{name} must not contain NaN: {len(rows)} of {len(result)} rows, the first in row {rows[0]} "
            f"(counting from 0).{way_out}"
        )
    if array.dtype.kind in "iu" and largest >= 2.0**53:
        _refuse_rounding(array[np.abs(result) >= 2.0**53].tolist(), name)
    return frozen(result)


def _copied(given: Floats) -> tuple[Floats, bool, float]:
    """A copy as float64, whether there is a NaN, and the largest number by size."""
    result, rows = np.empty_like(given, np.float64, subok=False), max(_BLOCK // max(given[:1].size, 1), 1)

    def fill(part: slice) -> tuple[float, float]:
        least, most = 0.0, 0.0
        for start in range(part.start, part.stop, rows):
            own = slice(start, min(start + rows, part.stop))
            some = np.add(given[own], 0.0, out=result[own], dtype=np.float64)  # adding 0 turns -0.0 into 0.0
            least = np.minimum.reduce(some, axis=None, initial=least)  # NaN stays
            most = np.maximum.reduce(some, axis=None, initial=most)
        return float(least), float(most)

    ends = over_parts(fill, len(given))
    largest = max(max(-least, most) for least, most in ends)
    return result, any(least != least for least, _ in ends), largest


def _widened(array: Array, name: str) -> Floats:
    if array.dtype == np.object_:
        array = _from_objects(array, name)
    if array.dtype.kind not in "iuf":
        kind = {"b": "true/false values", "U": "text", "S": "bytes", "c": "complex numbers"}
        what = kind.get(array.dtype.kind, f"values of type {array.dtype}")
        raise InputError(f"{name} must be numbers, not {what}.")
    with np.errstate(over="ignore"):
        wide = array.astype(np.float64, copy=False)
    if array.dtype.itemsize > 8:
        _refuse_rounding(array[wide.astype(array.dtype) != array].tolist(), name)
    return wide


def _refuse_rounding(values: Iterable[float], name: str) -> None:
    """Refuses numbers that a double would round: neighbours could merge."""
    lost = next((value for value in values if value == value and _rounds(value)), None)
    if lost is not None:
        raise InputError(
            f"{name} does not fit into 64-bit floating point without merging neighbours: first value {shown(lost)}. "
            f"Round or rescale it on purpose."
        )


def _rounds(value: float) -> bool:
    try:
        return bool(float(value) != value)
    except OverflowError:
        return True


def _from_objects(array: NDArray[np.object_], name: str) -> Floats:
    """Python numbers kept in an object array; text, None and the like are refused by place."""
    found = np.empty(array.size)
    for place, value in enumerate(array.ravel()):
        found[place] = _real(_scalar(value), value, f"{name} must be numbers: entry {place}")
    _refuse_rounding((value for value in array.ravel() if isinstance(value, int)), name)
    return found.reshape(array.shape)


def names(values: object, name: str) -> Array:
    """A frozen copy of a one-dimensional column of labels, ids or groups, nothing missing."""
    if isinstance(values, Coded):
        return frozen(values.spelled_out())
    array = column(_as_objects(values) if isinstance(values, list | tuple) else values, name)
    if array.ndim != 1:
        raise InputError(
            f"{name} must be one-dimensional, not an array of shape {array.shape}. Pass a list or an array."
        )
    if array.dtype.kind == "T":  # numpy's text of any length, whose missing entries are objects of the caller's choice
        array = array.astype(np.object_)
    if array.dtype.kind == "O" and not _kinds(array, name) <= _NEVER_MISSING:
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


def _kinds(array: Array, name: str) -> set[type]:
    """The types of the entries; those that cannot be names, such as lists, are refused."""
    kinds = set(map(type, array.tolist()))
    for kind in kinds:
        if kind.__hash__ is None:
            raise InputError(f"{name} must be names or numbers in every row, and some rows hold a {kind.__name__}.")
    return kinds


def identifiers(values: object, name: str) -> Array:
    """A frozen column of trial ids; a table of several columns gives one tuple per row."""
    if isinstance(values, list | tuple) and any(isinstance(value, tuple | list) for value in values):
        rows = [tuple(value) if isinstance(value, tuple | list) else (value,) for value in values]
        if len({len(row) for row in rows}) > 1:
            raise InputError(f"{name} must have the same number of columns in every row.")
        return _tuples([list(part) for part in zip(*rows, strict=True)], name)
    array = None if isinstance(values, list | tuple) else column(values, name)
    if array is not None and array.ndim == 2:
        return _tuples([array[:, place] for place in range(array.shape[1])], name)
    return names(values, name)


def id_words(ids: Array) -> Array:
    """Trial ids as text, by which they can be sorted; the fields of a composite id have a separator between."""
    if ids.size and isinstance(ids[0], tuple):
        return np.array(["\x1f".join(map(str, one)) for one in ids.tolist()])
    return ids.astype(np.str_)


def _tuples(columns: Sequence[object], name: str) -> Array:
    checked = [names(one, f"{name} (column {place})").tolist() for place, one in enumerate(columns)]
    if not checked:
        raise InputError(f"{name} must have at least one column.")
    rows = np.empty(len(checked[0]), np.object_)
    rows[:] = list(zip(*checked, strict=True))
    return frozen(rows)


def _as_objects(values: Sequence[object] | tuple[object, ...]) -> object:
    """Lists in which numpy would turn a NaN into the word, or drop a trailing NUL: kept as they are."""
    words = [value for value in values if isinstance(value, str)]
    large = [value for value in values if isinstance(value, int) and abs(value) > 2**53]
    if not words and not (large and np.asarray(values).dtype.kind == "f"):
        return values
    if len(words) == len(values) and not any(word.endswith("\0") for word in words):
        return values
    objects = np.empty(len(values), np.object_)
    objects[:] = values
    return objects


def _is_na(value: object) -> bool:
    return type(value).__name__ in ("NAType", "NaTType")


def same_length(length: int, columns: Mapping[str, Array | None]) -> None:
    """Refuses columns that are not as long as the scores."""
    for name, values in columns.items():
        if values is not None and len(values) != length:
            raise InputError(f"{name} has {len(values)} entries for {length} rows of scores.")


def same_kind(values: Array, name: str, others: Array, other: str) -> None:
    """Refuses columns of which one holds text and the other numbers: they would never be equal."""
    texts = [
        {isinstance(value, str) for value in distinct(array if array.dtype.kind in "OUST" else array[:1])}
        for array in (values, others)
    ]
    if texts[0] and texts[1] and not texts[0] & texts[1]:
        words = ("text", "no text") if True in texts[0] else ("no text", "text")
        raise InputError(
            f"{name} holds {words[0]} and {other} holds {words[1]}: text is never equal to a number. Give both as the "
            f"same kind, or name the classes (classes=...)."
        )


def label_list(values: object, name: str) -> list[Hashable]:
    """Names of classes or actions: a list of hashable values, nothing missing."""
    found = listed(values, name)
    for value in found:
        odd = value is None or _is_na(value) or isinstance(value, complex)
        if odd or (isinstance(value, float) and value != value):
            raise InputError(f"{name} must be names, and {shown(value)} is not one.")
        try:
            hash(value)
            str(value)
        except Exception:
            raise InputError(f"{name} must be names or numbers, not {shown(value)}.") from None
    return found


def class_place(label: object, classes: tuple[str, ...], name: str) -> int:
    """The number of a class, by its name."""
    called = words_of(label)
    if called is None or called not in classes:
        raise InputError(f"{name}={shown(label)} is not among the classes {some(classes)}.")
    return classes.index(called)


def words_of(label: object) -> str | None:
    """A label as text, as class names are stored; None if it has none."""
    try:
        return str(label)
    except Exception:  # third-party __str__ methods may raise anything
        return None


def same_label(one: object, other: object) -> bool:
    """Whether two labels are the same: text never equals a number, and a failed comparison counts as different."""
    if isinstance(one, str) != isinstance(other, str):
        return False
    try:
        return bool(one == other)
    except Exception:  # arrays and third-party __eq__ methods
        return False


def is_target(labels: object, target: object) -> tuple[NDArray[np.bool_], tuple[str, str]]:
    """Two-class labels as a mask (true = target) and the names (non-target, target).

    Without `target` only self-explanatory labels are accepted: 0/1, false/true, nontarget/target.
    """
    if isinstance(labels, Coded):
        return _coded_target(labels, target)
    array = names(labels, "labels")
    few = coded(array) if array.dtype.kind == "U" else None
    if few is not None:
        return _coded_target(few, target)
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
    for pair in STANDARD_PAIRS:
        if set(words.values()) <= set(pair):
            positive = [value for value in found if words[value] == pair[1]]
            return frozen(np.isin(array, np.asarray(positive))), ("nontarget", "target")
    raise InputError(
        f"The labels hold {some(found, 4)}: "
        "name the one that is the target (target=...). Labels other than 0/1, false/true and nontarget/target are not "
        "guessed."
    )


def _coded_target(labels: Coded, target: object) -> tuple[NDArray[np.bool_], tuple[str, str]]:
    """The same, asked once per value."""
    if labels.codes.dtype == np.bool_ and target is None:
        return frozen(labels.codes), ("nontarget", "target")
    used = labels.occurring()
    values = np.empty(len(used), np.object_)
    values[:] = [labels.values[code] for code in used]
    marks, classes = is_target(values, target)
    return frozen(labels.where([code for code, mark in zip(used, marks.tolist(), strict=True) if mark])), classes


def _equals_target(array: Array, target: object) -> tuple[NDArray[np.bool_], tuple[str, str]]:
    found = distinct(array)
    if array.size and not any(same_label(value, target) for value in found):
        hint = _spelled_otherwise(target, found)
        raise InputError(f"target={shown(target)} is not among the labels, which hold {some(found, 4)}.{hint}")
    check_spellings(found, target)
    others = [value for value in found if not same_label(value, target)]
    return frozen(equal_to(array, target)), (str(others[0]) if len(others) == 1 else f"not {target}", str(target))


def _spelled_otherwise(target: object, found: Iterable[object]) -> str:
    """A hint for the end of a message: the label that differs from the target in its type or in case and blanks."""
    for value in found:
        if words_of(value) == words_of(target):
            return f" Text is never equal to a number: name it as {shown(value)}."
    near = [value for value in found if _folded(value) == _folded(target)]
    return f" Did you mean {shown(near[0])}?" if near else ""


def _folded(label: object) -> str | None:
    """A label without what typing mistakes change: case and the blanks around it."""
    words = words_of(label)
    return None if words is None else words.strip().casefold()


def check_spellings(found: Iterable[object], target: object) -> None:
    """Refuses labels that would be non-targets by a slip: those spelt almost like the target, and blank ones.

    Two labels are taken as they are, because then nothing is said of a third class.
    """
    others = [value for value in found if not same_label(value, target)]
    if len(others) < 2:
        return
    for value in others:
        if not isinstance(value, str):
            continue
        if not value.strip():
            raise InputError(
                f"labels must not be missing, and some rows hold {shown(value)}. Drop these rows, or give them a name "
                f"of their own."
            )
        if _folded(value) == _folded(target):
            raise InputError(
                f"The labels hold {shown(target)}, the target, and {shown(value)}, which would be a non-target "
                f"although only case or blanks differ. Spell them alike, or give one of them another name."
            )


def unlabelled_classes(target: object) -> tuple[str, str]:
    """The names (non-target, target) of trials without labels: those of a label column that holds only the target."""
    if target is None:
        return ("nontarget", "target")
    if target == "bonafide":
        return ("spoof", "bonafide")  # as ASVspoof calls the classes
    return is_target([target], target)[1]


def equal_to(labels: Array, target: object) -> NDArray[np.bool_]:
    """Which labels equal this one; perhaps none."""
    if labels.dtype == np.object_:
        rows = labels.tolist()
        try:
            equal = {value: same_label(value, target) for value in dict.fromkeys(rows)}
            return np.fromiter(map(equal.__getitem__, rows), np.bool_, len(labels))
        except Exception:  # values without a hash
            return np.fromiter((same_label(value, target) for value in rows), np.bool_, len(labels))
    if (labels.dtype.kind in "US") != isinstance(target, str | bytes):
        return np.zeros(labels.shape, np.bool_)
    return np.broadcast_to(np.asarray(labels == target), labels.shape)


def class_codes(labels: Array, classes: tuple[str, ...], given: Sequence[Hashable] | None) -> NDArray[np.intp]:
    """K-class labels as 0..K-1: whole numbers already, or the class names in the order of the columns."""
    return _numbered(labels, len(classes)) if given is None else frozen(places_among(labels, given, "The labels"))


def places_among(values: Array, known: Sequence[Hashable], name: str) -> NDArray[np.intp]:
    """The place of each value among the known ones, which must have it."""
    try:
        return codes_among(values, known)
    except KeyError as error:
        raise InputError(f"{name} hold {shown(error.args[0])}, which is not among {some(known)}.") from None


def _numbered(labels: Array, count: int) -> NDArray[np.intp]:
    whole = labels.dtype.kind in "iub" or (labels.dtype.kind == "f" and np.array_equal(labels, np.floor(labels)))
    if not whole:
        raise InputError("labels are not class numbers: name the classes in the order of the columns (classes=...).")
    if labels.size and not 0 <= labels.min() <= labels.max() < count:
        bad = np.flatnonzero((labels < 0) | (labels >= count))
        raise InputError(
            f"labels must lie in 0..{count - 1} for {count} columns of scores: row {bad[0]} holds "
            f"{shown(labels[bad[0]].item())}. Name the classes with classes=... if they have other names."
        )
    return frozen(labels.astype(np.intp))
