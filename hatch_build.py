"""The README that package indexes show: its links and pictures lead to the repository."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

PAGES = "https://github.com/tercet/tercet/blob/main/"
FILES = "https://raw.githubusercontent.com/tercet/tercet/main/"


def absolute(text: str) -> str:
    """README with absolute addresses: pictures as files, everything else as pages."""
    text = re.sub(r"(!\[[^\]]*\]\()(?!https?:)", rf"\1{FILES}", text)
    return re.sub(r"((?<!!)\[[^\]]*\]\()(?!https?:|#)", rf"\1{PAGES}", text)


class ReadmeHook(MetadataHookInterface):
    """Puts the text into the metadata of wheel and sdist."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": absolute(text)}
