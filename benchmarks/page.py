"""What the page weighs and how fast it is: python benchmarks/page.py [--rows N]. Needs chromium and chromium-driver.

Times are the best of several openings and the median over 180 slider steps, in a headless Chromium.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import tercet as tc
from tercet.metrics.curve_summary import thinned
from tercet.report.page import report

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage"
)
SLIDE = """
const slider = document.getElementById("prior"), took = [];
window.requestAnimationFrame = draw => {
  const start = performance.now();
  draw(start); document.body.getBoundingClientRect();
  took.push(performance.now() - start);
};
for (let v = -9; v < 9; v += 0.1) { slider.value = v; slider.dispatchEvent(new Event("input")); }
return took;
"""
SHAPES = {
    "calibrated": (2.0, 1.0), "twice too sure": (2.0, 2.0), "three times too sure": (2.0, 3.0), "timid": (2.0, 0.4),
    "sharp": (6.0, 1.0),
}  # fmt: skip


def evaluated(rows: int, separation: float, scale: float) -> tc.Evaluation:
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.1
    centre = np.where(labels, separation, -separation)
    trials = tc.Trials.of_llr((rng.normal(size=rows) * math.sqrt(2 * separation) + centre) * scale, labels)
    return tc.evaluate(trials, ["sre08", (0.5, 1, 1)], name="simulated")


def thinning(evaluation: tc.Evaluation) -> float:
    """Milliseconds to choose the points that are kept, the best of five."""
    best = math.inf
    for _ in range(5):
        start = time.perf_counter()
        thinned(evaluation.curve)
        best = min(best, time.perf_counter() - start)
    return 1e3 * best


def opened() -> Any:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    for flag in FLAGS.split():
        options.add_argument(flag)
    return webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    browser = opened()
    print(f"{rows:,} trials; bars: 250 kB, open 300 ms, slider 16 ms, thinning 10 ms")
    print(f"{'scores':22}{'points':>8}{'page kB':>9}{'open ms':>9}{'slider ms':>11}{'thinning ms':>13}")
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in SHAPES.items():
            evaluation = evaluated(rows, *shape)
            path = report(evaluation, Path(folder) / "page.html")
            opening = []
            for _ in range(7):
                browser.get("about:blank")
                browser.get(f"file://{path}")
                opening.append(browser.execute_script("return performance.getEntriesByType('navigation')[0].duration"))
            frames = sorted(browser.execute_script(SLIDE))
            points = len(evaluation.to_dict()["curve"]["thresholds"])
            print(
                f"{name:22}{points:8}{path.stat().st_size / 1e3:9.0f}{min(opening):9.0f}"
                f"{frames[len(frames) // 2]:11.1f}{thinning(evaluation):13.0f}"
            )
    browser.quit()


if __name__ == "__main__":
    main()
