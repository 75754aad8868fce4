"""Plain data: text, numbers, lists and arrays. Only such data are sent to other machines or saved, never pickles."""

from __future__ import annotations

import hashlib
import io
import json
import os
from dataclasses import fields
from pathlib import Path
from typing import IO, Self
from zipfile import BadZipFile

import numpy as np

from tercet._numeric.validation import frozen, shown
from tercet._typing import JSON, Array, Facts, Value
from tercet.errors import InputError
from tercet.io.write import whole_file

Plain = JSON


class PlainState:
    """A frozen dataclass of arrays, whole numbers, texts and tuples of these, that converts to plain data and back."""

    __slots__ = ()

    def to_plain(self) -> Plain:
        """The fields by name: arrays of numbers stay arrays, those of Python's integers and tuples become lists."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def of_plain(cls, plain: Facts) -> Self:
        """The state that to_plain took apart."""
        return cls(**{field.name: _restored(plain[field.name]) for field in fields(cls)})  # type: ignore[arg-type]


def _plain(value: object) -> Value:
    if isinstance(value, np.ndarray):
        return value if value.dtype != np.object_ else _listed(value)
    if isinstance(value, tuple):
        return [_listed(one) if isinstance(one, np.ndarray) else _plain(one) for one in value]
    return value


def _listed(integers: Array) -> Plain:
    """An array of whole numbers as JSON can hold it."""
    return {"integers": [int(one) for one in integers], "kind": integers.dtype.str}


def _restored(value: object) -> Value:
    if isinstance(value, np.ndarray):
        return frozen(value)
    if isinstance(value, dict):
        return frozen(np.array(value["integers"], value["kind"]))
    return tuple(_restored(one) for one in value) if isinstance(value, list) else value


def digest(plain: Facts) -> str:
    """SHA-256 over names, types, shapes and contents."""
    found = hashlib.sha256()
    for name, value in sorted(plain.items()):
        if isinstance(value, np.ndarray):
            found.update(f"{name}:{value.dtype.str}{value.shape};".encode())
            found.update(np.ascontiguousarray(value).data)
        else:
            found.update(f"{name}={value!r};".encode())
    return found.hexdigest()


def _write(plain: Facts, out: IO[bytes]) -> None:
    """Arrays into an npz, all else as one JSON text, with a checksum."""
    arrays = {name: value for name, value in plain.items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in plain.items() if name not in arrays}
    text = json.dumps({"checksum": digest(plain), "rest": rest})
    columns: dict[str, Value] = {**arrays, "_rest": np.frombuffer(text.encode(), np.uint8)}
    np.savez(out, **columns)  # without allow_pickle, an array to numpy 2.0: objects have become lists before


def _read(content: bytes) -> tuple[Plain, bool]:
    """The content, and whether its checksum matches."""
    with np.load(io.BytesIO(content), allow_pickle=False) as held:
        arrays = {name: held[name] for name in held.files}
    text = json.loads(arrays.pop("_rest").tobytes())
    plain = {**arrays, **text["rest"]}
    return plain, text["checksum"] == digest(plain)


def to_bytes(plain: Facts) -> bytes:
    """Plain data as bytes, to be sent."""
    with io.BytesIO() as out:
        _write(plain, out)
        return out.getvalue()


def of_bytes(content: bytes) -> Plain:
    """The plain data that was sent; a list stands for a tuple."""
    return _read(content)[0]


def save_plain(plain: Facts, path: str | os.PathLike[str]) -> None:
    """Plain data into a file, which appears whole or not at all."""
    with whole_file(path) as out:
        _write(plain, out)


def load_plain(path: str | os.PathLike[str]) -> Plain:
    """What save_plain wrote; anything else, or a changed bit, is refused."""
    called = Path(path).name
    try:
        plain, sound = _read(Path(path).read_bytes())
    except FileNotFoundError:
        raise InputError(f"{called}: there is no such file.") from None
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        NotImplementedError,
        BadZipFile,
    ) as error:
        raise InputError(f"{called} is not a saved part: {shown(str(error))}. Delete it and count again.") from None
    if not sound:
        raise InputError(f"{called} is damaged: its checksum does not match. Delete it and count again.")
    return plain
