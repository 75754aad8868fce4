"""Pairing: the same trials of several systems in one order. Everything that compares systems is paired here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from tercet._numeric.validation import chosen, listed, shown
from tercet._typing import Array
from tercet.errors import InputError
from tercet.trials import Trials

PairBy: TypeAlias = Literal["id", "position"]
_WAYS: tuple[PairBy, ...] = ("id", "position")
_SHOWN = 3  # ids that a message names


class Paired(NamedTuple):
    """Systems whose trials stand in the order of the first one's, and how they were matched.

    Attributes
    ----------
    systems : tuple of Trials
        One entry per system; row i of each is the same trial.
    by : {"id", "position"}
        How the rows were matched.
    """

    systems: tuple[Trials, ...]
    by: PairBy

    @property
    def note(self) -> str:
        """The sentence that an output shows where trials were matched by position."""
        return "paired by position" if self.by == "position" else "paired by id"


def paired(
    systems: Sequence[Trials], *, by: PairBy | None = None, names: Sequence[str] | None = None, way_out: str = ""
) -> Paired:
    """Bring the trials of several systems into the order of the first system's.

    Trials are matched by id whenever they have ids. Without ids they are matched by position if the systems have the
    same number of trials and the same labels; anything else only if `by="position"` asks for it.

    Parameters
    ----------
    systems : sequence of Trials
        One entry per system.
    by : {"id", "position"}, optional
        Demand one of the two ways. By default ids are used if there are any.
    names : sequence of str, optional
        What messages call the systems; "system 0", "system 1", ... by default.
    way_out : str, optional
        A further sentence for the messages.

    Returns
    -------
    Paired
        The systems in one order, and "id" or "position".

    Examples
    --------
    >>> a = Trials.of_llr([2.0, -1.0], [1, 0], ids=["x", "y"])
    >>> b = Trials.of_llr([-3.0, 4.0], [0, 1], ids=["y", "x"])
    >>> paired([a, b]).systems[1].scores.tolist()
    [4.0, -3.0]
    """
    given = _systems(systems)
    how = None if by is None else chosen(by, "pair_by", _WAYS)
    own = [one.name for one in given] if names is None else list(names)
    known = None not in own and len(set(own)) == len(given)
    called = [shown(name) if known else f"system {place}" for place, name in enumerate(own)]
    matcher = _Matcher(given, called, f" {way_out}" if way_out else "")
    ids = how != "position" and matcher.has_ids(needed=how == "id")
    ordered = [matcher.in_order(place) if ids else matcher.by_position(place, how) for place in range(len(given))]
    for place in range(1, len(ordered)):
        matcher.check_alike(ordered[place], place)
    return Paired(tuple(ordered), "id" if ids else "position")


def _systems(systems: object) -> list[Trials]:
    given = [] if isinstance(systems, Trials) else listed(systems, "systems")
    found = [one for one in given if isinstance(one, Trials)]
    if not found or len(found) < len(given):
        raise InputError("systems must be a list of Trials, one entry per system.")
    return found


class _Matcher:
    """The first system against each other one."""

    def __init__(self, systems: list[Trials], names: list[str], way_out: str) -> None:
        self.systems, self.names, self.way_out = systems, names, way_out
        self.wanted: dict[object, int] = {}

    def has_ids(self, needed: bool) -> bool:
        """Whether trials are matched by id; ids in some systems only are refused."""
        without = [name for one, name in zip(self.systems, self.names, strict=True) if one.ids is None]
        if without and (needed or len(without) < len(self.systems)):
            raise InputError(
                f"Trials cannot be matched by id: {without[0]} has no ids. Give ids to every system, or ask for "
                f"pair_by='position'.{self.way_out}"
            )
        if not without:
            self.wanted = self._rows(0)
        return not without

    def in_order(self, place: int) -> Trials:
        """A system's trials in the order of the first system's ids."""
        trials = self.systems[place]
        if place == 0 or _equal(trials.ids, self.systems[0].ids):
            return trials
        rows = self._rows(place)
        missing = [key for key in self.wanted if key not in rows]
        extra = [key for key in rows if key not in self.wanted]
        if missing or extra:
            raise InputError(
                f"The trials of {self.names[place]} do not match those of {self.names[0]}: {len(missing)} missing, "
                f"{len(extra)} extra ({', '.join(shown(key) for key in (missing or extra)[:_SHOWN])})."
                f"{_kinds(self.wanted, rows)} Score the same trials with every system.{self.way_out}"
            )
        return trials.select(np.fromiter((rows[key] for key in self.wanted), np.intp, len(rows)))

    def _rows(self, place: int) -> dict[object, int]:
        ids = self.systems[place].ids
        assert ids is not None
        rows: dict[object, int] = {}
        again = [key for row, key in enumerate(ids.tolist()) if rows.setdefault(key, row) != row]
        if again:
            raise InputError(
                f"The ids of {self.names[place]} are not distinct. Repeated in {len(again)} of {len(ids)} rows: "
                f"{', '.join(shown(key) for key in again[:_SHOWN])}.{self.way_out}"
            )
        return rows

    def by_position(self, place: int, how: PairBy | None) -> Trials:
        """A system's trials in their order, if labels and sizes agree."""
        first, trials = self.systems[0], self.systems[place]
        if len(first) != len(trials):
            raise InputError(
                f"{self.names[place]} has {len(trials)} trials and {self.names[0]} has {len(first)}: they cannot be "
                f"matched by position. Give ids to match them by.{self.way_out}"
            )
        unknown = first.labels is None or trials.labels is None
        if how is None and place and unknown:
            raise InputError(
                f"{self.names[0]} and {self.names[place]} have neither ids nor labels on both sides, so nothing shows "
                f"that their rows are the same trials. Give ids, or ask for pair_by='position'.{self.way_out}"
            )
        return trials

    def check_alike(self, other: Trials, place: int) -> None:
        """The same classes, labels and weights, as far as they are known."""
        first = self.systems[0]
        if first.is_matrix != other.is_matrix or not _same_classes(first, other):
            raise InputError(
                f"{self.names[place]} has other classes than {self.names[0]}: {shown(other.classes)} and "
                f"{shown(first.classes)}."
            )
        heavy = [np.ones(len(one)) if one.weights is None else one.weights for one in (first, other)]
        columns: list[tuple[str, Array | None, Array | None]]
        columns = [("labels", first.labels, other.labels), ("weights", heavy[0], heavy[1])]
        for what, mine, others in columns:
            if mine is not None and others is not None and not np.array_equal(mine, others):
                rows = np.flatnonzero(mine != others)
                raise InputError(
                    f"The {what} of {self.names[place]} differ from those of {self.names[0]} for {len(rows)} trials, "
                    f"the first is row {rows[0]}: these are not the same trials in the same order.{self.way_out}"
                )


def _equal(one: Array | None, other: Array | None) -> bool:
    """Whether two id columns are the same as they stand; text is never equal to numbers."""
    if one is None or other is None or len(one) != len(other) or one.dtype.kind != other.dtype.kind:
        return False
    return bool(np.all(one == other))


def _kinds(ours: dict[object, int], theirs: dict[object, int]) -> str:
    one, other = next(iter(ours), None), next(iter(theirs), None)
    if isinstance(one, str) == isinstance(other, str):
        return ""
    return " The ids of one are text and those of the other are not, and text is never equal to a number."


def _same_classes(first: Trials, other: Trials) -> bool:
    """Whether the classes agree; default names agree with any."""
    if len(first.classes) != len(other.classes):
        return False
    unnamed = (tuple(map(str, range(len(first.classes)))), ("nontarget", "target"))
    return first.classes == other.classes or first.classes in unnamed or other.classes in unnamed
