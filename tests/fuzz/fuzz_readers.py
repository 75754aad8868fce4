"""Mutated files through every reader: whole, in ranges of rows and by scan, with the same answer or a refusal by all.

    python tests/fuzz/fuzz_readers.py 20000 --seed 1 [--first N] [--keep FOLDER]

`--first` begins at a later file, so that a run can be made in pieces. Saved models are read by `load_model` and by
their class, results by `tercet report` and `tercet check`.

Everything is written inside a temporary folder of its own. A failure is an exception that is no TercetError, a
difference between the roads, more than 10 s for a file, or growth above 512 MB. Differences in Parquet without page
checksums are counted apart: no reader can find a damaged page there, and duckdb itself decodes one in several ways.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import signal
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

import tercet as tc
from tercet.io import read, write_table
from tercet.io.source import open_source

WITHOUT_CHECKSUMS = "p.parquet"  # a seed by this name
SECONDS, GROWTH = 10, 512 << 20
ROWS = 23
WORDS = [
    b"", b"nan", b"inf", b"-inf", b"1e400", b"1e-400", b"9007199254740993", b"\x00", b"\xff", b"\n", b"\r", b"\r\n",
    b'"', b'""', b",", b",,", b"\t", b" ", b"_", b"1_000", b"0x10", b"{", b"}", b'"score":', b"null", b"true", b"-",
    b"+",
    b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\\u0000", b"\\ud800", b"1,5", b"x" * 3000, b"0" * 400, b"[", b"'", b";", b"#",
]  # fmt: skip


@dataclass(frozen=True)
class Seed:
    """A good file, the options it is read with, and files beside it."""

    name: str
    data: bytes
    options: dict[str, Any]
    beside: dict[str, bytes]


def seeds() -> list[Seed]:
    """One small good file of every format."""
    rng = np.random.default_rng(5)
    scores, bits = np.round(rng.normal(size=ROWS), 4), rng.permutation(np.arange(ROWS) % 2)
    words = np.where(bits == 1, "target", "nontarget").astype(object)
    ids = np.array([f"t{k}" for k in range(ROWS)], object)
    columns = {"id": ids, "score": scores, "label": words, "w": np.arange(ROWS) + 1.0}
    table = "".join(f"{i},{s},{w},{k}\n" for i, s, w, k in zip(*columns.values(), strict=True))
    csv = ("id,score,label,w\n" + table).encode()
    quoted = ('"i ""d"",\n","score","label"\r\n' + "".join(f'"a,{k}","{s}","{w}"\r\n' for k, (s, w) in
              enumerate(zip(scores, words, strict=True)))).encode()  # fmt: skip
    rows = zip(scores.tolist(), bits.tolist(), strict=True)
    lines = "".join(json.dumps({"score": s, "label": b, "x": None}) + "\n" for s, b in rows).encode()
    kaldi = "".join(f"m{k % 3} u{k} {s}\n" for k, s in enumerate(scores)).encode()
    key = "".join(f"{b} m{k % 3} u{k}\n" for k, b in enumerate(bits)).encode()
    full = {"id_column": "id", "weight_column": "w"}
    found = [
        Seed("a.csv", csv, full, {}),
        Seed("q.csv", quoted, {}, {}),
        Seed("a.tsv", csv.replace(b",", b"\t"), {}, {}),
        Seed("a.txt", csv.replace(b",", b";"), {}, {}),
        Seed("a.csv.gz", gzip.compress(csv, mtime=0), {}, {}),
        Seed("a.csv.zst", zstandard.compress(csv), {}, {}),
        Seed("a.jsonl", lines, {}, {}),
        Seed("s.txt", kaldi, {"key": "key.txt"}, {"key.txt": key}),
        Seed("key.txt", key, {"key": "key.txt"}, {"s.txt": kaldi}),
        Seed("bob.txt", "".join(f"c{b} c1 u{k} {s}\n" for k, (s, b) in enumerate(zip(scores, bits, strict=True)))
             .encode(), {"format": "bob"}, {}),
        Seed("a.npy", _saved(np.save, scores), {"labels": "l.npy"}, {"l.npy": _saved(np.save, bits)}),
        Seed("l.npy", _saved(np.save, bits), {"labels": "l.npy"}, {"a.npy": _saved(np.save, scores)}),
        Seed("a.npz", _saved(lambda out, v: np.savez(out, score=v, label=bits), scores), {}, {}),
        Seed("c.npz", _saved(lambda out, v: np.savez_compressed(out, score=v, label=words.astype("U9")),
                           scores), {}, {}),
        Seed(WITHOUT_CHECKSUMS, _saved(_parquet(page_checksum=False), columns), full, {}),
        Seed("c.parquet", _saved(_parquet(page_checksum=True), columns), full, {}),
    ]  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="tercet-fuzz-") as folder:
        write_table(Path(folder) / "t.parquet", columns)
        found.append(Seed("t.parquet", (Path(folder) / "t.parquet").read_bytes(), full, {}))
    trials = tc.Trials.of_llr(scores, bits)
    result = json.dumps({"schema_version": 1, "tercet": "0", "systems": [tc.evaluate(trials, [(0.1, 1, 1)]).to_dict()]})
    found.append(Seed("result.json", result.encode(), {}, {}))
    models = {"isotonic": tc.Isotonic, "logistic": tc.Logistic, "gaussian": tc.Gaussian}
    return found + [Seed(f"{name}.model", one.fit(trials).to_json().encode(), {}, {}) for name, one in models.items()]


def _saved(save: Callable[[BytesIO, Any], None], value: Any) -> bytes:
    out = BytesIO()
    save(out, value)
    return out.getvalue()


def _parquet(*, page_checksum: bool) -> Callable[[BytesIO, Any], None]:
    return lambda out, value: pq.write_table(
        pa.table(value), out, row_group_size=9, write_page_checksum=page_checksum, use_dictionary=not page_checksum
    )


PACKED: dict[str, tuple[Callable[[bytes], bytes], Callable[[bytes], bytes]]] = {
    ".gz": (gzip.decompress, lambda data: gzip.compress(data, mtime=0)),
    ".zst": (zstandard.decompress, zstandard.compress),
}


def changed(one: Seed, rng: np.random.Generator) -> bytes:
    """A mutant of a file: of its bytes, of what is packed in it, or one that keeps its form and so is often read."""
    unpack, pack = PACKED.get(Path(one.name).suffix, (bytes, bytes))
    how = int(rng.integers(0, 3))
    if how == 0:
        return mutated(one.data, rng)
    return pack((mutated if how == 1 else rearranged)(unpack(one.data), rng))


def rearranged(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with other digits, or with lines left out, doubled or in another order."""
    lines = data.splitlines(keepends=True)
    how = int(rng.integers(0, 4))
    if how and len(lines) > 2:
        at, to = (int(one) for one in rng.integers(0, len(lines), 2))
        if how == 1:
            del lines[at]
        elif how == 2:
            lines.insert(to, lines[at])
        else:
            lines[at], lines[to] = lines[to], lines[at]
        return b"".join(lines)
    raw = bytearray(data)
    digits = [place for place, byte in enumerate(raw) if byte in b"0123456789"]
    for _ in range(int(rng.choice([1, 1, 3]))):
        if digits:
            raw[digits[int(rng.integers(0, len(digits)))]] = b"0123456789"[int(rng.integers(0, 10))]
    return bytes(raw)


def mutated(data: bytes, rng: np.random.Generator) -> bytes:
    """The bytes with one to four changes: flips, cuts, copies, words that mean something to a parser."""
    raw = bytearray(data)
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        at, span = int(rng.integers(0, len(raw) + 1)), int(rng.choice([1, 1, 2, 7, 40]))
        how = int(rng.choice([0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]))
        if how == 0 and at < len(raw):
            raw[at] ^= 1 << int(rng.integers(0, 8))
        elif how == 1 and at < len(raw):
            raw[at] = int(rng.integers(0, 256))
        elif how == 2:
            del raw[at : at + span]
        elif how == 3:
            raw[at:at] = raw[at : at + span]
        elif how == 4:
            raw[at:at] = WORDS[int(rng.integers(0, len(WORDS)))]
        elif how == 5:
            word = WORDS[int(rng.integers(0, len(WORDS)))]
            raw[at : at + len(word)] = word
        else:
            del raw[at:]
    return bytes(raw)


@contextmanager
def bounded() -> Iterator[None]:
    """At most this many seconds of the processor, or six times as many by the clock: a busy machine is no hang."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"more than {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop), signal.signal(signal.SIGPROF, stop)
    signal.alarm(6 * SECONDS)
    signal.setitimer(signal.ITIMER_PROF, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before[0])
        signal.signal(signal.SIGPROF, before[1])


def answer(road: Callable[[Path, dict[str, Any]], Any], path: Path, options: dict[str, Any]) -> tuple[str, Any]:
    """("read", what was read) or ("refused", the sentence); any other exception passes."""
    try:
        return "read", road(path, options)
    except tc.TercetError as error:
        return "refused", str(error)


def by_whole(path: Path, options: dict[str, Any]) -> list[Any]:
    """All rows at once."""
    return columns_of([read(path, **options)])


def by_ranges(path: Path, options: dict[str, Any]) -> list[Any]:
    """Seven rows at a time."""
    with open_source(path, **{"keep_ids": True, **options}) as source:
        pieces = [source.trials(k, min(k + 7, source.rows)) for k in range(0, source.rows, 7)]
    return columns_of(pieces)


def columns_of(pieces: list[Any]) -> list[Any]:
    """Scores, labels, weights and ids of consecutive trials, comparable bit for bit."""
    parts = [[getattr(piece, name) for piece in pieces] for name in ("scores", "labels", "weights", "ids")]
    joined = [None if part[0] is None else np.concatenate(part) for part in parts]
    return [None if one is None else one.tobytes() if one.dtype != np.object_ else one.tolist() for one in joined]


def facts_whole(path: Path, options: dict[str, Any]) -> tuple[Any, ...]:
    """Numbers of an evaluation in memory."""
    ev = tc.evaluate(read(path, **options), [(0.5, 1, 1)])
    return ev.eer.value, ev.auc, ev.applications[0].dcf, ev.applications[0].min_dcf


def facts_scanned(path: Path, options: dict[str, Any]) -> tuple[Any, ...]:
    """The same by a scan."""
    ev = tc.evaluate(tc.scan(path, **options), [(0.5, 1, 1)])
    return ev.eer.value, ev.auc, ev.applications[0].dcf, ev.applications[0].min_dcf


def check_model(path: Path) -> tuple[str, str]:
    """A saved model by `load_model` and by its own class: the same map, or a refusal by both."""
    kind = {"isotonic": tc.Isotonic, "logistic": tc.Logistic, "gaussian": tc.Gaussian}[path.stem]

    def mapped(read_model: Callable[[bytes], Any], data: bytes) -> list[float]:
        model = read_model(data)
        if not isinstance(model, kind):
            raise tc.InputError("a model of another kind")
        return [float(one) for one in np.asarray(model(np.linspace(-3.0, 3.0, 7)))]

    data = path.read_bytes()
    roads = [answer(lambda *_, one=one: mapped(one, data), path, {}) for one in (tc.load_model, kind.from_json)]
    if roads[0][0] != roads[1][0] or (roads[0][0] == "read" and roads[0] != roads[1]):
        return "failed", f"load_model: {roads[0]}; {path.stem}: {roads[1]}"
    return roads[0][0], ""


def check_result(path: Path) -> tuple[str, str]:
    """A saved result by the commands that read one: an answer or a sentence."""
    from click.testing import CliRunner

    from tercet.cli.main import main

    words = (["report", str(path), "-o", str(path.parent / "page.html")], ["check", str(path), "--fail-if", "dcf>0.3"])
    codes = []
    for one in words:
        found = CliRunner().invoke(main, one)
        if found.exit_code not in (0, 1, 3) or "a fault in tercet itself" in found.stderr:
            return "failed", f"{one[0]}: {found.exit_code} {found.stderr[:600]} {found.exception!r}"
        codes.append(found.exit_code)
    return ("refused" if 1 in codes else "read"), ""


def check(path: Path, options: dict[str, Any], *, scanned: bool) -> tuple[str, str]:
    """("read" or "refused", "") of a file, or ("failed" or "differs", why)."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with warnings.catch_warnings(), bounded():
            warnings.simplefilter("error")
            if path.suffix == ".model":
                found, why = check_model(path)
            elif path.name.endswith("result.json"):
                found, why = check_result(path)
            else:
                found, why = check_scores(path, options, scanned=scanned)
    except (Exception, KeyboardInterrupt):  # duckdb turns an alarm into an interrupt
        return "failed", traceback.format_exc(limit=-4)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    return (found, why) if grown <= GROWTH else ("failed", f"grew by {grown >> 20} MB")


def check_scores(path: Path, options: dict[str, Any], *, scanned: bool) -> tuple[str, str]:
    """A file of trials whole, in ranges of rows and by a scan: the same answer, or a refusal by all."""
    whole, ranges = answer(by_whole, path, options), answer(by_ranges, path, options)
    if whole[0] != ranges[0] or (whole[0] == "read" and whole != ranges):
        return "differs", f"in ranges: {ranges[0]} {_brief(ranges)}; whole: {whole[0]} {_brief(whole)}"
    if scanned and whole[0] == "read":
        plain = {name: value for name, value in options.items() if name not in ("id_column",)}
        one, other = answer(facts_whole, path, plain), answer(facts_scanned, path, plain)
        if one[0] != other[0] or (one[0] == "read" and one != other):
            return "differs", f"by scan: {other}; whole: {one}"
    return whole[0], ""


def _brief(found: tuple[str, Any]) -> str:
    return str(found[1])[:300] if found[0] == "refused" else "rows"


def run(files: int, seed: int, keep: Path | None = None, scan_every: int = 20, first: int = 0) -> Counter[str]:
    """Reads this many mutated files; failures are printed, and kept where a folder is named."""
    good, counts = seeds(), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="tercet-fuzz-") as name:
        folder = Path(name)
        for number in range(first, first + files):
            rng = np.random.default_rng([seed, number])
            one = good[number % len(good)]
            for beside, data in one.beside.items():
                (folder / beside).write_bytes(data)
            data = one.data if number < len(good) else changed(one, rng)
            (folder / one.name).write_bytes(data)
            files_named = {key: folder / one.options[key] for key in ("key", "labels") if key in one.options}
            scores = next(iter(one.beside), one.name) if one.name in one.options.values() else one.name
            found, why = check(folder / scores, {**one.options, **files_named}, scanned=number % scan_every == 0)
            if found == "differs":
                found = "without checksums" if one.name == WITHOUT_CHECKSUMS else "failed"
            counts[found] += 1
            counts[f"{one.name} {found}"] += 1
            if found == "failed" or (number < len(good) and found != "read"):
                counts["failures"] += 1
                print(f"--- {number} {one.name}: {why or found}", file=sys.stderr)
                if keep is not None:
                    keep.mkdir(parents=True, exist_ok=True)
                    (keep / f"{seed}-{number}-{one.name}").write_bytes(data)
    return counts


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", type=int, nargs="?", default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--keep", type=Path)
    given = parser.parse_args()
    counts = run(given.files, given.seed, given.keep, first=given.first)
    for name, count in sorted(counts.items()):
        print(f"{count:8} {name}")
    sys.exit(1 if counts["failures"] else 0)


if __name__ == "__main__":
    main()
