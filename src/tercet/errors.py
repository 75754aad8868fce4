"""What can go wrong, by kind: every error tercet raises on purpose is a TercetError."""

from __future__ import annotations

__all__ = ["CalibrationError", "InputError", "TercetError", "UndefinedError"]


class TercetError(Exception):
    """The common parent, so that `except TercetError` catches what tercet refuses and nothing else."""


class InputError(TercetError, ValueError):
    """The input breaks a rule; the message names the argument, the place, the value and the way out."""


class UndefinedError(TercetError, ArithmeticError):
    """The quantity does not exist for this data, such as a precision when nothing was accepted."""


class CalibrationError(TercetError):
    """A calibration could not be trained on this data."""
