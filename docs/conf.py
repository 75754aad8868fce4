"""Configuration of the documentation site: `python -m nox -s docs` builds it into build/docs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from sphinx.application import Sphinx

import tercet

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

import api  # noqa: E402

api.write(HERE / "reference" / "api.md")

project = "tercet"
author = "the tercet developers"
copyright = "the tercet developers"
release = version = tercet.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_click",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml",  # docs/_ext: formulas as MathML, which browsers render without a network
    "pictures",  # docs/_ext: pictures drawn by the package while the site is built
]
if os.environ.get("TERCET_DOCS_ONLINE"):  # the inventories are fetched: only where there is a network
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "matplotlib": ("https://matplotlib.org/stable", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }
exclude_patterns = ["_ext", "_build", "pictures/README.md"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}  # autosummary writes .rst
myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = "tercet"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_search_scorer = str(HERE / "_static" / "scorer.js")
html_show_search_summary = False  # summaries are fetched, which browsers refuse for files on disk
# Pages without subpages need no list of them; the space goes to the text.
html_sidebars: dict[str, list[str]] = {page.stem: [] for page in sorted(HERE.glob("*.md"))} | {"start/*": []}
html_theme_options = {
    "header_links_before_dropdown": 7,
    "navigation_with_keys": True,
    "navbar_align": "left",
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}
# Without the blank line that ends each example in the source.
highlight_options = {"python": {"stripnl": True}}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
suppress_warnings = ["config.cache"]


def _skip(app: object, what: str, name: str, member: object, skip: bool, options: object) -> bool | None:
    """Leave out what scikit-learn adds to every estimator: it is documented there."""
    return True if name.endswith("_request") or name == "get_metadata_routing" else None


def setup(app: Sphinx) -> None:
    """Connect the hook above."""
    app.connect("autodoc-skip-member", _skip)
