"""Checks the built site: python docs/check_site.py build/docs.

Every local link and anchor leads somewhere, nothing is loaded from a network, and each of a newcomer's tasks is at
most three clicks from the start page.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

CLICKS = 3
# What a newcomer looks for, the page that answers it, and words that must stand there.
TASKS = (
    ("a threshold for my costs", "howto/threshold.html", "Three numbers determine the threshold"),
    ("each table of the laboratory", "laboratory.html", "laboratory.py"),
    ("an interval by speaker on a minimum DCF", "howto/interval.html", "speaker"),
    ("a DET of three systems in my own axes", "howto/figure.html", "subplots"),
    ("100 million rows", "howto/large.html", "memory-limit"),
    ("a new metric", "contributing.html", "How to add a metric"),
)
# Loaded by the browser when the page opens, unlike links, which a reader follows.
_LOADED = {("img", "src"), ("script", "src"), ("iframe", "src"), ("source", "src"), ("object", "data")}


@dataclass
class Page:
    """What one HTML file links to, loads and can be linked at."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.page.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.page.links.append(given["href"])
        if tag == "link" and given.get("rel") in ("stylesheet", "preload", "icon", "preconnect"):
            self.page.loads.append(given.get("href", ""))
        self.page.loads += [given[name] for kind, name in _LOADED if kind == tag and name in given]


def read(site: Path) -> dict[Path, Page]:
    """Every page of the site."""
    pages = {}
    for path in sorted(site.rglob("*.html")):
        if "_static" not in path.relative_to(site).parts:
            reader = _Reader()
            reader.feed(path.read_text(encoding="utf-8"))
            pages[path.resolve()] = reader.page
    return pages


def target(page: Path, address: str) -> tuple[Path, str] | None:
    """The file and the anchor that a local address leads to; None for addresses elsewhere."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return None
    path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return path, unquote(parts.fragment)


def broken(pages: dict[Path, Page]) -> Iterator[str]:
    """Addresses that lead nowhere, and what would be loaded from a network."""
    for path, page in pages.items():
        for address in page.loads:
            found = target(path, address)
            if found is None and not address.startswith("data:"):
                yield f"{path.name} loads {address}"
            elif found is not None and not found[0].exists():
                yield f"{path.name}: {address} is not there"
        for address in page.links:
            found = target(path, address)
            if found is None:
                continue
            file, anchor = found
            if not file.exists():
                yield f"{path.name}: {address} is not there"
            elif anchor and file in pages and anchor not in pages[file].anchors:
                yield f"{path.name}: {address}: no such anchor"


def clicks(pages: dict[Path, Page], start: Path) -> dict[Path, int]:
    """The least number of clicks from the start page to each page."""
    found, near = {start: 0}, [start]
    while near:
        steps = [(path, target(path, address)) for path in near for address in pages[path].links]
        near = []
        for path, step in steps:
            if step is not None and step[0] in pages and step[0] not in found:
                found[step[0]] = found[path] + 1
                near.append(step[0])
    return found


def lost(site: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Tasks that are too far from the start page, or whose page does not show them."""
    reached = clicks(pages, (site / "index.html").resolve())
    for task, name, words in TASKS:
        path = (site / name).resolve()
        if reached.get(path, CLICKS + 1) > CLICKS:
            yield f"{task}: {name} is not within {CLICKS} clicks"
        elif words not in path.read_text(encoding="utf-8"):
            yield f"{task}: {name} does not show {words!r}"


def main() -> int:
    """Prints what is wrong; the exit code says whether anything was."""
    site = Path(sys.argv[1])
    pages = read(site)
    wrong = [*broken(pages), *lost(site, pages)]
    print("\n".join([*wrong, f"{len(pages)} pages, {len(wrong)} problems"]))
    return 1 if wrong or not pages else 0


if __name__ == "__main__":
    sys.exit(main())
