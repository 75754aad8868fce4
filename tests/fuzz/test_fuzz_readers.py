"""Five hundred mutated files through every reader, and each file that once failed."""

import importlib.util
from pathlib import Path

import pytest

_HERE = Path(__file__).parent
_spec = importlib.util.spec_from_file_location("fuzz_readers", _HERE / "fuzz_readers.py")
assert _spec is not None
assert _spec.loader is not None
fuzz = importlib.util.module_from_spec(_spec)
import sys  # noqa: E402

sys.modules["fuzz_readers"] = fuzz
_spec.loader.exec_module(fuzz)


@pytest.mark.parametrize("part", range(5))
def test_every_road_gives_the_same_answer_or_refuses(part: int):
    counts = fuzz.run(100, seed=100 + part, scan_every=25)
    assert counts["failures"] == 0
    assert counts["read"] > 10  # mutants that nothing reads would test one side only
    assert counts["refused"] > 10


def test_a_difference_between_the_roads_is_found(monkeypatch: pytest.MonkeyPatch):
    real = fuzz.by_ranges
    monkeypatch.setattr(fuzz, "by_ranges", lambda path, options: real(path, options)[::-1])
    assert fuzz.run(3, seed=1)["failures"] == 3


def test_a_difference_in_parquet_is_a_failure_where_pages_have_checksums(monkeypatch: pytest.MonkeyPatch):
    real = fuzz.by_ranges
    monkeypatch.setattr(fuzz, "by_ranges", lambda path, options: real(path, options)[::-1])
    counts = fuzz.run(len(fuzz.seeds()), seed=1)
    assert counts["p.parquet without checksums"] == 1
    assert counts["c.parquet failed"] == counts["t.parquet failed"] == 1


def test_an_exception_that_is_no_refusal_is_found(monkeypatch: pytest.MonkeyPatch):
    def broken(path: Path, options: object) -> None:
        raise KeyError(path.name)

    monkeypatch.setattr(fuzz, "by_whole", broken)
    assert fuzz.run(3, seed=1)["failures"] == 3


@pytest.mark.parametrize("path", sorted((_HERE / "corpus").iterdir()), ids=lambda path: path.name)
def test_a_file_that_once_failed_is_answered(path: Path):
    found, why = fuzz.check(path, {"id_column": "id", "weight_column": "w"}, scanned=True)
    assert found in ("read", "refused"), why
