"""One record per system, from its file to its facts, and the reading of files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet.cli._output import Bar, Facts, say
from tercet.trials import Trials
from tercet.uncertainty.bands import Bands


@dataclass(frozen=True, slots=True)
class System:
    """A system on its way through a command: its file, the trials as read and as used, and what was found."""

    path: str
    name: str
    read: Trials
    trials: Trials  # as read, or calibrated
    evaluation: Any = None
    facts: Facts | None = None
    bands: Bands | None = None

    def known(self) -> Facts:
        """The facts, once there are some."""
        assert self.facts is not None
        return self.facts

    def with_facts(self, **more: Any) -> System:
        """The system with more facts."""
        return replace(self, facts=self.known() | more)

    @property
    def cost(self) -> float:
        """What systems are sorted by: the actual cost at the first application, else the minimum."""
        facts = self.known()
        first = (facts["applications"] or [{}])[0]
        values = [first.get("dcf"), first.get("min_dcf"), facts.get("log_loss")]
        return next((float(value) for value in values if value is not None), math.inf)


@contextmanager
def local_files(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, standard input spilled to a file that can be read and then hashed."""
    from tercet.io import stdin_file

    with ExitStack() as stack:
        yield [str(stack.enter_context(stdin_file())) if path == "-" else path for path in paths]


def read_trials(path: str, source: Facts) -> Trials:
    """The trials of one file."""
    from tercet.io import read

    with Bar(path) as bar:
        return read(path, progress=bar, notes=say, **source)


def read_pieces(path: str, source: Facts) -> Iterator[Trials]:
    """The trials of one file, some rows at a time."""
    from tercet.io import read_chunks

    with Bar(path) as bar:
        yield from read_chunks(path, progress=bar, notes=say, **source)


def read_systems(paths: Sequence[str], source: Facts) -> list[System]:
    """One system per file."""
    found = []
    for path, name in zip(paths, distinct_names(paths), strict=True):
        trials = read_trials(path, source)
        found.append(System(path, name, trials, trials))
    return found


def distinct_names(paths: Sequence[str]) -> list[str]:
    """The files' names without ending; the whole paths where two would be the same."""
    names = [name_of(path) for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def name_of(path: str) -> str:
    """A file's name without folder and ending."""
    return "stdin" if path == "-" else Path(path).name.split(".")[0]


def with_files(facts: Facts, path: str, source: Facts) -> Facts:
    """The facts with the files that they came from, by name and hash."""
    from tercet.io import fingerprint

    files = [path, *(source[key] for key in ("labels", "key") if key in source)]
    return facts | {"input": {"files": [fingerprint(file) for file in files], **facts["input"]}}


def trial_column(trials: Trials, before: int = 0) -> Facts:
    """The first column of a table of trials: their ids, or their numbers."""
    return {"trial": np.arange(before, before + len(trials)) if trials.ids is None else trials.ids}


def names_of(codes: NDArray[Any], names: Sequence[str]) -> NDArray[Any]:
    """Classes or actions by name."""
    return np.array(names, np.object_)[codes.astype(np.intp)]
