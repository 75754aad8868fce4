"""The same bits from a cluster, with workers that die, and a clear word where there is none."""

import http.server
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.outofcore.bins import BinCounts
from tercet.outofcore.executors import Executor, Threads, dask
from tercet.outofcore.limits import Budget
from tercet.outofcore.runner import Counted, add_results

from .helpers import APPS, assert_same_bits, evaluated, in_memory

distributed = pytest.importorskip("distributed")
pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.filterwarnings("ignore:.*distributed.*"),
]


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0, silence_logs=50
    ) as made:
        yield made


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(4000) < 0.3
    return rng.normal(size=4000) * 2 + labels * 2, labels


@pytest.fixture
def path(tmp_path, trials):
    pq.write_table(pa.table({"score": trials[0], "label": trials[1]}), tmp_path / "a.parquet", row_group_size=100)
    return tmp_path / "a.parquet"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=1500, edges=128, part=100, at_once=0))


def test_one_and_two_workers_give_the_bits_of_memory(path, trials, small, cluster):
    truth = in_memory(*trials)
    assert_same_bits(evaluated(path, APPS, engine="dask", scheduler=cluster.scheduler_address), truth)
    assert_same_bits(evaluated(path, APPS, engine="dask", workers=1), truth)


def test_a_worker_killed_after_the_first_part_changes_no_bit(path, trials, small, cluster, caplog):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        victims = list(client.run(os.getpid).values())

    def kill(done, total):
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    address = cluster.scheduler_address
    found = evaluated(path, APPS, engine="dask", scheduler=address, progress=kill)
    assert_same_bits(found, in_memory(*trials))
    assert any("is gone" in record.message for record in caplog.records)


def test_the_workers_add_up_and_send_one_sum_a_pass(path, trials, small, cluster, monkeypatch):
    sent = []
    collect = dask.Dask.collect

    def counted(self, partial, job, batches, add=None):
        for number, result in collect(self, partial, job, batches, add):
            sent.append((job["kind"], result is not None))
            yield number, result

    monkeypatch.setattr(dask.Dask, "collect", counted)
    found = evaluated(path, APPS, engine="dask", scheduler=cluster.scheduler_address)
    assert_same_bits(found, in_memory(*trials))
    counts = [whole for kind, whole in sent if kind in ("BinCounts", "CellCounts")]
    assert len(counts) == 40 * (found.input["passes"] - 1)
    assert sum(counts) == found.input["passes"] - 1
    assert all(whole for kind, whole in sent if kind in ("RangeRows", "CellRows"))


def part(number, trials):
    tally = tc.Tally.of(tc.Trials.of_llr(*trials))
    return Counted(BinCounts.of_tally(tally, np.array([0.0])), ((number, number + 1),), "").to_plain()


def test_a_sum_on_a_worker_finds_what_was_counted_twice(trials):
    one, other = (part(number, trials) for number in (0, 1))
    assert Counted.of_plain("BinCounts", add_results("BinCounts", [one, other])).parts == ((0, 2),)
    with pytest.raises(tc.InputError, match="Part 0 was counted twice"):
        add_results("BinCounts", [one, other, one])


def test_a_worker_of_another_version_is_refused(path, small, cluster, monkeypatch):
    monkeypatch.setattr("tercet.outofcore.runner.RULES", 99)
    with pytest.raises(
        tc.InputError, match=r"A worker runs tercet .* \(rules \d\), and the scan was started by tercet .* \(rules 99\)"
    ):
        evaluated(path, APPS, engine="dask", scheduler=cluster.scheduler_address)


def test_another_file_under_the_same_name_is_refused_where_it_is_read(path, small, cluster, monkeypatch):
    """As on a machine whose disk holds an older file: the workers look at the bytes that they read."""
    from tercet.outofcore.files import FileStamp

    real = FileStamp.of
    monkeypatch.setattr(FileStamp, "of", lambda where: real(where)._replace(digest="of another machine's file"))
    with pytest.raises(tc.InputError, match="is a different file on the worker"):
        evaluated(path, APPS, engine="dask", scheduler=cluster.scheduler_address)


def test_an_error_of_a_part_comes_back_as_it_is(tmp_path, trials, small, cluster):
    scores = trials[0].copy()
    scores[1234] = np.nan
    bad = tmp_path / "bad.parquet"
    pq.write_table(pa.table({"score": scores, "label": trials[1]}), bad, row_group_size=100)
    with pytest.raises(tc.InputError, match=r"bad\.parquet: row 1235, column .score."):
        evaluated(bad, APPS, engine="dask", scheduler=cluster.scheduler_address)


@pytest.mark.parametrize("error", [OSError(5, "Input/output error"), MemoryError("no room")])
def test_an_error_of_a_worker_is_not_taken_for_one_of_the_scheduler(cluster, error):
    def fails(job, batch):
        raise error

    with distributed.Client(cluster) as client, pytest.raises(tc.TercetError) as said:
        list(dask.Dask(client).collect(fails, {}, [[1], [2]]))
    assert str(said.value) == f"Batch {str(said.value)[6]} failed on a dask worker: {type(error).__name__}: {error}."


def test_text_is_not_for_clusters_elsewhere(tmp_path, cluster):
    (tmp_path / "a.csv").write_text("score,label\n1.0,1\n0.5,0\n")
    with pytest.raises(tc.InputError, match="neither Parquet nor npy, and other engines than 'local' read only these"):
        evaluated(tmp_path / "a.csv", APPS, engine="dask", scheduler=cluster.scheduler_address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "tcp://127.0.0.1:notaport"])
def test_a_scheduler_that_is_not_there_fails_in_seconds(path, address):
    start = time.monotonic()
    with pytest.raises(tc.InputError, match="cannot be used"):
        evaluated(path, APPS, engine="dask", scheduler=address)
    assert time.monotonic() - start < 20


@pytest.fixture
def listening():
    """Makes addresses where something listens that is no scheduler."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield [f"tcp://127.0.0.1:{port}" for port in (silent.getsockname()[1], server.server_port)]
        server.shutdown()
        server.server_close()


def test_an_address_where_something_else_listens_fails_in_seconds(path, listening, cluster):
    worker = next(iter(cluster.scheduler_info["workers"]))
    for address in (*listening, worker, 8786):
        start = time.monotonic()
        with pytest.raises(tc.InputError, match="no scheduler answers there"):
            evaluated(path, APPS, engine="dask", scheduler=address)
        assert time.monotonic() - start < 20


def small_cluster():
    return distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0, silence_logs=50
    )


@pytest.mark.parametrize(
    ("leave", "says"),
    [
        (lambda made: made.scale(0), "no workers for 3 seconds"),
        (lambda made: made.close(timeout=2), "scheduler has gone away"),
    ],
)
def test_a_cluster_that_leaves_in_mid_run_ends_in_a_sentence(path, small, monkeypatch, leave, says):
    monkeypatch.setattr(dask, "_LONGEST", 3)
    monkeypatch.setattr(dask, "_LOOK", 0.5)
    with small_cluster() as made:
        left = []

        def go(done, total):
            if not left:
                left.append(leave(made))

        with pytest.raises(tc.TercetError, match=says):
            evaluated(path, APPS, engine="dask", scheduler=made.scheduler_address, progress=go)


# The contract of executors


def plain(value):
    if isinstance(value, dict):
        return all(isinstance(key, str) and plain(item) for key, item in value.items())
    if isinstance(value, list | tuple):
        return all(plain(item) for item in value)
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "fib"
    return value is None or isinstance(value, str | int | float | bool)


class Backwards:
    """An engine of somebody else's: last batch first, one after the other, some twice before they are delivered."""

    def __init__(self, fault=lambda results: results):
        self.fault, self.plain = fault, []

    def collect(self, partial, job, batches, add):
        results = []
        for number in reversed(range(len(batches))):
            partial(job, batches[number])  # a worker that died before it could send its result
            results.append((number, partial(job, batches[number])))
            self.plain.append(plain(job) and plain(batches[number]) and plain(results[-1][1]))
        yield from self.fault(results)


@pytest.mark.parametrize("engine", [Threads(2), Threads(1), Backwards()])
def test_every_engine_that_keeps_the_contract_gives_the_bits_of_memory(path, trials, small, engine):
    assert isinstance(engine, Executor)
    assert_same_bits(evaluated(path, APPS, engine=engine), in_memory(*trials))


def test_a_worker_reads_a_file_again_with_the_columns_of_the_next_scan(tmp_path, trials, small):
    """Workers keep files open between scans: one that was opened with other columns is another source."""
    weights = np.random.default_rng(1).integers(1, 9, 4000) / 4.0
    table = pa.table({"score": trials[0], "label": trials[1], "w": weights, "other": -trials[0]})
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=100)
    for options in ({}, {"weight_column": "w"}, {"score_column": "other"}, {}):
        found = evaluated(tmp_path / "a.parquet", APPS, engine=Backwards(), **options)
        assert_same_bits(found, tc.evaluate(tc.read(tmp_path / "a.parquet", **options), APPS))


def test_only_plain_data_travels(path, small):
    """What engines are given and give back: text, numbers, lists, dictionaries and arrays."""
    engine = Backwards()
    for ask in (lambda source: tc.evaluate(source, APPS), tc.Logistic.fit, tc.Isotonic.fit):
        ask(replace(tc.scan(path, engine=engine), budget=Budget(1500, 64, 1000, 0)))
    assert len(engine.plain) > 10
    assert all(engine.plain)


def test_the_engine_that_the_documentation_shows_gives_the_bits_of_memory(path, trials, small):
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n([^`]*class Processes:.*?)```", page, re.S)
    names = {}
    exec(code, names)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert_same_bits(evaluated(path, APPS, engine=names["Processes"](pool), workers=2), in_memory(*trials))


@pytest.mark.parametrize(
    ("fault", "says"),
    [(lambda results: results + results[:1], "counted twice"), (lambda results: results[1:], "was not counted")],
)
def test_a_result_delivered_twice_or_lost_is_an_error(path, small, fault, says):
    with pytest.raises(tc.InputError, match=says):
        evaluated(path, APPS, engine=Backwards(fault))


@pytest.mark.parametrize("engine", ["ray", 3, None, object(), Backwards])
def test_an_engine_that_is_none_is_refused(path, engine):
    with pytest.raises(tc.InputError, match="engine is one of local, dask, spark, or an Executor"):
        tc.scan(path, engine=engine)


def ran(folder, lines):
    """What a script with a local cluster writes, and what it leaves in the temporary folder."""
    body = "".join(f"    {line}\n" for line in lines)
    (folder / "run.py").write_text(f"import tercet as tc\nif __name__ == '__main__':\n{body}")
    (folder / "tmp").mkdir()
    environment = {**os.environ, "TMPDIR": str(folder / "tmp")}
    words = [sys.executable, folder / "run.py"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, env=environment, start_new_session=True)
    return done.stdout, done.stderr, list((folder / "tmp").iterdir())


def test_a_local_cluster_ends_without_a_word_or_a_file(tmp_path, path):
    """Heartbeats that find the scheduler gone stay out of stderr once all results are here."""
    ask = f"print(tc.evaluate(tc.scan({str(path)!r}, engine='dask', workers=1), [0.5]).auc > 0.5)"
    assert ran(tmp_path, [ask]) == ("True\n", "", [])


SMALL = [
    "from dataclasses import replace",
    "from tercet.outofcore.limits import Budget",
    "small = Budget(kept=1500, edges=128, part=100, at_once=0)",
]


def test_an_error_from_a_local_cluster_comes_without_those_of_dask(tmp_path, trials):
    """What was still to be counted is given up."""
    scores = np.where(np.arange(4000) == 3, np.nan, trials[0])
    pq.write_table(pa.table({"score": scores, "label": trials[1]}), tmp_path / "a.parquet", row_group_size=100)
    ask = (
        f"tc.evaluate(replace(tc.scan({str(tmp_path / 'a.parquet')!r}, engine='dask', workers=2), budget=small), [0.5])"
    )
    lines = [*SMALL, "for _ in range(2):", "    try:", f"        {ask}", "    except tc.InputError as error:"]
    out, err, left = ran(tmp_path, [*lines, "        print(error)"])
    assert [line.startswith("a.parquet: row 4") for line in out.splitlines()] == [True, True]
    assert (err, left) == ("", [])


@pytest.mark.parametrize("when", ["while the workers start", "between two results"])
def test_an_interrupt_ends_a_local_cluster(tmp_path, path, when):
    stop = "os.killpg(0, signal.SIGINT)"  # as a terminal does: the workers are sent it too
    lines = [*SMALL, "import os, signal, subprocess, threading, time"]
    if when == "while the workers start":
        lines += ["import distributed", f"threading.Timer(0.5, lambda: {stop}).start()", "progress = None"]
    else:
        lines += [f"progress = lambda done, total: {stop}"]
    lines += [
        f"scan = tc.scan({str(path)!r}, engine='dask', workers=2, progress=progress)",
        "try:",
        "    tc.evaluate(replace(scan, budget=small), [0.5])",
        "except KeyboardInterrupt:",
        "    asked = ['ps', '--ppid', str(os.getpid()), '-o', 'args=']",
        "    print('multiprocessing.spawn' in subprocess.run(asked, capture_output=True, text=True).stdout)",
    ]
    assert ran(tmp_path, lines) == ("False\n", "", [])
