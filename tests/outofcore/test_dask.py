"""The same bits from a cluster, with workers that die, and a clear word where there is none."""

import http.server
import os
import signal
import socket
import threading
import time

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.outofcore import scan as scale
from tercet.outofcore.counts import Binned
from tercet.outofcore.executors import dask
from tercet.outofcore.executors import threads as local

from .helpers import APPS, assert_same_bits, in_memory

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
    monkeypatch.setattr(scale, "budget_of", lambda *_: scale.Budget(kept=1500, edges=128, part=100, at_once=0))


def test_one_and_two_workers_give_the_bits_of_memory(path, trials, small, cluster):
    truth = in_memory(*trials)
    assert_same_bits(scale.evaluate_files(path, APPS, engine="dask", scheduler=cluster.scheduler_address), truth)
    assert_same_bits(scale.evaluate_files(path, APPS, engine="dask", workers=1), truth)


def test_a_worker_killed_after_the_first_part_changes_no_bit(path, trials, small, cluster, caplog):
    with distributed.Client(cluster) as client:
        client.wait_for_workers(2)
        victims = list(client.run(os.getpid).values())

    def kill(done, total):
        if victims:
            os.kill(victims.pop(), signal.SIGKILL)
            victims.clear()

    address = cluster.scheduler_address
    found = scale.evaluate_files(path, APPS, engine="dask", scheduler=address, progress=kill)
    assert_same_bits(found, in_memory(*trials))
    assert any("is gone" in record.message for record in caplog.records)


def test_the_workers_add_up_and_send_one_sum_a_pass(path, trials, small, cluster, monkeypatch):
    sent = []
    collect = dask.collect

    def counted(make, job, batches, **more):
        for number, result in collect(make, job, batches, **more):
            sent.append((job["kind"], result is not None))
            yield number, result

    monkeypatch.setattr(dask, "collect", counted)
    found = scale.evaluate_files(path, APPS, engine="dask", scheduler=cluster.scheduler_address)
    assert_same_bits(found, in_memory(*trials))
    counts = [whole for kind, whole in sent if kind == "count"]
    assert len(counts) == 40 * (found.input["passes"] - 1)
    assert sum(counts) == found.input["passes"] - 1
    assert all(whole for kind, whole in sent if kind == "rows")


def test_a_sum_on_a_worker_finds_what_was_counted_twice(trials):
    one, other = (Binned.of(*trials, [0.0], part=number).to_plain() for number in (0, 1))
    assert Binned.of_plain(scale.added([one, other])).parts == ((0, 2),)
    with pytest.raises(tc.InputError, match="Part 0 was counted twice"):
        scale.added([one, other, one])


def test_an_error_of_a_part_comes_back_as_it_is(tmp_path, trials, small, cluster):
    scores = trials[0].copy()
    scores[1234] = np.nan
    bad = tmp_path / "bad.parquet"
    pq.write_table(pa.table({"score": scores, "label": trials[1]}), bad, row_group_size=100)
    with pytest.raises(tc.InputError, match=r"bad\.parquet, row group 12, row 1234 .*NaN"):
        scale.evaluate_files(bad, APPS, engine="dask", scheduler=cluster.scheduler_address)


def test_text_is_not_for_clusters_elsewhere(tmp_path, cluster):
    (tmp_path / "a.csv").write_text("score,label\n1.0,1\n0.5,0\n")
    with pytest.raises(tc.InputError, match="a cluster reads Parquet"):
        scale.evaluate_files(tmp_path / "a.csv", APPS, engine="dask", scheduler=cluster.scheduler_address)


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "tcp://127.0.0.1:notaport"])
def test_a_scheduler_that_is_not_there_fails_in_seconds(path, address):
    start = time.monotonic()
    with pytest.raises(tc.InputError, match="cannot be used"):
        scale.evaluate_files(path, APPS, engine="dask", scheduler=address)
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
            scale.evaluate_files(path, APPS, engine="dask", scheduler=address)
        assert time.monotonic() - start < 20


def small_cluster():
    return distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0, silence_logs=50
    )


@pytest.mark.parametrize(
    ("leave", "says"),
    [
        (lambda made: made.scale(0), "no workers for 3 seconds"),
        (lambda made: made.close(timeout=2), "scheduler is gone"),
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
            scale.evaluate_files(path, APPS, engine="dask", scheduler=made.scheduler_address, progress=go)


def test_only_plain_data_travels():
    """What engines are given and give back: text, numbers, lists, dictionaries and arrays."""
    seen = []

    def plain(value):
        if isinstance(value, dict):
            return all(isinstance(key, str) and plain(item) for key, item in value.items())
        if isinstance(value, list | tuple):
            return all(plain(item) for item in value)
        if isinstance(value, np.ndarray):
            return value.dtype.kind in "fib"
        return value is None or isinstance(value, str | int | float | bool)

    def make(job, batch):
        result = scale.counted(job, batch, np.array([1.0, 2.0]), np.array([True, False])).to_plain()
        seen.append(plain(job) and plain(result))
        return result

    job = {"kind": "count", "edges": np.array([1.5]), "thresholds": np.empty(0), "meaning": "llr", "plan": "",
           "trained_prior": None, "sums": True}  # fmt: skip
    results = dict(local.collect(make, job, [0, 1, 2]))
    assert sorted(results) == [0, 1, 2]
    assert seen == [True] * 3


@pytest.mark.parametrize(
    ("fault", "says"),
    [(lambda results: results + results[:1], "counted twice"), (lambda results: results[1:], "was not counted")],
)
def test_a_result_delivered_twice_or_lost_is_an_error(path, small, monkeypatch, fault, says):
    collect = local.collect
    monkeypatch.setattr(local, "collect", lambda *a, **more: iter(fault(list(collect(*a, **more)))))
    with pytest.raises(tc.InputError, match=says):
        scale.evaluate_files(path, APPS)
