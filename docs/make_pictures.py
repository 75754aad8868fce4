"""Makes docs/pictures/page.png, the page that `tercet demo` writes: python docs/make_pictures.py. Needs chromium."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --disable-dev-shm-usage --hide-scrollbars"
)
PICTURES = Path(__file__).parent / "pictures"


def main() -> None:
    """Writes the picture."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("chromium is not installed: apt-get install chromium")
    with tempfile.TemporaryDirectory() as folder:
        demo, shot = Path(folder, "demo"), PICTURES / "page.png"
        subprocess.run([sys.executable, "-m", "tercet", "demo", "--out", demo], check=True, capture_output=True)
        command = [chromium, *FLAGS.split(), f"--user-data-dir={folder}/profile", "--window-size=1280,985",
                   f"--screenshot={shot}", f"file://{demo}/report.html"]  # fmt: skip
        subprocess.run(command, check=True, capture_output=True, timeout=120)
    print(f"{shot}: {shot.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
