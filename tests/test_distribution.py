"""Wheel and sdist: they build, hold what they should, stay small, and the wheel works by itself."""

import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    words = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    found = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert found.returncode == 0, found.stderr
    return folder


def test_the_wheel_is_small_and_holds_every_module(built):
    (wheel,) = built.glob("*.whl")
    assert wheel.stat().st_size < 1_000_000
    inside = set(zipfile.ZipFile(wheel).namelist())
    for path in (ROOT / "src").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert path.relative_to(ROOT / "src").as_posix() in inside


def test_the_sdist_brings_tests_and_documentation(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        inside = {name.partition("/")[2] for name in archive.getnames()}
    for path in ("README.md", "CHANGELOG.md", "LICENSE", "tests/conftest.py", "docs/index.md", "CONTRIBUTING.md"):
        assert path in inside


def test_the_wheel_runs_without_the_checkout(built, tmp_path):
    (wheel,) = built.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(tmp_path / "site")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "site"), "PYTHONSAFEPATH": "1"}
    code = "import tercet, tercet.cli.main as m; print(tercet.__file__); m.main(['demo', '--out', 'demo'])"
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
    )
    assert found.returncode == 0, found.stderr
    assert str(tmp_path / "site") in found.stdout
    assert (tmp_path / "demo" / "report.html").stat().st_size > 0
