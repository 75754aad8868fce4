"""Saved models: one JSON layout for all of them, exact doubles, and nothing unexpected."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping
from typing import ClassVar, TypeVar

import numpy as np

from tercet._numeric.plain import strict_json
from tercet._numeric.records import ReadOnly, check_fields
from tercet._numeric.validation import flag as flag
from tercet._numeric.validation import frozen, shown, text
from tercet._typing import JSON, Facts, Floats, Value
from tercet._views import Shown
from tercet.errors import InputError

M = TypeVar("M", bound="Model")

SCHEMA_VERSION = 1
word = text  # how models read a name
_TOP = ("schema_version", "tercet", "method", "parameters", "training")


class Model(Shown):
    """What can be saved: named parameters, each with the function that reads it, and named facts of its training."""

    __slots__ = ()

    method: ClassVar[str]
    _parameters: ClassVar[Mapping[str, Callable[[object, str], object]]]
    _facts: ClassVar[tuple[str, ...]]
    training: Facts

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "training", ReadOnly(self.training))
        for name, take in self._parameters.items():
            value = getattr(self, name)
            if take is finite and not math.isfinite(value):
                raise InputError(f"{name} must be finite, not {value}.")
            if take in (reals, matrix) and value.ndim != (wanted := 1 if take is reals else 2):
                raise InputError(f"{name} must be {wanted}-dimensional, not an array of shape {value.shape}.")
        self._check()

    def _check(self) -> None:
        """Refuses parameters that do not belong together."""

    def _known_training(self) -> Facts:
        """The facts of the training, all of them; without any a model can be applied, not saved."""
        lacking = [name for name in self._facts if name not in self.training]
        if lacking:
            raise InputError(f"training must say {', '.join(self._facts)}: {lacking[0]} is missing.")
        return self.training

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (*(getattr(self, name) for name in self._parameters), self.training)

    def to_json(self) -> str:
        """The model as JSON text: doubles in their shortest exact form, infinities as the strings inf and -inf.

        Returns
        -------
        str
            The text that `from_json` and `tercet.load_model` read.
        """
        from tercet import __version__

        training = self._known_training()
        return json.dumps(
            {
                "schema_version": SCHEMA_VERSION,
                "tercet": __version__,
                "method": self.method,
                "parameters": {name: _plain(getattr(self, name)) for name in self._parameters},
                "training": {name: _plain(training[name]) for name in self._facts},
            },
            indent=1,
            allow_nan=False,
        )

    @classmethod
    def from_json(cls: type[M], text: str | bytes) -> M:
        """Read a model that `to_json` wrote, to the bit.

        Parameters
        ----------
        text : str or bytes
            The JSON text; anything unknown, missing or damaged is refused.

        Returns
        -------
        Model
            The model.
        """
        document = read(text)
        if document["method"] != cls.method:
            raise InputError(
                f"This file holds a model of method {shown(document['method'])}, not {shown(cls.method)}: read it with "
                f"tercet.load_model, which takes every method."
            )
        parameters = _exactly(document["parameters"], cls._parameters, "parameters")
        facts = _exactly(document["training"], cls._facts, "training")
        try:
            values = {name: take(parameters[name], name) for name, take in cls._parameters.items()}
            training = {name: _fact(facts[name], name) for name in cls._facts}
        except InputError as error:
            raise InputError(f"The saved model is damaged: {error}") from None
        return cls(**values, training=training)  # type: ignore[call-arg]


def read(text: str | bytes) -> JSON:
    """A saved model's document, its frame checked: keys, version and method."""
    if not isinstance(text, str | bytes):
        raise InputError(f"text must be the JSON text that to_json wrote, not {shown(text)}.")
    try:
        document = strict_json(text)
    except (ValueError, RecursionError) as error:  # bad JSON and bad UTF-8 are both ValueErrors
        raise InputError(
            f"text is not a tercet model file: {error}. It must be the JSON text that to_json wrote."
        ) from error
    _exactly(document, _TOP, "the model")
    if document["schema_version"] != SCHEMA_VERSION or isinstance(document["schema_version"], bool):
        raise InputError(
            f"schema_version must be {SCHEMA_VERSION}, not {shown(document['schema_version'])}: the model was saved by "
            f"another version of tercet ({shown(document['tercet'])}). Save it again with this one."
        )
    return dict(document)


def _plain(value: object) -> Value:
    if isinstance(value, np.ndarray | tuple | list):
        return [_plain(one) for one in (value.tolist() if isinstance(value, np.ndarray) else value)]
    if isinstance(value, float) and math.isinf(value):
        return "inf" if value > 0.0 else "-inf"
    return value


def _exactly(part: object, wanted: Iterable[str], where: str) -> JSON:
    if not isinstance(part, dict):
        raise InputError(
            f"text is not a tercet model file: {where} must be a table of named fields, not {shown(part)}."
        )
    for rule, names in (("has an unknown", set(part) - set(wanted)), ("lacks the", set(wanted) - set(part))):
        if names:
            raise InputError(
                f"text is not a tercet model file of this version: {where} {rule} field {shown(min(names))}."
            )
    return part


def real(value: object, name: str) -> float:
    """A double, or one of the strings inf and -inf."""
    if value in ("inf", "-inf"):
        return math.inf if value == "inf" else -math.inf
    try:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
    except OverflowError:
        pass
    raise InputError(f"{name} must be a number, not {shown(value)}.")


def finite(value: object, name: str) -> float:
    """A finite double."""
    if math.isinf(number := real(value, name)):
        raise InputError(f"{name} must be finite, not {number}.")
    return number


def reals(value: object, name: str) -> Floats:
    """A frozen vector of doubles."""
    return frozen(np.array([real(one, name) for one in _listed(value, name)], np.float64))


def matrix(value: object, name: str) -> Floats:
    """A frozen matrix of finite doubles."""
    rows = [[finite(one, name) for one in _listed(row, name)] for row in _listed(value, name)]
    if len({len(row) for row in rows}) != 1:
        raise InputError(f"the rows of {name} differ in length.")
    return frozen(np.array(rows, np.float64).reshape(len(rows), -1))


def words(value: object, name: str) -> tuple[str, ...]:
    """A tuple of names."""
    return tuple(word(one, name) for one in _listed(value, name))


def damaged(rule: str) -> InputError:
    """The error for parameters that cannot belong together."""
    return InputError(f"The saved model is damaged: {rule}.")


def _listed(value: object, name: str) -> list[Value]:
    if not isinstance(value, list):
        raise InputError(f"{name} must be a list, not {shown(value)}.")
    return value


def _fact(value: object, name: str) -> Value:
    """A fact of the training: nothing, a text, a number, or a list of these."""
    if isinstance(value, list):
        return [_fact(one, name) for one in value]
    if value is None or isinstance(value, bool | int) or (isinstance(value, str) and value not in ("inf", "-inf")):
        return value
    return real(value, name)
