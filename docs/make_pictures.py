"""Makes docs/pictures/page.png from simulated scores: python docs/make_pictures.py. Needs chromium."""

from __future__ import annotations

import math
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import tercet as tc
from tercet.report.page import report

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"
)
PICTURES = Path(__file__).parent / "pictures"
# name, separation of the classes, how much too sure (above 1) or too timid the scores are, shift
SYSTEMS = (("Voice A", 3.0, 1.25, 0.4), ("Voice B", 2.2, 1.0, 0.0), ("Voice C", 1.2, 0.8, -0.3))


def evaluations() -> list[dict[str, Any]]:
    """Three simulated systems on the same 6,000 trials, with intervals."""
    rng = np.random.default_rng(7)
    labels = rng.random(6000) < 0.3
    found = []
    for name, separation, scale, shift in SYSTEMS:
        centre = np.where(labels, separation, -separation)
        scores = (rng.normal(size=6000) * math.sqrt(2 * separation) + centre) * scale + shift
        trials, asked = tc.Trials.of_llr(scores, labels, name=name), ["sre08", (0.5, 1, 1)]
        found.append(tc.evaluate(trials, asked, ci=0.95).to_dict())
    return found


def main() -> None:
    """Writes the picture."""
    PICTURES.mkdir(exist_ok=True)
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = report(evaluations(), Path(folder) / "page.html", "Voice check")
        shot = PICTURES / "page.png"
        command = [chromium, *FLAGS.split(), f"--user-data-dir={folder}/profile", "--window-size=1280,985",
                   f"--screenshot={shot}", f"file://{page}"]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=60)
    print(f"{shot}: {shot.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
