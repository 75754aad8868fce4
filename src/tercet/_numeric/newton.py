"""One convex minimiser for every trained map: Newton's steps, halved where they would not descend."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from tercet._numeric.parallel import CORES, together
from tercet._typing import Floats
from tercet.errors import CalibrationError

Terms = Callable[[Floats], tuple[float, Floats, Floats]]  # value, gradient and Hessian at a point

GRADIENT_BOUND = 1e-9
_STEPS = 200
_HALVINGS = 60
_FEW = 64  # this many sums are worth adding without rounding
STILL = 1e-14  # a step this short, relative to the point, ends the search
ONCE_MORE = 1e-10  # after a step this short the next would be its square, which is lost in rounding
BLOCK = 1 << 13  # rows at a time: they stay in the cache, and are too few for BLAS to start threads of its own


class Optimum(NamedTuple):
    """Where the gradient vanishes: the point, the steps taken, and gradient and Hessian before the last of them."""

    point: Floats
    gradient: Floats
    hessian: Floats
    iterations: int

    @property
    def gradient_norm(self) -> float:
        """The Euclidean norm of the gradient."""
        return float(np.linalg.norm(self.gradient))


def minimise(terms: Terms, start: Floats, *, steps: int = _STEPS, still: float = STILL) -> Optimum:
    """The minimum of a convex function, until a full step, which is still taken, hardly moves the point.

    >>> best = minimise(lambda x: (float(x[0] ** 4), 4 * x**3, 12 * x[:, None] ** 2), np.array([1.0]))
    >>> bool(best.gradient_norm < 1e-9)
    True
    """
    point, (value, gradient, hessian) = start, terms(start)
    for iteration in range(steps):
        step = _newton_step(gradient, hessian)
        norm, near = float(np.linalg.norm(gradient)), still * (1.0 + np.linalg.norm(point))
        if norm == 0.0 or (norm < GRADIENT_BOUND and np.linalg.norm(step) <= near):
            return Optimum(point + step, gradient, hessian, iteration)
        slope = float(gradient @ step)
        for halving in range(1 if norm < GRADIENT_BOUND else _HALVINGS):
            shorter = 0.5**halving
            trial = terms(point + shorter * step)
            if _descends(trial, value, shorter * slope, norm):
                break
        else:  # rounding prevents any further descent
            return Optimum(point, gradient, hessian, iteration)
        point, (value, gradient, hessian) = point + shorter * step, trial
    return Optimum(point, gradient, hessian, steps)


def _newton_step(gradient: Floats, hessian: Floats) -> Floats:
    """-H^-1 g, with eigenvalues kept off zero, so that it always points downhill."""
    sizes, directions = np.linalg.eigh(hessian)
    floor = max(1e-15 * float(sizes[-1]), 1e-300)
    step: Floats = -directions @ ((directions.T @ gradient) / np.maximum(sizes, floor))
    return step


def _descends(trial: tuple[float, Floats, Floats], value: float, expected: float, norm: float) -> bool:
    """Whether the value falls by a fair part of the expected descent or, at equal values, the gradient shrinks."""
    if trial[0] <= value + 1e-4 * expected and trial[0] < value:
        return True
    return trial[0] <= value + 1e-13 * (1.0 + abs(value)) and float(np.linalg.norm(trial[1])) < norm


def check_converged(best: Optimum, what: str) -> None:
    """Refuses an answer whose gradient is not below the bound."""
    if not best.gradient_norm < GRADIENT_BOUND:
        raise CalibrationError(
            f"{what} did not converge: after {best.iterations} Newton steps the gradient norm is "
            f"{best.gradient_norm:.3g}, not below {GRADIENT_BOUND:g}. The data are nearly separable or spread over too "
            f"many orders of magnitude: give a penalty, or rescale the scores."
        )


_RESOLVED = 1e-13  # relative eigenvalue of a Hessian below which it may be nothing but rounding


def has_optimum(best: Optimum, widest: Callable[[Floats], float]) -> bool:
    """Whether a logistic loss surely has a minimum near the end of the search.

    ln sum e^eta is self-concordant along any line up to the range of the etas, so a minimum exists within range 1 of a
    point where sqrt(g H^-1 g) x the range that a step of length 1 in H's norm can have is below 1 / e. Separable data
    never get there. `widest` gives that range from a square root of H^-1.
    """
    sizes, directions = np.linalg.eigh(best.hessian)
    if not sizes[0] > _RESOLVED * sizes[-1] or not best.gradient_norm < GRADIENT_BOUND:
        return False
    root = directions / np.sqrt(sizes)
    return float(np.linalg.norm(root.T @ best.gradient)) * widest(root) < 1.0 / math.e


def divisible(margins: Floats) -> bool:
    """Whether some direction lowers none of the margins (rows) and raises one at least, by linear programme.

    >>> divisible(np.array([[1.0, -1.0], [0.0, 1.0]])), divisible(np.array([[1.0], [-1.0]]))
    (True, False)
    """
    from scipy.optimize import linprog

    scale = np.abs(margins).max()
    gain = margins.sum(axis=0) / (scale * len(margins))
    found = linprog(-gain, A_ub=-margins / scale, b_ub=np.zeros(len(margins)), bounds=(-1.0, 1.0), method="highs")
    return bool(found.status == 0 and -found.fun > 1e-9)


def in_blocks(function: Callable[[slice], Floats], rows: int, block: int = BLOCK) -> Floats:
    """The sum of function over fixed blocks of rows, on all cores; the same bits for any number of them."""
    starts = range(0, rows, block)

    def part(core: int) -> list[Floats]:
        low, high = (len(starts) * edge // CORES for edge in (core, core + 1))
        return [function(slice(start, min(start + block, rows))) for start in starts[low:high]]

    parts = together([partial(part, core) for core in range(CORES)], rows)
    sums = list(itertools.chain.from_iterable(parts))
    stacked = np.stack(sums).reshape(len(sums), -1)
    total = np.array([math.fsum(column) for column in stacked.T]) if stacked.shape[1] <= _FEW else stacked.sum(axis=0)
    return total.reshape(sums[0].shape)
