"""read: a file of scores, with its labels beside it, in another file or in a key, becomes Trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Unpack, cast

from tercet._numeric.frames import column_names, frame_names, is_frame
from tercet._numeric.validation import chosen, label_list, shown, whole
from tercet._typing import JSON
from tercet.errors import InputError
from tercet.io._limits import memory_limit
from tercet.io._plain_files import Progress
from tercet.io._request import MISSING, Notes, Path, ReadOptions, Request
from tercet.io._trial_columns import WantedColumns, confusion_of_words
from tercet.io.formats.trial_lists import Hints
from tercet.io.source import opened_request
from tercet.metrics.confusion import Confusion
from tercet.trials import Trials

_SHORT = {
    "score": "score_column", "label": "label_column", "weight": "weight_column", "groups": "group_columns",
    "ids": "id_column",
}  # fmt: skip
_USUAL: JSON = {"score_column": "score", "label_column": "label", "missing": "error", "group_columns": ()}
_OF_FILES = (
    "labels", "key", "format", "separator", "columns", "header", "missing", "memory", "progress", "notes",
)  # fmt: skip


def read(
    path: Path | object,
    *,
    score: str | Sequence[str] | None = None,
    label: str | None = None,
    weight: str | None = None,
    groups: str | Sequence[str] | None = None,
    ids: str | Sequence[str] | None = None,
    labels: Path | None = None,
    key: Path | None = None,
    format: str | None = None,
    separator: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    score_column: str = "score",
    label_column: str = "label",
    weight_column: str | None = None,
    group_columns: Sequence[str] = (),
    id_column: str | Sequence[str] | None = None,
    keep_ids: bool | None = None,
    target: object = None,
    meaning: str = "llr",
    trained_prior: object = None,
    class_columns: Sequence[str] | None = None,
    missing: str = "error",
    labelled: bool | None = None,
    name: str | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    notes: Notes | None = None,
) -> Trials:
    r"""Read the trials of a file or a data frame, in the order of its rows.

    Formats, joins and the input that is rejected are described in docs/files.md.

    Parameters
    ----------
    path : path
        A file of scores, "-" for standard input; or a data frame of pandas or polars, an Arrow table, a duckdb
        relation, or anything that gives an Arrow stream.
    score, label, weight, groups, ids : str or sequence of str, optional
        Short names of `score_column` (several: `class_columns`), `label_column`, `weight_column`, `group_columns` and
        `id_column`.
    labels : path, optional
        A file of labels, one per score, matched by position.
    key : path, optional
        A file of trial ids with labels, matched by id.
    format : str, optional
        The format where the file's name and first bytes do not tell: csv, tsv, parquet, npy, jsonl, kaldi, voxceleb,
        sre, asvspoof, bosaris or bob.
    separator : str, optional
        What stands between the columns of a text file.
    columns : sequence of str, optional
        Column names of a text file without a header.
    header : bool, optional
        Whether the first line of a text file has the column names; detected by default.
    score_column : str, default "score"
        The column of scores.
    label_column : str, default "label"
        The column of labels.
    weight_column : str, optional
        The column of weights.
    group_columns : sequence of str, default ()
        Columns that say what each trial belongs to, such as a speaker.
    id_column : str or sequence of str, optional
        The column, or columns, of trial ids.
    keep_ids : bool, optional
        Keep trial ids; by default where `id_column` names them and no key is joined.
    target : object, optional
        The label of the target, where labels are not 0/1, False/True or nontarget/target.
    meaning : str, default "llr"
        What the scores mean: llr, lr, log10-llr, log-odds, posterior, raw; log-likelihoods, logits or posteriors for
        one column per class.
    trained_prior : float or array_like, optional
        The prior that log-odds, logits or posteriors were made with.
    class_columns : sequence of str, optional
        The columns of scores, one per class.
    missing : {"error", "drop", "reject"}, default "error"
        Trials of the key without a score: refused, left out, or given the lowest score.
    labelled : bool, optional
        True: a file without labels is an error. False: labels are not read.
    name : str, optional
        The system's name; by default the file's.
    memory : int, optional
        The largest number of bytes that the columns may take.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes.
    notes : callable, optional
        Called with one sentence on what was left out or rejected.

    Returns
    -------
    Trials
        Scores, labels and what else was asked for.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "system.csv")
    ...     _ = path.write_text("score,label\n1.5,target\n-0.5,nontarget\n")
    ...     trials = read(path)
    >>> trials.scores.tolist(), trials.labels.tolist(), trials.name
    ([1.5, -0.5], [True, False], 'system')
    """
    options = dict(locals())
    path = options.pop("path")
    options = _in_full({name: options.pop(name) for name in _SHORT}, options)
    if is_frame(path):
        return _trials_of_frame(path, options)
    with opened_request(Request.of(cast("Path", path), **options), held=True) as source:
        return source.trials()


def _in_full(short: JSON, options: JSON) -> JSON:
    """The options with the short names spelled out; one that is given both ways is refused."""
    found = dict(options)
    for name, value in short.items():
        if value is None:
            continue
        long = "class_columns" if name == "score" and not isinstance(value, str) else _SHORT[name]
        if found[long] != _USUAL.get(long):
            raise InputError(f"{name}= and {long}= are the same: give one of them.")
        found[long] = (value,) if name == "groups" and isinstance(value, str) else value
    return found


def _trials_of_frame(frame: object, options: JSON) -> Trials:
    """The trials in a data frame, by the options of `tercet.read`; those of files are refused."""
    for name in _OF_FILES:
        if options[name] not in (None, _USUAL.get(name)):
            raise InputError(f"{name}= is for files: a frame has its columns already.")
    by_name = any(hasattr(frame, method) for method in ("collect", "__getitem__", "fetchnumpy"))
    known = frame if by_name else _from_arrow(frame)
    names = frame_names(known)
    label = options["label_column"]
    if options["labelled"] is False or (label == "label" and label not in names and not options["labelled"]):
        label, known = None, _without_label(known, names)
    classes = options["class_columns"]
    return Trials.from_frame(
        known,
        score=options["score_column"] if classes is None else column_names(classes, "class_columns"),
        label=label,
        weight=options["weight_column"],
        groups=column_names(options["group_columns"], "group_columns"),
        ids=() if options["keep_ids"] is False else column_names(options["id_column"], "id_column"),
        meaning=options["meaning"],
        target=options["target"],
        trained_prior=options["trained_prior"],
        name=options["name"],
    )


def _without_label(frame: Any, names: Sequence[object]) -> Any:
    """The frame without the column that from_frame would take for labels."""
    if "label" not in names:
        return frame
    keep = [name for name in names if name != "label"]
    return frame.select(keep) if hasattr(frame, "select") else {name: frame[name] for name in keep}


def _from_arrow(frame: object) -> JSON:
    """The columns of an object that exports an Arrow stream (the PyCapsule interface), through duckdb."""
    import duckdb

    try:
        with duckdb.connect(":memory:") as con:
            return dict(con.from_arrow(frame).fetchnumpy())
    except duckdb.Error as error:
        raise InputError(f"frame cannot be read as an Arrow stream: {shown(str(error))}.") from None


def read_chunks(path: Path, rows: int = 1 << 20, **options: Unpack[ReadOptions]) -> Iterator[Trials]:
    r"""Read the trials of a file of any length, a number of rows at a time.

    Parameters
    ----------
    path : path
        A file of scores.
    rows : int, default 1048576
        Rows per chunk.
    **options
        Those of `tercet.read`.

    Returns
    -------
    iterator of Trials
        The chunks in the order of the rows.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "system.csv")
    ...     _ = path.write_text("score,label\n1.5,1\n-0.5,0\n0.5,1\n")
    ...     sizes = [len(chunk) for chunk in read_chunks(path, rows=2)]
    >>> sizes
    [2, 1]
    """
    if unknown := sorted(set(options) - set(ReadOptions.__annotations__)):
        raise TypeError(f"read_chunks() got an unexpected keyword argument {unknown[0]!r}")
    return _chunks(Request.of(path, **options), whole(rows, "rows", 1))


def _chunks(request: Request, rows: int) -> Iterator[Trials]:
    with opened_request(request, held=False) as source:
        for start in range(0, source.rows, rows):
            yield source.trials(start, min(start + rows, source.rows))


def read_decisions(
    path: Path,
    *,
    decision_column: str = "decision",
    labels: Path | None = None,
    key: Path | None = None,
    format: str | None = None,
    separator: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    label_column: str = "label",
    weight_column: str | None = None,
    id_column: str | Sequence[str] | None = None,
    target: object = None,
    classes: Sequence[object] | None = None,
    actions: Sequence[object] | None = None,
    missing: str = "error",
    memory: int | None = None,
    progress: Progress | None = None,
    notes: Notes | None = None,
) -> Confusion:
    r"""Count a column of decisions against the true labels; both name classes by the same words.

    Parameters
    ----------
    path : path
        A file with decisions; "-" is standard input.
    decision_column : str, default "decision"
        The column of decisions.
    labels : path, optional
        A file of labels, one per decision, matched by position.
    key : path, optional
        A file of trial ids with labels, matched by id.
    format : str, optional
        The format where the file's name and first bytes do not tell: csv, tsv, parquet, npy, jsonl, kaldi, voxceleb,
        sre, asvspoof, bosaris or bob.
    separator : str, optional
        What stands between the columns of a text file.
    columns : sequence of str, optional
        Column names of a text file without a header.
    header : bool, optional
        Whether the first line of a text file has the column names; detected by default.
    label_column : str, default "label"
        The column of labels.
    weight_column : str, optional
        The column of weights.
    id_column : str or sequence of str, optional
        The column, or columns, of trial ids.
    target : object, optional
        The class that rates such as `tpr` are about.
    classes : sequence, optional
        Class names in order; by default those that occur, sorted.
    actions : sequence, optional
        Action names in order; by default the classes.
    missing : {"error", "drop"}, default "error"
        Trials of the key without a decision: refused or left out.
    memory : int, optional
        The largest number of bytes that the columns may take.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes.
    notes : callable, optional
        Called with one sentence on what was left out or rejected.

    Returns
    -------
    Confusion
        Counts, rows = decision, columns = true class.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "decided.csv")
    ...     _ = path.write_text("decision,label\n1,1\n0,0\n1,0\n")
    ...     table = read_decisions(path)
    >>> table.matrix
    [[1, 0], [1, 1]]
    """
    if chosen(missing, "missing", MISSING) == "reject":
        raise InputError("missing='reject' is for scores: a trial without a decision is left out (drop) or refused.")
    wanted = WantedColumns(
        decision_column,
        label_column,
        weight_column,
        ids=column_names(id_column, "id_column"),
        labelled=labels is None,
        decided=True,
    )
    hints = Hints(
        format, separator, None if columns is None else column_names(columns, "columns"), header, decision_column
    )
    given = {"classes": classes, "actions": actions}
    named = [None if one is None else label_list(one, name) for name, one in given.items()]
    limits = (memory_limit(memory), progress, notes)
    with opened_request(Request(path, labels, key, hints, wanted, missing, "decisions", *limits), held=True) as source:
        return confusion_of_words(source.all_columns(), target, *named)
