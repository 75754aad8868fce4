"""The roles of the columns of a text file: by header, by position, or by the format of a trial list, named or detected.

Detection uses the first twenty lines that are not blank, and accepts a format only if it alone fits all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._plain_files import PlainFile
from tercet.io.formats.text import WHITESPACE, Dialect, fields_of, first_lines, header_of, is_number

LISTS = ("kaldi", "voxceleb", "sre", "asvspoof", "bosaris", "bob")
FORMATS = ("csv", "tsv", "jsonl", "parquet", "npy", "npz", *LISTS)
_LABEL_WORDS = {"0", "1", "target", "nontarget", "true", "false"}
_THREE_CLASSES = {"target", "nontarget", "spoof"}
_SPOOF_WORDS = {"bonafide", "spoof"}
_BOB = {
    4: ("claimed_id", "real_id", "test_label", "score"),
    5: ("claimed_id", "model_label", "real_id", "test_label", "score"),
}
_CLAIM = ("claimed_id", "real_id")
_WAY_OUT = "Name the format (format=), or the columns by position (columns=[...])."


@dataclass(frozen=True, slots=True)
class Layout:
    """How lines are split, and the roles of the columns; None and () where the caller decides."""

    dialect: Dialect
    score: str | None = None
    label: str | None = None
    ids: tuple[str, ...] = ()
    equal: tuple[str, str] | None = None  # a target if and only if these two columns are the same
    target: str | None = None  # the label that is H_T in this format


@dataclass(frozen=True, slots=True)
class Hints:
    """What the caller said about a text file."""

    format: str | None = None
    separator: str | None = None
    columns: tuple[str, ...] | None = None
    header: bool | None = None
    expected: str = "score"  # the column whose name on the first line tells a header


def check_hints(file: PlainFile, hints: Hints) -> None:
    """Refuses an unknown format, and one that the bytes contradict."""
    name, binary = hints.format, ("parquet", "npy", "npz")
    if name is not None and name not in FORMATS:
        raise InputError(f"format={shown(name)} is not one of {', '.join(FORMATS)}.")
    if name is not None and (name in binary or file.kind in binary) and name != file.kind:
        raise InputError(f"{file.called} is not {name}: it holds {file.kind}.")


def layout_of(file: PlainFile, hints: Hints, *, key: bool) -> Layout:
    """The layout of a text file: a table's, or that of a list of scores or of a key."""
    return _table(file, hints) or (_key_layout if key else _score_layout)(file, hints)


def _score_layout(file: PlainFile, hints: Hints) -> Layout:
    """The layout of a list of scores."""
    lines = first_lines(file)
    name = hints.format or _sniffed_scores(file, lines)
    fields = _fields(file, lines, name)
    width = len(fields[0])
    if name == "bob" and width in _BOB:
        return Layout(_list(_BOB[width]), "score", None, (*_BOB[width][: width - 3], "test_label"), _CLAIM)
    if name == "asvspoof" and width == 2:
        return Layout(_list(("utt", "score")), "score", None, ("utt",), target="bonafide")
    if name == "asvspoof" and width == 3:
        return Layout(_list(("source", "label", "score")), "score", "label")
    if name == "asvspoof" and width == 4:
        return Layout(_list(("utt", "source", "label", "score")), "score", "label", ("utt",), target="bonafide")
    if name in ("kaldi", "voxceleb", "bosaris") and width == 3:
        return Layout(_list(("enrol", "test", "score")), "score", None, ("enrol", "test"))
    raise InputError(f"{file.called}: its first line has {width} fields, which is not a {name} score file. {_WAY_OUT}")


def _key_layout(file: PlainFile, hints: Hints) -> Layout:
    """The layout of a key: a trial list with labels."""
    fields = _fields(file, first_lines(file), hints.format or "trial list")
    spoof = [place for place in range(len(fields[0])) if {row[place] for row in fields} <= _SPOOF_WORDS]
    three = len(fields[0]) == 3 and not any("bonafide" in row for row in fields)  # a key that begins with spoofs
    if hints.format == "asvspoof" or (hints.format is None and spoof and not three):
        return _protocol(file, len(fields[0]), spoof)
    if len(fields[0]) == 3 and hints.format != "bob":
        first = _label_first(file, fields, hints.format)
        names = ("label", "enrol", "test") if first else ("enrol", "test", "label")
        return Layout(_list(names), None, "label", ("enrol", "test"))
    raise InputError(
        f"{file.called}: its first line has {len(fields[0])} fields, which is not a known kind of key. {_WAY_OUT}"
    )


def _table(file: PlainFile, hints: Hints) -> Layout | None:
    """A table with a header, or columns named by position; None for a trial list."""
    if hints.columns is not None:
        header = bool(hints.header)
        return Layout(Dialect(_separator(file, hints), hints.columns, header))
    if hints.format in LISTS and hints.format != "sre":
        return None
    if hints.header is False:
        raise InputError(f"{file.called}: a file without a header needs the names of its columns: columns=[...].")
    named = hints.separator or hints.format in ("csv", "tsv", "sre") or file.suffix in (".csv", ".tsv")
    separator = _separator(file, hints) if named else _header_separator(file, hints)
    if separator is None:
        return None
    dialect = Dialect(separator, header_of(file, separator), True)
    return _sre(file, dialect, hints) or Layout(dialect)


def _separator(file: PlainFile, hints: Hints) -> str:
    if hints.separator is not None:
        return checked_separator(hints.separator)
    known = {"csv": ",", "tsv": "\t", "sre": "\t"}.get(hints.format or "") or {".csv": ",", ".tsv": "\t"}.get(
        file.suffix
    )
    if known is not None:
        return known
    first = first_lines(file, 1)[0]
    return "\t" if "\t" in first else "," if "," in first else WHITESPACE


def checked_separator(separator: str) -> str:
    """One character that can stand between columns, or the word whitespace."""
    mark = {"tab": "\t", "\\t": "\t", " ": WHITESPACE, "space": WHITESPACE}.get(separator, separator)
    if mark == WHITESPACE:
        return mark
    if len(mark) != 1 or not mark.isascii() or mark.isalnum() or mark in '"\r\n.+-':
        raise InputError(
            f"separator={shown(separator)} must be one character such as ',' ';' '|' or a tab, or the word whitespace."
        )
    return mark


def _header_separator(file: PlainFile, hints: Hints) -> str | None:
    """The separator under which the first line holds the expected column's name, or an SRE header; else None."""
    first = first_lines(file, 1)[0]
    for mark in ("\t", ",", ";", None):
        names = [cell.strip().strip('"') for cell in first.split(mark)]
        if hints.expected in names or "modelid" in names:
            return mark or WHITESPACE
    return None


def _sre(file: PlainFile, dialect: Dialect, hints: Hints) -> Layout | None:
    """The NIST SRE layout where the header is one: modelid, segmentid (or segment), side, and LLR or targettype."""
    names = dialect.names
    segment = next((name for name in ("segmentid", "segment") if name in names), None)
    if "modelid" not in names or segment is None or not {"LLR", "targettype"} & set(names):
        if hints.format == "sre":
            raise InputError(
                f"{file.called}: an SRE file has a header with modelid, segmentid and LLR (scores) or targettype "
                f"(key); this one has {', '.join(shown(name) for name in names[:8])}."
            )
        return None
    ids = tuple(name for name in ("modelid", segment, "side") if name in names)
    return Layout(dialect, "LLR" if "LLR" in names else None, "targettype" if "targettype" in names else None, ids)


def _list(names: tuple[str, ...]) -> Dialect:
    return Dialect(WHITESPACE, names, False)


def _fields(file: PlainFile, lines: Sequence[str], name: str) -> list[list[str]]:
    """The first lines cut at white space, all of one width."""
    fields = [fields_of(line) for line in lines]
    for number, row in enumerate(fields, 1):
        if len(row) != len(fields[0]):
            raise InputError(
                f"{file.called}: line {number} has {len(row)} fields and line 1 has {len(fields[0])}, so it is not a "
                f"{name} file separated by white space. {_WAY_OUT}"
            )
    return fields


def _sniffed_scores(file: PlainFile, lines: Sequence[str]) -> str:
    """The format of a score list, by its number of fields and the words in them; refused where two would fit."""
    fields = _fields(file, lines, "trial list")
    width = len(fields[0])
    columns = [set(column) for column in zip(*fields, strict=True)]
    if not all(is_number(row[-1]) for row in fields) or not 2 <= width <= 5:
        raise InputError(f"{file.called}: its first lines match no known format. {_WAY_OUT}")
    if (width == 4 and columns[2] <= _SPOOF_WORDS) or (width == 3 and columns[1] <= _THREE_CLASSES):
        return "asvspoof"
    labelled = [place for place in range(width - 1) if columns[place] <= _LABEL_WORDS]
    if labelled:
        raise InputError(f"{file.called}: field {labelled[0] + 1} may be a label or an id. {_WAY_OUT}")
    if width > 3 and is_number(fields[0][-2]):
        raise InputError(
            f"{file.called}: its last two fields are numbers, so it is unclear which is the score. {_WAY_OUT}"
        )
    return {2: "asvspoof", 3: "kaldi", 4: "bob", 5: "bob"}[width]


def _label_first(file: PlainFile, fields: Sequence[Sequence[str]], name: str | None) -> bool:
    first, last = ({row[place] for row in fields} <= _LABEL_WORDS | _THREE_CLASSES for place in (0, 2))
    if name in ("voxceleb", "bosaris"):
        first, last = name == "voxceleb", name == "bosaris"
    if first == last:
        what = "both its first and its last field" if first else "neither its first nor its last field"
        raise InputError(
            f"{file.called}: {what} may be the label (0/1, nontarget/target/spoof){_odd_label(fields, first)}. Say "
            f"format='voxceleb' (label enrol test) or format='bosaris' (enrol test label), and name the target "
            f"(target=...) if the labels are other words."
        )
    return first


def _odd_label(fields: Sequence[Sequence[str]], known: bool) -> str:
    """The first last field that is no label, where no field holds labels only."""
    known_words = _LABEL_WORDS | _THREE_CLASSES
    odd = next((row[2] for row in fields if row[2] not in known_words), None)
    return "" if known or odd is None else f"; the last holds {shown(odd)}"


def _protocol(file: PlainFile, width: int, spoof: Sequence[int]) -> Layout:
    """An ASVspoof protocol: bonafide or spoof in the last column (2021: in the only one that holds these words)."""
    if len(spoof) != 1 or width < 2:
        raise InputError(
            f"{file.called}: an ASVspoof protocol holds bonafide or spoof in exactly one column. {_WAY_OUT}"
        )
    names = [f"field_{place + 1}" for place in range(width)]
    names[0 if width == 2 else 1], names[spoof[0]] = "utt", "label"
    if "utt" not in names:
        raise InputError(f"{file.called}: the utterance and its label would be the same column. {_WAY_OUT}")
    return Layout(_list(tuple(names)), None, "label", ("utt",), target="bonafide")
