"""What a result was made from: a file's name and the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tercet._numeric.validation import path as checked_path
from tercet.errors import InputError
from tercet.io._plain_files import called_as


def fingerprint(path: str | os.PathLike[str]) -> dict[str, str]:
    """The name and SHA-256 of a file, read in pieces.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict of str to str
        "name": the file's name; "sha256": the hash of its bytes as they are on disk.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "empty.csv")
    ...     _ = path.write_bytes(b"")
    ...     found = fingerprint(path)
    >>> found["name"], found["sha256"][:8]
    ('empty.csv', 'e3b0c442')
    """
    source = Path(checked_path(path, "path"))
    try:
        with source.open("rb") as file:
            return {"name": called_as(source), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    except OSError as error:
        raise InputError(f"{called_as(source)} cannot be read: {error.strerror}.") from None
