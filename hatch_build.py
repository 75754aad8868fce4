"""The README that package indexes show, with links to the repository, and wheels that are compressed further."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
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


class CompressionHook(BuildHookInterface[Any]):
    """Compresses the files of a wheel again, as small as deflate makes them; hatchling leaves it at the default."""

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called by hatchling when the wheel is written."""
        with ZipFile(artifact_path) as written:
            files = [(one, written.read(one)) for one in written.infolist()]
        with ZipFile(artifact_path, "w") as small:
            for one, content in files:
                small.writestr(one, content, ZIP_DEFLATED, 9)
