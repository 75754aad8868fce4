"""The README that package indexes show, whose links and pictures lead to the repository; and a wheel packed tightly."""

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


class TightWheel(BuildHookInterface[Any]):
    """Compresses the files of the wheel as far as its format can."""

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called by hatchling."""
        with ZipFile(artifact_path) as archive:
            files = [(one, archive.read(one)) for one in archive.infolist()]
        with ZipFile(artifact_path, "w") as archive:
            for one, content in files:
                archive.writestr(one, content, ZIP_DEFLATED, compresslevel=9)
