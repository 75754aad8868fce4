# ruff: noqa: E501
"""Every public callable is given every hostile value in every argument, one at a time.

What may happen: the right answer, a TercetError whose message names the argument, or a TypeError for a wrong number of
arguments. An UndefinedError or CalibrationError speaks of the data ("no target was rejected") and need not name an
argument whose value can be data, such as 0, [] or a list of numbers; a value that cannot (NaN, a date, text for a number,
somebody else's object) must be named by these too. Values that mean the same as the clean one (a tuple for a list, np.float64 for float) must give the same answer.
Callables are found by introspection, so a new one is enrolled by existing: it only needs a clean value for each of its
arguments, by the argument's name or for this callable alone (both in values.py); without them the test fails and says so.
"""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import decimal
import fractions
import importlib
import inspect
import json
import math
import os
import pathlib
import re
import signal
import tempfile
import traceback
import types
import warnings
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import tercet as tc

# Slow references written from the definitions: they are compared with tercet, and trust what they are given.
NOT_ENROLLED = {"testing"}
MODULES = ("tercet", *(f"tercet.{name}" for name in tc._MODULES if name not in NOT_ENROLLED), "tercet.outofcore")
SECONDS = 20.0  # of the processor: a call that takes longer hangs, however busy the machine is


# What is public


@dataclass(frozen=True)
class Target:
    """A public callable with a clean value for each argument that has one."""

    name: str
    call: Callable[..., Any]
    clean: dict[str, Any]
    positional: str | None = None  # the name of *args, if there are any


def public_callables() -> dict[str, tuple[Callable[..., Any], type | None]]:
    """Functions, constructors and methods, by qualified name."""
    found: dict[str, tuple[Callable[..., Any], type | None]] = {}
    seen: set[int] = set()
    for module in MODULES:
        loaded = importlib.import_module(module)
        prefix = module.removeprefix("tercet").removeprefix(".")
        for name in getattr(loaded, "__all__", ()):
            value = getattr(loaded, name)
            value = getattr(value, "report", value) if inspect.ismodule(value) else value
            called = f"{prefix}.{name}" if prefix else name
            if id(value) in seen:
                continue  # the same object under a second name
            seen.add(id(value))
            if inspect.isclass(value) and not issubclass(value, Exception):
                found |= _of_class(called, value)
            elif callable(value) and not inspect.isclass(value):
                found[called] = (value, None)
    return {name: one for name, one in found.items() if name not in NOT_CALLED}


def _of_class(called: str, kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {} if getattr(kind, "_is_protocol", False) else {called: (kind, None)}
    for base in reversed(kind.__mro__):
        if not base.__module__.startswith("tercet"):
            continue
        for name, member in vars(base).items():
            bound = isinstance(member, classmethod | staticmethod)
            function = member.__func__ if bound else member
            if (name.startswith("_") and name != "__call__") or not inspect.isfunction(function):
                continue
            found[f"{called}.{name}"] = (getattr(kind, name), None if bound else kind)
    return found


def fields_of(kind: type) -> list[str]:
    """The arguments of the constructor of a record: a dataclass or a named tuple."""
    if dataclasses.is_dataclass(kind):
        return [one.name for one in dataclasses.fields(kind) if one.init]
    return list(getattr(kind, "_fields", ()))


# What is not called, and why.
NOT_CALLED = {
    "io.stdin_file": "reads standard input",
    "Tally.empty": "a builder for sound values, called by tercet itself",
    "Tally.weight": "likewise",
    "Hull.minimum": "the kernel of Curve.min_dcf, for log-odds that are checked",
    "Scan.summary": "the protocol by which `evaluate` asks a scan, with values that it checked",
    "Scan.class_summary": "likewise",
    "Scan.training_data": "the protocol by which calibrators ask a scan",
    "Scan.passes": "likewise",
    "outofcore.Chunks.chunks": "a protocol that the caller writes",
}


# Hostile values


class _Breaks:
    """Raises whatever is asked of it."""

    def __float__(self) -> float:
        raise RuntimeError("float")

    def __len__(self) -> int:
        raise RuntimeError("len")

    def __iter__(self) -> Iterator[int]:
        raise RuntimeError("iter")

    def __array__(self, *_: object, **__: object) -> Any:
        raise RuntimeError("array")

    def __repr__(self) -> str:
        raise RuntimeError("repr")

    def __bool__(self) -> bool:
        raise RuntimeError("bool")


class _Text(str):
    pass


def _deep() -> list[Any]:
    found: list[Any] = []
    for _ in range(200):
        found = [found]
    return found


def hostile_values() -> dict[str, Any]:
    """Values that somebody passes by mistake, by name; made afresh, since some can be used once."""
    return {name: value() if isinstance(value, Fresh) else value for name, value in HOSTILE.items()}


def _hostile() -> dict[str, Any]:
    values: dict[str, Any] = {
        "None": None, "True": True, "False": False, "0": 0, "1": 1, "-1": -1, "2": 2, "0.5": 0.5, "-0.0": -0.0,
        "nan": math.nan, "inf": math.inf, "-inf": -math.inf, "1e308": 1e308, "-5e-324": -5e-324, "1e-320": 1e-320,
        "10**400": 10**400, "-10**400": -(10**400), "2**53+1": 2**53 + 1, "2**70": 2**70, "1.5": 1.5,
        "1j": 1j, "complex128": np.complex128(1 + 2j), "Decimal 1e400": decimal.Decimal("1e400"),
        "Decimal nan": decimal.Decimal("nan"), "Fraction": fractions.Fraction(1, 3),
        "date": datetime.date(2020, 1, 1), "datetime": datetime.datetime(2020, 1, 1),
        "timedelta": datetime.timedelta(1), "datetime64": np.datetime64("2020-01-01"), "timedelta64": np.timedelta64(3),
        "longdouble": np.longdouble("1e400"), "int8": np.int8(-3), "bool_": np.bool_(True),
        "empty text": "", "text": "x", "number as text": "0.5", "NUL": "a\0b", "long text": "a" * 5000, "bytes": b"x",
        "surrogate": "\udc80", "newline": "a\nb", "text subclass": _Text("x"),
        "bytearray": Fresh(lambda: bytearray(b"x")), "[]": Fresh(list), "[None]": Fresh(lambda: [None]),
        "[nan]": Fresh(lambda: [math.nan]), "['a']": Fresh(lambda: ["a"]), "[[]]": Fresh(lambda: [[]]),
        "ragged": Fresh(lambda: [[1], [1, 2]]), "()": (), "(1, 2)": (1, 2), "{}": Fresh(dict),
        "{'a': 1}": Fresh(lambda: {"a": 1}), "set": Fresh(lambda: {1, 2}), "range": range(3), "deep": Fresh(_deep),
        "generator": Fresh(lambda: (k for k in range(3))), "function": lambda *_, **__: None, "raises": _raises,
        "type": int, "object": object(), "breaks": _Breaks(), "empty array": Fresh(lambda: np.array([])),
        "0-d": np.array(0.25), "nan array": np.array([math.nan]), "matrix": Fresh(lambda: np.zeros((2, 2))),
        "0 x 3": np.zeros((0, 3)), "text array": np.array(["a", "b"]), "complex array": np.array([1j, 2]),
        "cube": np.zeros((2, 2, 2)), "dates": np.array(["2020-01-01"], "M8[D]"),
        "object array": np.array([None, object()], object), "records": np.zeros(2, [("a", int)]),
        "masked": np.ma.masked, "masked array": np.ma.array([1.0, 2.0], mask=[1, 0]), "memoryview": memoryview(b"xy"),
        "exception": ValueError("x"), "...": ..., "path": pathlib.PurePosixPath("x"), "module": math,
        "slice": slice(None), "application": tc.Application(0.1), "NotImplemented": NotImplemented,
    }  # fmt: skip
    try:
        import pandas as pd
    except ImportError:
        return values
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
    return values | {"NA": pd.NA, "NaT": pd.NaT, "frame": frame, "series": frame["a"], "index": frame.index}


def _raises(*_: object, **__: object) -> None:
    raise ZeroDivisionError("somebody else's mistake")


class Fresh:
    """A value that is made for each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self) -> Any:
        return self.make()


HOSTILE = _hostile()

# Nothing that can be meant by any number, list, name or application.
NEVER = {
    "nan", "1j", "complex128", "Decimal 1e400", "Decimal nan", "date", "datetime", "timedelta", "datetime64",
    "timedelta64", "longdouble", "object", "breaks", "masked", "...", "NotImplemented", "exception", "module", "NA", "NaT",
    "nan array", "complex array", "records", "deep",
}  # fmt: skip
NEVER_A_NUMBER = {"number as text", "text", "empty text", "bytes", "text subclass", "text array"}


# Values that mean the same as the clean one


def equivalents(clean: Any) -> dict[str, Any]:
    """Other ways to write a clean value: each must give the answer that the clean one gives."""
    if isinstance(clean, bool):
        return {"numpy bool": np.bool_(clean)}
    if isinstance(clean, int):
        return {"numpy int64": np.int64(clean), "0-d int": np.array(clean)}
    if isinstance(clean, float):
        exact = {"numpy float32": np.float32(clean)} if float(np.float32(clean)) == clean else {}
        whole = {"int": int(clean)} if clean.is_integer() else {}
        return {"numpy float64": np.float64(clean), "0-d float": np.array(clean), **exact, **whole}
    if isinstance(clean, str):
        return {"same text subclass": _Text(clean), "numpy str": np.str_(clean)}
    if isinstance(clean, pathlib.Path):
        return {"path as text": str(clean)}
    if isinstance(clean, np.ndarray):
        return {"nested list": clean.tolist(), "column order": np.asfortranarray(clean)}
    if isinstance(clean, tuple) and clean and not hasattr(clean, "_fields"):
        return {"list": list(clean)}
    if isinstance(clean, dict):
        return {"mapping": types.MappingProxyType(clean)}
    if isinstance(clean, list) and clean:
        return {"tuple": tuple(clean), **_as_columns(clean)}
    return {}


def _as_columns(clean: list[Any]) -> dict[str, Any]:
    """A flat list of numbers or of words as arrays and as a series."""
    if not (all(type(one) is str for one in clean) or all(type(one) in (int, float) for one in clean)):
        return {}
    array = np.asarray(clean)
    found = {"array": array, "strided": np.repeat(array, 2)[::2], "numpy scalars": list(array)}
    try:
        import pandas as pd
    except ImportError:
        return found
    return found | {"own series": pd.Series(clean)}


def same(one: Any, other: Any) -> bool:
    """Whether two answers are the same, whatever they are made of."""
    if one is other or callable(one):
        return True
    if isinstance(one, str | os.PathLike) and isinstance(other, str | os.PathLike):
        return os.fspath(one) == os.fspath(other)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        a, b = np.asarray(one), np.asarray(other)
        return a.shape == b.shape and same(a.tolist(), b.tolist())
    if isinstance(one, str):
        return isinstance(other, str) and str(one) == str(other)
    if isinstance(one, float | int | np.number):
        return isinstance(other, float | int | np.number) and (one == other or (one != one and other != other))
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if dataclasses.is_dataclass(one):
        return all(same(getattr(one, f.name), getattr(other, f.name)) for f in dataclasses.fields(one))
    if type(one).__module__.startswith("tercet"):
        return same(vars(one), vars(other))
    return True  # somebody else's object, such as a figure


# What happened


@dataclass(frozen=True)
class Outcome:
    """One call: the callable, the argument, the value and what came of it."""

    target: str
    argument: str
    value: str
    kind: str  # fine, refused, raw, unnamed, warning, nan, accepted, hang, different
    detail: str = ""

    @property
    def allowed(self) -> bool:
        return self.kind in ("fine", "refused")

    def __str__(self) -> str:
        words = f"{self.kind:9} {self.target}({self.argument}={self.value}): {self.detail}"
        return words.encode("ascii", "backslashreplace").decode().replace("\n", "\\n")


def _timed_out(*_: object) -> None:
    raise TimeoutError("the call hangs")


def attempt(
    target: Target, argument: str, name: str, value: object, folder: pathlib.Path, answer: Any = None
) -> Outcome:
    """Calls with one argument replaced, and classifies what happens; `answer` is what an equivalent value must give."""
    if argument in WRITES.get(target.name, ()) and not harmless(value, folder):
        return Outcome(target.name, argument, name, "fine", "not called: the path is outside the folder")
    star, arguments = _given(target, {argument: value})
    signal.signal(signal.SIGPROF, _timed_out)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kind, detail, found = _called(target, argument, star, arguments)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    if answer is not None:
        stored = re.fullmatch(r"sklearn\.[A-Z]\w*", target.name)  # a constructor stores what it is given
        if not stored and (kind in ("refused", "undefined") or (kind == "fine" and not same(answer[0], found))):
            kind, detail = "different", f"{detail or _words(found, repr)} for {_words(answer[0], repr)}"
    elif kind == "fine" and name in _never(target.clean.get(argument)) and not _anything(target.name, argument):
        kind, detail = "accepted", _words(found, repr)
    elif kind == "undefined":  # of the data that such a value stands for, unless it cannot stand for any
        kind = "unnamed" if name in _never(target.clean.get(argument)) else "refused"
    leaked = [one for one in caught if not issubclass(one.category, ResourceWarning)]
    if target.name.startswith(
        ("sklearn.", "Trials.of_estimator")
    ):  # scikit-learn's own words about names of features and wide numbers
        leaked = [one for one in leaked if "/sklearn/" not in one.filename.replace("tercet/sklearn", "")]
    if kind in ("fine", "refused") and leaked:
        kind, detail = "warning", f"{leaked[0].category.__name__}: {leaked[0].message}"
    return Outcome(target.name, argument, name, kind, detail[:300])


def _never(clean: object) -> set[str]:
    """The values that cannot be meant where this is the clean one: text is never equal to a number."""
    return NEVER | NEVER_A_NUMBER if isinstance(clean, int | float) and not isinstance(clean, bool) else NEVER


def _given(target: Target, changed: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call: those of *args, and the others by name."""
    clean = {key: (one() if isinstance(one, Fresh) else one) for key, one in target.clean.items()}
    arguments = clean | changed
    if target.positional is None:
        return (), arguments
    star = arguments.pop(target.positional)
    return (star,) if target.positional in changed else tuple(star), arguments


def _called(target: Target, argument: str, star: Any, arguments: dict[str, Any]) -> tuple[str, str, Any]:
    try:
        found = target.call(*star, **arguments)
        if isinstance(found, contextlib.AbstractContextManager) and not isinstance(found, pathlib.Path):
            with found as inside:
                found = type(inside).__name__
        elif inspect.isgenerator(found):
            found = list(found)
    except tc.TercetError as error:
        unnamed = "undefined" if isinstance(error, tc.UndefinedError | tc.CalibrationError) else "unnamed"
        return ("refused" if _names(str(error), target.name, argument) else unnamed), str(error), None
    except TimeoutError as error:
        return "hang", str(error), None
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        kind = "refused" if _is_not_ours(error, target.name) else "raw"
        return kind, f"{type(error).__name__}: {_words(error)}", None
    return ("nan", _words(found, repr), None) if isinstance(found, float) and found != found else ("fine", "", found)


def _words(value: object, how: Callable[[Any], str] = str) -> str:
    """The text of a value whose own __repr__ may raise."""
    try:
        return how(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _is_not_ours(error: BaseException, target: str) -> bool:
    """Whether an exception is somebody else's: what a given function raises, or scikit-learn's own check of X and y."""
    frames = traceback.extract_tb(error.__traceback__)
    if "somebody else" in _words(error) or re.search(r"\bint\(\)|integer scalar arrays", _words(error)):
        return True  # the functions among the hostile values: one that raises, and int
    checked_by_sklearn = any("/sklearn/" in one.filename and "/utils/" in one.filename for one in frames)
    return target.startswith("sklearn.") and checked_by_sklearn


def _names(message: str, target: str, argument: str) -> bool:
    """Whether a message names the argument: by its name, or by a word that stands for it (NAMED)."""
    if re.search(r"has \d+ (entries|decisions|rows|trials|names)", message):
        return True  # columns of different lengths: both are named
    words = {
        argument,
        argument.rstrip("s"),
        argument.replace("_", " "),
        *NAMED["*"].get(argument, ()),
        *NAMED.get(target, {}).get(argument, ()),
    }
    return any(
        re.search(rf"(?<![a-z]){re.escape(word)}(s|es)?(?![a-z])", message, re.IGNORECASE) for word in words if word
    )


def _anything(target: str, argument: str) -> bool:
    if re.fullmatch(r"sklearn\.[A-Z]\w*", target):
        return True  # scikit-learn's rule: a constructor stores what it is given, and `fit` judges it
    return argument in ANYTHING["*"] | ANYTHING.get(target, set())


# Attacks stay inside the test's own folder


def harmless(value: object, folder: pathlib.Path) -> bool:
    """Whether a writer may be called with this path: nothing that opens a file outside the folder."""
    if isinstance(value, bool | int | np.integer):
        return False  # a number is an open file
    if not isinstance(value, str | bytes | os.PathLike):
        return True  # cannot be opened
    try:
        text = os.fsdecode(value)
        inside = pathlib.Path(text)
        if not inside.is_absolute():
            return False
        return ".." not in inside.parts and inside.resolve().is_relative_to(folder.resolve())
    except (ValueError, UnicodeError, RuntimeError, OSError):
        return False


# Arguments by which a callable writes a file: any whose name is one of these words, of any callable.
WRITING = {"path", "out", "resume", "folder"}
READERS = {"read", "io.read", "io.read_chunks", "io.read_decisions", "io.open_source", "io.fingerprint",
           "recognizers.read_texts"}  # fmt: skip


class _Writes(dict[str, set[str]]):
    """Every callable that is no reader may write to what an argument of these names says."""

    def get(self, name: str, default: Any = ()) -> set[str]:  # type: ignore[override]
        return {"resume"} if name in READERS else WRITING


WRITES = _Writes()
# Arguments that are any value whatever, such as what a label may be equal to.
ANYTHING: dict[str, set[str]] = {
    "*": set(),
    "scan": {"target"},
    "io.open_source": {"target"},  # judged when rows are read
    "sklearn.cost_scorer": {"target"},  # judged when it scores
    "sklearn.scorer": {"target"},
}
# Further words by which a message names an argument: of any callable, or of one.
NAMED: dict[str, dict[str, tuple[str, ...]]] = {
    "Confusion.of": {"classes": ("labels", "decisions"), "actions": ("decisions",)},
    "io.read_decisions": {"classes": ("labels", "decisions"), "actions": ("decisions",)},
    "check": {"result": ("cannot be read",)},
    "Trials.from_frame": {"score": ("meaning",)},
    "Confusion.against_rest": {"label": ("target",)},
    "difference_band": {"log_odds": ("bayes_plot",)},
    "sample_size_for_rate": {"design_effect": ("half_width",)},
    "nist.c_primary": {"points": ("mean", "prior", "operating point", "applications", "name")},
    "*": {
        **dict.fromkeys(("llr", "lr", "log10_llr", "log_odds", "posteriors", "log_likelihoods", "logits"), ("scores",)),
        **dict.fromkeys(("path", "labels", "key", "paths", "source"), ("no such file", "cannot be read", "file")),
        **dict.fromkeys(
            (
                "weight_column",
                "id_column",
                "score_column",
                "label_column",
                "decision_column",
                "group_columns",
                "class_columns",
                "columns",
            ),
            ("column",),
        ),
        **dict.fromkeys(("curve", "tally", "systems"), ("trials", "scores")),
        "source": ("trials", "no such file", "cannot be read", "file"),
        **dict.fromkeys(("weight", "ids", "score", "label", "groups"), ("column", "class_columns")),
        **dict.fromkeys(("confusion", "y"), ("matrix", "labels")),
        "value": ("point", "prior", "cost", "application", "operating point", "name"),
        **dict.fromkeys(("train", "validation", "held_out"), ("samples", "labels", "model")),
        **dict.fromkeys(
            ("application", "applications", "points", "least_cost"),
            ("prior", "operating point", "cost", "classes", "name"),
        ),
    },
}


# Everything together

WITHOUT_VALUES: dict[str, str] = {}  # what values.py does not know yet: the test fails of each
WHERE = "add it to tests/contract/values.py"


def targets(folder: pathlib.Path) -> list[Target]:
    """Every public callable with its clean arguments."""
    from values import INSTANCES, clean_values

    common, own = clean_values(folder)
    (folder / "out").mkdir(exist_ok=True)
    WITHOUT_VALUES.clear()
    found = []
    for name, (function, kind) in public_callables().items():
        owner, _, method = name.rpartition(".")
        call = function
        if kind is not None:
            if owner not in INSTANCES:
                WITHOUT_VALUES[name] = f"an instance of {owner} is needed: {WHERE} (INSTANCES)"
                continue
            call = getattr(INSTANCES[owner], method)
        if inspect.isclass(function) and name in INSTANCES and name not in own:  # a record: what an instance holds
            own[name] = {key: getattr(INSTANCES[name], key) for key in fields_of(function)}
        values = common | own.get(name, {})
        named, star = _arguments(call, own.get(name, {}))
        lacking = [key for key, default in named.items() if key not in values and default is inspect.Parameter.empty]
        if lacking or (fields_of(function) and name not in own if inspect.isclass(function) else False):
            wanted = "an instance is needed" if not lacking else f"clean values are needed for {', '.join(lacking)}"
            WITHOUT_VALUES[name] = f"{wanted}: {WHERE} (INSTANCES, own or common)"
            continue
        found.append(Target(name, call, {key: values.get(key, default) for key, default in named.items()}, star))
    return found


def _arguments(call: Callable[..., Any], own: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """The default of each argument by name, those that a typed dict or values.py names included; and what *args is called."""
    named, star = {}, None
    for one in inspect.signature(call).parameters.values():
        if one.kind is one.VAR_KEYWORD:
            typed = re.fullmatch(r"Unpack\[(\w+)\]", str(one.annotation))
            keys = inspect.unwrap(call).__globals__[typed[1]].__annotations__ if typed else own
            named |= {key: inspect.Parameter.empty for key in keys if key not in named}
        else:
            named[one.name] = one.default
            star = one.name if one.kind is one.VAR_POSITIONAL else star
    return named, star


def clean_call(target: Target) -> Any:
    """The answer when nothing is wrong."""
    star, arguments = _given(target, {})
    found = target.call(*star, **arguments)
    if isinstance(found, contextlib.AbstractContextManager) and not isinstance(found, pathlib.Path):
        with found as inside:
            return type(inside).__name__
    return list(found) if inspect.isgenerator(found) else found


def outcomes(target: Target, folder: pathlib.Path, every: int = 1, shift: int = 0) -> Iterator[Outcome]:
    """Every argument x hostile value of a callable, or a sample of 1 in `every` of them, drawn by hash."""

    def drawn(argument: str, name: str) -> bool:
        return zlib.crc32(f"{target.name} {argument} {name} {shift}".encode()) % every == 0

    answer = (clean_call(target),)
    for argument, clean in target.clean.items():
        for name in HOSTILE:
            if drawn(argument, name):
                value = HOSTILE[name]
                yield attempt(target, argument, name, value() if isinstance(value, Fresh) else value, folder)
        for name, value in equivalents(clean() if isinstance(clean, Fresh) else clean).items():
            if drawn(argument, name) and argument != target.positional:
                yield attempt(target, argument, name, value, folder, answer)


# The unprivileged child


def unprivileged(folder: pathlib.Path) -> None:
    """Gives up root where this process has it, and lets everything that is written without a name go into the folder."""
    os.environ.update(HOME=str(folder), TMPDIR=str(folder), XDG_CACHE_HOME=str(folder), MPLCONFIGDIR=str(folder))
    tempfile.tempdir = str(folder)
    os.chdir(folder)
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, NOBODY, NOBODY)
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


NOBODY = 65534


def in_child(work: Callable[[], Iterator[Outcome]], folder: pathlib.Path) -> list[Outcome]:
    """The outcomes of calls made in a process of their own, which cannot change this one nor a file of its user's."""
    if not hasattr(os, "fork"):
        return list(work())
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(reader)
            unprivileged(folder)
            with os.fdopen(writer, "w") as out:
                for one in work():
                    out.write(json.dumps(dataclasses.astuple(one)) + "\n")
            os._exit(0)
        except BaseException as error:
            os.write(2, f"the child failed: {error!r}\n".encode())
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader) as lines:
        found = [Outcome(*json.loads(line)) for line in lines]
    _, status = os.waitpid(child, 0)
    if status != 0:
        found.append(Outcome("the child", "", "", "raw", f"ended with {status} after {len(found)} calls"))
    return found


def count(found: list[Outcome]) -> collections.Counter[str]:
    """How many calls ended in which way."""
    return collections.Counter(one.kind for one in found)
