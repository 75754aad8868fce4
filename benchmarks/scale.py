"""More trials than memory, in one run: python benchmarks/scale.py [--rows N] [--only NAME] [--no-peers] [--plot FILE].

Writes Parquet into a temporary folder (with enough free disk), evaluates it in processes of their own whose whole
tree's memory is watched, and compares: with reading the two columns, with evaluating in memory bit for bit, with what
a user would do instead. The exit code is 1 if a number is wrong, 0 otherwise, met bars or not.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

APPS = [(1.0 / (1.0 + math.exp(-x)), 1.0, 1.0) for x in np.linspace(-7.0, 7.0, 21)]
LIMIT = 10**9
SEEDS = 20
RUNS = 3


# Data


def make(path: Path, rows: int, kind: str, seed: int = 0, share: float = 0.1, nan: int | None = None) -> None:
    """Llrs of two Gaussian classes, row groups of a million rows, in bounded memory; a NaN in one row if asked."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([("score", pa.float32() if kind == "float32" else pa.float64()), ("label", pa.bool_())])
    with pq.ParquetWriter(path, schema, use_dictionary=False) as out:
        for place, start in enumerate(range(0, rows, 1_000_000)):
            rng = np.random.default_rng([seed, place])
            size = min(1_000_000, rows - start)
            labels = rng.random(size) < share
            scores = (rng.normal(size=size) * 2.0 + np.where(labels, 3.0, -3.0)).astype(kind)
            if nan is not None and 0 <= nan - start < size:
                scores[nan - start] = math.nan
            out.write_table(pa.table({"score": scores, "label": labels}, schema=schema))


# Processes of their own, watched


def tree_memory(pid: int) -> int:
    """Resident bytes of a process and all it started, shared pages counted once where the system tells."""
    import psutil

    try:
        whole = [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    total = 0
    for one in whole:
        try:
            total += one.memory_full_info().pss
        except (psutil.Error, AttributeError):
            continue
    return total


def watched(task: str, **more: Any) -> dict[str, Any]:
    """The JSON a task of this file prints, with its peak memory and its wall time."""
    command = [sys.executable, __file__, "--task", task, "--arguments", json.dumps(more)]
    done = threading.Event()
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:

        def watch() -> None:
            nonlocal peak
            while not done.wait(0.25):  # more often would take a good part of a core from what is timed
                peak = max(peak, tree_memory(process.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            output, _ = process.communicate(timeout=1800)
        finally:
            done.set()
            watcher.join()
    if process.returncode:
        raise RuntimeError(f"{task} failed with exit code {process.returncode}")
    found = json.loads(output.splitlines()[-1])
    return {**found, "peak": max(peak, found["rss"])}


def bits(ev: Any) -> dict[str, Any]:
    """Everything that must be the same to the bit, as text of exact doubles."""
    return {
        "eer": [repr(value) for value in ev.eer],
        "cllr": repr(ev.cllr),
        "min_cllr": repr(ev.min_cllr),
        "applications": [repr(row) for row in ev.applications],
        "plot": [[float(value).hex() for value in column] for column in ev.bayes_plot],
        "hull": [[float(value).hex() for value in getattr(ev.curve.hull, name)] for name in ("thresholds", "misses")],
    }


def digest(value: Any) -> str:
    import hashlib

    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]


def task_bounded(
    path: str, engine: str = "local", limit: int = LIMIT, workers: int = 2, arrow: bool = True
) -> dict[str, Any]:
    import tercet as tc

    if not arrow:
        sys.modules["pyarrow"] = sys.modules["pyarrow.parquet"] = None  # type: ignore[assignment]
    start, used = time.perf_counter(), time.process_time()
    ev = tc.evaluate(tc.scan(path, engine=engine, memory_limit=limit, workers=workers), APPS)
    wall, used = time.perf_counter() - start, time.process_time() - used
    low, high = getattr(ev, "brackets", {}).get("auc", (ev.auc, ev.auc))
    return {
        "wall": wall, "cpu": used, "bits": digest(bits(ev)), "auc": [low, high], "eer": ev.eer.value, "cllr": ev.cllr,
        "min_dcf": [row.min_dcf for row in ev.applications], "passes": ev.input["passes"],
        "revisited": ev.input["revisited"],
    }  # fmt: skip


def task_refused(path: str) -> dict[str, Any]:
    """The words with which a file is refused."""
    import tercet as tc

    try:
        return {"error": f"none: {tc.evaluate(tc.scan(path), APPS).eer}"}
    except tc.InputError as error:
        return {"error": str(error)}


def task_read(path: str) -> dict[str, Any]:
    """The two columns with duckdb on all cores: scanned and added up, and fetched as numpy arrays."""
    import duckdb

    con = duckdb.connect()
    start = time.perf_counter()
    con.execute("SELECT sum(score), count(*) FILTER (label) FROM read_parquet(?)", [path]).fetchall()
    scan = time.perf_counter() - start
    start, used = time.perf_counter(), time.process_time()
    con.execute("SELECT score, label FROM read_parquet(?)", [path]).fetchnumpy()
    return {"scan": scan, "wall": time.perf_counter() - start, "cpu": time.process_time() - used}


def _arrays(path: str) -> tuple[Any, Any]:
    import duckdb

    held = duckdb.connect().execute("SELECT score, label FROM read_parquet(?)", [path]).fetchnumpy()
    return held["score"], held["label"]


def task_memory(path: str, shuffled: bool = False) -> dict[str, Any]:
    """tercet in memory: the truth."""
    import tercet as tc

    start = time.perf_counter()
    scores, labels = _arrays(path)
    if shuffled:
        order = np.random.default_rng(1).permutation(len(scores))
        scores, labels = scores[order], labels[order]
    ev = tc.evaluate(tc.Trials.of_llr(scores, labels), APPS)
    wall = time.perf_counter() - start
    return {
        "wall": wall, "bits": digest(bits(ev)), "auc": [ev.auc, ev.auc], "eer": ev.eer.value, "cllr": ev.cllr,
        "min_dcf": [row.min_dcf for row in ev.applications],
    }  # fmt: skip


def _least(fpr: Any, fnr: Any) -> dict[str, Any]:
    place = int(np.abs(fpr - fnr).argmin())
    costs = [
        float(np.min(fnr + math.exp(-x) * fpr if x <= 0 else fpr + math.exp(x) * fnr)) for x in np.linspace(-7, 7, 21)
    ]
    return {"eer": float(fpr[place] + fnr[place]) / 2, "min_dcf": costs}


def task_sklearn(path: str) -> dict[str, Any]:
    """roc_curve on the whole array."""
    from sklearn.metrics import roc_auc_score, roc_curve

    start = time.perf_counter()
    scores, labels = _arrays(path)
    fpr, tpr, _ = roc_curve(labels, scores)
    found = {**_least(fpr, 1.0 - tpr), "auc": [float(roc_auc_score(labels, scores))] * 2}
    return {"wall": time.perf_counter() - start, **found}


def task_thresholds(path: str) -> dict[str, Any]:
    """200 even thresholds after a sigmoid, as binned metrics do."""
    start = time.perf_counter()
    scores, labels = _arrays(path)
    p = 1.0 / (1.0 + np.exp(-scores.astype(np.float64)))
    edges = np.linspace(0.0, 1.0, 201)
    t, n = (np.histogram(p[mask], edges)[0] for mask in (labels, ~labels))
    fnr, fpr = np.cumsum(np.r_[0, t]) / t.sum(), 1.0 - np.cumsum(np.r_[0, n]) / n.sum()
    auc = float(np.trapezoid(1.0 - fnr[::-1], fpr[::-1]))
    return {"wall": time.perf_counter() - start, **_least(fpr, fnr), "auc": [auc, auc]}


def task_groupby(path: str) -> dict[str, Any]:
    """Counts of scores rounded to 0.01 in duckdb, and the curve of those."""
    import duckdb

    start = time.perf_counter()
    rows = duckdb.connect().execute(
        "SELECT round(score, 2) s, count(*) FILTER (label) t, count(*) FILTER (NOT label) n FROM read_parquet(?) "
        "GROUP BY 1 ORDER BY 1", [path],
    ).fetchnumpy()  # fmt: skip
    t, n = rows["t"].astype(float), rows["n"].astype(float)
    fnr, fpr = np.cumsum(np.r_[0, t]) / t.sum(), 1.0 - np.cumsum(np.r_[0, n]) / n.sum()
    auc = float(np.trapezoid(1.0 - fnr[::-1], fpr[::-1]))
    return {"wall": time.perf_counter() - start, **_least(fpr, fnr), "auc": [auc, auc]}


def task_killed(path: str, seeds: int) -> dict[str, Any]:
    """Two dask workers, one killed after the first part has returned, over and over."""
    import logging

    import distributed

    import tercet as tc
    from tercet.outofcore.limits import Budget

    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    gone: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: gone.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("tercet.outofcore.executors.dask").addHandler(handler)
    budget = Budget(400_000, 1 << 14, 50_000, 0)
    found, errors = set(), []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, silence_logs=50
    ) as cluster:
        for seed in range(seeds):
            with distributed.Client(cluster) as client:
                client.wait_for_workers(2, timeout=60)
                victim = [*client.run(os.getpid).values()][seed % 2]

            def kill(done: int, total: int, victim: list[int] = [victim], wait: float = 0.02 * seed) -> None:  # noqa: B006
                if victim:
                    time.sleep(wait)
                    os.kill(victim.pop(), signal.SIGKILL)

            try:
                source = tc.scan(path, engine="dask", scheduler=cluster.scheduler_address, progress=kill)
                ev = tc.evaluate(replace(source, budget=budget), APPS)
                found.add(digest(bits(ev)))
            except Exception as error:
                errors.append(f"{type(error).__name__}: {error}")
    return {"bits": sorted(found), "errors": errors, "retries": len(gone), "log": gone[0] if gone else ""}


def task_classes(path: str, classes: int) -> dict[str, Any]:
    """Confusion, risk and log-loss of logits against duckdb's own scan of their columns, both twice."""
    import duckdb

    import tercet as tc

    con, names = duckdb.connect(), [f"c{k}" for k in range(classes)]
    sums = ", ".join(f"sum({name})" for name in names)
    options: dict[str, Any] = {"meaning": "logits", "trained_prior": [1 / classes] * classes, "class_columns": names}
    scans, walls = [], []
    for _ in range(2):  # the first evaluation of a process loads what it needs
        start = time.perf_counter()
        con.execute(f"SELECT {sums}, count(label) FROM read_parquet(?)", [path]).fetchall()
        scans.append(time.perf_counter() - start)
        start = time.perf_counter()
        source = tc.scan(path, memory_limit=LIMIT, **options)
        ev = tc.evaluate(source, [tc.Application.multiclass([1 / classes] * classes)])
        walls.append(time.perf_counter() - start)
    return {"scans": scans, "walls": walls, "log_loss": ev.log_loss, "risk": ev.applications[0].risk}


TASKS = {name.removeprefix("task_"): task for name, task in list(globals().items()) if name.startswith("task_")}


# The report


class Report:
    """Lines as they are known, and whether every number was right."""

    def __init__(self) -> None:
        self.right = True
        self.facts: dict[str, Any] = {}

    def line(self, what: str, measured: str, bar: str = "", met: bool | None = None) -> None:
        mark = "" if met is None else "met" if met else "BELOW THE BAR"
        print(f"{what:<76} {measured:<34} {bar:<22} {mark}", flush=True)

    def check(self, what: str, same: bool) -> None:
        self.right = self.right and same
        self.line(what, "the same bits" if same else "OTHER BITS", "the same bits", same)


def large(report: Report, folder: Path, rows: int, kind: str) -> tuple[str, dict[str, Any]]:
    path = folder / f"{kind}.parquet"
    make(path, rows, kind)
    path.read_bytes() if path.stat().st_size < 1 << 30 else None  # into the page cache, for all alike
    reads, runs, without = [watched("read", path=str(path))], [], []
    for _ in range(RUNS):  # interleaved, so that a noisy moment hits all alike
        runs.append(watched("bounded", path=str(path)))
        without.append(watched("bounded", path=str(path), arrow=False))
        reads.append(watched("read", path=str(path)))
    found = min(runs, key=lambda one: one["wall"])
    report.right = report.right and len({one["bits"] for one in (*runs, *without)}) == 1
    least = {name: min(one[name] for one in reads) for name in ("scan", "wall", "cpu")}
    report.line(f"{rows:,} rows of {kind}", f"{found['wall']:.2f} s, {found['passes']} passes")
    report.line("  rows looked at one by one", f"{found['revisited']:,}")
    for called, several in (("", runs), (" without pyarrow", without)):
        wall, cpu = (min(one[name] for one in several) for name in ("wall", "cpu"))
        ratio, read = wall / least["wall"], f"({wall:.2f} s / {least['wall']:.2f} s)"
        report.line(f"  x reading the columns with duckdb{called}", f"{ratio:.2f} {read}", "at most 4", ratio <= 4)
        report.line(f"  x its processor time{called}", f"{cpu / least['cpu']:.2f} ({cpu:.1f} s / {least['cpu']:.1f} s)")
    scan = least["scan"]
    ratio = found["wall"] / scan
    report.line(
        "  x scanning the columns (duckdb, sum and count)", f"{ratio:.2f} ({scan:.2f} s)", "at most 4", ratio <= 4
    )
    peak = max(one["peak"] for one in (*runs, *without))
    report.line("  peak of the process tree", f"{peak / 1e6:.0f} MB", "at most 1000 MB", peak <= LIMIT)
    report.facts[kind] = found | {"read": least}
    return str(path), found


def several_classes(report: Report, folder: Path, rows: int, classes: int = 10) -> None:
    """Logits of this many classes, in row groups of 250,000 rows."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, names = folder / "logits.parquet", [f"c{k}" for k in range(classes)]
    schema = pa.schema([*((name, pa.float32()) for name in names), ("label", pa.string())])
    with pq.ParquetWriter(path, schema) as out:
        for place, start in enumerate(range(0, rows, 250_000)):
            rng = np.random.default_rng([7, place])
            size = min(250_000, rows - start)
            labels = rng.integers(0, classes, size)
            logits = rng.normal(size=(size, classes)).astype(np.float32)
            logits[np.arange(size), labels] += 2.0
            columns = {name: logits[:, k] for k, name in enumerate(names)}
            out.write_table(pa.table({**columns, "label": np.array(names)[labels]}, schema=schema))
    runs = [watched("classes", path=str(path), classes=classes) for _ in range(RUNS)]
    for which, called in ((1, ""), (0, ", first evaluation of a process")):
        scan, wall = (min(one[name][which] for one in runs) for name in ("scans", "walls"))
        report.line(
            f"{rows:,} x {classes} logits, x scanning the columns{called}",
            f"{wall / scan:.2f} ({wall:.2f} s / {scan:.2f} s)", "at most 3", wall / scan <= 3,
        )  # fmt: skip
    peak = max(one["peak"] for one in runs)
    report.line("  peak of the process tree", f"{peak / 1e6:.0f} MB", "at most 1000 MB", peak <= LIMIT)
    path.unlink()


def refused(report: Report, folder: Path, rows: int) -> None:
    """A NaN in row 73,000,000 (or as far in a smaller table), found and named."""
    path, row = folder / "late.parquet", rows * 73 // 100
    make(path, rows, "float32", nan=row)
    found = watched("refused", path=str(path))
    named = f"late.parquet: row {row + 1}, column 'score'"
    report.right = report.right and named in found["error"]
    report.line(f"a NaN in row {row:,}", f"{found['peak'] / 1e6:.0f} MB", "named by its row", named in found["error"])
    print(f"  {found['error']}", flush=True)
    path.unlink()


def compared(report: Report, path: str, found: dict[str, Any], peers: bool) -> None:
    truth = watched("memory", path=path)
    report.check("  as in memory", truth["bits"] == found["bits"])
    low, high = found["auc"]
    report.right = report.right and low <= truth["auc"][0] <= high
    report.line("  AUC", f"{low:.9f}..{high:.9f}", "holds the truth", low <= truth["auc"][0] <= high)
    if not peers:
        return
    rare = 0  # the first application: prior 0.0009
    heads = {"time": 9, "processor": 11, "memory": 11, "EER off": 12, "min DCF off": 13, "at 0.001": 12, "AUC off": 12}
    print(f"\n{'':<40}" + "".join(f"{head:>{width}}" for head, width in heads.items()))
    others = {name: watched(name, path=path) for name in ("sklearn", "thresholds", "groupby")}
    names = {"sklearn": "scikit-learn on the whole array", "thresholds": "200 thresholds, as binned metrics",
             "groupby": "duckdb, grouped by rounded score"}  # fmt: skip
    table = {"tercet, bounded memory": found, "tercet, in memory": truth} | {names[k]: v for k, v in others.items()}
    for name, one in table.items():
        off = [abs(a - b) for a, b in zip(one["min_dcf"], truth["min_dcf"], strict=True)]
        auc = max(abs(end - truth["auc"][0]) for end in one["auc"])
        print(
            f"{name:<40}{one['wall']:>7.1f} s{one['cpu']:>9.1f} s{one['peak'] / 1e6:>8.0f} MB"
            f"{abs(one['eer'] - truth['eer']):>12.1e}"
            f"{max(off):>13.1e}{off[rare]:>12.1e}{auc:>12.1e}", flush=True,
        )  # fmt: skip
    report.facts["table"] = {name: {k: one[k] for k in ("wall", "cpu", "peak", "eer")} for name, one in table.items()}
    print()


def linear(report: Report, folder: Path, rows: int, largest: dict[str, Any], plot: Path | None) -> None:
    sizes = sorted({max(rows // part, 1000) for part in (100, 30, 10, 3)})
    found = []
    for size in sizes:
        path = folder / "linear.parquet"
        make(path, size, "float64")
        found.append(min((watched("bounded", path=str(path)) for _ in range(2)), key=lambda one: one["wall"]))
    sizes, found = [*sizes, rows], [*found, largest]
    slopes = {}
    for name, called in (("wall", "time"), ("cpu", "processor time")):
        seconds = [one[name] for one in found]
        slopes[called] = float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])
        shown = ", ".join(f"{value:.2f} s" for value in seconds)
        slope = slopes[called]
        report.line(f"  exponent of {called} over rows", f"{slope:.2f} ({shown})", "at most 1.05", slope <= 1.05)
    report.facts["linear"] = {"rows": sizes, "seconds": [one["wall"] for one in found], "exponents": slopes}
    if plot is not None:
        draw(plot, sizes, found, slopes)


def draw(path: Path, sizes: list[int], found: list[dict[str, Any]], slopes: dict[str, float]) -> None:
    """Time over rows, both logarithmic, with the slope of each and a line of slope 1."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for (called, slope), name, mark in zip(slopes.items(), ("wall", "cpu"), "os", strict=True):
        axes.loglog(sizes, [one[name] for one in found], f"{mark}-", label=f"{called}, exponent {slope:.2f}")
    last = found[-1]["cpu"]
    axes.loglog(sizes, [last * size / sizes[-1] for size in sizes], ":", color="grey", label="in proportion to rows")
    axes.set(xlabel="rows (float64 scores, Parquet)", ylabel="seconds", title="Exact evaluation within 1 GB")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def same_everywhere(report: Report, folder: Path, rows: int) -> None:
    import pyarrow.parquet as pq

    path = folder / "same.parquet"
    make(path, rows, "float64", seed=7)
    truth = watched("memory", path=str(path))["bits"]
    table = pq.read_table(path)
    order = np.random.default_rng(3).permutation(rows)
    for chunks in (1, 2, 7):
        cut = folder / f"cut-{chunks}"
        cut.mkdir()
        for place, part in enumerate(np.array_split(np.arange(rows) if chunks < 7 else order, chunks)):
            pq.write_table(table.take(part), cut / f"{place}.parquet", row_group_size=200_000)
        shuffled = " of shuffled rows" if chunks == 7 else ""
        found = watched("bounded", path=str(cut / "*.parquet"), limit=300_000_000, workers=1 + chunks % 2)
        report.check(f"{rows:,} rows from {chunks} files{shuffled}", found["bits"] == truth)
    for workers in (1, 2):
        found = watched("bounded", path=str(path), engine="dask", limit=800_000_000, workers=workers)
        report.check(f"{rows:,} rows from dask, {workers} worker{'s' if workers > 1 else ''}", found["bits"] == truth)
        report.line("  peak of the process tree", f"{found['peak'] / 1e6:.0f} MB")


def killed(report: Report, folder: Path) -> None:
    path = folder / "killed.parquet"
    make(path, 2_000_000, "float64", seed=11)
    truth = watched("memory", path=str(path))["bits"]
    found = watched("killed", path=str(path), seeds=SEEDS)
    same = found["bits"] in ([truth], [])
    report.right = report.right and same
    what = f"{SEEDS} runs on 2 dask workers, one killed in each"
    report.line(what, f"{SEEDS - len(found['errors'])} exact, {len(found['errors'])} errors", "exact or an error", same)
    report.line("  workers seen to go, their parts done again", str(found["retries"]))
    print(f"  log: {found['log']}", *(f"  {error}" for error in found["errors"][:3]), sep="\n", flush=True)
    report.facts["killed"] = found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=100_000_000)
    parser.add_argument("--only", choices=["large", "classes", "refused", "same", "killed"])
    parser.add_argument("--no-peers", action="store_true", help="leave out what takes other tools minutes")
    parser.add_argument("--plot", type=Path, help="draw time over rows into this file")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--task", choices=sorted(TASKS))
    parser.add_argument("--arguments", default="{}")
    args = parser.parse_args()
    if args.task:
        result = TASKS[args.task](**json.loads(args.arguments))
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        facts = {"cpu": sum(one.ru_utime + one.ru_stime for one in used), "rss": used[0].ru_maxrss * 1024}
        print(json.dumps(facts | result))
        return 0
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    report = Report()
    needed = 14 * args.rows + (1 << 30)
    with tempfile.TemporaryDirectory(prefix="tercet-bench-") as name:
        folder = Path(name)
        if shutil.disk_usage(folder).free < 2 * needed:
            print(
                f"{folder.parent} has too little room: {needed / 1e9:.0f} GB are needed. Set TMPDIR, or lower --rows."
            )
            return 2
        if args.only in (None, "large"):
            for kind in ("float32", "float64"):
                path, found = large(report, folder, args.rows, kind)
                if kind == "float64":
                    compared(report, path, found, peers=not args.no_peers)
                    Path(path).unlink()
                    linear(report, folder, args.rows, found, args.plot)
                else:
                    report.check("  as in memory", watched("memory", path=path)["bits"] == found["bits"])
                    Path(path).unlink()
        if args.only in (None, "classes"):
            several_classes(report, folder, args.rows // 10)
        if args.only in (None, "refused"):
            refused(report, folder, args.rows)
        if args.only in (None, "same"):
            same_everywhere(report, folder, 3_000_000)
        if args.only in (None, "killed"):
            killed(report, folder)
    if args.json:
        args.json.write_text(json.dumps(report.facts, indent=1))
    print("every number was right" if report.right else "A NUMBER WAS WRONG")
    return 0 if report.right else 1


if __name__ == "__main__":
    sys.exit(main())
