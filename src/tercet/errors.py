"""What can go wrong, by kind: every error tercet raises on purpose is a TercetError."""

from __future__ import annotations

import re
from collections.abc import Iterable

__all__ = ["CalibrationError", "InputError", "TercetError", "UndefinedError"]


class TercetError(Exception):
    """The base class of all errors that tercet raises on purpose: `except TercetError` catches these and nothing else.

    Examples
    --------
    >>> import tercet as tc
    >>> try:
    ...     tc.Confusion([[5, 3], [0, 0]]).precision
    ... except tc.TercetError as error:
    ...     print(type(error).__name__)
    UndefinedError
    """

    def __init__(self, message: str = "") -> None:
        super().__init__(visible(message))


class InputError(TercetError, ValueError):
    """The input is invalid; the message names the argument, the place, the value and the way out.

    Examples
    --------
    >>> import tercet as tc
    >>> tc.Application(1.5)    # a prior is a probability
    Traceback (most recent call last):
    tercet.errors.InputError: prior must lie strictly between 0 and 1, not 1.5. 1.5 % is 0.015.
    """


class WordError(InputError):
    """A word that nothing is called, or a condition that cannot be read: on the command line wrong use, exit code 2."""


class UndefinedError(TercetError, ArithmeticError):
    """The quantity does not exist for these data, such as the precision when nothing was accepted.

    Examples
    --------
    >>> import tercet as tc
    >>> tc.Confusion([[5, 3], [0, 0]]).precision    # nothing was accepted: 0 / 0
    Traceback (most recent call last):
    tercet.errors.UndefinedError: ppv is undefined: nothing was accepted.
    """


class CalibrationError(TercetError):
    """A calibrator could not be trained on these data.

    Examples
    --------
    >>> import tercet as tc
    >>> try:
    ...     tc.Logistic.fit(tc.Trials.of_scores([-1.0, -0.5, 0.5, 1.0], [0, 0, 1, 1]))
    ... except tc.CalibrationError as error:
    ...     print(type(error).__name__, str(error)[:43])
    CalibrationError Logistic calibration has no finite solution
    """


def visible(text: str) -> str:
    """Text as a terminal may show it: control, bidi and other invisible characters as their codes."""
    return text if text.isprintable() else "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in text)


def did_you_mean(name: object, known: Iterable[str], most: int = 3) -> str:
    """A hint for the end of a message: the known names that look like this one, or nothing.

    Case, hyphens, underscores and blanks do not count: minDCF looks like min_dcf.
    """
    from difflib import get_close_matches

    plain = {re.sub(r"[-_\s]", "", one).lower(): one for one in sorted(known)}
    near = get_close_matches(re.sub(r"[-_\s]", "", str(name)).lower(), plain, most, 0.5)
    return f" Did you mean {' or '.join(plain[one] for one in near)}?" if near else ""
