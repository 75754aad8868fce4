"""Wheel and sdist: they build, hold what they should, stay small, and the wheel works by itself."""

import os
import re
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
    for path in ("README.md", "CHANGELOG.md", "LICENSE", "tests/conftest.py", "docs/index.md", "CONTRIBUTING.md",
                 "CITATION.cff", "SECURITY.md", "docs/pictures/page.png", "hatch_build.py"):  # fmt: skip
        assert path in inside


def test_the_readme_of_the_package_shows_its_picture_on_an_index(built):
    (wheel,) = built.glob("*.whl")
    archive = zipfile.ZipFile(wheel)
    (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    text = archive.read(name).decode()
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert len(targets) > 10
    assert [target for target in targets if not target.startswith("https://")] == []
    pictures = re.findall(r"!\[[^\]]*\]\(https://raw\.githubusercontent\.com/tercet/tercet/main/([^)]+)\)", text)
    assert pictures
    for path in pictures:
        assert (ROOT / path).is_file()


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
