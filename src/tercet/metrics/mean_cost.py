"""Means of normalised costs over several operating points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tercet.application import ApplicationMean


@dataclass(frozen=True, slots=True)
class MeanCost:
    """The mean of normalised costs over several operating points, such as NIST's C_primary.

    Attributes
    ----------
    name : str or None
        The evaluation whose primary cost it is.
    places : tuple of int
        Which rows of the evaluation's `applications` were averaged.
    dcf : float or None
        The mean of the actual costs; None for raw scores.
    min_dcf : float or None
        The mean of the separate minima: each point has a threshold of its own.
    reason : str or None
        Why a number is None.
    """

    name: str | None
    places: tuple[int, ...]
    dcf: float | None
    min_dcf: float | None
    reason: str | None = None


class _Row(Protocol):
    """What a mean needs of a result at one operating point."""

    @property
    def dcf(self) -> float | None:
        """The actual cost."""

    @property
    def min_dcf(self) -> float | None:
        """The minimum cost."""

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why a number is None."""


def mean_cost(name: str | None, places: tuple[int, ...], rows: Sequence[_Row]) -> MeanCost:
    """The mean over some rows of an evaluation; undefined where one of them is."""
    own, means, reasons = [rows[place] for place in places], [], []
    for key in ("dcf", "min_dcf"):
        costs = [getattr(row, key) for row in own]
        reasons += [row.reasons.get(key) for row, cost in zip(own, costs, strict=True) if cost is None]
        means.append(None if None in costs else sum(costs) / len(costs))
    return MeanCost(name, places, means[0], means[1], reasons[0] if reasons else None)


def without_means(asked: Sequence[object]) -> tuple[list[object], list[tuple[str | None, tuple[int, ...]]]]:
    """The operating points with those of each mean in its place, and which of them belong to which mean."""
    points: list[object] = []
    means = []
    for one in asked:
        if isinstance(one, ApplicationMean):
            means.append((one.name, tuple(range(len(points), len(points) + len(one.applications)))))
            points += one.applications
        else:
            points.append(one)
    return points, means
