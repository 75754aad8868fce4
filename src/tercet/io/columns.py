"""A table: named columns behind duckdb, from text or Parquet, and where each of its rows stands in its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._database import connected, identifier, quoted, unglobbed, watched
from tercet.io._limits import MOST_COLUMNS, MOST_LABELS, check_size
from tercet.io._plain_files import PlainFile, Progress
from tercet.io.formats.parquet import Footer, PageChecks, footer_of
from tercet.io.formats.text import Dialect, diagnose, ends_with_separator, is_utf8, line_of, missing_column, regular

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_NUMERIC = (
    "DOUBLE",
    "FLOAT",
    "TINYINT",
    "SMALLINT",
    "INTEGER",
    "BIGINT",
    "UTINYINT",
    "USMALLINT",
    "UINTEGER",
    "UBIGINT",
)
_NUMBERS = count()  # for types of the database, whose names must differ
Place = Callable[[int, str], tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Column:
    """One column as SQL, and what duckdb holds in it: text, a number or true/false."""

    sql: str
    kind: str  # "text", "number", "boolean" or "other"


@dataclass(frozen=True, slots=True)
class Labels:
    """Labels as codes into the distinct names, in the order of the rows."""

    codes: NDArray[Any]
    names: tuple[str, ...]


LabelColumn: TypeAlias = Labels | NDArray[Any]


@dataclass(frozen=True, slots=True)
class LabelNames:
    """The distinct labels of a text column, and the ENUM type of the database that numbers them."""

    enum: str
    names: tuple[str, ...]


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
        """A column by its name, or an error with the names there are."""
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

    def run(self, sql: str) -> list[Any]:
        """The rows of a query; what duckdb cannot do is said with the file's name and without the rows it quotes."""
        with self._named_errors():
            return self.con.execute(sql).fetchall()

    def arrays(self, sql: str) -> dict[str, NDArray[Any]]:
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
            return f"CASE WHEN contains({column.sql}, '_') THEN NULL ELSE try_cast({column.sql} AS DOUBLE) END"
        if column.kind != "number":
            raise InputError(f"{self.called}: column {shown(name)} holds {column.kind} values, not numbers.")
        return column.sql

    def _checked_number(self, values: NDArray[Any], name: str) -> NDArray[Any]:
        text = self.columns[name].kind == "text"
        bad = np.ma.getmaskarray(values) if np.ma.isMaskedArray(values) else np.zeros(0, np.bool_)
        if bad.any():
            raise self._not_a_number(int(bad.argmax()), name, int(bad.sum()))
        plain = np.asarray(values)
        if plain.dtype.kind == "f" and plain.size:
            low, high = plain.min(), plain.max()
            if np.isnan(low):
                raise self._not_a_number(int(np.isnan(plain).argmax()), name, int(np.isnan(plain).sum()))
            if text and (np.isinf(low) or np.isinf(high)):
                self._check_overflow(name)
        return plain

    def _not_a_number(self, row: int, name: str, count: int) -> InputError:
        _, value = self.place(row, name)
        first = f"{count} such rows, this is the first. " if count > 1 else ""
        if value is None or not value.strip():
            return self.refuse(row, name, f"the value is missing. {first}Drop the row, or write -inf for a rejection.")
        if value.strip().lower().lstrip("+-") == "nan":
            return self.refuse(row, name, f"NaN is no score. {first}Drop the row, or write -inf for a rejection.")
        if value.count(",") == 1 and value.replace(",", "").lstrip("+-").isdigit():
            return self.refuse(row, name, f"not a number. {first}Write a decimal point, not a comma.")
        return self.refuse(row, name, f"not a number. {first}")

    def _check_overflow(self, name: str) -> None:
        """Refuses a finite number too large for a double: it must not become infinite in silence."""
        sql = self.columns[name].sql
        ((row,),) = self.run(
            f"SELECT min(r) FROM (SELECT row_number() OVER () - 1 AS r, {sql} AS v FROM {self.sql}) "
            f"WHERE isinf(try_cast(v AS DOUBLE)) AND NOT contains(lower(v), 'inf')"
        )
        if row is not None:
            raise self.refuse(int(row), name, "too large for a 64-bit number. Rescale it, or write inf.")

    def _whole(self, values: NDArray[Any], name: str) -> NDArray[Any]:
        if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
            row = int(np.ma.getmaskarray(values).argmax())
            raise self.refuse(row, name, "the value is missing. Drop the row, or give it a name.", show=False)
        return np.asarray(values)

    def _label_names(self, name: str) -> LabelNames:
        """The distinct values of a text column, and an ENUM of them in the database."""
        sql = self.columns[name].sql
        found = self.run(f"SELECT DISTINCT {sql} FROM {self.sql} WHERE {sql} IS NOT NULL LIMIT {MOST_LABELS + 1}")
        if len(found) > MOST_LABELS:
            raise InputError(
                f"{self.called}: column {shown(name)} holds more than {MOST_LABELS} different labels. Is it the label?"
            )
        names = tuple(sorted(value for (value,) in found))
        enum = f"labels_{next(_NUMBERS)}"
        if names:
            self.run(f"CREATE TYPE {enum} AS ENUM ({', '.join(map(quoted, names))})")
        return LabelNames(enum, names)

    def _label(self, name: str) -> str:
        sql = self.column(name).sql
        if name not in self.names:
            return sql
        known = self.names[name]
        return f"enum_code(CAST({sql} AS {known.enum}))" if known.names else "NULL::INTEGER"

    def _coded(self, values: NDArray[Any], name: str) -> LabelColumn:
        whole = self._whole(values, name)
        if name in self.names:
            return Labels(whole, self.names[name].names)
        if whole.dtype.kind == "f" and np.isnan(whole).any():
            raise self.refuse(int(np.isnan(whole).argmax()), name, "NaN is no label. Drop the row.", show=False)
        return whole


def _place_after(place: Place, start: int, row: int, name: str) -> tuple[str, str | None]:
    return place(start + row, name)


@dataclass(frozen=True, slots=True)
class Fetched:
    """Columns out of a table, in the order they were asked for."""

    numbers: list[NDArray[Any]]
    texts: list[NDArray[Any]]
    labels: list[LabelColumn]


@dataclass(slots=True)
class Store:
    """Where tables live while one source is read: a database, opened when the first table needs it."""

    stack: ExitStack
    memory: int  # bytes the database may hold before it spills
    limit: int  # bytes that columns read at once may take
    progress: Progress | None
    one_thread: bool = False  # one thread per query and nothing written to disk: the caller has threads of its own
    _con: DuckDBPyConnection | None = None

    @property
    def con(self) -> DuckDBPyConnection:
        """The connection to the database."""
        if self._con is None:
            self._con = self.stack.enter_context(connected(self.memory, spill=not self.one_thread))
            if self.one_thread:
                self._con.execute("SET threads = 1; SET enable_external_file_cache = false")
        return self._con


def text_table(store: Store, file: PlainFile, dialect: Dialect, wanted: Sequence[str], number: int) -> Table:
    """The wanted columns of a delimited file, loaded as text."""
    places = {name: dialect.position(name, file) for name in dict.fromkeys(wanted)}
    _bound(file, len(places), store.limit)
    if not is_utf8(file) or (dialect.quote and len(dialect.names) > 1 and ends_with_separator(file, dialect.separator)):
        diagnose(file, dialect)
    _load(store, file, dialect, sorted(set(places.values())), f"s{number}")
    (rows,) = store.con.execute(f"SELECT count(*) FROM s{number}").fetchone() or (0,)
    columns = {name: Column(f"c{place}", "text") for name, place in places.items()}

    def place(row: int, name: str) -> tuple[str, str | None]:
        line, cells = line_of(file, dialect, row)
        place = dialect.names.index(name) if name in dialect.names else len(cells)  # a column made of several
        return f"line {line}", cells[place] if place < len(cells) else None

    return Table(store.con, f"s{number}", columns, rows, file.called, place, (f"s{number}", "rowid"))


def _load(
    store: Store, file: PlainFile, dialect: Dialect, places: Sequence[int], table: str, rewrite: bool = False
) -> None:
    import duckdb

    picked = ", ".join(f"c{place}" for place in places) or "c0"
    with regular(file, dialect, rewrite) as (plain, separator), unglobbed(plain.path) as path:
        try:
            with watched(store.con, file.size, store.progress):
                store.con.execute(f"CREATE TABLE {table} AS SELECT {picked} FROM {_scan(path, dialect, separator)}")
            return
        except duckdb.Error as error:
            diagnose(file, dialect)
            if rewrite or dialect.quote:
                raise InputError(f"{file.called} cannot be read: {first_line(error)}.") from None
    _load(store, file, dialect, places, table, rewrite=True)  # fields apart by more than one space or tab


def _bound(file: PlainFile, columns: int, limit: int) -> None:
    """Bounds the rows by the bytes of the file, and counts them only where that bound is above the limit."""
    if 8 * (file.size // 2 + 1) * columns <= limit:
        return
    rows = 0
    with file.path.open("rb") as data:
        while chunk := data.read(1 << 20):
            rows += chunk.count(b"\n")
    check_size(file.called, rows, columns, limit)


def _scan(path: Path, dialect: Dialect, separator: str) -> str:
    columns = ", ".join(f"'c{place}': 'VARCHAR'" for place in range(len(dialect.names)))
    mark = quoted(dialect.quote)
    return (
        f"read_csv({quoted(str(path))}, auto_detect=false, columns={{{columns}}}, strict_mode=true, nullstr='', "
        f"compression='none', header={str(dialect.header).lower()}, delim={quoted(separator)}, "
        f"quote={mark}, escape={mark})"
    )


def parquet_table(store: Store, file: PlainFile) -> tuple[Table, Footer]:
    """A Parquet file where it lies: nothing is read yet but its footer."""
    import duckdb

    footer = footer_of(file)
    check_size(file.called, footer.rows, 1, store.limit)
    path = quoted(str(store.stack.enter_context(unglobbed(file.path))))
    scan = f"read_parquet({path}, hive_partitioning=false)"
    try:
        described = store.con.execute(f"DESCRIBE SELECT * FROM {scan}").fetchall()
    except duckdb.Error as error:
        raise InputError(f"{file.called} is not a whole Parquet file: {first_line(error)}. Copy it again.") from None
    if len(described) > MOST_COLUMNS:
        raise InputError(f"{file.called} has {len(described)} columns; more than {MOST_COLUMNS} are not read.")
    columns = {name: _typed(name, kind) for name, kind, *_ in described}
    numbered = f"read_parquet({path}, hive_partitioning=false, file_row_number=true)", "file_row_number"
    checks = PageChecks(file, footer)
    return Table(
        store.con, scan, columns, footer.rows, file.called, _row_place, numbered, checks, footer.starts
    ), footer


def _row_place(row: int, name: str) -> tuple[str, str | None]:
    return f"row {row + 1}", None


def _typed(name: str, kind: str) -> Column:
    sql = identifier(name)
    if kind in _NUMERIC:
        return Column(sql, "number")
    if kind.startswith("DECIMAL"):
        return Column(f"CAST({sql} AS DOUBLE)", "number")
    if kind == "BOOLEAN":
        return Column(sql, "boolean")
    if kind == "VARCHAR" or kind.startswith("ENUM"):
        return Column(f"nullif(CAST({sql} AS VARCHAR), '')", "text")
    return Column(sql, kind)


def first_line(error: Exception) -> str:
    """What duckdb says, without the rows it quotes."""
    head = str(error).split("\n", 1)[0]
    return head.split(": ", 1)[-1].rstrip(".")
