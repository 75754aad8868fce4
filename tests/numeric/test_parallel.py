"""Jobs that run at the same time: results in order, the first error, and no job after it."""

import platform
import subprocess
import sys
import threading
import time

import pytest

from tercet._numeric import parallel
from tercet._numeric.parallel import over_parts, together

ROWS = 1 << 20


@pytest.fixture(params=[1, 2, 5])
def cores(request, monkeypatch):
    monkeypatch.setattr(parallel, "CORES", request.param)
    return request.param


@pytest.mark.usefixtures("cores")
def test_results_come_in_the_order_of_the_jobs():
    assert together([lambda k=k: k * k for k in range(50)], ROWS) == [k * k for k in range(50)]


@pytest.mark.usefixtures("cores")
def test_the_error_of_a_job_is_raised_and_an_index_error_is_not_taken_for_the_end():
    done = []

    def fail():
        raise IndexError("of the job")

    with pytest.raises(IndexError, match="of the job"):
        together([fail, *[lambda k=k: done.append(k) for k in range(10_000)]], ROWS)
    assert len(done) < 10_000


@pytest.mark.usefixtures("cores")
def test_jobs_may_give_jobs_of_their_own():
    assert together([lambda k=k: sum(together([lambda: k] * 4, ROWS)) for k in range(6)], ROWS) == [0, 4, 8, 12, 16, 20]


def test_jobs_of_jobs_run_on_as_many_threads_as_there_are_cores(cores):
    seen, waiting = set(), threading.Barrier(cores, timeout=10.0)

    def leaf():
        seen.add(threading.get_ident())
        waiting.wait()  # passes when every core runs such a job

    def branch(depth):
        together([leaf] * cores if depth == 0 else [lambda: branch(depth - 1)], ROWS)

    together([lambda: branch(3), lambda: None], ROWS)
    assert len(seen) == cores


@pytest.mark.usefixtures("cores")
def test_jobs_of_jobs_never_wait_for_each_other():
    def tree(depth, k):
        if depth == 0:
            return k
        time.sleep(1e-4 * (k % 3))
        return sum(together([lambda j=j: tree(depth - 1, 3 * k + j) for j in range(3)], ROWS))

    assert tree(6, 0) == sum(range(3**6))


@pytest.mark.usefixtures("cores")
def test_an_error_of_a_jobs_job_is_raised_where_the_first_jobs_were_given():
    with pytest.raises(ZeroDivisionError):
        together([lambda: together([lambda: 1, lambda: 1 // 0], ROWS), lambda: 2], ROWS)
    assert together([lambda: 1, lambda: 2], ROWS) == [1, 2]  # nothing is left of it
    assert not [one for one in threading.enumerate() if one.name.endswith("(_help)")]


def test_slices_cover_all_rows_once_and_slow_rows_count_more(cores):
    slices = over_parts(lambda rows: rows, ROWS)
    assert [rows.start for rows in slices] == [0, *(rows.stop for rows in slices[:-1])]
    assert slices[-1].stop == ROWS
    assert len(over_parts(lambda rows: rows, 1 << 16)) == 1
    assert len(over_parts(lambda rows: rows, 1 << 16, steps=8)) == cores


def test_without_more_threads_the_calling_one_does_the_work(cores, monkeypatch):
    def refuse(thread):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert together([lambda k=k: sum(together([lambda: k] * 4, ROWS)) for k in range(6)], ROWS) == [0, 4, 8, 12, 16, 20]


def test_an_interrupt_while_a_thread_starts_is_raised_as_such(monkeypatch):
    def interrupt(thread):
        raise KeyboardInterrupt

    monkeypatch.setattr(parallel, "CORES", 2)
    with monkeypatch.context() as context:
        context.setattr(threading.Thread, "start", interrupt)
        with pytest.raises(KeyboardInterrupt):
            together([lambda: 1, lambda: 2], ROWS)
    assert together([lambda: 1, lambda: 2], ROWS) == [1, 2]


def test_an_interrupt_between_taking_a_job_and_running_it_leaves_nobody_waiting(monkeypatch):
    monkeypatch.setattr(parallel, "CORES", 2)
    caller, given, run = threading.current_thread(), threading.Event(), parallel._Batch.run

    def interrupted(batch, place, job):
        if threading.current_thread() is caller and job is wanted:
            batch.running += 1  # which is never taken back, as if the interrupt came before the first step of run
            raise KeyboardInterrupt
        run(batch, place, job)

    def wanted():
        return 1

    def helper():
        return together([lambda: given.set() or time.sleep(0.2), wanted], ROWS)

    def branch():
        if threading.current_thread() is not caller:
            return helper()
        return given.wait(10.0)  # then the caller takes the second job of the other thread

    monkeypatch.setattr(parallel._Batch, "run", interrupted)
    with pytest.raises(KeyboardInterrupt):
        together([branch, branch], ROWS)
    assert not [one for one in threading.enumerate() if one.name.endswith("(_help)")]


FAULTS = """
import resource
import numpy as np
from tercet._numeric.parallel import keep_freed_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        arrays = [np.ones(1 << 17) for _ in range(5)]
        del arrays
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

before = faults()
keep_freed_memory()
faults()
print(before, faults())
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc gives freed memory back at once")
def test_arrays_are_made_of_freed_memory_instead_of_fresh_pages():
    done = subprocess.run([sys.executable, "-c", FAULTS], capture_output=True, text=True, check=True)
    before, after = map(int, done.stdout.split())
    assert before > 10_000  # five arrays of 1 MB, a hundred times
    assert after < before // 10
