"""The same bits from a Spark session on two cores of this machine, and a clear word where there is none."""

import operator
import os
import shutil
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.outofcore.executors import Executor, spark
from tercet.outofcore.limits import Budget
from tercet.outofcore.plain_data import of_bytes, to_bytes

from .helpers import APPS, assert_same_bits, evaluated, fitted, in_memory

KINDS = (tc.Logistic, tc.Isotonic, tc.Gaussian)

pytestmark = pytest.mark.filterwarnings("ignore::Warning")  # pyspark's own, about pandas and sockets
JAVA = shutil.which("java") or os.environ.get("JAVA_HOME")
needs_spark = pytest.mark.skipif(JAVA is None, reason="Spark needs Java, which is not installed here")


@pytest.fixture(scope="module")
def session():
    sql = pytest.importorskip("pyspark.sql", reason="pyspark is not installed here")
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {"spark.ui.enabled": "false", "spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    builder = sql.SparkSession.builder.master("local[2]")
    for key, value in settings.items():
        builder = builder.config(key, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(4000) < 0.3
    return rng.normal(size=4000) * 2 + labels * 2, labels


@pytest.fixture
def path(tmp_path, trials):
    pq.write_table(pa.table({"score": trials[0], "label": trials[1]}), tmp_path / "a.parquet", row_group_size=200)
    return tmp_path / "a.parquet"


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=1500, edges=128, part=200, at_once=0))


@needs_spark
def test_a_spark_session_gives_the_bits_of_memory(session, path, trials, small):
    assert isinstance(spark.Spark(session), Executor)
    assert_same_bits(evaluated(path, APPS, engine="spark"), in_memory(*trials))


CLASSES = {"meaning": "logits", "trained_prior": [1 / 3] * 3, "class_columns": ["a", "b", "c"], "label_column": "class"}


@needs_spark
def test_weights_classes_and_calibrators_of_several_files_are_those_of_one_machine(session, tmp_path, trials, small):
    rng = np.random.default_rng(1)
    names = np.array(list("abc"))[rng.integers(0, 3, 4000)]
    columns = {name: rng.normal(size=4000) + (names == name) for name in "abc"}
    table = pa.table(
        {"score": trials[0], "label": trials[1], "w": rng.integers(1, 9, 4000) / 4.0, **columns, "class": names}
    )
    for place in range(3):
        rows = table.slice(1400 * place, 1400)
        pq.write_table(rows, tmp_path / f"{place}.parquet", row_group_size=200)
    asks = [
        lambda **how: evaluated(tmp_path / "*.parquet", APPS, weight_column="w", **how).applications,
        lambda **how: (
            evaluated(tmp_path / "*.parquet", [tc.Application.multiclass([1 / 3] * 3)], **CLASSES, **how).log_loss
        ),
        lambda **how: tc.Affine.fit(tc.scan(tmp_path / "*.parquet", **CLASSES, **how)),
        *(lambda kind=kind, **how: fitted(kind, tmp_path / "*.parquet", weight_column="w", **how) for kind in KINDS),
    ]
    with np.printoptions(precision=17, threshold=10**6):
        for ask in asks:
            assert repr(ask(engine="spark")) == repr(ask())


@needs_spark
def test_what_is_wrong_with_a_file_is_said_as_on_one_machine(session, tmp_path, small):
    scores = np.zeros(1000)
    scores[730] = np.nan
    pq.write_table(pa.table({"score": scores, "label": np.arange(1000) % 2}), tmp_path / "b.parquet")
    with pytest.raises(tc.InputError, match="row 731") as local:
        evaluated(tmp_path / "b.parquet", APPS)
    with pytest.raises(tc.InputError) as there:
        evaluated(tmp_path / "b.parquet", APPS, engine="spark")
    assert str(there.value) == str(local.value)


def failing(job, batch):
    raise OSError("the disk of the worker is gone")


@needs_spark
def test_a_worker_that_fails_is_an_error_in_one_sentence(session):
    with pytest.raises(tc.TercetError, match=r"The Spark job failed: KeyError: 1$"):
        list(spark.Spark(session).collect(operator.getitem, {}, [1], None))


@needs_spark
def test_a_session_that_was_stopped_is_refused_with_the_way_out(session):
    class Stopped:
        def createDataFrame(self, *_):
            raise AttributeError("'NoneType' object has no attribute 'sc'")  # as pyspark 4 says it

    for none in (Stopped(), None):
        with pytest.raises(tc.InputError, match=r"session is not running: start one \(SparkSession\.builder"):
            list(spark.Spark(none).collect(failing, {}, [1], None))


@needs_spark
def test_what_the_workers_cannot_import_is_named_with_the_way_out(session):
    """This module has a parent that workers do not know."""
    with pytest.raises(tc.InputError, match=r"No module named .*pip install 'tercet\[spark\]' on all workers"):
        list(spark.Spark(session).collect(failing, {}, [1, 2], None))


@needs_spark
def test_an_interrupt_ends_the_job_at_once(session, tmp_path):
    """Spark cancels it in its own handler, which needs a connection that is free."""
    code = (
        "import os, sys, signal, threading, time\n"
        f"sys.path.insert(0, {str(tmp_path)!r}); os.environ['PYTHONPATH'] = {str(tmp_path)!r}\n"
        "os.environ['PYSPARK_PYTHON'] = sys.executable\n"
        "import late\n"
        "from pyspark.sql import SparkSession\n"
        "from tercet.outofcore.executors.spark import Spark\n"
        "build = SparkSession.builder.master('local[2]').config('spark.ui.enabled', 'false')\n"
        "build = build.config('spark.driver.host', '127.0.0.1').config('spark.driver.bindAddress', '127.0.0.1')\n"
        "session = build.getOrCreate()\n"
        "session.sparkContext.setLogLevel('OFF')\n"
        "threading.Timer(4, lambda: os.kill(os.getpid(), signal.SIGINT)).start()\n"
        "try:\n"
        "    list(Spark(session).collect(late.waiting, {}, [1, 2], None))\n"
        "except KeyboardInterrupt:\n"
        "    time.sleep(1)\n"
        "    print(list(session.sparkContext.statusTracker().getActiveJobsIds()))\n"
        "session.stop()\n"
    )
    (tmp_path / "late.py").write_text("import time\n\n\ndef waiting(job, batch):\n    time.sleep(60)\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=100, cwd=tmp_path)
    assert done.stdout == "[]\n", done.stderr
    assert "Traceback" not in done.stderr


@needs_spark
@pytest.mark.parametrize("workers", [0, 2.5, "two"])
def test_a_number_of_workers_that_is_none_is_refused(session, workers):
    with pytest.raises(tc.InputError, match="workers must be a"):
        spark.Spark(session, workers)


def test_without_a_session_or_pyspark_the_way_out_is_named(monkeypatch):
    class Sql:
        class SparkSession:
            getActiveSession = staticmethod(lambda: None)  # noqa: N815 - as pyspark has it

    monkeypatch.setattr(spark, "import_module", lambda name: Sql)
    with pytest.raises(tc.InputError, match=r"SparkSession\.builder\.getOrCreate\(\)"):
        spark.active_session()

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(spark, "import_module", missing)
    with pytest.raises(tc.InputError, match=r"pip install 'tercet\[spark\]'"):
        spark.active_session()


def test_plain_data_comes_back_from_its_bytes():
    plain = {"counts": np.arange(3), "ends": np.array([-np.inf, 0.5]), "rest": [1, "two", {"three": 2**80}]}
    found = of_bytes(to_bytes(plain))
    assert found["rest"] == plain["rest"]
    np.testing.assert_array_equal(found["counts"], plain["counts"])
    np.testing.assert_array_equal(found["ends"], plain["ends"])
