"""A table: named columns behind duckdb, from text, JSON lines or Parquet, and the place of each row in its file."""

from __future__ import annotations

import math
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tercet._numeric.frames import DUCKDB_NUMBERS
from tercet._numeric.validation import shown
from tercet._typing import Array, Value
from tercet.errors import InputError
from tercet.io._database import connected, identifier, is_pattern, link_in, quoted, watched
from tercet.io._limits import MOST_COLUMNS, MOST_LABELS, check_size
from tercet.io._plain_files import PlainFile, Progress
from tercet.io.formats.jsonlines import as_table, json_place, keys_of_first
from tercet.io.formats.parquet import PageChecks, footer_of
from tercet.io.formats.text import (
    Dialect,
    TextFacts,
    check_ended,
    check_text,
    data_records,
    diagnose,
    ends_with_separator,
    first_lines,
    line_of,
    missing_column,
    regular,
)
from tercet.io.formats.trial_lists import Hints, Layout, layout_of

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_EXACT = 2**53  # whole numbers up to this are doubles
_INTEGER = re.compile(r"[+-]?[0-9]+")
REJECTION = "Drop the row; a score that stands for a rejection is -inf (0 for lr and posterior)."
_MERGED = "a 64-bit number would merge it with its neighbours. Rescale it, or write it as a label."
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_ -]*")
_DOUBTFUL = r"(?i),\s*[}\]]|[:\[,]\s*[+-]?(inf|nan)|\\u0000"
_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
_NO_LABELS = ("BLOB", "STRUCT", "MAP", "UNION", "BIT")  # types of duckdb; lists end in a bracket
_NUMBERS = count()  # for types of the database, whose names must differ
Place = Callable[[int, str], tuple[str, str | None]]
Load = Callable[[Sequence[str], Sequence[str]], "Table"]  # of all wanted columns, and of those needed only as numbers


@dataclass(frozen=True, slots=True)
class Column:
    """One column as SQL, and what duckdb holds in it: text, a number or true/false."""

    sql: str
    kind: str  # "text", "number", "boolean" or "other"
    large: str = ""  # of numbers made of text: the text where it stands for a number of 2**53 or above, else NULL


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels as codes into the distinct names, in the order of the rows."""

    codes: Array
    names: tuple[str, ...]


LabelColumn: TypeAlias = Labels | Array


@dataclass(frozen=True, slots=True)
class LabelNames:
    """The distinct labels of a text column with their rows, and the ENUM type of the database that numbers them."""

    enum: str
    names: tuple[str, ...]
    rows: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of one file in a database, its rows in the order of the file."""

    con: DuckDBPyConnection
    sql: str
    columns: Mapping[str, Column]
    rows: int
    called: str
    place: Place  # of a row and a column: ("line 17", the text that stands there)
    numbered: tuple[str, str] = ("", "")  # the rows with a column of their numbers from 0, and its name
    check: PageChecks | None = None  # of the pages to be read
    starts: tuple[int, ...] = ()  # row numbers at which reading is cheap to begin, where not only the first
    names: Mapping[str, LabelNames] = field(default_factory=dict)  # the distinct labels of text columns, where known

    def between(self, start: int, stop: int) -> Table:
        """The rows start..stop-1, read through a connection of their own; places are those of the whole."""
        con = self.con.cursor()
        self.check_pages(self.columns, start, stop)
        if (start, stop) == (0, self.rows):
            return replace(self, con=con)
        source, number = self.numbered
        sql = f"(SELECT * FROM {source} WHERE {number} BETWEEN {start} AND {stop - 1})"
        return replace(self, con=con, sql=sql, rows=stop - start, place=partial(_place_after, self.place, start))

    def check_pages(self, names: Iterable[str], start: int = 0, stop: int | None = None) -> None:
        """Compares the checksums of the pages that hold these columns and rows, where there are any."""
        if self.check is not None:
            self.check(names, start, self.rows if stop is None else stop)

    def with_label_names(self, labels: Sequence[str]) -> Table:
        """The table with the distinct values of text columns known, so that any range of rows codes them alike."""
        texts = [name for name in labels if self.column(name).kind == "text" and name not in self.names]
        self.check_pages(texts)
        return replace(self, names={**self.names, **{name: self._label_names(name) for name in texts}})

    def column(self, name: str) -> Column:
        """A column by its name, or an error that lists the names."""
        if name not in self.columns:
            raise InputError(missing_column(self.called, name, list(self.columns)))
        return self.columns[name]

    def fetch(self, numbers: Sequence[str] = (), texts: Sequence[str] = (), labels: Sequence[str] = ()) -> Fetched:
        """All wanted columns in one pass: numbers as they are, texts as str, labels as codes of distinct names."""
        if any(self.column(name).kind == "text" and name not in self.names for name in labels):
            return self.with_label_names(labels).fetch(numbers, texts, labels)
        parts = [f"{self._number(name)} AS n{i}" for i, name in enumerate(numbers)]
        parts += [f"CAST({self.column(name).sql} AS VARCHAR) AS t{i}" for i, name in enumerate(texts)]
        parts += [f"{self._label(name)} AS l{i}" for i, name in enumerate(labels)]
        raw = self.arrays(f"SELECT {', '.join(parts)} FROM {self.sql}") if parts else {}
        return Fetched(
            [self._checked_number(raw[f"n{i}"], name) for i, name in enumerate(numbers)],
            [self._whole(raw[f"t{i}"], name) for i, name in enumerate(texts)],
            [self._coded(raw[f"l{i}"], name) for i, name in enumerate(labels)],
        )

    def distinct(self, name: str) -> Array | None:
        """The distinct values of a column of numbers, ascending; None where one is missing, or where there are many."""
        self.check_pages([name])
        sql = self.column(name).sql
        found = self.arrays(f"SELECT DISTINCT {sql} AS d FROM {self.sql} LIMIT {MOST_LABELS + 1}")["d"]
        return None if np.ma.is_masked(found) or len(found) > MOST_LABELS else np.sort(np.asarray(found))

    def run(self, sql: str) -> list[tuple[Value, ...]]:
        """The rows of a query; errors of duckdb are reported with the file's name, without the rows they quote."""
        with self._named_errors():
            return self.con.execute(sql).fetchall()

    def arrays(self, sql: str) -> dict[str, Array]:
        """The columns of a query as arrays, masked where a value is missing."""
        with self._named_errors():
            return self.con.execute(sql).fetchnumpy()

    @contextmanager
    def _named_errors(self) -> Iterator[None]:
        import duckdb

        try:
            yield
        except duckdb.OutOfMemoryException:
            raise InputError(f"{self.called} does not fit into memory. Raise the limit (memory=).") from None
        except duckdb.Error as error:
            raise InputError(f"{self.called} cannot be read: {first_line(error)}. It may be damaged.") from None

    def only(self, names: Sequence[str]) -> Table:
        """The table with some of its columns."""
        return replace(self, columns={name: self.column(name) for name in names})

    def stored(self, name: str) -> Table:
        """The table with its rows in the database, so that each has a number there: its rowid."""
        if " " not in self.sql and "(" not in self.sql:
            return self
        self.check_pages(self.columns)
        picked = ", ".join(f"{column.sql} AS c{i}" for i, column in enumerate(self.columns.values()))
        self.run(f"CREATE TABLE {name} AS SELECT {picked} FROM {self.sql}")
        columns = {one: Column(f"c{i}", column.kind) for i, (one, column) in enumerate(self.columns.items())}
        ((rows,),) = self.run(f"SELECT count(*) FROM {name}")
        return replace(self, sql=name, columns=columns, rows=rows, numbered=(name, "rowid"), check=None, starts=())

    def refuse(self, row: int, name: str, rule: str, *, show: bool = True) -> InputError:
        """The error for one cell: file, line, column, value, rule."""
        where, value = self.place(row, name)
        said = f" is {shown(value)}" if show and value is not None else ""
        return InputError(f"{self.called}: {where}, column {shown(name)}{said}: {rule}")

    def _number(self, name: str) -> str:
        column = self.column(name)
        if column.kind == "text":
            return _parsed(column.sql)
        if column.kind != "number":
            raise InputError(f"{self.called}: column {shown(name)} holds {column.kind} values, not numbers.")
        return column.sql

    def _checked_number(self, values: Array, name: str) -> Array:
        text = self.columns[name].kind == "text" or self.columns[name].large
        bad = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else np.zeros(0, np.bool_)
        if bad.any():
            raise self._not_a_number(int(bad.argmax()), name, int(bad.sum()))
        plain = np.asarray(values)
        if plain.dtype.kind == "f" and plain.size:
            low, high = plain.min(), plain.max()
            if np.isnan(low):
                raise self._not_a_number(int(np.isnan(plain).argmax()), name, int(np.isnan(plain).sum()), "nan")
            if text and (low <= -_EXACT or high >= _EXACT):
                self._check_large(name)
        if plain.dtype.kind in "iu" and plain.size:
            rounded = plain.astype(np.float64).astype(plain.dtype) != plain
            if rounded.any():
                raise self.refuse(int(rounded.argmax()), name, _MERGED)
        return plain

    def _not_a_number(self, row: int, name: str, count: int, held: str | None = None) -> InputError:
        _, value = self.place(row, name)
        value = held if value is None else value
        first = f"{count} such rows, this is the first. " if count > 1 else ""
        if value is None or not value.strip():
            return self.refuse(row, name, f"the value is missing. {first}{REJECTION}")
        if value.strip().lower().lstrip("+-") == "nan":
            return self.refuse(row, name, f"NaN is not a number. {first}{REJECTION}")
        if value.count(",") == 1 and value.replace(",", "").lstrip("+-").isdigit():
            return self.refuse(row, name, f"not a number. {first}Write a decimal point, not a comma.")
        return self.refuse(row, name, f"not a number. {first}")

    def _check_large(self, name: str) -> None:
        """Refuses what a double cannot hold: finite numbers that would become infinite, whole ones that would merge."""
        sql = self.columns[name].large or _large(self.columns[name].sql)
        rows = self.con.execute(
            f"SELECT r, v FROM (SELECT row_number() OVER () - 1 AS r, {sql} AS v FROM {self.sql}) WHERE v IS NOT NULL"
        )
        while found := rows.fetchmany(10_000):
            for row, value in found:
                if math.isinf(float(value)):
                    raise self.refuse(int(row), name, "too large for a 64-bit number. Rescale it, or write inf.")
                if _INTEGER.fullmatch(value.strip()) and len(value) < 400 and int(value) != int(float(value)):
                    raise self.refuse(int(row), name, _MERGED)

    def _whole(self, values: Array, name: str) -> Array:
        if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
            row = int(np.ma.getmaskarray(values).argmax())
            raise self.refuse(row, name, "the value is missing. Drop the row, or give it a name.", show=False)
        return np.asarray(values)

    def _label_names(self, name: str) -> LabelNames:
        """The distinct values of a text column, and an ENUM of them in the database."""
        sql = self.columns[name].sql
        query = f"SELECT {sql}, count(*) FROM {self.sql} WHERE {sql} IS NOT NULL GROUP BY 1 LIMIT {MOST_LABELS + 1}"
        found = sorted(self.run(query))
        if len(found) > MOST_LABELS:
            raise InputError(
                f"{self.called}: column {shown(name)} holds more than {MOST_LABELS} different labels. Is it the label?"
            )
        names, rows = tuple(value for value, _ in found), tuple(count for _, count in found)
        enum = f"labels_{next(_NUMBERS)}"
        if names:
            self.run(f"CREATE TYPE {enum} AS ENUM ({', '.join(map(quoted, names))})")
        return LabelNames(enum, names, rows)

    def _label(self, name: str) -> str:
        sql, kind = self.column(name).sql, self.column(name).kind
        if kind.startswith(_NO_LABELS) or kind.endswith("]"):
            raise InputError(f"{self.called}: column {shown(name)} holds {kind} values, not labels (text or numbers).")
        if name not in self.names:
            return sql
        known = self.names[name]
        if 0 < len(known.names) <= 2:  # faster than a lookup in the ENUM's table
            cases = " ".join(f"WHEN {quoted(one)} THEN {code}::UTINYINT" for code, one in enumerate(known.names))
            return f"CASE {sql} {cases} END"
        return f"enum_code(CAST({sql} AS {known.enum}))" if known.names else "NULL::INTEGER"

    def _coded(self, values: Array, name: str) -> LabelColumn:
        whole = self._whole(values, name)
        if name in self.names:
            return Labels(whole, self.names[name].names)
        if whole.dtype.kind == "f" and np.isnan(whole).any():
            raise self.refuse(int(np.isnan(whole).argmax()), name, "NaN is not a label. Drop the row.", show=False)
        return whole


def _place_after(place: Place, start: int, row: int, name: str) -> tuple[str, str | None]:
    return place(start + row, name)


@dataclass(frozen=True, slots=True)
class Fetched:
    """Columns out of a table, in the order they were asked for."""

    numbers: list[Array]
    texts: list[Array]
    labels: list[LabelColumn]


@dataclass(slots=True)
class Store:
    """The database that holds the tables while one source is read, opened when the first table needs it."""

    stack: ExitStack
    memory: int  # bytes the database may hold before it spills
    limit: int  # bytes that columns read at once may take
    progress: Progress | None
    files: Sequence[PlainFile] = ()  # all that the database may read
    one_thread: bool = False  # one thread per query and nothing written to disk: the caller has threads of its own
    _con: DuckDBPyConnection | None = None
    _folder: Path | None = None

    @property
    def folder(self) -> Path:
        """A temporary folder for what is written anew, which the database may read too."""
        if self._folder is None:
            self._folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="tercet-")))
        return self._folder

    @property
    def con(self) -> DuckDBPyConnection:
        """The connection to the database, which reaches no other files and whose settings are locked."""
        if self._con is None:
            only = [file.path for file in self.files]
            if not self.one_thread or any(file.kind == "text" or is_pattern(file.path) for file in self.files):
                only.append(self.folder)
            more: dict[str, str | int] = (
                {"threads": 1, "enable_external_file_cache": "false"} if self.one_thread else {}
            )
            spill = not self.one_thread
            self._con = self.stack.enter_context(connected(self.memory, spill=spill, only=only, more=more))
        return self._con

    def name(self, path: Path) -> str:
        """A file as SQL: its name, or that of a link where duckdb would take the name for a pattern."""
        return quoted(str(link_in(self.folder, path) if is_pattern(path) else path))


def _parsed(text: str, underscores: bool = True) -> str:
    """SQL of a text as a number, missing where it is not one; duckdb would read 1_000 as a number."""
    number = f"try_cast({text} AS DOUBLE)"
    return f"CASE WHEN contains({text}, '_') THEN NULL ELSE {number} END" if underscores else number


def _large(text: str, parsed: str = "") -> str:
    """SQL of the text if it is a number too large for a double to hold exactly, else NULL."""
    value = parsed or f"try_cast({text} AS DOUBLE)"
    return f"CASE WHEN abs({value}) >= {_EXACT} AND NOT contains(lower({text}), 'inf') THEN {text} END"


def text_table(
    store: Store,
    file: PlainFile,
    facts: TextFacts,
    dialect: Dialect,
    wanted: Sequence[str],
    numbers: Sequence[str],
    number: int,
) -> Table:
    """The wanted columns of a delimited file, numbers parsed, others as text; every record is one row."""
    places = {name: dialect.position(name, file) for name in dict.fromkeys(wanted)}
    check_size(file.called, min(facts.lines, file.size // 2 + 1), len(places), store.limit)
    if not facts.utf8 or (dialect.quote and len(dialect.names) > 1 and ends_with_separator(file, dialect, facts)):
        diagnose(file, dialect)
    columns = {name: Column(f"c{place}", "text") for name, place in places.items()}
    columns |= {name: Column(f"d{places[name]}", "number", f"x{places[name]}") for name in numbers}
    parsed, picked = ["*"], list(dict.fromkeys(one.sql for one in columns.values())) or ["c0"]
    for at in sorted({places[name] for name in numbers}):
        parsed.append(f"{_parsed(f'c{at}', facts.underscores or not dialect.header)} AS d{at}")
        picked.append(f"{_large(f'c{at}', f'd{at}')} AS x{at}")
    create = f"CREATE TABLE s{number} AS SELECT {', '.join(picked)} FROM (SELECT {', '.join(parsed)}"
    _load(store, file, dialect, create, facts.mixed_ends)
    (rows,) = store.con.execute(f"SELECT count(*) FROM s{number}").fetchone() or (0,)
    _check_all_read(file, dialect, rows, facts)

    def place(row: int, name: str) -> tuple[str, str | None]:
        line, cells = line_of(file, dialect, row)
        place = dialect.names.index(name) if name in dialect.names else len(cells)  # a column made of several
        return f"line {line}", cells[place] if place < len(cells) else None

    return Table(store.con, f"s{number}", columns, rows, file.called, place, (f"s{number}", "rowid"))


def _check_all_read(file: PlainFile, dialect: Dialect, rows: int, facts: TextFacts) -> None:
    """Refuses a table whose number of rows differs from the file's records; blank lines and quotes take a count."""
    if rows == facts.lines - dialect.header:
        return
    diagnose(file, dialect)
    records = sum(1 for _ in data_records(file, dialect))
    if rows != records:
        raise InputError(f"{file.called} holds {records} records, of which {rows} were read. Write it again.")


def _load(store: Store, file: PlainFile, dialect: Dialect, create: str, rewrite: bool) -> None:
    import duckdb

    with regular(file, dialect, store.folder, rewrite=rewrite) as (plain, separator):
        try:
            with watched(store.con, file.size, store.progress):
                store.con.execute(f"{create} FROM {_scan(store.name(plain.path), dialect, separator)})")
            return
        except duckdb.Error as error:
            diagnose(file, dialect)
            if rewrite or dialect.quote:
                raise InputError(f"{file.called} cannot be read: {first_line(error)}.") from None
    _load(store, file, dialect, create, rewrite=True)  # fields apart by more than one space or tab


def _scan(path: str, dialect: Dialect, separator: str) -> str:
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(dialect.names)))
    mark = quoted(dialect.quote)
    return (
        f"read_csv({path}, auto_detect=false, columns={{{columns}}}, strict_mode=true, nullstr='', "
        f"compression='none', header={str(dialect.header).lower()}, delim={quoted(separator)}, "
        f"quote={mark}, escape={mark})"
    )


def json_table(store: Store, file: PlainFile, facts: TextFacts, wanted: Sequence[str], number: int) -> Table | None:
    """The wanted keys of JSON lines by duckdb's reader; None where Python's parser is needed.

    duckdb accepts a surplus comma, `inf` and repeated keys, and its messages do not name the line as ours do.
    """
    import duckdb

    if not all(_PLAIN_KEY.fullmatch(name) for name in wanted) or not facts.utf8:
        return None
    check_size(file.called, facts.lines, max(len(wanted), 1), store.limit)
    picked = "".join(f", json->>{quoted(name)} AS c{place}" for place, name in enumerate(wanted))
    doubtful = (
        "json_type(json) <> 'OBJECT' OR len(json_keys(json)) <> len(list_distinct(json_keys(json))) OR "
        f"regexp_matches(json::VARCHAR, {quoted(_DOUBTFUL)})"
    )
    scan = f"read_json_objects({store.name(file.path)}, format='newline_delimited', compression='none')"
    try:
        with watched(store.con, file.size, store.progress):
            store.con.execute(f"CREATE TABLE s{number} AS SELECT {doubtful} AS doubtful{picked} FROM {scan}")
        ((rows, bad),) = store.con.execute(f"SELECT count(*), count(*) FILTER (doubtful) FROM s{number}").fetchall()
    except duckdb.Error:
        rows, bad = 0, 1
    if bad or rows != facts.lines:
        store.con.execute(f"DROP TABLE IF EXISTS s{number}")
        return None
    columns = {name: Column(f"nullif(c{place}, '')", "text") for place, name in enumerate(wanted)}
    table, place = f"s{number}", partial(json_place, file)
    return Table(store.con, table, columns, rows, file.called, place, (table, "rowid"))


def _parquet_table(store: Store, file: PlainFile) -> Table:
    """A Parquet file in place: only its footer has been read."""
    import duckdb

    footer = footer_of(file)
    check_size(file.called, footer.rows, 1, store.limit)
    path = store.name(file.path)
    scan = f"read_parquet({path}, hive_partitioning=false)"
    try:
        described = store.con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    except duckdb.Error as error:
        raise InputError(f"{file.called} is not a complete Parquet file: {first_line(error)}. Copy it again.") from None
    if len(described) > MOST_COLUMNS:
        raise InputError(f"{file.called} has {len(described)} columns; more than {MOST_COLUMNS} are not read.")
    columns = {name: _typed(name, kind) for name, kind, *_ in described}
    numbered = f"read_parquet({path}, hive_partitioning=false, file_row_number=true)", "file_row_number"
    checks = PageChecks(file, footer)
    return Table(store.con, scan, columns, footer.rows, file.called, _row_place, numbered, checks, footer.starts)


def _row_place(row: int, name: str) -> tuple[str, str | None]:
    return f"row {row + 1}", None


def _typed(name: str, kind: str) -> Column:
    sql = identifier(name)
    if kind in DUCKDB_NUMBERS:
        return Column(sql, "number")
    if kind.startswith("DECIMAL"):
        return Column(f"CAST({sql} AS VARCHAR)", "text")
    if kind == "BOOLEAN":
        return Column(sql, "boolean")
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        return Column(f"nullif(CAST({sql} AS VARCHAR), '')", "text")
    return Column(sql, kind)


def first_line(error: Exception) -> str:
    """The message of duckdb without the rows that it quotes."""
    head = str(error).split("\n", 1)[0]
    return head.split(": ", 1)[-1].rstrip(".")


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """A file whose columns are known by name and not yet read."""

    called: str
    names: tuple[str, ...]
    layout: Layout
    load: Load

    def has(self, name: str | None) -> bool:
        """Whether a column of this name is there."""
        return name is not None and name in self.names


def column_source(store: Store, file: PlainFile, hints: Hints, *, key: bool = False, number: int = 0) -> ColumnSource:
    """The columns of a Parquet, JSON-lines or delimited file, or of a trial list."""
    if file.kind == "parquet":
        return _parquet_source(store, file)
    if file.kind != "text":
        raise InputError(
            f"{file.called} is {file.kind}, which has no trial ids to join by. Give labels by position: labels=."
        )
    facts = check_text(file)
    is_json = hints.format == "jsonl"
    if hints.format is None:
        is_json = file.suffix in _JSON_SUFFIXES or first_lines(file, 1)[0].lstrip().startswith("{")
    if is_json:
        return _json_source(store, file, facts, number)
    layout = layout_of(file, hints, key=key)
    dialect = layout.dialect

    def load(wanted: Sequence[str], numbers: Sequence[str]) -> Table:
        table = _not_empty(text_table(store, file, facts, dialect, wanted, numbers, number), dialect.header)
        check_ended(file, facts)
        return table

    return ColumnSource(file.called, dialect.names, layout, load)


def _json_source(store: Store, file: PlainFile, facts: TextFacts, number: int) -> ColumnSource:
    names = keys_of_first(file)

    def load(wanted: Sequence[str], _: Sequence[str]) -> Table:
        table = json_table(store, file, facts, wanted, number)
        return _not_empty(table if table is not None else _rewritten_json(store, file, names, wanted, number))

    return ColumnSource(file.called, names, Layout(Dialect(",", names, True)), load)


def _rewritten_json(store: Store, file: PlainFile, names: Sequence[str], wanted: Sequence[str], number: int) -> Table:
    """The table by way of a CSV that Python's JSON parser gives: slow, but its errors name the exact place."""
    rewritten, dialect = store.stack.enter_context(as_table(file, names, store.folder))
    table = text_table(store, rewritten, check_text(rewritten), dialect, wanted, (), number)
    return replace(table, place=partial(json_place, file))


def _parquet_source(store: Store, file: PlainFile) -> ColumnSource:
    table = _parquet_table(store, file)
    names = tuple(table.columns)

    def load(wanted: Sequence[str], _: Sequence[str]) -> Table:
        check_size(file.called, table.rows, len(wanted), store.limit)
        return _not_empty(table.only(wanted))

    return ColumnSource(file.called, names, Layout(Dialect("", names, True)), load)


def _not_empty(table: Table, header: bool = False) -> Table:
    if table.rows == 0:
        raise InputError(f"{table.called} holds {'a header and ' if header else ''}no rows of data.")
    return table
