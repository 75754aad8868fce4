"""Columns as read, before they become Trials: numbers, labels as codes, and their names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from tercet._numeric.validation import class_codes, is_target, shown, unlabelled_classes
from tercet._numeric.validation import words_of as text_of
from tercet._typing import JSON, Array, Floats
from tercet.errors import InputError
from tercet.io.columns import LabelColumn, Labels
from tercet.io.formats.text import is_number
from tercet.metrics.confusion import Confusion
from tercet.trials import MATRIX_MEANINGS, Trials, matrix_trials, two_class_trials


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
        raise InputError(
            "target belongs to two classes; for one class against the rest use .versus(...) on the trials."
        )
    meaning = "posteriors" if meaning == "posterior" else meaning
    if meaning not in MATRIX_MEANINGS:
        known = " or ".join(MATRIX_MEANINGS)
        raise InputError(f"scores of shape {got.scores.shape} have one column per class: their meaning is {known}.")
    labels, classes = got.labels, got.classes
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
