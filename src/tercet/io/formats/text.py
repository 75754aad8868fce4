"""Delimited text: its dialect, its header (not read by duckdb), and the exact place of a malformed row."""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np

from tercet._numeric.validation import shown, some
from tercet.errors import InputError
from tercet.io._limits import MOST_COLUMNS
from tercet.io._plain_files import LONGEST_LINE, PlainFile, temporary

WHITESPACE = "whitespace"  # a separator: any run of spaces and tabs
_BLANKS = re.compile(rb"[ \t]+")
_CUT = re.compile("[ \t]+")
_SPACE = " \t\r\n"
_WIDEST = 1 << 20  # characters of one cell


@dataclass(frozen=True, slots=True)
class Dialect:
    """How the lines of one file are cut: separator, quoting, the columns' names, and whether line one is a header."""

    separator: str
    names: tuple[str, ...]
    header: bool

    @property
    def quote(self) -> str:
        """The quote character; trial lists that are split at white space have none."""
        return "" if self.separator == WHITESPACE else '"'

    def position(self, name: str, file: PlainFile) -> int:
        """The place of a column, by its name; a missing or repeated one is refused with the list of names."""
        if self.names.count(name) == 1:
            return self.names.index(name)
        if name in self.names:
            raise InputError(f"{file.called}: the header has the column {shown(name)} {self.names.count(name)} times.")
        raise InputError(missing_column(file.called, name, self.names, self.hint()))

    def hint(self) -> str:
        """What may be wrong with the header, if something looks wrong."""
        if len(self.names) == 1 and any(mark in self.names[0] for mark in ";\t|"):
            return " If another character separates the columns, give separator=."
        if all(is_number(name) for name in self.names) and self.header:
            return " If the first line is data, not a header, name the columns by position: columns=[...]."
        return ""


def missing_column(called: str, name: str, there: Sequence[str], hint: str = "") -> str:
    """The message for a column that is not there, with those that are."""
    listed = ", ".join(shown(one) for one in there[:12]) + (f", ... ({len(there)} in all)" if len(there) > 12 else "")
    return f"{called} has no column {shown(name)}; its columns are {listed}.{hint}"


def is_number(text: str) -> bool:
    """Whether the text is a number, infinities and NaN included."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text and text.isascii()


def fields_of(line: str) -> list[str]:
    """A line split at spaces and tabs only, not at other Unicode spaces."""
    return _CUT.split(line.strip(_SPACE))


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What one pass over the bytes of a text file finds."""

    lines: int  # line ends, and one more where the last line has none
    mixed_ends: bool  # some lines end in CR LF and others do not; all one way or all the other is fine
    utf8: bool
    ended: bool  # the last line has its line end
    underscores: bool  # below the first line; duckdb would take 1_000 for a number
    commas: int


def check_text(file: PlainFile) -> TextFacts:
    """Reads all bytes once, and refuses UTF-16, NUL bytes and lines that are too long for a table."""
    decoder, pending, utf8 = codecs.getincrementaldecoder("utf-8")(), False, True
    at = line = returns = feeds = pairs = commas = 0
    underscores = False
    for chunk in _overlapping(file.path):
        new = chunk[1:]
        if at == 0 and (new[:2] in (b"\xff\xfe", b"\xfe\xff") or 0 in new[:2]):
            way = "Convert it: iconv -f UTF-16 -t UTF-8 FILE > NEW"
            raise InputError(f"{file.called} is UTF-16 or UTF-32 text, not UTF-8. {way}.")
        if (place := new.find(b"\0")) >= 0:
            lines = 1 + feeds + new.count(b"\n", 0, place)
            where = f"line {lines} holds a NUL byte (byte {at + place} of the file)"
            raise InputError(f"{file.called}: {where}: it is damaged or not text.")
        last = max(new.rfind(b"\n"), new.rfind(b"\r"))
        line = line + len(new) if last < 0 else len(new) - last
        if line > LONGEST_LINE:
            raise InputError(f"{file.called} has a line of more than {LONGEST_LINE} bytes: it is not a table.")
        underscores = underscores or new.find(b"_", 0 if feeds or returns else _after_first(new)) >= 0
        returns, feeds, commas = (held + _count(new, byte) for held, byte in ((returns, 13), (feeds, 10), (commas, 44)))
        pairs += chunk.count(b"\r\n") if returns else 0
        if utf8 and (pending or not new.isascii()):
            try:
                decoder.decode(new)
                pending = bool(decoder.getstate()[0])
            except UnicodeDecodeError:
                utf8 = False
        at += len(new)
    ended = chunk[-1:] in b"\r\n"
    mixed = returns > 0 and not (returns == feeds == pairs or feeds == 0)
    return TextFacts((feeds or returns) + (not ended), mixed, utf8 and not pending, ended, underscores, commas)


def _count(chunk: bytes, byte: int) -> int:
    """chunk.count(byte), several times as fast where the byte is frequent or missing."""
    return int(np.count_nonzero(np.frombuffer(chunk, np.uint8) == byte)) if byte in chunk else 0


def _after_first(chunk: bytes) -> int:
    """Where the second line begins; the end where there is none."""
    ends = [place for place in (chunk.find(b"\n"), chunk.find(b"\r")) if place >= 0]
    return min(ends, default=len(chunk))


def first_lines(file: PlainFile, count: int = 20) -> list[str]:
    """The first lines that are not blank, for the header and for detecting the format."""
    found: list[str] = []
    with file.path.open("rb") as data:
        head = data.read(1 << 20).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    for number, raw in enumerate(head.split(b"\n")[: 10 * count], 1):
        text = _decoded(raw, number, file)
        if text.strip():
            found.append(text)
        if len(found) == count:
            break
    if not found:
        raise InputError(f"{file.called} holds nothing but blank lines.")
    return found


def header_of(file: PlainFile, separator: str) -> tuple[str, ...]:
    """The names in the first record, as they are written."""
    _, names = next(records(file, Dialect(separator, (), False)))
    if len(names) > MOST_COLUMNS:
        raise InputError(f"{file.called} has {len(names)} columns; more than {MOST_COLUMNS} are not read.")
    return tuple(name.strip() for name in names)


def records(file: PlainFile, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of every record, blank lines left out: slow and exact, for headers and errors."""
    with file.path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as text:
        if dialect.separator == WHITESPACE:
            yield from ((number, fields_of(line)) for number, line in enumerate(text, 1) if line.strip(_SPACE))
            return
        csv.field_size_limit(max(csv.field_size_limit(), _WIDEST))
        rows = csv.reader(text, delimiter=dialect.separator, quotechar='"', strict=True)
        start = 1
        try:
            for row in rows:
                if row or len(dialect.names) == 1:
                    yield start, row or [""]
                start = rows.line_num + 1
        except csv.Error as error:
            raise InputError(_broken(file, start, str(error))) from None


def check_ended(file: PlainFile, facts: TextFacts) -> None:
    """Refuses a file without a line end after its last line: it may have been cut off inside a number."""
    if not facts.ended:
        raise InputError(
            f"{file.called}: its last line (line {facts.lines}) has no line end, so it may have been cut off. If it is "
            f"complete, add one: echo >> FILE."
        )


def data_records(file: PlainFile, dialect: Dialect) -> Iterator[tuple[int, list[str]]]:
    """The records below the header."""
    return islice(records(file, dialect), 1 if dialect.header else 0, None)


def line_of(file: PlainFile, dialect: Dialect, row: int) -> tuple[int, list[str]]:
    """Line number and cells of one row of data, counted from 0."""
    return next(islice(data_records(file, dialect), row, None))


def diagnose(file: PlainFile, dialect: Dialect) -> None:
    """Reads the whole file and reports the line of its first malformed record, if there is one."""
    width = len(dialect.names)
    for line, cells in records(file, dialect):
        for place, cell in enumerate(cells):
            if any("\udc80" <= mark <= "\udcff" for mark in cell):
                raise InputError(
                    _not_utf8(file, line, dialect.names[place] if place < width else f"number {place + 1}")
                )
        if len(cells) != width:
            raise InputError(_ragged(file, dialect, line, cells))


@contextmanager
def regular(file: PlainFile, dialect: Dialect, folder: Path, *, rewrite: bool) -> Iterator[tuple[PlainFile, str]]:
    """The file or, if it is rewritten, one with one kind of line end and one space between fields; its separator."""
    spaced = dialect.separator == WHITESPACE
    tabbed = spaced and " " not in first_lines(file, 1)[0].strip()
    if not rewrite:
        yield file, "\t" if tabbed else " " if spaced else dialect.separator
        return
    with temporary(folder=folder) as path:
        _rewrite(file, dialect, path)
        yield replace(file, path=path), " " if spaced else dialect.separator


def _rewrite(file: PlainFile, dialect: Dialect, target: Path) -> None:
    """Writes every record on a line of its own; what stands in quotes is kept as it is."""
    if dialect.separator == WHITESPACE:
        with target.open("wb") as out, file.path.open(encoding="utf-8-sig", errors="surrogateescape") as text:
            out.writelines(_BLANKS.sub(b" ", line.encode("utf-8", "surrogateescape").strip()) + b"\n" for line in text)
        return
    with target.open("w", encoding="utf-8", errors="surrogateescape", newline="") as out:
        rows = csv.writer(out, delimiter=dialect.separator, lineterminator="\n", quoting=csv.QUOTE_ALL)
        rows.writerows(cells for _, cells in records(file, dialect))


def ends_with_separator(file: PlainFile, dialect: Dialect, facts: TextFacts) -> bool:
    """Whether some line ends in a separator, which duckdb takes for the end of the row before it.

    Not if each line has as few commas as it can: a line with one more would need another with one less, which duckdb
    refuses, or a blank one, and then there are fewer rows than lines.
    """
    mark, last = ord(dialect.separator), 0
    if dialect.separator == "," and facts.commas == facts.lines * (len(dialect.names) - 1):
        return False
    for chunk in _overlapping(file.path):
        codes = np.frombuffer(chunk, np.uint8)
        ends = (codes[1:] == 10) | (codes[1:] == 13)
        if np.any(ends & (codes[:-1] == mark)):
            return True
        last = int(codes[-1])
    return last == mark


def _overlapping(path: Path) -> Iterator[bytes]:
    """Chunks of the file, each led by the last byte of the one before, so that no pair of bytes is missed."""
    last = b"\0"
    with path.open("rb") as data:
        while chunk := data.read(1 << 18):  # which stays in the cache
            yield last + chunk
            last = chunk[-1:]


def _decoded(raw: bytes, line: int, file: PlainFile) -> str:
    try:
        return raw.decode("utf-8-sig" if line == 1 else "utf-8")
    except UnicodeDecodeError:
        raise InputError(_not_utf8(file, line, None)) from None


def _not_utf8(file: PlainFile, line: int, column: str | None) -> str:
    where = f"line {line}" + ("" if column is None else f", column {shown(column)}")
    return (
        f"{file.called}: {where} is not UTF-8 text. If the file is latin-1, convert it: "
        f"iconv -f LATIN1 -t UTF-8 FILE > NEW (UTF-16: iconv -f UTF-16 -t UTF-8)."
    )


def _ragged(file: PlainFile, dialect: Dialect, line: int, cells: list[str]) -> str:
    width, found = len(dialect.names), len(cells)
    hint = "Complete or drop this row."
    if found < width:
        hint = "It may have been cut off: complete or drop this row, or copy the file again."
    elif dialect.separator == "," and found > width:
        hint = "If a decimal comma is in it, write a point; if a name holds a comma, put it in quotes."
    return (
        f"{file.called}: line {line} has {found} column{'s' * (found != 1)} where {width} are expected "
        f"({some(dialect.names)}). {hint}"
    )


def _broken(file: PlainFile, line: int, reason: str) -> str:
    if "unexpected end" in reason:
        return f'{file.called}: a quote (") opened in the record at line {line} is never closed. Close it, or drop it.'
    if "expected after" in reason:
        return f'{file.called}: line {line} goes on after a closing quote ("). Double the quotes inside a quoted cell.'
    return f"{file.called}: the record at line {line} cannot be read ({reason})."
