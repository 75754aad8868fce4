"""Confusion: how often each decision was taken for each class, and every rate made of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Literal

import numpy as np

from tercet._numeric.exact import (
    Ratio,
    divided,
    over_root,
    quotient,
    quotients,
    shifted,
    sum_of_ratios,
)
from tercet._numeric.matrices import class_names, weight_column, whole_weights
from tercet._numeric.records import computed, derived
from tercet._numeric.validation import (
    STANDARD_PAIRS,
    chosen,
    flag,
    frozen,
    label_list,
    names,
    numbers,
    places_among,
    positive,
    same_index,
    same_length,
    shown,
    some,
)
from tercet._typing import Array, Counts, Floats
from tercet._views import Shown
from tercet.application import Application, MulticlassApplication, action_names, check_cells
from tercet.errors import InputError, UndefinedError
from tercet.metrics._class_names import known_classes, target_of
from tercet.trials import Trials, as_trials, probability

CELLS = ("tp", "fn", "fp", "tn")
_NO_TARGETS_AT_ALL = "there are no targets and nothing was accepted"
NO_ACTION = (
    "No action has the name of the class {}, so it is unclear which decisions are right: name the actions after the "
    "classes."
)
_EMPTY = {
    ("tp", "fn"): "there are no targets",
    ("fp", "tn"): "there are no non-targets",
    ("tp", "fp"): "nothing was accepted",
    ("tn", "fn"): "nothing was rejected",
    CELLS: "there are no trials",
}

FREE_DUMMY = "A normalised risk does not exist: the best dummy costs 0."


class Proportion:
    """A rate that is a proportion of counts, read as an attribute of a Confusion."""

    def __init__(self, name: str, counted: str, out_of: str) -> None:
        self.name, self.counted, self.out_of = name, tuple(counted.split()), tuple(out_of.split())
        self.__doc__ = f"{' + '.join(self.counted).upper()} / ({' + '.join(self.out_of).upper()})."

    def __get__(self, confusion: Confusion, owner: type[Confusion] | None = None) -> float:
        if confusion is None:
            return self
        count, out_of = self.known(*confusion._counts(self))
        return count / out_of

    def counts(self, cells: dict[str, int]) -> tuple[int, int]:
        """(count, out of) in a two-class table."""
        return sum(cells[c] for c in self.counted), sum(cells[c] for c in self.out_of)

    def known(self, count: int, out_of: int) -> Ratio:
        """(count, out of), or an error that says why there is no rate."""
        if out_of == 0:
            raise UndefinedError(f"{self.name} is undefined: {_EMPTY[self.out_of]}.")
        return count, out_of


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class Confusion(Shown):
    """Counts of decisions: rows = decision, columns = true class (scikit-learn has it the other way round).

    The rates of a two-class table are those of the target, which is class 1 unless you name another. With more classes,
    or with class names of your own, name the target.

    Parameters
    ----------
    matrix : array_like of shape (D, K)
        Counts or sums of weights: finite and not negative. Rows = decision.
    classes : sequence, optional
        Class names in the order of the columns; by default "0", "1", ...
    actions : sequence, optional
        Action names in the order of the rows; by default the classes' names.
    target : object, optional
        The class that rates such as `tpr` are about.
    transposed : bool, default False
        Take scikit-learn's orientation: rows = class.

    Attributes
    ----------
    counts : numpy.ndarray of int
        The counts in units of 2**unit.
    classes : tuple of str
        Class names.
    actions : tuple of str
        Action names.
    target : str or None
        The class that the rates are about.
    unit : int
        Exponent of the unit: 0 for whole counts, below 0 for fractional weights.
    ordered : bool
        Whether the order of the classes was given, by the user or by numbers; otherwise it is alphabetical.

    Examples
    --------
    >>> rain = Confusion([[15, 30], [20, 300]], classes=["rain", "clear"], target="rain")
    >>> round(rain.accuracy, 3), round(rain.ppv, 3)
    (0.863, 0.333)
    """

    tpr = sensitivity = recall = hit_rate = detection_rate = power = gar = Proportion("tpr", "tp", "tp fn")
    fnr = miss_rate = false_rejection_rate = type_2_error_rate = fnmr = frr = Proportion("fnr", "fn", "tp fn")
    fpr = false_alarm_rate = false_acceptance_rate = type_1_error_rate = size = fmr = far = Proportion(
        "fpr", "fp", "fp tn"
    )
    tnr = specificity = Proportion("tnr", "tn", "fp tn")
    ppv = precision = positive_predictive_value = Proportion("ppv", "tp", "tp fp")
    fdr = false_discovery_rate = Proportion("fdr", "fp", "tp fp")
    npv = negative_predictive_value = Proportion("npv", "tn", "tn fn")
    for_ = false_omission_rate = Proportion("for_", "fn", "tn fn")
    prevalence = empirical_prior = Proportion("prevalence", "tp fn", "tp fn fp tn")
    accuracy = correct_classification_rate = Proportion("accuracy", "tp tn", "tp fn fp tn")
    error_rate = Proportion("error_rate", "fp fn", "tp fn fp tn")

    counts: Counts
    classes: tuple[str, ...]
    actions: tuple[str, ...]
    target: str | None
    unit: int
    ordered: bool  # whether the user, or numbers, gave the order of the classes; else it is alphabetical

    def __init__(
        self,
        matrix: object,
        *,
        classes: Sequence[object] | None = None,
        actions: Sequence[object] | None = None,
        target: object = None,
        transposed: bool = False,
    ) -> None:
        """Counts with rows = decision; transposed=True takes scikit-learn's rows = class."""
        values = numbers(matrix, "matrix", ndim=2)
        values = values.T if flag(transposed, "transposed") else values
        if not ((values >= 0.0) & (values < math.inf)).all():
            raise InputError("matrix must hold counts: finite and not negative.")
        counts, unit = whole_weights(values.ravel())
        if unit > 0:  # whole counts stay what they are
            counts, unit = shifted(counts, unit), 0
        called = class_names(None if classes is None else label_list(classes, "classes"), values.shape[1])
        acts = action_names(actions, called, len(values), "a matrix")
        made = self._made(counts.reshape(values.shape), called, acts, target_of(target, called), unit)
        for field in fields(self):
            object.__setattr__(self, field.name, getattr(made, field.name))

    @classmethod
    def _made(
        cls,
        counts: Counts,
        classes: tuple[str, ...],
        actions: tuple[str, ...],
        target: str | None,
        unit: int = 0,
        ordered: bool = True,
    ) -> Confusion:
        """A table of integer counts in units of 2**unit, known to be sound."""
        names = {"classes": classes, "actions": actions, "target": target}
        return computed(cls, counts=frozen(counts), **names, unit=unit, ordered=ordered)

    @classmethod
    def of(
        cls,
        decisions: object,
        labels: object,
        *,
        classes: Iterable[object] | None = None,
        actions: Iterable[object] | None = None,
        target: object = None,
        weights: object = None,
    ) -> Confusion:
        """Count decisions against labels; both name classes by the same names or numbers.

        Parameters
        ----------
        decisions : array_like of shape (n,)
            What was decided.
        labels : array_like of shape (n,)
            The true classes.
        classes : iterable, optional
            Class names in order; by default those that occur, sorted.
        actions : iterable, optional
            Action names in order; by default the classes.
        target : object, optional
            The class that rates such as `tpr` are about.
        weights : array_like of shape (n,), optional
            Weight of each trial, not negative.

        Returns
        -------
        Confusion
            The table.

        Examples
        --------
        >>> Confusion.of([1, 0, 1], [1, 0, 0]).matrix
        [[1, 0], [1, 1]]
        """
        same_index({"decisions": decisions, "labels": labels, "weights": weights})
        decided, true = names(decisions, "decisions"), names(labels, "labels")
        same_length(len(decided), {"labels": true})
        known, ordered = (
            known_classes(decided, true, target) if classes is None else (label_list(classes, "classes"), True)
        )
        acts = known if actions is None else label_list(actions, "actions")
        check_cells(len(acts), len(known))
        rows, cols = places_among(decided, acts, "decisions"), places_among(true, known, "labels")
        return cls._counted(
            rows,
            cols,
            class_names(known, len(known)),
            class_names(acts, len(acts), "actions"),
            target_of(target, tuple(map(str, known))),
            None if weights is None else weight_column(weights),
            ordered,
        )

    @classmethod
    def _counted(
        cls,
        rows: Array,
        cols: Array,
        classes: tuple[str, ...],
        actions: tuple[str, ...],
        target: str | None,
        weights: Floats | None = None,
        ordered: bool = True,
    ) -> Confusion:
        """Counts pairs of (action number, class number) that are known to be in range."""
        shape = (len(actions), len(classes))
        check_cells(*shape)
        cells = rows.astype(np.intp) * len(classes) + cols
        if weights is None:
            counted = np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)
            return cls._made(counted, classes, actions, target, 0, ordered)
        same_length(len(rows), {"weights": weights})
        integers, unit = whole_weights(weights)
        counts: Counts = np.zeros(shape[0] * shape[1], integers.dtype)
        np.add.at(counts, cells, integers)
        return cls._made(counts.reshape(shape), classes, actions, target, unit, ordered)

    def __add__(self, other: Confusion) -> Confusion:
        if (self.classes, self.actions, self.target) != (other.classes, other.actions, other.target):
            raise InputError("Confusion matrices add only when classes, actions and target are the same.")
        unit = min(self.unit, other.unit)
        mine, others = (shifted(c.counts.ravel(), c.unit - unit) for c in (self, other))
        counts = shifted(np.concatenate((mine, others)), 0).reshape(2, *self.counts.shape).sum(axis=0)
        return derived(self, counts=frozen(counts), unit=unit, ordered=self.ordered and other.ordered)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Confusion):
            return NotImplemented
        same = (self.classes, self.actions, self.target) == (other.classes, other.actions, other.target)
        return same and self.matrix == other.matrix

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        most = 20  # nobody reads a larger table
        head = [shown(name)[1:-1] for name in self.classes[:most]]
        cells = [[self._weight(cell) for cell in row] for row in self.counts[:most, :most].tolist()]
        rows = [[shown(name)[1:-1], *map(str, row)] for name, row in zip(self.actions[:most], cells, strict=True)]
        wide = [max(len(cell) for cell in col) for col in zip(["", *head], *rows, strict=True)]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)) for row in [["", *head], *rows]]
        cut = [f"... of {len(self.actions)} x {len(self.classes)}"] if max(self.counts.shape) > most else []
        return "\n".join(["Confusion: rows = decision, columns = class", *lines, *cut])

    @property
    def matrix(self) -> list[list[int | float]]:
        """The counts as nested lists, rows = decision."""
        return [[self._weight(cell) for cell in row] for row in self.counts.tolist()]

    def _weight(self, count: int) -> int | float:
        if self.unit >= 0:
            return count << self.unit
        return count / (1 << -self.unit) if count % (1 << -self.unit) else count >> -self.unit

    def for_target(self, target: object) -> Confusion:
        """The same counts with the rates of another class.

        Parameters
        ----------
        target : object
            The class, by name or number.

        Returns
        -------
        Confusion
            The table.

        Examples
        --------
        >>> Confusion([[8, 1], [2, 9]]).for_target(0).tpr
        0.8
        """
        return derived(self, target=target_of(target, self.classes))

    @property
    def cells(self) -> dict[str, int]:
        """The target's one-against-rest counts tp, fn, fp, tn, in units of 2**unit."""
        if self.target is None:
            raise InputError(
                "These rates are those of one class against the rest: name it with target=..., or use for_target(...)."
            )
        return self._against_rest([self.classes.index(self.target)])[0]

    def against_rest(self, label: object) -> Confusion:
        """The two-class table of one class against all others together.

        Parameters
        ----------
        label : object
            A class, by name or number.

        Returns
        -------
        Confusion
            A table of two classes whose target is this class.

        Examples
        --------
        >>> Confusion([[8, 1, 0], [2, 6, 1], [0, 3, 9]]).against_rest(1).matrix
        [[17, 4], [3, 6]]
        """
        name = target_of(label, self.classes)
        cells = self._against_rest([self.classes.index(name or "")])[0]
        counts = np.array([cells["tn"], cells["fn"], cells["fp"], cells["tp"]], np.object_)
        names = (f"not {name}", f"{name}")
        return Confusion._made(shifted(counts, 0).reshape(2, 2), names, names, name, self.unit)

    def _against_rest(self, columns: Iterable[int]) -> list[dict[str, int]]:
        """tp, fn, fp, tn of each of these classes against the rest."""
        rows = {name: row for row, name in enumerate(self.actions)}
        decided, true = self.counts.sum(axis=1).tolist(), self.counts.sum(axis=0).tolist()
        total = sum(true)
        tables = []
        for col in columns:
            row = rows.get(self.classes[col])
            if row is None:
                raise UndefinedError(NO_ACTION.format(shown(self.classes[col])))
            tp = int(self.counts[row, col])
            fp, fn = decided[row] - tp, true[col] - tp
            tables.append({"tp": tp, "fn": fn, "fp": fp, "tn": total - tp - fp - fn})
        return tables

    def proportion(self, name: str) -> tuple[int, int]:
        """A rate as a count out of a total.

        Parameters
        ----------
        name : str
            A rate, by any of its names.

        Returns
        -------
        tuple of int
            The count and the total.

        Raises
        ------
        InputError
            If weights are fractional, because weighted counts are not binomial.

        Examples
        --------
        >>> Confusion([[8, 1], [2, 9]]).proportion("recall")
        (9, 10)
        """
        count, out_of = self._counts(_proportion_named(name))
        if self.unit < 0:
            raise InputError(f"{name} is not a proportion of integer counts: fractional weights are not binomial.")
        return count << self.unit, out_of << self.unit

    def _counts(self, proportion: Proportion) -> tuple[int, int]:
        """(count, out of) of a proportion; accuracy and error rate speak of all classes."""
        if proportion.name not in ("accuracy", "error_rate"):
            return proportion.counts(self.cells)
        right, total = sum(int(self.counts[row, col]) for row, col in self._shared()), int(self.counts.sum())
        return (right if proportion.name == "accuracy" else total - right), total

    def _shared(self) -> list[tuple[int, int]]:
        """The cells (row, column) where the decision is the class."""
        rows = {name: row for row, name in enumerate(self.actions)}
        nameless = next((name for name in self.classes if name not in rows), None)
        if nameless is not None:
            raise UndefinedError(NO_ACTION.format(shown(nameless)))
        return [(rows[name], col) for col, name in enumerate(self.classes)]

    @property
    def tp(self) -> int | float:
        """Targets accepted."""
        return self._weight(self.cells["tp"])

    @property
    def fn(self) -> int | float:
        """Targets missed."""
        return self._weight(self.cells["fn"])

    @property
    def fp(self) -> int | float:
        """False alarms."""
        return self._weight(self.cells["fp"])

    @property
    def tn(self) -> int | float:
        """Non-targets rejected."""
        return self._weight(self.cells["tn"])

    @property
    def lr_plus(self) -> float:
        """LR+ = TPR / FPR."""
        return _one_rate("lr_plus", self.cells)

    @property
    def lr_minus(self) -> float:
        """LR- = FNR / TNR."""
        return _one_rate("lr_minus", self.cells)

    @property
    def dor(self) -> float:
        """Diagnostic odds ratio LR+ / LR- = TP TN / (FP FN)."""
        return _one_rate("dor", self.cells)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall: 2 TP / (2 TP + FP + FN)."""
        return self.f_beta(1.0)

    def f_beta(self, beta: float) -> float:
        """F measure in which recall has the weight beta^2: (1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP).

        Parameters
        ----------
        beta : float
            Above 0; 1 gives precision and recall equal weight.

        Returns
        -------
        float
            The F measure.

        Examples
        --------
        >>> round(Confusion([[8, 1], [2, 9]]).f_beta(1.0), 4)
        0.8571
        """
        return quotient(_f_beta(self.cells, beta))

    @property
    def mcc(self) -> float:
        """Matthews' correlation of decision and class, for any number of classes."""
        if len(self.actions) != len(self.classes) or set(self.actions) != set(self.classes):
            raise UndefinedError("mcc is undefined: the actions are not the classes.")
        order = [self.actions.index(name) for name in self.classes]
        counts = self.counts[order].astype(np.object_)
        total, right = counts.sum(), counts.trace()
        decided, true = counts.sum(axis=1), counts.sum(axis=0)
        spread = (total**2 - (decided**2).sum()) * (total**2 - (true**2).sum())
        if spread == 0:
            raise UndefinedError("mcc is undefined: only one class occurs, or only one was decided.")
        return over_root(total * right - (decided * true).sum(), spread)

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond what the margins alone would give."""
        counts = self.counts.astype(np.object_)
        total = counts.sum()
        right = sum(counts[row, col] for row, col in self._shared())
        chance = sum(counts[row].sum() * counts[:, col].sum() for row, col in self._shared())
        if total**2 == chance:
            raise UndefinedError("kappa is undefined: there is only one class, and it was always decided.")
        return float((total * right - chance) / (total**2 - chance))

    @property
    def balanced_accuracy(self) -> float:
        """Mean over the classes of the fraction decided correctly; (TPR + TNR) / 2 for two."""
        return self.average("tpr", "macro")

    @property
    def adjusted_balanced_accuracy(self) -> float:
        """(balanced accuracy - 1/K) / (1 - 1/K): 0 for decisions without the scores, 1 for perfect ones."""
        count = len(self.classes)
        if count == 1:
            raise UndefinedError("adjusted balanced accuracy is undefined: there is only one class.")
        right, out_of = sum_of_ratios([_ratio("tpr", cells) for cells in self._against_rest(range(count))])
        return (right - out_of) / ((count - 1) * out_of)

    @property
    def jaccard(self) -> float:
        """Jaccard's index of the target: TP / (TP + FP + FN)."""
        return _one_rate("jaccard", self.cells)

    def weighted_kappa(self, weights: Literal["linear", "quadratic"]) -> float:
        """Cohen's weighted kappa: a disagreement is weighted by the distance between the classes, in their order.

        1 - sum w_ij n_ij / sum w_ij e_ij, w = abs(i - j) or (i - j)^2, e the product of the margins / n.

        Parameters
        ----------
        weights : {"linear", "quadratic"}
            How a disagreement grows with the distance.

        Returns
        -------
        float
            1 for perfect agreement, 0 for that of the margins alone.

        References
        ----------
        Cohen (1968), Weighted kappa, doi:10.1037/h0026256.

        Examples
        --------
        One of 8 trials is off by one class; by the margins alone the distances would sum to 58 / 8:

        >>> Confusion([[2, 1, 0], [0, 2, 0], [0, 0, 3]]).weighted_kappa("linear") == 1 - 1 / (58 / 8)
        True
        """
        chosen(weights, "weights", ("linear", "quadratic"))
        places = [row for row, _ in self._shared()]
        counts = self.counts[places].astype(np.object_)
        steps = np.abs(np.subtract.outer(np.arange(len(counts)), np.arange(len(counts)))).astype(np.object_)
        steps = steps**2 if weights == "quadratic" else steps
        expected = (steps * np.outer(counts.sum(axis=1), counts.sum(axis=0))).sum()
        if expected == 0:
            raise UndefinedError("weighted kappa is undefined: there is only one class, and it was always decided.")
        return float((expected - (steps * counts).sum() * counts.sum()) / expected)

    def normalised(self, by: Literal["class", "decision", "all"]) -> Floats:
        """The matrix as shares of its columns (true class), of its rows (decision) or of everything.

        Parameters
        ----------
        by : {"class", "decision", "all"}
            What sums to one: each column, each row, or the whole matrix.

        Returns
        -------
        ndarray
            Rows = decision, columns = true class.

        Examples
        --------
        >>> Confusion([[3, 1], [1, 5]]).normalised("decision").tolist()
        [[0.75, 0.25], [0.16666666666666666, 0.8333333333333334]]
        """
        chosen(by, "by", ("class", "decision", "all"))
        if by == "class":
            return self.rates
        if by == "all":
            if not self.counts.any():
                raise UndefinedError("The shares of the matrix are undefined: there are no trials.")
            return quotients(self.counts, int(self.counts.sum()))
        sums = self.counts.sum(axis=1)
        empty = np.flatnonzero(sums == 0)
        if len(empty):
            raise UndefinedError(f"The shares of {shown(self.actions[empty[0]])} are undefined: it was never decided.")
        return quotients(self.counts, sums[:, None])

    def error_rate_at(self, prior: float) -> float:
        """The error rate if targets were this frequent: prior FNR + (1 - prior) FPR.

        Parameters
        ----------
        prior : float
            Probability of the target.

        Returns
        -------
        float
            The error rate.

        Examples
        --------
        >>> Confusion([[980, 60], [20, 940]]).error_rate_at(.01)
        0.0204
        """
        return quotient(sum_of_ratios(self._scaled(prior, "fnr", "fpr")))

    def ppv_at(self, prior: float) -> float:
        """Precision if targets were this frequent.

        Parameters
        ----------
        prior : float
            Probability of the target.

        Returns
        -------
        float
            prior TPR / (prior TPR + (1 - prior) FPR).

        Examples
        --------
        >>> Confusion([[8, 1], [2, 9]]).ppv_at(0.5) == 9 / 11
        True
        """
        right, wrong = self._scaled(prior, "tpr", "fpr")
        return quotient(divided("ppv_at", right, sum_of_ratios([right, wrong]), "nothing was accepted"))

    def npv_at(self, prior: float) -> float:
        """Negative predictive value if targets were this frequent.

        Parameters
        ----------
        prior : float
            Probability of the target.

        Returns
        -------
        float
            (1 - prior) TNR / ((1 - prior) TNR + prior FNR).

        Examples
        --------
        >>> round(Confusion([[8, 1], [2, 9]]).npv_at(0.5), 4)
        0.8889
        """
        wrong, right = self._scaled(prior, "fnr", "tnr")
        return quotient(divided("npv_at", right, sum_of_ratios([right, wrong]), "nothing was rejected"))

    def _scaled(self, prior: float, of_targets: str, of_nontargets: str) -> tuple[Ratio, Ratio]:
        """prior x a rate of the targets, and (1 - prior) x a rate of the non-targets, both exact."""
        share, whole = probability(prior, "prior").as_integer_ratio()
        (hits, targets), (alarms, nontargets) = _ratio(of_targets, self.cells), _ratio(of_nontargets, self.cells)
        return (share * hits, whole * targets), ((whole - share) * alarms, whole * nontargets)

    def per_class(self, name: str) -> dict[str, float | None]:
        """A rate of every class against the rest; None where it is undefined.

        Parameters
        ----------
        name : str
            A rate, by any of its names.

        Returns
        -------
        dict of str to float or None
            The rate by class; None where it is undefined.

        Examples
        --------
        >>> Confusion([[8, 1], [2, 9]]).per_class("recall")
        {'0': 0.8, '1': 0.9}
        """
        tables = self._against_rest(range(len(self.classes)))
        values = [defined(partial(_one_rate, name, table))[0] for table in tables]
        return dict(zip(self.classes, values, strict=True))

    def average(self, name: str, how: str) -> float:
        """A rate averaged over the classes: macro (plain mean), weighted (by class frequency) or micro (pooled).

        Parameters
        ----------
        name : str
            A rate, by any of its names.
        how : {"macro", "micro", "weighted"}
            The mean over the classes, the rate of the pooled counts, or the mean by class frequency.

        Returns
        -------
        float
            The averaged rate.

        Examples
        --------
        >>> table = Confusion([[8, 1, 0], [2, 6, 1], [0, 3, 9]])
        >>> round(table.average("precision", "macro"), 4), round(table.average("precision", "micro"), 4)
        (0.7685, 0.7667)
        """
        chosen(how, "how", ("macro", "micro", "weighted"))
        tables = self._against_rest(range(len(self.classes)))
        if how == "micro":
            pooled = {cell: sum(table[cell] for table in tables) for cell in ("tp", "fn", "fp", "tn")}
            return _one_rate(name, pooled)
        sizes = [1 if how == "macro" else table["tp"] + table["fn"] for table in tables]
        if _is_root(name):  # not fractions: each is rounded once
            values = [_one_rate(name, table) for table in tables]
            return math.fsum(value * size for value, size in zip(values, sizes, strict=True)) / sum(sizes)
        ratios = [_ratio(name, table) for table in tables]
        above, below = sum_of_ratios([(size * count, of) for size, (count, of) in zip(sizes, ratios, strict=True)])
        return quotient((above, below * sum(sizes)))

    @property
    def rates(self) -> Floats:
        """Each column divided by its sum: how often each decision is taken when the class is true."""
        sums = self.counts.sum(axis=0)
        empty = np.flatnonzero(sums == 0)
        if len(empty):
            raise UndefinedError(f"The rates of class {shown(self.classes[empty[0]])} are undefined: it has no trials.")
        return quotients(self.counts, sums)

    def contributions(self, application: object) -> Floats:
        """Each class's part of the risk: pi_j sum_i R_ij C_ij.

        Parameters
        ----------
        application : Application, MulticlassApplication, tuple, float or str
            Priors and costs.

        Returns
        -------
        numpy.ndarray of shape (K,)
            One part per class; they sum to `risk`.

        Examples
        --------
        >>> Confusion([[8, 1], [2, 9]]).contributions(0.5).tolist()
        [0.1, 0.05]
        """
        app = self.matched(application)
        return np.array([
            pi * math.fsum(r * c) for pi, r, c in zip(app.prior, self.rates.T, app.costs.T, strict=True)
        ])  # fmt: skip

    def pair_costs(self, application: object) -> Floats:
        """Every cell's part of the risk: pi_j R_ij C_ij, rows = decision.

        Parameters
        ----------
        application : Application, MulticlassApplication, tuple, float or str
            Priors and costs.

        Returns
        -------
        numpy.ndarray of shape (D, K)
            One part per cell; they sum to `risk`.

        Examples
        --------
        >>> Confusion([[8, 1], [2, 9]]).pair_costs(0.5).tolist()
        [[0.0, 0.05], [0.1, 0.0]]
        """
        app = self.matched(application)
        return np.asarray(app.prior * self.rates * app.costs)

    def risk(self, application: object) -> float:
        """Empirical Bayes risk: sum_j pi_j sum_i R_ij C_ij.

        Parameters
        ----------
        application : Application, MulticlassApplication, tuple, float or str
            Priors and costs.

        Returns
        -------
        float
            The expected cost of one decision at these priors.

        Examples
        --------
        >>> table = Confusion([[205, 111, 56], [145, 199, 121], [50, 92, 225]])
        >>> round(table.risk(Application.multiclass([.3, .4, .3], "ordinal")), 5)
        0.55962
        """
        return math.fsum(self.contributions(application))

    def normalised_risk(self, application: object) -> float:
        """The risk divided by the cost of the best action without the scores.

        Parameters
        ----------
        application : Application, MulticlassApplication, tuple, float or str
            Priors and costs.

        Returns
        -------
        float
            The normalised risk; above 1 the decisions do harm.

        Examples
        --------
        >>> round(Confusion([[8, 1], [2, 9]]).normalised_risk(0.5), 6)
        0.3
        """
        app = self.matched(application)
        if app.dummy_cost == 0.0:
            raise UndefinedError(FREE_DUMMY)
        return self.risk(app) / app.dummy_cost

    def matched(self, application: object) -> MulticlassApplication:
        """The application in the order of this table's classes.

        Parameters
        ----------
        application : Application, MulticlassApplication, tuple, float or str
            Priors and costs; those of a two-class operating point are about the target.

        Returns
        -------
        MulticlassApplication
            Priors and costs by column and row of this table.

        Raises
        ------
        InputError
            If classes or actions are not the table's.

        Examples
        --------
        >>> Confusion([[8, 1], [2, 9]]).matched((0.25, 1, 1)).prior.tolist()
        [0.75, 0.25]
        """
        app = application if isinstance(application, MulticlassApplication) else self._laid_out(application)
        app.check_classes(self.classes)
        if not self.ordered and app.classes != self.classes and not app.is_symmetric:
            raise InputError(
                f"application has priors and costs by class number, and the classes "
                f"{some(self.classes, 4)} have no order yet: name them in the order of the priors "
                f"(classes=...)."
            )
        if app.costs.shape != self.counts.shape:
            raise InputError(f"The application has {len(app.costs)} actions, the table {len(self.counts)}.")
        if app.renamed(self.classes).actions != self.actions and app.actions != class_names(None, len(app.actions)):
            raise InputError(
                f"The application's actions ({some(app.actions, 4)}) are not the table's ({some(self.actions, 4)})."
            )
        return app

    def _laid_out(self, application: object) -> MulticlassApplication:
        two = as_matrix(application)
        if len(self.classes) != 2 or self.actions != self.classes:
            raise InputError("A two-class application needs a table of two classes and the decisions for them.")
        if self.target is None:
            raise InputError("Which class is the target? Name it with target=..., or use for_target(...).")
        order = [0, 1] if self.classes[1] == self.target else [1, 0]
        prior, costs = two.prior[order], two.costs[np.ix_(order, order)]
        return Application.multiclass(prior, costs, classes=self.classes)


RATES: dict[str, Proportion] = {name: value for name, value in vars(Confusion).items() if isinstance(value, Proportion)}


def defined(compute: Callable[[], float]) -> tuple[float | None, str | None]:
    """A number, or why it is undefined."""
    try:
        return float(compute()), None
    except UndefinedError as error:
        return None, str(error)


def as_matrix(application: object) -> MulticlassApplication:
    """Any application as priors and a cost matrix; a two-class one has the classes (non-target, target)."""
    if isinstance(application, MulticlassApplication):
        return application
    two = Application.of(application)
    return Application.multiclass([1.0 - two.prior, two.prior], [[0.0, two.cost_fn], [two.cost_fp, 0.0]])


def matrix_for(trials: Trials, application: object) -> MulticlassApplication:
    """Any application as priors and a cost matrix in the order of the trials' classes; other names are refused.

    One score per trial against several other labels has the name of its target to go by, and one without names of its
    own only what 0/1, false/true and nontarget/target mean.
    """
    return matched_to(as_matrix(application), as_trials(trials).classes, one_score=not trials.is_matrix)


def matched_to(app: MulticlassApplication, classes: tuple[str, ...], *, one_score: bool) -> MulticlassApplication:
    """The application, if it is one of these classes, of which two may have one score per trial."""
    other, target = classes[-2:]
    names = classes
    if one_score and len(app.classes) == 2 and app.classes[0] != target:
        if other == f"not {target}":
            names = app.classes[0], target
        elif names == STANDARD_PAIRS[-1] and tuple(map(str.casefold, app.classes[::-1])) not in STANDARD_PAIRS:
            names = app.classes
    app.check_classes(names)
    return app


def _proportion_named(name: str) -> Proportion:
    if not isinstance(name, str) or name not in RATES:
        raise InputError(f"name={shown(name)} is not a proportion. Known: {', '.join(RATES)}.")
    return RATES[name]


def _one_rate(name: str, cells: dict[str, int]) -> float:
    """A rate of one class against the rest, proportion or derived, rounded once."""
    return over_root(*ROOTS[name](cells)) if _is_root(name) else quotient(_ratio(name, cells))


def _is_root(name: object) -> bool:
    return isinstance(name, str) and name in ROOTS


def _ratio(name: str, cells: dict[str, int]) -> Ratio:
    """The same as a fraction of integers; one over 0 is infinite."""
    if isinstance(name, str) and name in RATIOS:
        return RATIOS[name](cells)
    proportion = _proportion_named(name)
    return proportion.known(*proportion.counts(cells))


def _lr_plus(cells: dict[str, int]) -> Ratio:
    return divided("lr_plus", _ratio("tpr", cells), _ratio("fpr", cells))


def _lr_minus(cells: dict[str, int]) -> Ratio:
    return divided("lr_minus", _ratio("fnr", cells), _ratio("tnr", cells))


def _dor(cells: dict[str, int]) -> Ratio:
    if cells["tp"] + cells["fn"] == 0 or cells["fp"] + cells["tn"] == 0:
        raise UndefinedError("dor is undefined: it needs both classes.")
    return divided("dor", (cells["tp"], cells["fn"]), (cells["fp"], cells["tn"]))


def _two_class_balance(cells: dict[str, int]) -> Ratio:
    above, below = sum_of_ratios([_ratio("tpr", cells), _ratio("tnr", cells)])
    return above, 2 * below


def _f_beta(cells: dict[str, int], beta: float) -> Ratio:
    """(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP)."""
    above, below = positive(beta, "beta").as_integer_ratio()
    misses, hits = above * above, above * above + below * below  # b^2 and 1 + b^2, times the same whole number
    whole = hits * cells["tp"] + misses * cells["fn"] + below * below * cells["fp"]
    return divided("f_beta", (hits * cells["tp"], 1), (whole, 1), _NO_TARGETS_AT_ALL)


def _jaccard(cells: dict[str, int]) -> Ratio:
    """TP / (TP + FP + FN)."""
    return divided("jaccard", (cells["tp"], 1), (cells["tp"] + cells["fp"] + cells["fn"], 1), _NO_TARGETS_AT_ALL)


def _two_class_mcc(cells: dict[str, int]) -> Ratio:
    """Matthews' correlation: the first number over the root of the second."""
    tp, fn, fp, tn = (cells[cell] for cell in CELLS)
    spread = (tp + fn) * (fp + tn) * (tp + fp) * (tn + fn)
    if spread == 0:
        raise UndefinedError("mcc is undefined: only one class occurs, or only one was decided.")
    return tp * tn - fp * fn, spread


RATIOS: dict[str, Callable[[dict[str, int]], Ratio]] = {
    "f1": lambda cells: _f_beta(cells, 1.0),
    "jaccard": _jaccard,
    "lr_plus": _lr_plus,
    "lr_minus": _lr_minus,
    "dor": _dor,
    "balanced_accuracy": _two_class_balance,
}
ROOTS = {"mcc": _two_class_mcc}  # above / sqrt(below)
