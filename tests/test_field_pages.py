"""The pages for speech, biometrics and forensics: every command runs, in order, on small made data."""

import re
import shlex
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from tercet.cli.main import main

DOCS = Path(__file__).parents[1] / "docs"


def commands(page):
    """The commands of a page's console blocks."""
    text = (DOCS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```console\n(.*?)```", text, re.S)
    return [line[2:] for block in blocks for line in block.splitlines() if line.startswith("$ ")]


def table(path, scores, labels, **columns):
    head = ["score", "label", *columns]
    rows = zip((repr(float(score)) for score in scores), labels, *columns.values(), strict=True)
    path.write_text("\n".join([",".join(head), *(",".join(map(str, row)) for row in rows)]) + "\n")


def speech(folder):
    rng = np.random.default_rng(0)
    for part in ("dev", "eval"):
        labels = np.arange(120) % 2
        speakers = [f"s{k}" for k in np.arange(120) // 6]
        common = rng.normal(size=120)
        for name, shift in (("a", 2.0), ("b", 2.5), ("c", 3.0)):
            scores = 3 * (shift * labels + 0.5 * common + rng.normal(size=120)) + 1
            words = np.where(labels, "target", "nontarget")
            table(folder / f"{part}-{name}.csv", scores, words, trial=[f"t{k}" for k in range(120)], speaker=speakers)


def attacks(folder):
    rng = np.random.default_rng(1)
    labels = np.arange(400) % 2
    kinds = np.where(labels, "-", np.array(["print", "mask", "video"])[np.arange(400) % 3])
    table(folder / "pad.csv", rng.normal(size=400) + 2 * labels, np.where(labels, "bonafide", "attack"), pai=kinds)


def lrs(folder):
    rng = np.random.default_rng(2)
    for name in ("scores", "case"):
        labels = np.arange(300) % 2
        table(
            folder / f"{name}.csv",
            rng.normal(size=300) + 2 * labels,
            labels,
            source=[f"s{k}" for k in np.arange(300) // 10],
        )


@pytest.mark.parametrize(
    ("page", "make", "made"),
    [
        ("speech.md", speech, ["fusion.json", "llr-fused.csv", "det.pdf"]),
        ("biometrics.md", attacks, []),
        ("forensics.md", lrs, ["validation.html"]),
    ],
)
def test_every_command_of_the_page_runs(page, make, made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make(tmp_path)
    lines = commands(page)
    assert 4 <= len(lines) <= 12
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "tercet"
        found = CliRunner().invoke(main, words[1:])
        assert found.exit_code == 0, (line, found.output)
    for name in made:
        assert (tmp_path / name).stat().st_size > 0


@pytest.mark.parametrize("page", ["speech.md", "biometrics.md", "forensics.md"])
def test_every_python_example_of_the_page_runs(page):
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"```python\n(.*?)```", text, re.S):
        exec(compile(block, page, "exec"), {})
