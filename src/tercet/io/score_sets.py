"""Score sets as laboratories keep them: bare numbers beside a trial list, one file per class, maps from utterances to
speakers; merging and choosing by trial id; and the layouts that evaluations take back."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tercet._numeric.records import ReadOnly
from tercet._numeric.validation import chosen, frozen, names, shown
from tercet._numeric.validation import path as checked_path
from tercet._typing import Array, Floats
from tercet.errors import InputError
from tercet.io.write import write_text_atomically
from tercet.trials import Trials, as_trials, two_class_trials

__all__ = [
    "chosen_by_id",
    "merged",
    "read_beside",
    "read_group_map",
    "read_numbers",
    "read_two_files",
    "with_group_map",
    "write_decisions",
    "write_scores",
]

FilePath = str | os.PathLike[str]
Layout = Literal["kaldi", "voxceleb", "bosaris", "sre", "sre16", "asvspoof", "bob", "numbers"]
# layout -> the least and the largest number of fields of a trial id, and what they are
_ID_FIELDS = {
    "kaldi": (2, 2, "an enrolment and a test"),
    "voxceleb": (2, 2, "an enrolment and a test"),
    "bosaris": (2, 2, "a model and a test"),
    "sre": (2, 3, "an enrolment and a test (and a side)"),
    "sre16": (2, 3, "an enrolment and a test (and a side)"),
    "asvspoof": (1, 1, "one utterance"),
    "bob": (2, 3, "a claimed identity (a model) and a test"),
}
LAYOUTS = (*_ID_FIELDS, "numbers")
_HEADERS = {"sre": ("modelid", "segmentid", "side"), "sre16": ("modelid", "segment", "side")}
_MEANINGS = ("llr", "lr", "log10-llr", "raw")


def read_group_map(path: FilePath) -> dict[str, str]:
    """A map from utterances to groups, such as Kaldi's utt2spk: two fields per line, cut at blanks.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict of str to str
        Each utterance's group.

    Raises
    ------
    InputError
        For a line without two fields, or an utterance with two groups, by file and line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "utt2spk"
    >>> _ = file.write_text("u1 anna\\nu2 bert\\n")
    >>> read_group_map(file)
    {'u1': 'anna', 'u2': 'bert'}
    """
    found: dict[str, str] = {}
    for line, words in text_lines(path):
        fields = words.split()
        if len(fields) != 2:
            raise InputError(f"{_called(path)} line {line} has {len(fields)} fields, not an utterance and its group.")
        if found.setdefault(fields[0], fields[1]) != fields[1]:
            raise InputError(
                f"{_called(path)} line {line} gives {shown(fields[0])} the group {shown(fields[1])}; an earlier line "
                f"gave it {shown(found[fields[0]])}."
            )
    return found


def with_group_map(trials: Trials, mapping: Mapping[str, str], name: str = "speaker", *, field: int = -1) -> Trials:
    """Trials with one more group column, looked up by a field of the trial id.

    Parameters
    ----------
    trials : Trials
        With ids; several id fields stand in one id with a space between, as `read` makes them.
    mapping : mapping of str to str
        Each utterance's group, as `read_group_map` reads it.
    name : str, optional
        Name of the new group column.
    field : int, optional
        Which field of the id names the utterance: -1, the last (test), by default; 0 is the enrolment.

    Returns
    -------
    Trials
        The same trials with the new group.

    Raises
    ------
    InputError
        If an utterance is not in the map, with how many there are and the first.

    Examples
    --------
    >>> trials = Trials.of_scores([1.0, 2.0], ids=["m1 u1", "m1 u2"])
    >>> with_group_map(trials, {"u1": "speaker 1", "u2": "speaker 2"}).groups["speaker"].tolist()
    ['speaker 1', 'speaker 2']
    """
    if as_trials(trials).ids is None:
        raise InputError("A group map needs trial ids: name the column that holds them (id_column=).")
    if not isinstance(mapping, Mapping):
        raise InputError(f"mapping must map utterances to groups, not {shown(type(mapping).__name__)}.")
    assert trials.ids is not None
    parts = [id_fields(one) for one in trials.ids.tolist()]
    short = next((row for row, fields in enumerate(parts) if not -len(fields) <= field < len(fields)), None)
    if short is not None:
        raise InputError(f"field={field} is not in the trial id {_shown_id(trials.ids[short])} (row {short}).")
    utterances = [fields[field] for fields in parts]
    missing = [row for row, one in enumerate(utterances) if one not in mapping]
    if missing:
        different = len({utterances[row] for row in missing})
        raise InputError(
            f"The map of the group {shown(name)} lacks {different} utterances of {len(missing)} trials, the first is "
            f"{shown(utterances[missing[0]])} (row {missing[0]}, counting from 0): complete the map, or drop these "
            f"trials."
        )
    column = names([mapping[one] for one in utterances], name)
    return replace(trials, groups=ReadOnly({**trials.groups, name: column}))


def read_numbers(path: FilePath) -> Floats:
    """One number per line.

    Parameters
    ----------
    path : path
        The file; blank lines are skipped, inf and -inf are numbers.

    Returns
    -------
    ndarray of shape (n,)
        The numbers, in the order of the lines.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> _ = file.write_text("1.5\\n-2\\n")
    >>> read_numbers(file).tolist()
    [1.5, -2.0]
    """
    values = []
    for line, words in text_lines(path):
        try:
            if "_" in words:
                raise ValueError
            values.append(float(words))
        except ValueError:
            raise InputError(f"{_called(path)} line {line} is {shown(words)}, not one number.") from None
        if values[-1] != values[-1]:
            raise InputError(f"{_called(path)} line {line} is NaN: drop the trial, or write -inf for a rejection.")
    if not values:
        raise InputError(f"{_called(path)} holds no numbers.")
    return np.array(values)


def read_two_files(genuine: FilePath, impostor: FilePath, *, meaning: str = "raw", name: str | None = None) -> Trials:
    """Genuine and impostor scores in two files, one number per line.

    Parameters
    ----------
    genuine, impostor : path
        The targets' and the non-targets' scores.
    meaning : {"raw", "llr", "lr", "log10-llr"}, optional
        What the scores mean.
    name : str, optional
        Name of the system.

    Returns
    -------
    Trials
        Genuine first, in the order of the files.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "g.txt").write_text("2\\n3\\n"), (folder / "i.txt").write_text("1\\n")
    >>> read_two_files(folder / "g.txt", folder / "i.txt")
    Trials: 3 trials (2 target, 1 nontarget), meaning raw
    """
    parts = [read_numbers(path) for path in (genuine, impostor)]
    labels = np.repeat([True, False], [len(part) for part in parts])
    return two_class_trials(chosen(meaning, "meaning", _MEANINGS), np.concatenate(parts), labels, name=name)


def read_beside(
    scores: FilePath, trials: FilePath, *, meaning: str = "raw", target: str | None = None, name: str | None = None
) -> Trials:
    """Scores of one number per line beside a trial list of as many lines.

    Parameters
    ----------
    scores : path
        One number per line.
    trials : path
        One trial per line: ids, and if the first or the last field is a label, that label (0/1, true/false,
        nontarget/target, or `target` and any other word in the last field).
    meaning : {"raw", "llr", "lr", "log10-llr"}, optional
        What the scores mean.
    target : str, optional
        The target's label, which then stands in the last field.
    name : str, optional
        Name of the system.

    Returns
    -------
    Trials
        With ids: the fields of the list, of several parts where a line has several.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "s.txt").write_text("2.5\\n-1\\n")
    >>> _ = (folder / "list.txt").write_text("m1 u1 target\\nm1 u2 nontarget\\n")
    >>> found = read_beside(folder / "s.txt", folder / "list.txt")
    >>> found.ids.tolist(), found.labels.tolist()
    ([('m1', 'u1'), ('m1', 'u2')], [True, False])
    """
    values, rows = read_numbers(scores), [words.split() for _, words in text_lines(trials)]
    if len(values) != len(rows):
        raise InputError(
            f"{_called(scores)} holds {len(values)} scores and {_called(trials)} {len(rows)} trials: they are matched "
            f"by line, so there must be one score for each trial."
        )
    place = _label_place(rows, target)
    labels = None if place is None else [row[place] for row in rows]
    fields = [row if place is None else row[1:] if place == 0 else row[:-1] for row in rows]
    refuse_duplicates(fields, f"{_called(trials)} holds")
    odd = next((number for number, row in enumerate(fields) if len(row) != len(fields[0])), None)
    if odd is not None:
        raise InputError(
            f"{_called(trials)}: the trial of row {odd} (counting from 0) has an id of {len(fields[odd])} fields, the "
            f"first one of {len(fields[0])}."
        )
    ids = [row[0] for row in fields] if fields and len(fields[0]) == 1 else fields
    known = chosen(meaning, "meaning", _MEANINGS)
    return two_class_trials(known, values, labels, target=target, ids=ids, name=name)


def _label_place(rows: Sequence[Sequence[str]], target: str | None) -> int | None:
    """Where the label stands: nowhere, in the first field (0) or in the last (-1)."""
    if target is not None:
        return -1
    pairs = ({"0", "1"}, {"true", "false"}, {"nontarget", "target"})
    fits = [
        place
        for place in (0, -1)
        if any({row[place].lower() for row in rows if len(row) > 1} <= pair for pair in pairs) and len(rows[0]) > 1
    ]
    if len(fits) == 2:
        raise InputError(
            "The first and the last field of the trial list may both be the label: name the target (target=)."
        )
    return fits[0] if fits else None


def merged(sets: Iterable[Trials]) -> Trials:
    """Several score sets of one system as one; ids, where there are any, must not repeat.

    Parameters
    ----------
    sets : iterable of Trials
        Of the same meaning; all with ids or none, all with labels or none, with the same groups.

    Returns
    -------
    Trials
        All trials, in the order of the sets.

    Examples
    --------
    >>> merged([Trials.of_llr([1.0], [1], ids=["a"]), Trials.of_llr([2.0], [0], ids=["b"])]).scores.tolist()
    [1.0, 2.0]
    """
    parts = [as_trials(one) for one in sets]
    if not parts:
        raise InputError("sets must hold at least one set of trials.")
    first = parts[0]
    for place, one in enumerate(parts[1:], 1):
        for what in ("meaning", "trained_prior", "classes"):
            if getattr(one, what) != getattr(first, what):
                raise InputError(
                    f"Set {place} has the {what} {shown(getattr(one, what))}, set 0 {shown(getattr(first, what))}: "
                    f"only sets of the same kind can be merged."
                )
        for what in ("ids", "labels", "weights"):
            if (getattr(one, what) is None) != (getattr(first, what) is None):
                raise InputError(f"Set {place} and set 0 differ in having {what}: give them for all sets, or for none.")
        if set(one.groups) != set(first.groups):
            raise InputError(
                f"Set {place} has the groups {shown(sorted(one.groups))}, set 0 {shown(sorted(first.groups))}."
            )
    if first.ids is not None:
        refuse_duplicates([one for part in parts for one in np.asarray(part.ids).tolist()], "The trials hold")

    def joined(columns: Sequence[Array | None]) -> Array | None:
        known = [column for column in columns if column is not None]
        return frozen(np.concatenate(known)) if known else None

    groups = {key: frozen(np.concatenate([part.groups[key] for part in parts])) for key in first.groups}
    return replace(
        first, scores=frozen(np.concatenate([part.scores for part in parts])),
        labels=joined([part.labels for part in parts]), weights=joined([part.weights for part in parts]),
        ids=joined([part.ids for part in parts]),
        groups=ReadOnly(groups),
    )  # fmt: skip


def chosen_by_id(
    trials: Trials, ids: Iterable[object], *, keep: bool = True, notes: Callable[[str], None] | None = None
) -> Trials:
    """The trials whose ids are listed, or all others.

    Parameters
    ----------
    trials : Trials
        With ids.
    ids : iterable
        Trial ids, compared as text; an id of several parts is a sequence of them, or text with spaces between.
    keep : bool, optional
        True keeps the listed trials, and refuses ids that no trial has; False drops them.
    notes : callable, optional
        Called with one sentence where trials are dropped and some of the ids are not among them.

    Returns
    -------
    Trials
        In their own order.

    Examples
    --------
    >>> chosen_by_id(Trials.of_llr([1.0, 2.0], ids=["a", "b"]), ["b"]).scores.tolist()
    [2.0]
    >>> chosen_by_id(Trials.of_llr([1.0, 2.0], ids=[("m", "a"), ("m", "b")]), ["m b"]).scores.tolist()
    [2.0]
    """
    if as_trials(trials).ids is None:
        raise InputError("Trials can be chosen by id only if they have ids.")
    own, wanted = [_id_words(one) for one in np.asarray(trials.ids).tolist()], {_id_words(one) for one in ids}
    unknown = sorted(wanted - set(own))
    if unknown:
        words = f"{len(unknown)} of {len(wanted)} ids are not among the trials, the first is {shown(unknown[0])}."
        if keep:
            raise InputError(words)
        if notes is not None:
            notes(words)
    return trials.select(np.array([(one in wanted) == keep for one in own], np.bool_))


def _id_words(given: object) -> str:
    """A trial id as text, one space between its parts."""
    parts = given if isinstance(given, (list, tuple, np.ndarray)) else str(given).split()
    return " ".join(str(part) for part in parts)


def write_scores(path: FilePath, trials: Trials, layout: Layout = "kaldi") -> None:
    """Scores in a layout that evaluations take; numbers come back bit for bit.

    Parameters
    ----------
    path : path
        The file to write, whole or not at all.
    trials : Trials
        Two-class scores; all layouts but "numbers" need ids, of one field for "asvspoof" and of two or three for the
        others.
    layout : {"kaldi", "voxceleb", "bosaris", "sre", "sre16", "asvspoof", "bob", "numbers"}, optional
        "kaldi", "voxceleb" and "bosaris": enrolment, test and score, a space between; "sre": tab-separated with the
        header modelid, segmentid, side and LLR (side "a" where the id has none); "sre16": the same with segment in
        place of segmentid; "asvspoof": utterance and score, or utterance, source, label and score where the trials
        have labels and a group "source"; "bob": claimed and real identity, test and score, the real identity from the
        group "real_id"; "numbers": one score per line.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "scores.txt"
    >>> write_scores(file, Trials.of_llr([0.1], ids=["m1 u1"]))
    >>> file.read_text()
    'm1 u1 0.1\\n'
    """
    if layout in _HEADERS and as_trials(trials).meaning != "llr":
        raise InputError(f"The layout {layout} holds llrs, not scores that are {trials.meaning}: calibrate them first.")
    _write_lines(path, trials, layout, [repr(score) for score in as_trials(trials).scores.tolist()], "LLR")


def write_decisions(path: FilePath, trials: Trials, decisions: ArrayLike, layout: Layout = "kaldi") -> None:
    """Decisions in a layout of scores: the name of each decision in the place of the score.

    Parameters
    ----------
    path : path
        The file to write, whole or not at all.
    trials : Trials
        The trials that were decided, with the ids that the layout needs.
    decisions : array_like of shape (n,)
        The name of each trial's decision, such as "target" or "nontarget".
    layout : {"kaldi", "voxceleb", "bosaris", "sre", "sre16", "asvspoof", "bob", "numbers"}, optional
        As for `write_scores`; the last column of "sre" and "sre16" is called decision.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "decided.txt"
    >>> write_decisions(file, Trials.of_llr([0.1], ids=["m1 u1"]), ["target"])
    >>> file.read_text()
    'm1 u1 target\\n'
    """
    found = [str(name) for name in names(decisions, "decisions").tolist()]
    if len(found) != len(as_trials(trials)):
        raise InputError(f"decisions must hold one name for each of {len(trials)} trials, not {len(found)} names.")
    _write_lines(path, trials, layout, found, "decision")


def _write_lines(path: FilePath, trials: Trials, layout: str, words: Sequence[str], called: str) -> None:
    """One line per trial: the fields of its id, then its word; `called` is the header of the words."""
    if layout not in LAYOUTS:
        raise InputError(f"layout is one of {', '.join(LAYOUTS)}, not {shown(layout)}.")
    if trials.is_matrix:
        raise InputError("These layouts hold one score per trial, not one per class.")
    fields = [[] for _ in words] if layout == "numbers" else _fields(trials, layout)
    lines = [[*own, word] for own, word in zip(fields, words, strict=True)]
    _refuse_separators(lines, layout)
    if layout in _HEADERS:
        lines.insert(0, [*_HEADERS[layout], called])
    separator = "\t" if layout in _HEADERS else " "
    write_text_atomically(path, "".join(separator.join(line) + "\n" for line in lines))


def _fields(trials: Trials, layout: str) -> list[list[str]]:
    """What a layout holds before the score: the fields of the ids, and the groups and labels it has."""
    if trials.ids is None:
        raise InputError(f"The layout {layout} needs trial ids: name the column that holds them (id_column=).")
    fields = [id_fields(one) for one in trials.ids.tolist()]
    least, most, called = _ID_FIELDS[layout]
    odd = next((row for row, own in enumerate(fields) if not least <= len(own) <= most), None)
    if odd is not None:
        raise InputError(f"The layout {layout} needs ids of {called}: row {odd} has {_shown_id(trials.ids[odd])}.")
    if layout in _HEADERS:
        return [own if len(own) == 3 else [*own, "a"] for own in fields]
    if layout == "bob":
        return [[*own[:-1], name, own[-1]] for own, name in zip(fields, _group(trials, "real_id", layout), strict=True)]
    if layout == "asvspoof" and "source" in trials.groups and trials.labels is not None:
        labels = [trials.classes[int(label)] for label in trials.labels.tolist()]
        return [[*own, *more] for own, *more in zip(fields, _group(trials, "source", layout), labels, strict=True)]
    return fields


def _group(trials: Trials, group: str, layout: str) -> list[str]:
    """A group column that a layout holds."""
    if group not in trials.groups:
        raise InputError(
            f"The layout {layout} needs the group column {shown(group)}: read it with group_columns={shown(group)}."
        )
    return [str(name) for name in trials.groups[group].tolist()]


def _refuse_separators(lines: Sequence[Sequence[str]], layout: str) -> None:
    """Refuses fields that would be read back as none or as several."""
    field, separators = (r"[^\t\r\n]+", "tabs") if layout in _HEADERS else (r"\S+", "blanks")
    whole = re.compile(field).fullmatch
    for row, line in enumerate(lines):
        odd = next((one for one in line if whole(one) is None), None)
        if odd is not None:
            raise InputError(
                f"The layout {layout} separates fields by {separators}: row {row} (counting from 0) has the field "
                f"{shown(odd)}. Rename it, or write a table."
            )


def id_fields(one: object) -> list[str]:
    """The fields of a trial id: of a composite one, or of a text with spaces between."""
    return [str(part) for part in one] if isinstance(one, tuple | list) else str(one).split(" ")


def refuse_duplicates(ids: Sequence[object], where: str) -> None:
    """Refuses ids that are there twice, with how many and the first; `where` is the beginning of the sentence."""
    seen: dict[tuple[str, ...], int] = {}
    fields = [tuple(id_fields(one)) for one in ids]
    twice = [one for row, one in enumerate(fields) if seen.setdefault(one, row) != row]
    if twice:
        count = "1 trial id" if len(set(twice)) == 1 else f"{len(set(twice))} trial ids"
        raise InputError(
            f"{where} {count} more than once, the first is {_shown_id(twice[0])}: each trial must be there once."
        )


def _shown_id(one: object) -> str:
    """A trial id as messages show it, its parts with spaces between."""
    return shown(" ".join(id_fields(one)))


def text_lines(path: FilePath) -> list[tuple[int, str]]:
    """The lines of a text file that are not blank, with their numbers."""
    try:
        text = Path(checked_path(path, "path")).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"{_called(path)} is not UTF-8 text.") from None
    except OSError as error:
        raise InputError(f"{_called(path)} cannot be read: {error.strerror or error}.") from None
    return [(number, line.strip()) for number, line in enumerate(text.split("\n"), 1) if line.strip()]


def _called(path: FilePath) -> str:
    return ascii(Path(path).name)[1:-1]
