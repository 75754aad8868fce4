# ruff: noqa: E501
"""Every public callable is given every hostile value in every argument, one at a time.

What may happen: the right answer, a TercetError whose message names the argument, or a TypeError for a wrong number of
arguments. Callables are found by introspection, so a new one is enrolled by existing: it only needs a clean value for each
of its arguments, by the argument's name (CLEAN) or for this callable alone (OWN).
"""

from __future__ import annotations

import datetime
import decimal
import fractions
import importlib
import inspect
import math
import os
import pathlib
import re
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import tercet as tc

MODULES = ("tercet", "tercet.recognizers", "tercet.sklearn", "tercet.io", "tercet.report", "tercet.datasets")
SECONDS = 20.0  # a call that takes longer hangs


# What is public


@dataclass(frozen=True)
class Target:
    """A public callable with a clean value for each argument that has one."""

    name: str
    call: Callable[..., Any]
    clean: dict[str, Any]
    positional: str | None = None  # the name of *args, if there are any


def public_callables() -> dict[str, tuple[Callable[..., Any], type | None]]:
    """Functions, constructors and methods by qualified name; records that only results fill are left out."""
    found: dict[str, tuple[Callable[..., Any], type | None]] = {}
    for module in MODULES:
        loaded = importlib.import_module(module)
        prefix = module.removeprefix("tercet").removeprefix(".")
        for name in getattr(loaded, "__all__", ()):
            value = getattr(loaded, name)
            value = getattr(value, "report", value) if inspect.ismodule(value) else value
            called = f"{prefix}.{name}" if prefix else name
            if any(value is known for known, _ in found.values()):
                continue  # the same function under a second name
            if inspect.isclass(value) and not issubclass(value, Exception):
                found |= _of_class(called, value)
            elif callable(value) and not inspect.isclass(value):
                found[called] = (value, None)
    return {name: one for name, one in found.items() if name not in NOT_CALLED}


def _of_class(called: str, kind: type) -> dict[str, Any]:
    found: dict[str, Any] = {called: (kind, None)} if called in CONSTRUCTED else {}
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


CONSTRUCTED = {
    "Application", "Confusion", "CaseCosts",
    "sklearn.BayesClassifier", "sklearn.LogisticCalibrator", "sklearn.IsotonicCalibrator", "sklearn.GaussianCalibrator",
}  # fmt: skip
# Builders that only tercet itself calls, with values that are sound already, and what reads standard input.
NOT_CALLED = {
    "io.stdin_file", "Hull.minimum", "Tally.at", "Tally.weight", "Tally.empty",
    "CaseCosts.select",
}  # fmt: skip


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


def hostile_values() -> dict[str, Any]:
    """Values that somebody passes by mistake, by name; made afresh, since some can be used once."""
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
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
        "surrogate": "\udc80", "newline": "a\nb", "text subclass": _Text("x"), "bytearray": bytearray(b"x"),
        "[]": [], "[None]": [None], "[nan]": [math.nan], "['a']": ["a"], "[[]]": [[]], "ragged": [[1], [1, 2]],
        "()": (), "(1, 2)": (1, 2), "{}": {}, "{'a': 1}": {"a": 1}, "set": {1, 2}, "range": range(3), "deep": deep,
        "generator": (k for k in range(3)), "function": lambda *_, **__: None, "raises": _raises, "type": int,
        "object": object(), "breaks": _Breaks(), "empty array": np.array([]), "0-d": np.array(0.25),
        "nan array": np.array([math.nan]), "matrix": np.zeros((2, 2)), "0 x 3": np.zeros((0, 3)),
        "text array": np.array(["a", "b"]), "complex array": np.array([1j, 2]), "cube": np.zeros((2, 2, 2)),
        "dates": np.array(["2020-01-01"], "M8[D]"), "object array": np.array([None, object()], object),
        "records": np.zeros(2, [("a", int)]), "masked": np.ma.masked, "masked array": np.ma.array([1.0, 2.0], mask=[1, 0]),
        "memoryview": memoryview(b"xy"), "exception": ValueError("x"), "...": ..., "path": pathlib.PurePosixPath("x"),
        "module": math, "slice": slice(None), "application": tc.Application(0.1), "NotImplemented": NotImplemented,
    }  # fmt: skip
    try:
        import pandas as pd
    except ImportError:
        return values
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", None]})
    return values | {"NA": pd.NA, "NaT": pd.NaT, "frame": frame, "series": frame["a"], "index": frame.index}


def _raises(*_: object, **__: object) -> None:
    raise ZeroDivisionError("somebody else's mistake")


# Nothing that can be meant by any number, list, name or application.
NEVER = {
    "nan", "1j", "complex128", "Decimal 1e400", "Decimal nan", "date", "datetime", "timedelta", "datetime64",
    "timedelta64", "longdouble", "object", "breaks", "masked", "...", "NotImplemented", "exception", "module", "NA", "NaT",
    "nan array", "complex array", "records", "deep",
}  # fmt: skip


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
        return f"{self.kind:9} {self.target}({self.argument}={self.value}): {self.detail}"


ALIASES = {
    "llr": "scores", "lr": "scores", "log10_llr": "scores", "log_odds": "scores", "posteriors": "scores",
    "log_likelihoods": "scores", "logits": "scores",
}  # fmt: skip


def _timed_out(*_: object) -> None:
    raise TimeoutError("the call hangs")


def attempt(target: Target, argument: str, name: str, value: object, folder: pathlib.Path) -> Outcome:
    """Calls with one argument replaced, and classifies what happens."""
    if argument in WRITES.get(target.name, ()) and not harmless(value, folder):
        return Outcome(target.name, argument, name, "fine", "not called: the path is outside the folder")
    clean = {key: (one() if isinstance(one, Fresh) else one) for key, one in target.clean.items()}
    arguments = clean | {argument: value}
    star = arguments.pop(target.positional, ()) if target.positional else ()
    if target.positional == argument:
        star = (value,)
    signal.signal(signal.SIGALRM, _timed_out)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kind, detail = _called(target, argument, star, arguments)
        signal.setitimer(signal.ITIMER_REAL, 0)
    if kind == "fine" and name in NEVER and argument not in ANYTHING.get(target.name, set()) | ANYTHING["*"]:
        kind = "accepted"
    leaked = [one for one in caught if not issubclass(one.category, ResourceWarning)]
    if kind in ("fine", "refused") and leaked:
        kind, detail = "warning", f"{leaked[0].category.__name__}: {leaked[0].message}"
    return Outcome(target.name, argument, name, kind, detail[:200])


def _called(target: Target, argument: str, star: Any, arguments: dict[str, Any]) -> tuple[str, str]:
    try:
        found = target.call(*star, **arguments)
        if inspect.isgenerator(found):
            found = list(found)
    except (tc.UndefinedError, tc.CalibrationError) as error:
        return "refused", str(error)
    except tc.TercetError as error:
        words = {argument, ALIASES.get(argument, argument), *NAMED.get((target.name, argument), ())}
        named = any(re.search(rf"(?<![a-z]){re.escape(word)}(?![a-z])", str(error), re.IGNORECASE) for word in words)
        return ("refused" if named else "unnamed"), str(error)
    except TimeoutError as error:
        return "hang", str(error)
    except ZeroDivisionError as error:  # what a callback raises is its own
        return ("refused" if "somebody else" in str(error) else "raw"), repr(error)
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return "raw", f"{type(error).__name__}: {error}"
    return ("nan", repr(found)) if isinstance(found, float) and found != found else ("fine", "")


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


class Fresh:
    """A clean value that is made for each call."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self.make = make

    def __call__(self) -> Any:
        return self.make()


# Everything together

# Arguments by which a callable writes a file.
WRITES = {
    "report": {"path"}, "plot": {"path"}, "Plot.save": {"path"}, "io.write_table": {"path"}, "io.write_tables": {"path"},
    "io.write_text_atomically": {"path"}, "evaluate_files": {"resume"}, "fit_files": {"resume"},
}  # fmt: skip
# Arguments that are any value whatever, such as what a label may be equal to.
ANYTHING: dict[str, set[str]] = {"*": set()}
# Further words by which a message names an argument.
NAMED: dict[tuple[str, str], set[str]] = {}


def targets(folder: pathlib.Path) -> list[Target]:
    """Every public callable with its clean arguments."""
    from values import INSTANCES, clean_values

    common, own = clean_values(folder)
    (folder / "out").mkdir(exist_ok=True)
    found = []
    for name, (function, kind) in public_callables().items():
        owner, _, method = name.rpartition(".")
        call = function
        if kind is not None:
            if owner not in INSTANCES:
                WITHOUT_VALUES[name] = f"INSTANCES needs an instance of {owner}"
                continue
            call = getattr(INSTANCES[owner], method)
        values = common | own.get(name, {})
        named = [one for one in inspect.signature(call).parameters.values() if one.kind is not one.VAR_KEYWORD]
        lacking = [one.name for one in named if one.name not in values and one.default is one.empty]
        if lacking:
            WITHOUT_VALUES[name] = f"clean values are needed for {', '.join(lacking)}"
            continue
        clean = {one.name: values.get(one.name, one.default) for one in named}
        star = next((one.name for one in named if one.kind is one.VAR_POSITIONAL), None)
        found.append(Target(name, call, clean, star))
    return found


WITHOUT_VALUES: dict[str, str] = {}  # what tests/contract/values.py does not know yet, and why it is not called


def clean_call(target: Target) -> Any:
    """The answer when nothing is wrong."""
    clean = {key: (one() if isinstance(one, Fresh) else one) for key, one in target.clean.items()}
    star = clean.pop(target.positional, ()) if target.positional else ()
    return target.call(*star, **clean)


def run(folder: pathlib.Path, only: str = "", every: int = 1, shift: int = 0) -> Iterator[Outcome]:
    """Every callable x argument x hostile value, or every n-th of them."""
    place = 0
    for target in targets(folder):
        if only and not re.search(only, target.name):
            continue
        for argument in target.clean:
            for name in hostile_values():
                place += 1
                if place % every == shift % every:
                    yield attempt(target, argument, name, hostile_values()[name], folder)


def main() -> int:
    """The full matrix: `python tests/contract/harness.py [pattern]` prints what is not allowed, and the counts."""
    import collections
    import tempfile

    counts: collections.Counter[str] = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        os.environ.update(HOME=folder, TMPDIR=folder)
        for outcome in run(pathlib.Path(folder), *sys.argv[1:2]):
            counts[outcome.kind] += 1
            if not outcome.allowed:
                print(outcome)
    for name, reason in WITHOUT_VALUES.items():
        print(f"not called: {name}: {reason}")
    print(dict(counts), "of", sum(counts.values()))
    return int(any(counts[kind] for kind in counts if kind not in ("fine", "refused")))


if __name__ == "__main__":
    sys.exit(main())
