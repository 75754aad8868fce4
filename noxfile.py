#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2024.3"]
# ///
"""Tasks for people who work on tercet: `python -m nox -l` lists them.

They run in the environment that CONTRIBUTING.md sets up.
"""

import re
import shutil
import sys
import tomllib
from pathlib import Path

import nox

nox.needs_version = ">=2024.3"
nox.options.default_venv_backend = "none"


def _run(session: nox.Session, *words: str) -> None:
    """Run a module with the Python that runs nox."""
    session.run(sys.executable, "-m", *words)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and types."""
    _run(session, "ruff", "check", ".")
    _run(session, "ruff", "format", "--check", ".")
    _run(session, "mypy")


@nox.session
def tests(session: nox.Session) -> None:
    """Run the tests; further words go to pytest."""
    _run(session, "pytest", "-n", "auto", *session.posargs)


@nox.session(default=False)
def doctests(session: nox.Session) -> None:
    """Run every example in docstrings, documentation and README."""
    _run(session, "pytest", "--doctest-modules", "src/tercet")
    _run(session, "pytest", "tests/test_documentation.py")


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Measure branch coverage of src; below the floor in pyproject.toml is an error."""
    _run(session, "pytest", "-n", "auto", "--cov", *session.posargs)


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation site into build/docs, check its links and walk it in a browser; a warning is an error."""
    shutil.rmtree("docs/reference/generated", ignore_errors=True)  # pages of names that are gone
    _run(session, "sphinx", "-W", "--keep-going", "-q", "-j", "2", "docs", "build/docs")
    session.run(sys.executable, "docs/check_site.py", "build/docs")
    site = {"TERCET_SITE": "build/docs"}
    session.run(sys.executable, "-m", "pytest", "tests/report/test_documentation_site.py", env=site)


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """Build wheel and sdist into dist/."""
    _run(session, "build")


@nox.session(default=False, venv_backend="venv")
def installed(session: nox.Session) -> None:
    """Install the wheel into an empty environment and run the tests against it; further words go to pytest."""
    folder = session.create_tmp()
    session.run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, external=True)
    (wheel,) = Path(folder).glob("*.whl")
    session.install(f"{wheel}[dev]")
    session.run("python", "-P", "-m", "pytest", "-n", "auto", *session.posargs)


@nox.session(default=False, venv_backend="venv")
def lowest(session: nox.Session) -> None:
    """Run the tests with the oldest libraries that pyproject.toml admits; further words go to pytest."""
    project = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["dev"]]
    # click and scikit-learn stand twice: tests need later versions than users.
    oldest = {re.split("[>;]", one)[0]: one.replace(">=", "==") for one in wanted if ">=" in one}
    session.install("-e", ".", *oldest.values())
    session.run("python", "-m", "pytest", "-n", "auto", *session.posargs)


if __name__ == "__main__":
    nox.main()
