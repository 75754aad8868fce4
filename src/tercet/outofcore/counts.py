"""Binned: what a part of very many trials leaves behind in bounded memory; adds exactly with +.

Scores are counted per class in bins whose edges are bit patterns of doubles. A count at an edge is exact, so
every bin is a segment between two exact points of the curve, however many rows it holds.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypedDict, Unpack
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import exact_sum
from tercet._numeric.validation import frozen, numbers, shown
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.metrics.costs import softplus
from tercet.trials import NEEDS_PRIOR, TWO_CLASS_MEANINGS, probability, to_llr

Integers = NDArray[np.int64]
Classes = tuple[NDArray[Any], NDArray[Any]]  # the sorted scores of targets and of non-targets
Parts = tuple[tuple[int, int], ...]  # numbers of parts, as ranges

LOWEST_KEY = -(1 << 63)  # below the key of every score; as a double it is a NaN
_LIMITS = {"lr": (0.0, math.inf), "posterior": (0.0, 1.0)}
_CELLS = 4096  # of a sample, to see where the classes lie
_GRID = 1 << 19  # cells that tell quickly which scores lie near chosen ranges
_BLOCK = 1 << 16  # rows that stay in the cache
_EVEN = 0.25  # the share of edges spread evenly over the rows; the others follow the overlap of the classes


class RowError(InputError):
    """A score that breaks a rule, with its row in the part; whoever knows the file adds its name."""

    def __init__(self, message: str, row: int = 0) -> None:
        super().__init__(message)
        self.row = row


def keys_of(scores: Floats) -> Integers:
    """The order-preserving pattern: doubles compare as these integers do (-0.0 must be 0.0 already).

    >>> keys_of(np.array([-2.0, -1.0, 0.0, 1.0])).argsort().tolist()
    [0, 1, 2, 3]
    """
    bits = np.ascontiguousarray(scores, np.float64).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))


def scores_of(keys: Integers) -> Floats:
    """The doubles of order-preserving patterns."""
    return (keys ^ ((keys >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)


def even_edges(bits: int = 16) -> Floats:
    """The same edges for everyone: every pattern of sign, exponent and leading mantissa bits, `bits` in all."""
    if not 1 <= bits <= 20:
        raise InputError(f"bits must lie in 1..20, not {bits}: every bin takes 32 bytes.")
    keys = np.arange(-(1 << (bits - 1)), 1 << (bits - 1), dtype=np.int64) << (64 - bits)
    edges = scores_of(keys)
    return frozen(np.unique(edges[~np.isnan(edges)] + 0.0))


def edges_of(targets: Floats, nontargets: Floats, count: int) -> Floats:
    """Edges chosen from a sample: fine where the classes overlap, with a bin of its own for a score that piles up.

    A cell between two quantiles of the sample gets edges in proportion to sqrt(targets x non-targets) in it,
    because a vertex of the hull hides in a bin by the product of both; a quarter of all goes by rows alone.
    """
    sides = [np.sort(np.asarray(side, np.float64)) for side in (targets, nontargets)]
    pooled = np.sort(np.concatenate(sides))
    if len(pooled) == 0 or count < 2:
        return frozen(np.empty(0))
    cells = min(_CELLS, count, max(len(pooled) // 64, 1))
    quantiles = pooled[np.linspace(0, len(pooled) - 1, cells + 1).astype(np.intp)]
    piles = quantiles[1:][quantiles[1:] == quantiles[:-1]]
    borders = np.unique(np.concatenate((keys_of(quantiles), keys_of(piles) - 1)))
    borders = borders[~np.isnan(scores_of(borders))]
    inside = [np.diff(np.searchsorted(side, scores_of(borders), "right")) + 0.5 for side in sides]
    overlap = np.sqrt(inside[0] * inside[1])
    rows = inside[0] + inside[1]
    share = (1.0 - _EVEN) * overlap / overlap.sum() + _EVEN * rows / rows.sum() if len(rows) else rows
    return distinct_edges(borders, between(borders[:-1], borders[1:], np.rint(count * share)))


def distinct_edges(*keys: Integers) -> Floats:
    """The edges of some patterns, ascending, each once; the pattern below -inf is none."""
    pooled = np.sort(np.concatenate(keys))  # a tenth of the time of np.unique, which hashes
    edges = scores_of(pooled[np.diff(pooled, prepend=LOWEST_KEY) != 0])
    return frozen(edges[~np.isnan(edges)])


def between(low: Integers, high: Integers, pieces: NDArray[Any]) -> Integers:
    """Patterns that cut every range low..high into so many even pieces (fewer where it is too narrow)."""
    first = low.astype(np.uint64)
    span = high.astype(np.uint64) - first  # modulo 2**64: right even where the difference leaves int64
    steps = np.maximum(span // np.maximum(pieces, 1).astype(np.uint64), np.uint64(1))
    inner = (span - np.minimum(span, np.uint64(1))) // steps
    which = np.repeat(np.arange(len(low)), inner.astype(np.intp))
    place = np.arange(1, len(which) + 1) - np.concatenate(([0], np.cumsum(inner.astype(np.intp))))[which]
    return np.asarray(first[which] + steps[which] * place.astype(np.uint64), np.uint64).astype(np.int64)


class How(TypedDict, total=False):
    """How a part is counted, beside its scores and the edges."""

    thresholds: object  # of llrs, ascending
    trained_prior: float | None
    part: int | None
    plan: str
    sums: bool  # whether Cllr is asked for


@dataclass(frozen=True, slots=True, eq=False)
class Binned:
    """Exact counts per class and bin, exact counts at asked thresholds, and the exact sums that Cllr needs.

    Bin k holds the scores with edges[k-1] < score <= edges[k]; the last one all above. `parts` are the numbers of
    the parts counted, as ranges; `plan` names what they are parts of.

    >>> one = Binned.of([2.0, -1.0], [True, False], [0.0], part=0)
    >>> two = one + Binned.of([0.5], [False], [0.0], part=1)
    >>> two.targets.tolist(), two.nontargets.tolist(), two.parts
    ([0, 1], [1, 1], ((0, 2),))
    """

    edges: Floats
    targets: Integers
    nontargets: Integers
    lowest: Floats  # of each bin, inf where it is empty
    highest: Floats  # of each bin, -inf where it is empty
    thresholds: Floats  # of llrs, ascending
    missed: Integers  # targets with llr <= threshold
    rejected: Integers  # non-targets with llr <= threshold
    sums: tuple[int, int]  # of ln(1 + e^-llr) over targets and ln(1 + e^llr) over non-targets, in 2**-1074
    certain: tuple[int, int]  # how many of these are infinite, and not in the sums
    meaning: str
    trained_prior: float | None
    parts: Parts
    plan: str

    @classmethod
    def empty(cls) -> Binned:
        """The state of nothing: added to any other it changes nothing."""
        none, zero = frozen(np.empty(0)), frozen(np.zeros(1, np.int64))
        ends = frozen(np.full(1, math.inf)), frozen(np.full(1, -math.inf))
        counts = frozen(np.zeros(0, np.int64))
        return cls(none, zero, zero, *ends, none, counts, counts, (0, 0), (0, 0), "llr", None, (), "")

    @classmethod
    def of(cls, scores: object, targets: object, edges: object, *, meaning: str = "llr", **how: Unpack[How]) -> Binned:
        """Counts one part: scores, which of them are targets, and the edges that all parts share."""
        return cls.of_sorted(sorted_classes(scores, targets, meaning), edges, meaning=meaning, **how)

    @classmethod
    def of_sorted(
        cls,
        classes: Classes,
        edges: object,
        *,
        thresholds: object = (),
        meaning: str = "llr",
        trained_prior: float | None = None,
        part: int | None = None,
        plan: str = "",
        sums: bool = True,
    ) -> Binned:
        """Counts one part whose classes are judged and sorted already."""
        borders, asked = _ascending(edges, "edges"), _ascending(thresholds, "thresholds")
        starts, ends = zip(*(_ranges(side, borders) for side in classes), strict=True)
        counts = [frozen(end - start) for start, end in zip(starts, ends, strict=True)]
        lowest, highest = _extremes(classes, starts, ends)
        llrs = classes if meaning == "raw" else [_as_llr(side, meaning, trained_prior) for side in classes]
        upto = [frozen(_upto(llr, asked)) for llr in llrs]
        costs = [(0, 0)] * 2 if meaning == "raw" or not sums else [_cost(llrs[0], -1.0), _cost(llrs[1], 1.0)]
        return cls(
            borders, counts[0], counts[1], lowest, highest, asked, upto[0], upto[1],
            (costs[0][0], costs[1][0]), (costs[0][1], costs[1][1]), meaning, trained_prior, _one_part(part), plan,
        )  # fmt: skip

    @property
    def rows(self) -> int:
        """All trials counted."""
        return int(self.targets.sum()) + int(self.nontargets.sum())

    def __add__(self, other: Binned) -> Binned:
        for one, another in ((self, other), (other, self)):
            if not one.parts and one.rows == 0:
                return another
        _same(self, other)
        return Binned(
            self.edges,
            frozen(self.targets + other.targets),
            frozen(self.nontargets + other.nontargets),
            frozen(np.minimum(self.lowest, other.lowest)),
            frozen(np.maximum(self.highest, other.highest)),
            self.thresholds,
            frozen(self.missed + other.missed),
            frozen(self.rejected + other.rejected),
            (self.sums[0] + other.sums[0], self.sums[1] + other.sums[1]),
            (self.certain[0] + other.certain[0], self.certain[1] + other.certain[1]),
            self.meaning,
            self.trained_prior,
            joined_parts(self.parts, other.parts),
            self.plan,
        )

    def to_plain(self) -> dict[str, Any]:
        """Arrays, whole numbers and text only: what travels between machines and into files."""
        return {
            "edges": self.edges, "targets": self.targets, "nontargets": self.nontargets, "lowest": self.lowest,
            "highest": self.highest, "thresholds": self.thresholds, "missed": self.missed, "rejected": self.rejected,
            "sums": list(self.sums), "certain": list(self.certain), "meaning": self.meaning,
            "trained_prior": self.trained_prior, "parts": [list(ends) for ends in self.parts], "plan": self.plan,
        }  # fmt: skip

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Binned:
        """The state that to_plain took apart."""
        kept: dict[str, Any] = {
            key: frozen(value) if isinstance(value, np.ndarray) else value for key, value in plain.items()
        }
        kept |= {"sums": tuple(plain["sums"]), "certain": tuple(plain["certain"])}
        return cls(**{**kept, "parts": tuple((int(low), int(high)) for low, high in plain["parts"])})

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an npz without pickles and with a checksum, whole or not at all."""
        save_plain(self.to_plain(), path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Binned:
        """The state that save wrote, to the bit; damaged files are refused."""
        try:
            return cls.of_plain(load_plain(path))
        except (TypeError, KeyError) as error:
            raise InputError(f"{Path(path).name} holds no binned counts ({error}).") from None


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """The scores of a part that lie in chosen ranges low < score <= high; adds with +, in any order of rows."""

    targets: Floats
    nontargets: Floats
    parts: Parts
    plan: str

    @classmethod
    def empty(cls) -> Rows:
        """No rows of no part."""
        none = frozen(np.empty(0))
        return cls(none, none, (), "")

    @classmethod
    def of(
        cls,
        scores: object,
        targets: object,
        low: Floats,
        high: Floats,
        *,
        meaning: str = "llr",
        part: int | None = None,
        plan: str = "",
    ) -> Rows:
        """Picks from one part the rows in disjoint ascending ranges; a NaN for `low` is below everything."""
        values, marks = _judged(scores, targets, meaning)
        near = _near(values, low, high)
        if near is not None:
            values, marks = values[near], marks[near]
        return cls.of_sorted(sorted_classes(values, marks, meaning), low, high, part=part, plan=plan)

    @classmethod
    def of_sorted(
        cls,
        classes: Classes,
        low: Floats,
        high: Floats,
        *,
        part: int | None = None,
        plan: str = "",
    ) -> Rows:
        """Picks from one part whose classes are sorted already."""
        picked = [frozen(_picked(side, low, high)) for side in classes]
        return cls(picked[0], picked[1], _one_part(part), plan)

    @classmethod
    def joined(cls, several: Iterable[Rows]) -> Rows:
        """The sum of all at once, each class copied only once."""
        given = [one for one in several if one.parts or len(one.targets) or len(one.nontargets)]
        if not given:
            return cls.empty()
        parts: Parts = ()
        for one in given:
            _same_plan(given[0], one)
            parts = joined_parts(parts, one.parts)
        targets = np.concatenate([one.targets for one in given])
        return cls(frozen(targets), frozen(np.concatenate([one.nontargets for one in given])), parts, given[0].plan)

    def __add__(self, other: Rows) -> Rows:
        return Rows.joined((self, other))

    def to_plain(self) -> dict[str, Any]:
        """Arrays, whole numbers and text only."""
        parts = [list(ends) for ends in self.parts]
        return {"targets": self.targets, "nontargets": self.nontargets, "parts": parts, "plan": self.plan}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Rows:
        """The rows that to_plain took apart."""
        parts = tuple((int(low), int(high)) for low, high in plain["parts"])
        return cls(frozen(plain["targets"]), frozen(plain["nontargets"]), parts, plain["plan"])


def sorted_classes(scores: object, targets: object, meaning: str) -> Classes:
    """The sorted scores of targets and non-targets, judged: no NaN, in the range of their meaning."""
    return gathered_classes([(scores, targets)], np.size(np.asarray(scores)), meaning)


def gathered_classes(pieces: Iterable[tuple[object, object]], rows: int, meaning: str) -> Classes:
    """The same of a part that comes in pieces of (scores, which are targets), so many rows together.

    One array holds both classes, so no row is held twice; float32 stays what it is, and sorts twice as fast.
    """
    held = np.empty(0)
    low, high = 0, rows  # targets fill it from its start, non-targets from its end
    for scores, targets in pieces:
        values, mask = _judged(scores, targets, meaning, low + rows - high)
        if high - low == rows:
            held = np.empty(rows, values.dtype)
        for start in range(0, len(values), _BLOCK):
            block, marks = values[start : start + _BLOCK], mask[start : start + _BLOCK]
            yes, no = np.flatnonzero(marks), np.flatnonzero(~marks)
            block.take(yes, out=held[low : low + len(yes)], mode="clip")  # to clip is quicker than to check
            block.take(no, out=held[high - len(no) : high], mode="clip")
            low, high = low + len(yes), high - len(no)
    for side in (sides := (held[:low], held[high:])):
        side.sort()
        side += 0.0  # -0.0 becomes 0.0
    return sides


def _judged(scores: object, targets: object, meaning: str, before: int = 0) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A piece whose first row is the part's row `before`, as doubles or float32; what breaks a rule is refused."""
    values, mask = np.asarray(scores), np.asarray(targets)
    if values.ndim != 1 or values.shape != mask.shape or mask.dtype != np.bool_ or values.dtype.kind not in "fiu":
        raise InputError(
            f"A part needs a column of numbers and as many true/false marks of its targets, not "
            f"{values.dtype} {values.shape} and {mask.dtype} {mask.shape}."
        )
    if meaning not in TWO_CLASS_MEANINGS:
        raise InputError(f"meaning is one of {', '.join(TWO_CLASS_MEANINGS)}, not {shown(meaning)}.")
    if values.dtype not in (np.float32, np.float64):
        values = values.astype(np.float64)
    low, high = _LIMITS.get(meaning, (-math.inf, math.inf))
    with np.errstate(invalid="ignore"):
        if len(values) and not (values.min() >= low and values.max() <= high):  # a NaN makes both a NaN
            _refuse(values, meaning, low, high, before)
    return values, mask


def _refuse(values: NDArray[Any], meaning: str, low: float, high: float, before: int) -> NoReturn:
    row = int(np.flatnonzero(~((values >= low) & (values <= high)))[0])
    if np.isnan(values[row]):
        count = int(np.isnan(values).sum())
        raise RowError(
            f"scores must not hold NaN: {count} here. Drop them, or write -inf for a rejection.", before + row
        )
    why = f"scores that are {meaning} must lie in {low:g}..{high:g}, not {float(values[row])}."
    raise RowError(why, before + row)


def _ascending(values: object, name: str) -> Floats:
    """Edges or thresholds: numbers that ascend, to the bit as given (-0.0 and 0.0 are two patterns)."""
    found = numbers(values, name)
    falls = np.flatnonzero(found[1:] < found[:-1])
    if len(falls):
        one, other = found[falls[0] : falls[0] + 2].tolist()
        raise InputError(f"{name} must ascend: {one} stands before {other}.")
    return frozen(np.array(values, np.float64))


def _upto(side: NDArray[Any], ends: Floats) -> NDArray[np.intp]:
    """How many of a sorted class are at or below each end; NaN counts as above all.

    Ends are rounded down to float32 for a class of float32: one of those is at or below either or neither.
    """
    near = ends
    if side.dtype != np.float64:
        with np.errstate(over="ignore"):
            near = ends.astype(side.dtype)
        near = np.where(near > ends, np.nextafter(near, side.dtype.type(-math.inf)), near)
    return np.searchsorted(side, near, "right")


def _ranges(side: NDArray[Any], edges: Floats) -> tuple[Integers, Integers]:
    """Where each bin starts and ends in a sorted class."""
    upto = _upto(side, edges)
    return np.concatenate(([0], upto)), np.concatenate((upto, [len(side)]))


def _extremes(sides: Iterable[NDArray[Any]], starts: Iterable[Any], ends: Iterable[Any]) -> tuple[Floats, Floats]:
    """The lowest and the highest score of every bin."""
    low, high = np.array(math.inf), np.array(-math.inf)
    for side, start, end in zip(sides, starts, ends, strict=True):
        held = end > start
        first, last = (side.take(at, mode="clip") if len(side) else math.inf for at in (start, end - 1))
        low = np.minimum(low, np.where(held, first, math.inf))
        high = np.maximum(high, np.where(held, last, -math.inf))
    return frozen(low.astype(np.float64)), frozen(high.astype(np.float64))


def _as_llr(side: NDArray[Any], meaning: str, trained_prior: float | None) -> NDArray[Any]:
    """Sorted scores as sorted llrs; rounding may swap neighbours, so they are ranked again where it did."""
    if meaning == "llr":
        return side
    if meaning in ("log-odds", "posterior"):
        if trained_prior is None:
            raise InputError(NEEDS_PRIOR.format(meaning))
        trained_prior = probability(trained_prior, "trained_prior")
    llr = to_llr(side.astype(np.float64, copy=False), meaning, trained_prior)
    return llr if np.all(llr[1:] >= llr[:-1]) else np.sort(llr)


def _cost(llr: NDArray[Any], sign: float) -> tuple[int, int]:
    """Sum of ln(1 + e^(sign llr)) over the sorted llrs where it is finite, and how often it is not."""
    split = int(_upto(llr, np.array([-math.inf if sign < 0.0 else sys.float_info.max]))[0])
    finite = llr[split:] if sign < 0.0 else llr[:split]

    def cost(block: NDArray[Any]) -> Floats:
        wide = block.astype(np.float64, copy=False)
        return softplus(-wide if sign < 0.0 else wide)

    return exact_sum(finite, cost), len(llr) - len(finite)


def _near(values: NDArray[Any], low: Floats, high: Floats) -> NDArray[np.bool_] | None:
    """Marks the scores that share a cell of an even grid with a range: all that lie in one, and few others.

    Subtracting, multiplying and cutting off keep the order, rounded or not, so a score between the ends of a range
    never falls outside their cells. None where a grid would not pay.
    """
    ends = np.concatenate((low, high))
    ends = ends[np.isfinite(ends)]
    if values.dtype.kind != "f" or len(values) < _BLOCK or len(ends) == 0:
        return None
    kind = values.dtype.type
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        first, step = kind(ends.min()), kind(_GRID / (ends.max() - ends.min()))
        if not (np.isfinite(first) and 0.0 < step < math.inf):
            return None

        def cells(part: NDArray[Any]) -> NDArray[np.int32]:
            places = np.subtract(part, first)
            np.multiply(places, step, out=places)
            np.clip(places, 0.0, _GRID - 1.0, out=places)
            return np.asarray(places, kind).astype(np.int32)

        starts = cells(np.where(np.isnan(low), -math.inf, low).astype(kind))
        turns = np.bincount(starts, minlength=_GRID + 1) - np.bincount(
            cells(high.astype(kind)) + 1, minlength=_GRID + 1
        )
        marked = np.cumsum(turns)[:_GRID] > 0
        blocks = (values[start : start + _BLOCK] for start in range(0, len(values), _BLOCK))
        return np.concatenate([marked.take(cells(block)) for block in blocks])


def _picked(side: NDArray[Any], low: Floats, high: Floats) -> Floats:
    """The scores of a sorted class in the ranges low < score <= high."""
    starts = np.where(np.isnan(low), 0, _upto(side, low))
    lengths = _upto(side, high) - starts
    before = np.cumsum(lengths) - lengths
    picked = side[np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))]
    return picked.astype(np.float64, copy=False)


def _one_part(part: int | None) -> Parts:
    return () if part is None else ((part, part + 1),)


def joined_parts(one: Iterable[tuple[int, int]], other: Iterable[tuple[int, int]]) -> Parts:
    """Both sets of part numbers as ranges, touching ones made one; a part in both was counted twice."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted((*one, *other)):
        if joined and low < joined[-1][1]:
            raise InputError(f"Part {low} was counted twice. Add every part once.")
        if joined and low == joined[-1][1]:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def missing_parts(parts: Iterable[tuple[int, int]], count: int) -> list[int]:
    """The first few of the parts 0..count-1 that were not counted."""
    missing: list[int] = []
    after = 0
    for low, high in (*parts, (count, count)):
        missing.extend(range(after, min(low, after + 4)))
        after = high
    return missing[:4]


def _same(one: Binned, other: Binned) -> None:
    _same_plan(one, other)
    if (one.meaning, one.trained_prior) != (other.meaning, other.trained_prior):
        raise InputError(
            f"Parts of different meanings do not add: {one.meaning} (prior {one.trained_prior}) and "
            f"{other.meaning} (prior {other.trained_prior})."
        )
    for what in ("edges", "thresholds"):
        if not np.array_equal(getattr(one, what), getattr(other, what)):
            raise InputError(f"Parts counted with different {what} do not add: count all of them with the same.")


def _same_plan(one: Binned | Rows, other: Binned | Rows) -> None:
    if one.plan != other.plan:
        raise InputError("Parts of different plans do not add: they were counted over other files, or with other bins.")


def digest(plain: Mapping[str, Any]) -> str:
    """SHA-256 over names, types, shapes and contents."""
    found = hashlib.sha256()
    for name, value in sorted(plain.items()):
        if isinstance(value, np.ndarray):
            found.update(f"{name}:{value.dtype.str}{value.shape};".encode())
            found.update(np.ascontiguousarray(value).data)
        else:
            found.update(f"{name}={value!r};".encode())
    return found.hexdigest()


def save_plain(plain: Mapping[str, Any], path: str | os.PathLike[str]) -> None:
    """Arrays into an npz, all else as one JSON text, with a checksum; the file appears whole or not at all."""
    import json

    arrays = {name: value for name, value in plain.items() if isinstance(value, np.ndarray)}
    rest = {name: value for name, value in plain.items() if name not in arrays}
    text = json.dumps({"checksum": digest(plain), "rest": rest})
    whole, new = Path(path), Path(f"{os.fspath(path)}.{os.getpid()}.new")
    try:
        with new.open("wb") as out:
            np.savez(out, allow_pickle=False, **arrays, _rest=np.frombuffer(text.encode(), np.uint8))
            out.flush()
            os.fsync(out.fileno())
        new.replace(whole)
    except OSError as error:
        raise InputError(
            f"{whole.name} cannot be written into {shown(str(whole.parent))}: {error.strerror or error}. "
            f"Free space there, or name another folder."
        ) from None
    finally:
        with suppress(OSError):  # below a file there is nothing to remove
            new.unlink(missing_ok=True)


def load_plain(path: str | os.PathLike[str]) -> dict[str, Any]:
    """What save_plain wrote; anything else, or a changed bit, is refused. No pickle is ever loaded."""
    import json

    called = Path(path).name
    try:
        with np.load(io.BytesIO(Path(path).read_bytes()), allow_pickle=False) as held:
            arrays = {name: held[name] for name in held.files}
        text = json.loads(arrays.pop("_rest").tobytes())
        plain = {**arrays, **text["rest"]}
        sound = text["checksum"] == digest(plain)
    except FileNotFoundError:
        raise InputError(f"{called}: there is no such file.") from None
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        EOFError,
        NotImplementedError,
        BadZipFile,
    ) as error:
        raise InputError(f"{called} is no saved part: {shown(str(error))}. Delete it and count again.") from None
    if not sound:
        raise InputError(f"{called} is damaged: its checksum does not fit. Delete it and count again.")
    return plain
