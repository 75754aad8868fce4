"""Where the process starts: from here on an interrupt gives exit code 130, also while modules are being imported.

Before, while Python itself starts, an interrupt is Python's own affair: nothing of tercet has run yet.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # without enum, which takes longer than all else here
import os
import sys

TYPE_CHECKING = False  # as in typing, whose import takes longer than everything else here
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn


def main() -> NoReturn:
    """Runs the command line of this process."""
    signal.signal(signal.SIGINT, _leave)  # nothing has been written yet, and nothing needs to be undone
    from tercet.cli.main import main as run

    sys.unraisablehook = _interrupt_again
    signal.signal(signal.SIGINT, _interrupt)  # from here on files that are being written are removed
    try:
        run(prog_name="tercet")
    except SystemExit as end:
        if _interrupts and end.code not in (None, 0, 130):  # it was reported as an error of another kind
            _leave(signal.SIGINT, None)
        signal.signal(signal.SIGINT, _leave)
        sys.exit(end.code)
    except BaseException:  # libraries also turn an interrupt into errors of their own, such as a failed import
        if _interrupts:
            _leave(signal.SIGINT, None)
        raise
    sys.exit(0)


_interrupts: list[int] = []  # the signals that have arrived


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    _interrupts.append(number)
    raise KeyboardInterrupt


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"tercet: interrupted\n")
    os._exit(130)


def _interrupt_again(fault: Any) -> None:
    """An interrupt that arrived where Python can only ignore exceptions (a callback, a destructor) is sent again."""
    if fault.exc_type is KeyboardInterrupt:
        signal.raise_signal(signal.SIGINT)
    else:
        sys.__unraisablehook__(fault)
