"""Columns as read, before they become Trials: numbers, labels as codes, their names, and the role of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tercet._numeric.validation import class_codes, is_target, shown, unlabelled_classes
from tercet._numeric.validation import words_of as text_of
from tercet._typing import JSON, Array, Floats
from tercet.errors import InputError
from tercet.io.columns import Column, ColumnSource, LabelColumn, Labels, Table
from tercet.io.formats.text import is_number, missing_column
from tercet.metrics.confusion import Confusion
from tercet.trials import MATRIX_MEANINGS, Trials, matrix_trials, two_class_trials

TARGET_OF_TWO = "target belongs to two classes; for one class against the rest use .versus(...) on the trials."


@dataclass(frozen=True, slots=True)
class TrialColumns:
    """Columns of one system, matched by position.

    Attributes
    ----------
    called : str
        The file's name in messages.
    scores : numpy.ndarray
        The scores, or the numbers of decided labels.
    labels : LabelColumn or None
        The labels.
    weights : numpy.ndarray or None
        The weights.
    ids : numpy.ndarray or None
        The trial ids.
    groups : mapping of str to numpy.ndarray
        The group columns.
    classes : sequence of str or None
        Class names of the columns of scores.
    upright : bool
        Whether the scores are surely samples x classes.
    decided : tuple of str or None
        The decided labels that `scores` numbers.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tercet as tc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "scores.csv").write_text("score,label\\n1.5,1\\n-0.5,0\\n")
    ...     with tc.io.open_source(Path(folder, "scores.csv")) as source:
    ...         columns = source.columns(0, 2)
    >>> columns.scores.tolist()
    [1.5, -0.5]
    """

    called: str
    scores: Array
    labels: LabelColumn | None = None
    weights: Array | None = None
    ids: Array | None = None
    groups: Mapping[str, Array] = field(default_factory=dict)
    classes: Sequence[str] | None = None
    upright: bool = False  # the scores are surely samples x classes
    decided: tuple[str, ...] | None = None  # the scores are numbers of these decided labels


def trials_of(got: TrialColumns, meaning: str, target: object, trained_prior: object, name: str | None) -> Trials:
    """The Trials of these columns; errors name the file."""
    more: JSON = {"trained_prior": trained_prior, "name": name}
    more |= {"weights": got.weights, "ids": got.ids, "groups": got.groups}
    try:
        make = _of_classes if got.scores.ndim == 2 else _of_two_classes
        return make(got, meaning, target, more)
    except InputError as error:
        raise InputError(f"{got.called}: {error}") from None


def _of_two_classes(got: TrialColumns, meaning: str, target: object, more: JSON) -> Trials:
    if meaning in MATRIX_MEANINGS:
        raise InputError(f"scores that are {meaning} have one column per class; there is a single column of scores.")
    if got.labels is None:
        return two_class_trials(meaning, got.scores, None, classes=unlabelled_classes(_target_word(target)), **more)
    labels, classes = target_mask(got.labels, target)
    return two_class_trials(meaning, got.scores, labels, classes=classes, **more)


def _of_classes(got: TrialColumns, meaning: str, target: object, more: JSON) -> Trials:
    if target is not None:
        raise InputError(TARGET_OF_TWO)
    meaning = "posteriors" if meaning == "posterior" else meaning
    if meaning not in MATRIX_MEANINGS:
        known = " or ".join(MATRIX_MEANINGS)
        raise InputError(f"scores of shape {got.scores.shape} have one column per class: their meaning is {known}.")
    labels, classes = got.labels, got.classes
    if labels is not None and not isinstance(labels, Labels) and classes is not None:
        labels = coded(labels)  # names of classes are texts, whatever the labels are kept as
    if isinstance(labels, Labels) and classes is None:
        labels = _numbers_of(labels)
    elif isinstance(labels, Labels) and classes is not None:
        labels, classes = class_codes(np.array(labels.names, np.object_), tuple(classes), classes)[labels.codes], None
    orientation = "samples x classes" if got.upright else None
    trials = matrix_trials(meaning, got.scores, labels, classes=classes, orientation=orientation, **more)
    return trials if got.classes is None else replace(trials, classes=tuple(got.classes))


def _numbers_of(labels: Labels) -> Array:
    if not all(name.isascii() and name.isdigit() for name in labels.names):
        raise InputError("labels are not class numbers: name the classes in the order of the columns (class_columns).")
    numbers: Array = np.array([int(name) for name in labels.names])[labels.codes]
    return numbers


def target_mask(labels: LabelColumn, target: object) -> tuple[Array, tuple[str, str] | None]:
    """Two-class labels as a mask, and the classes' names where they are not the usual ones."""
    if isinstance(labels, Labels):
        mask, classes = is_target(np.array(labels.names, np.object_), _target_word(target))
        return mask[labels.codes], classes
    if target is None:
        return labels, None
    return target_mask(coded(labels), target)


def _target_word(target: object) -> str | None:
    try:
        return None if target is None else word(target)
    except Exception:  # third-party __str__ methods may raise anything
        raise InputError(f"target={shown(target)} is not among the labels.") from None


def coded(values: Array) -> Labels:
    """Any column of labels as codes of distinct words."""
    if values.ndim != 1:
        raise InputError(f"labels must be one-dimensional, not an array of shape {values.shape}.")
    distinct, codes = np.unique(values, return_inverse=True)
    return Labels(codes, tuple(word(value) for value in distinct.tolist()))


def label_array(values: Array, called: str, start: int = 0) -> Array:
    """Labels out of an array, without NaN; `start` is the number of the first."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        row = start + int(np.isnan(values).argmax())
        raise InputError(f"{called}: labels must not contain NaN: row {row} (counting from 0). Drop the row.")
    return decoded(values, called)


def decoded(values: Array, called: str = "the array") -> Array:
    """Bytes as text, which must be UTF-8; anything else as it is."""
    if values.dtype.kind != "S":
        return values
    try:
        return np.char.decode(values, "utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{called} holds bytes that are not UTF-8 text. Save it as text.") from None


def words_of(values: Array) -> Array:
    """Any array as text."""
    return decoded(values).astype(np.str_).astype(np.object_)


def id_column(columns: Sequence[Array]) -> Array | None:
    """Ids as one column, or as a table with one column per field, which keeps the fields apart."""
    if not columns:
        return None
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def group_numbers(trials: Trials, name: str, what: str) -> Floats:
    """A column that was read as a group, as numbers; 1_000 is not one, as in a column of scores."""
    words = trials.groups[name].tolist()
    together = "".join(map(str, words))  # one look at all of them
    try:
        if together.isascii() and "_" not in together:
            return np.array([float(one) for one in words])
    except ValueError:
        pass
    row, held = next((row, one) for row, one in enumerate(words) if not is_number(str(one)))
    raise InputError(
        f"The column {name!a} of {what} must hold numbers: row {row} (counting from 0) holds {shown(held)}."
    )


def word(value: object) -> str:
    """A label as text, the way a text file would hold it: 1, true, nontarget."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else _text(value)


def _text(value: object) -> str:
    found = text_of(value)
    if found is None:
        raise InputError(f"A class, an action or the target must be a name, not {shown(value)}.")
    return found


def decisions_of(got: TrialColumns, decided: LabelColumn) -> TrialColumns:
    """The columns with decided labels in the place of scores."""
    labels = decided if isinstance(decided, Labels) else coded(decided)
    return replace(got, scores=labels.codes, decided=labels.names)


def confusion_of_words(
    got: TrialColumns, target: object, classes: Sequence[object] | None, actions: Sequence[object] | None
) -> Confusion:
    """Decisions against labels, both as words; classes that are whole numbers are put in their order."""
    if got.labels is None or got.decided is None:
        raise InputError(f"{got.called}: decisions need true labels to be counted against (labels=, key= or a column).")
    true = got.labels if isinstance(got.labels, Labels) else coded(got.labels)
    try:
        return Confusion.of(
            np.array(got.decided, np.object_)[got.scores],
            np.array(true.names, np.object_)[true.codes],
            classes=None if classes is None else [word(value) for value in classes],
            actions=None if actions is None else [word(value) for value in actions],
            target=None if target is None else word(target),
            weights=got.weights,
        )
    except InputError as error:
        raise InputError(f"{got.called}: {error}") from None


# The role of each column: the names that the caller gave, matched with the columns of a source


_EQUAL = "claimed = real"
_ROWS = 1 << 12


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """The columns asked for, by name."""

    score: str = "score"
    label: str = "label"
    weight: str | None = None
    groups: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] | None = None
    matrix: bool = False
    labelled: bool | None = None  # None: if the column is there
    keep_ids: bool = False
    decided: bool = False  # the scores are decided labels


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The columns of one source by their roles."""

    scores: tuple[str, ...] = ()
    label: str | None = None
    equal: tuple[str, str] | None = None
    weight: str | None = None
    groups: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Every column to load."""
        optional = [name for name in (self.label, self.weight, *(self.equal or ())) if name is not None]
        return list(dict.fromkeys([*self.scores, *optional, *self.groups, *self.ids]))

    @property
    def only_numbers(self) -> list[str]:
        """The columns that are numbers and nothing else."""
        otherwise = {self.label, *(self.equal or ()), *self.groups, *self.ids}
        return [name for name in (*self.scores, self.weight) if name is not None and name not in otherwise]


def score_roles(source: ColumnSource, wanted: WantedColumns) -> ColumnRoles:
    """The roles in a file of scores."""
    ids = wanted.ids or source.layout.ids
    label = _label(source, wanted)
    groups = wanted.groups
    if wanted.matrix or wanted.classes:
        taken = {label or wanted.label, wanted.weight, *ids, *groups}
        scores = wanted.classes or tuple(name for name in source.names if name not in taken)
    else:
        score = wanted.score if source.has(wanted.score) or source.layout.score is None else source.layout.score
        scores = (score,)
        if not source.has(score):
            hint = _hint(source) or " Name the column of scores with score_column=."
            raise InputError(missing_column(source.called, score, source.names, hint))
    _check(source, [*scores, *groups, *ids, *([wanted.weight] if wanted.weight else [])])
    equal = None if wanted.labelled is False or label is not None else source.layout.equal
    return ColumnRoles(scores, label, equal, wanted.weight, groups, ids)


def key_roles(source: ColumnSource, wanted: WantedColumns, scores: ColumnSource) -> ColumnRoles:
    """The roles in a key: its labels and ids, and the weights and groups the scores lack."""
    label = wanted.label if source.has(wanted.label) or source.layout.label is None else source.layout.label
    ids = wanted.ids if all(map(source.has, wanted.ids)) and wanted.ids else source.layout.ids or wanted.ids
    weight = None if scores.has(wanted.weight) else wanted.weight
    groups = tuple(name for name in wanted.groups if not scores.has(name))
    _check(source, [label, *ids, *groups, *([weight] if weight else [])])
    return ColumnRoles((), label, None, weight, groups, ids)


def _label(source: ColumnSource, wanted: WantedColumns) -> str | None:
    if wanted.labelled is False:
        return None
    label = wanted.label if source.has(wanted.label) or source.layout.label is None else source.layout.label
    if source.has(label):
        return label
    if (wanted.labelled or wanted.label != "label") and source.layout.equal is None:
        hint = _hint(source) or " Labels may also come from labels= or key=."
        raise InputError(missing_column(source.called, label, source.names, hint))
    return None


def _check(source: ColumnSource, names: list[str]) -> None:
    for name in names:
        if not source.has(name):
            raise InputError(missing_column(source.called, name, source.names, _hint(source)))


def _hint(source: ColumnSource) -> str:
    return source.layout.dialect.hint() if source.layout.dialect.separator else ""


def trial_columns(table: Table, roles: ColumnRoles, wanted: WantedColumns, *, ids: bool) -> TrialColumns:
    """The columns of one table, in the order of its rows."""
    table = with_roles(table, roles)
    label = _EQUAL if roles.equal else roles.label
    weights = [roles.weight] if roles.weight else []
    decisions = roles.scores if wanted.decided else ()
    scores = () if wanted.decided else roles.scores
    texts = [*roles.groups, *(roles.ids if ids else ())]
    got = table.fetch([*scores, *weights], texts, [*([label] if label else []), *decisions])
    matrix = bool(wanted.matrix or wanted.classes)
    result = TrialColumns(
        table.called,
        stacked(got.numbers[: len(scores)]) if matrix else got.numbers[0] if scores else np.zeros(0),
        got.labels[0] if label else None,
        got.numbers[len(scores)] if weights else None,
        id_column(got.texts[len(roles.groups) :]),
        dict(zip(roles.groups, got.texts, strict=False)),
        roles.scores if matrix else None,
        matrix,
    )
    return decisions_of(result, got.labels[-1]) if decisions else result


def label_column(table: Table, roles: ColumnRoles) -> LabelColumn | None:
    """The labels of one table alone."""
    label = _EQUAL if roles.equal else roles.label
    return None if label is None else with_roles(table, roles).fetch(labels=[label]).labels[0]


def stacked(columns: Sequence[Array]) -> Array:
    """One row per row of the columns, made a few rows at a time, so that they stay in the cache."""
    found = np.empty((len(columns[0]), len(columns)))
    for start in range(0, len(found), _ROWS):
        for place, column in enumerate(columns):
            found[start : start + _ROWS, place] = column[start : start + _ROWS]
    return found


def with_roles(table: Table, roles: ColumnRoles) -> Table:
    """The table with a label column where two id columns decide the label."""
    more: dict[str, Column] = {}
    if roles.equal:
        one, other = (table.column(name).sql for name in roles.equal)
        more[_EQUAL] = Column(f"{one} = {other}", "boolean")
    return replace(table, columns={**table.columns, **more})
