"""What a result was made from: a file's name and the SHA-256 of its bytes."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from tercet.errors import InputError
from tercet.io._plain_files import called_as


def fingerprint(path: str | os.PathLike[str]) -> dict[str, str]:
    """{"name": the file's name, "sha256": of the bytes as they are on disk}, read in pieces."""
    source = Path(path)
    try:
        with source.open("rb") as file:
            return {"name": called_as(source), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    except OSError as error:
        raise InputError(f"{called_as(source)} cannot be read: {error.strerror}.") from None
