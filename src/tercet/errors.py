"""What can go wrong, by kind: every error tercet raises on purpose is a TercetError."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["CalibrationError", "InputError", "TercetError", "UndefinedError"]


class TercetError(Exception):
    """The common parent, so that `except TercetError` catches what tercet refuses and nothing else."""


class InputError(TercetError, ValueError):
    """The input breaks a rule; the message names the argument, the place, the value and the way out."""


class UndefinedError(TercetError, ArithmeticError):
    """The quantity does not exist for this data, such as a precision when nothing was accepted."""


class CalibrationError(TercetError):
    """A calibration could not be trained on this data."""


def did_you_mean(name: object, known: Iterable[str], most: int = 3) -> str:
    """A hint for the end of a message: the known names that look like this one, or nothing.

    Case, hyphens, underscores and blanks do not count: minDCF looks like min_dcf.
    """
    from difflib import get_close_matches

    plain = {re.sub(r"[-_\s]", "", one).lower(): one for one in sorted(known)}
    near = get_close_matches(re.sub(r"[-_\s]", "", str(name)).lower(), plain, most, 0.5)
    return f" Did you mean {' or '.join(plain[one] for one in near)}?" if near else ""
