"""The engine: resamples in sequence or in parallel, with the same bits either way."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Protocol, TextIO

import numpy as np

from tercet._numeric.parallel import CORES
from tercet._numeric.validation import chosen, probability, seed_number, shown, whole
from tercet._typing import Floats, Reals
from tercet.errors import CalibrationError, InputError, UndefinedError
from tercet.uncertainty._clusters import grouping
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.two_class import TwoClass

METHODS = ("percentile", "bca")
_CHUNK = 8  # resamples that a thread takes at a time
_TOGETHER = 1 << 19  # steps of resamples that are evaluated at once: more take more memory and gain little
_WORTH_A_THREAD = 1 << 15  # rows above which numpy, not Python, does most of the work
_RUNS_WORTH_A_THREAD = 1 << 21  # the same for runs of rows, which are fewer: threads wait for each other's short calls
_FAILING = 0.05  # share of resamples that cannot be evaluated, above which intervals are refused
_MOST_RESAMPLES = 10_000_000
_MOST_FAILURES = 100  # resamples in a row that cannot be evaluated, before giving up


class System(Protocol):
    """What can be resampled: numbers from the weights of each class's rows, and their names."""

    def statistics(self, weights: Sequence[Any]) -> dict[str, Reals]:
        """The numbers of one resample."""

    def named(self, stacked: dict[str, Floats]) -> dict[str, Floats]:
        """The numbers of many resamples under the names of the evaluation."""


def named(system: System, rows: Sequence[dict[str, Reals]]) -> dict[str, Floats]:
    """The numbers of several resamples by name, [resample, ...]."""
    return system.named({name: np.array([row[name] for row in rows], np.float64) for name in rows[0]})


Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Settings:
    """How to resample, checked."""

    level: float
    resamples: int
    seed: int
    by: tuple[str, ...]
    method: str
    threads: int | None

    @classmethod
    def of(
        cls, level: float, resamples: int, seed: int, by: object, method: str | None = None, threads: int | None = None
    ) -> Settings:
        """Validates the arguments; the method is percentile for groups and BCa for trials unless named."""
        share, groups = probability(level, "ci"), grouping(by)
        count = enough_resamples(resamples, share, "resamples")
        how = ("percentile" if groups else "bca") if method is None else method
        chosen(how, "method", METHODS)
        workers = None if threads is None else whole(threads, "threads", 1)
        return cls(share, count, seed_number(seed), groups, how, workers)


def enough_resamples(resamples: object, level: float, name: str) -> int:
    """How many resamples are drawn, at least as many as put one beyond each end of an interval of this level."""
    count = whole(resamples, name, 1, _MOST_RESAMPLES)
    least = math.ceil(2.0 / (1.0 - level) - 1e-9) - 1
    if count < least:
        raise InputError(
            f"{name} must be a whole number, at least {least} for intervals at {100.0 * level:g} % (one resample "
            f"beyond each end), not {shown(resamples)}."
        )
    return count


def replicates(
    designs: Sequence[Design], systems: Sequence[System], settings: Settings, progress: Progress | None = None
) -> tuple[list[dict[str, Floats]], int]:
    """The numbers of every system by name, [resample, ...], and how many draws were discarded.

    One design: all systems see the same draws. One each: every system has draws of its own. Draws that cannot be
    calibrated or evaluated are not a random selection (their classes do not overlap, the easiest case): with many
    of them, the others give no valid interval.
    """
    results: list[list[dict[str, Reals]]] = [[{}] * settings.resamples for _ in systems]
    alone = systems[0] if len(systems) == 1 and designs[0].runs is not None else None
    by_runs = alone if isinstance(alone, TwoClass) else None

    def work(numbers: range) -> tuple[int, list[Exception]]:
        failed: list[Exception] = []
        if by_runs is not None:
            _resample_together(designs[0], by_runs, settings.seed, numbers, results[0])
            return 0, failed
        return sum(_resample(designs, systems, settings.seed, place, results, failed) for place in numbers), failed

    chunks = [range(s, min(s + _CHUNK, settings.resamples)) for s in range(0, settings.resamples, _CHUNK)]
    short = by_runs is not None and by_runs.costs is None  # Cllr takes long calls
    enough = _RUNS_WORTH_A_THREAD if short else _WORTH_A_THREAD
    threads = settings.threads or (CORES if sum(designs[0].sizes) >= enough else 1)
    redrawn = done = 0
    reasons: list[Exception] = []
    with ThreadPoolExecutor(threads) as pool:
        made = pool.map(work, chunks) if threads > 1 else map(work, chunks)
        for chunk, (thrown, failed) in zip(chunks, made, strict=True):
            redrawn, done = redrawn + thrown, done + len(chunk)
            reasons += failed
            if progress is not None:
                progress(done, settings.resamples)
    if len(reasons) > _FAILING * (settings.resamples + len(reasons)):
        raise UndefinedError(
            f"There is no interval: {len(reasons)} of {settings.resamples + len(reasons)} resamples could not be "
            f"evaluated, and without them it would be too narrow. The first because: {reasons[0]} Take more trials, or "
            f"leave the calibration out: the AUC, the EER and minimum costs do not change where a calibrator rises."
        )
    return [named(system, rows) for system, rows in zip(systems, results, strict=True)], redrawn


def _resample(
    designs: Sequence[Design],
    systems: Sequence[System],
    seed: int,
    number: int,
    results: list[list[dict[str, Reals]]],
    failed: list[Exception],
) -> int:
    """Computes one resample of every system into its row; returns how many draws were discarded, `failed` why."""
    thrown = 0
    for failures in range(_MOST_FAILURES):
        draws = [design.draw(seed, number, _stream(k, failures)) for k, design in enumerate(designs)]
        thrown += sum(draw.redrawn for draw in draws)
        try:
            for k, (rows, system) in enumerate(zip(results, systems, strict=True)):
                rows[number] = system.statistics(draws[k if len(draws) > 1 else 0].weights)
            return thrown
        except (CalibrationError, UndefinedError) as error:
            thrown += 1
            failed.append(error)
    raise InputError(f"{_MOST_FAILURES} resamples in a row could not be evaluated, the last because: {failed[-1]}")


def _resample_together(
    design: Design, system: TwoClass, seed: int, numbers: range, results: list[dict[str, Reals]]
) -> None:
    """Computes resamples drawn run by run into their rows; there is none that lacks a class."""
    count = max(1, _TOGETHER // len(system.steps.bounds[0]))
    for start in range(numbers.start, numbers.stop, count):
        some = range(start, min(start + count, numbers.stop))
        results[some.start : some.stop] = system.several([design.draw(seed, k, _stream(0, 0)).weights for k in some])


def _stream(system: int, failures: int) -> int:
    """A distinct number for each set of draws; 1 is that of the jackknife."""
    return 2 * (system * _MOST_FAILURES + failures)


def progress_bar(stream: TextIO | None = None) -> Progress:
    """A progress bar with the time left, redrawn in place on a terminal; silent elsewhere.

    Parameters
    ----------
    stream : text stream, optional
        Where it is drawn; by default standard error.

    Returns
    -------
    callable
        Takes ``(done, total)``.

    Examples
    --------
    >>> import io
    >>> from tercet.uncertainty import progress_bar
    >>> written = io.StringIO()
    >>> progress_bar(written)(1, 2)    # not a terminal: silent
    >>> len(written.getvalue())
    0
    """
    out = sys.stderr if stream is None else stream
    start, before = time.monotonic(), 0

    def show(done: int, total: int) -> None:
        nonlocal start, before
        if not out.isatty():
            return
        if done < before:  # another run has begun
            start = time.monotonic()
        before = done
        left = (time.monotonic() - start) * (total - done) / done
        bar = "#" * (30 * done // total)
        out.write(f"\r[{bar:<30}] {done} of {total} resamples, {left:.0f} s left " + ("\n" if done == total else ""))
        out.flush()

    return show
