"""Where the process starts: an interrupt gives exit code 130 at any moment, also while modules are being imported."""

from __future__ import annotations

import os
import signal
import sys

TYPE_CHECKING = False  # as typing has it: to import typing takes longer than everything else here
if TYPE_CHECKING:
    from types import FrameType
    from typing import Any, NoReturn


def main() -> NoReturn:
    """Runs the command line of this process."""
    signal.signal(signal.SIGINT, _leave)  # nothing has been written yet, and nothing needs to be undone
    from tercet.cli.main import main as run

    sys.unraisablehook = _interrupt_again
    signal.signal(signal.SIGINT, signal.default_int_handler)  # from here on files that are being written are removed
    try:
        run(prog_name="tercet")
    except SystemExit as end:
        signal.signal(signal.SIGINT, _leave)
        sys.exit(end.code)
    except KeyboardInterrupt:
        _leave(signal.SIGINT, None)
    sys.exit(0)


def _leave(number: int, frame: FrameType | None) -> NoReturn:
    os.write(2, b"tercet: interrupted\n")
    os._exit(130)


def _interrupt_again(fault: Any) -> None:
    """An interrupt that arrived where Python can only ignore exceptions (a callback, a destructor) is sent again."""
    if fault.exc_type is KeyboardInterrupt:
        signal.raise_signal(signal.SIGINT)
    else:
        sys.__unraisablehook__(fault)
