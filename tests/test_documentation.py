"""The documentation: every block of code runs, in order, and shows what it printed."""

import contextlib
import doctest
import html
import inspect
import io
import itertools
import re
import shlex
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import tercet
from tercet.cli.main import main
from tercet.report.plots._figure import KINDS

ROOT = Path(__file__).parents[1]
GENERATED = {"docs/reference/api.md", "docs/reference/schema.md"}
PAGES = [
    page
    for page in sorted([*(ROOT / "docs").rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"])
    if "generated" not in page.parts and page.relative_to(ROOT).as_posix() not in GENERATED
]
IDS = [page.relative_to(ROOT).as_posix() for page in PAGES]
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.S | re.M)
# A line of code, or of a shell: `text` is for diagrams and signatures only.
CODE = re.compile(r"^\s*(>>> |\$ |tercet |tc\.|import |from |python3? |pip |with |for |print\()", re.M)
INSTALL = {"README.md", "CONTRIBUTING.md", "docs/start/install.md", "docs/laboratory.md"}  # may show shell commands
# What a page's first line of code may take for granted is made by the page itself, in a block before it.
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page):
    """(line, language, text) of each fenced block."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        yield text.count("\n", 0, found.start(2)) + 1, found[1], found[2]


def run_python(text, names, page, line):
    if not re.search(r"^>>> ", text, re.M):
        before = set(names)
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile("\n" * (line - 1) + text, page, "exec"), names)
        for name in set(names) - before:  # a function that the page defines has examples that run, too
            run_examples(
                getattr(names[name], "__doc__", None) if inspect.isfunction(names[name]) else "", names, page, line
            )
        return
    run_examples(text, names, page, line)


def run_examples(text, names, page, line):
    example = doctest.DocTestParser().get_doctest(text or "", names, page, page, line)
    runner, out = doctest.DocTestRunner(optionflags=FLAGS), io.StringIO()
    runner.run(example, out=out.write, clear_globs=False)
    names.update(example.globs)
    assert not runner.failures, out.getvalue()


class Terminal(CliRunner):
    """Runs commands as in a terminal of 100 columns without colours, so that tables are printed as readers see them."""

    @contextlib.contextmanager
    def isolation(self, *given, **options):
        with super().isolation(*given, **options) as streams:
            sys.stdout.isatty = lambda: True
            yield streams


def run_command(typed, page, line):
    """What a command line prints; `|` hands the output of one command to the next, `>` writes it to a file."""
    words = shlex.split(typed, comments=True)
    *words, redirected, target = words if ">" in words else (*words, None, None)
    printed, parts = None, [list(part) for bar, part in itertools.groupby(words, "|".__eq__) if not bar]
    for part in parts:
        shown = part is parts[-1] and not redirected
        runner = (Terminal if shown else CliRunner)(env={"COLUMNS": "100", "NO_COLOR": "1"})
        assert part[0] == "tercet", f"{page}:{line}: only tercet's own commands are run: {typed}"
        found = runner.invoke(main, part[1:], input=printed)
        assert found.exit_code == 0, f"{page}:{line}: {typed}\n{found.output}\n{found.exception!r}"
        printed = click.unstyle(found.stdout)
    if redirected:
        Path(target).write_text(printed, encoding="utf-8")
    return printed


def run_console(text, page, line):
    """Runs each `$ tercet ...` and compares what follows it, if anything does, with what was printed."""
    for command in re.split(r"^\$ ", text, flags=re.M)[1:]:
        typed, _, shown = command.partition("\n")
        printed = run_command(typed, page, line)
        if shown.strip():
            same = doctest.OutputChecker().check_output(shown.strip(), printed.strip(), FLAGS)
            assert same, f"{page}:{line}: {typed}\nprinted\n{printed}"


@pytest.mark.filterwarnings("ignore:.*:FutureWarning:mlflow")
@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_block_of_the_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "file:runs")  # instead of the reader's server
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    name, names = page.relative_to(ROOT).as_posix(), {"__name__": "page"}
    for line, language, text in blocks(page):
        if language == "python":
            run_python(text, names, name, line)
        elif language == "console":
            run_console(text, name, line)
        elif language == "toml":  # settings, which the commands after it read
            Path("tercet.toml").write_text(text, encoding="utf-8")
        elif language == "sh":
            assert name in INSTALL, f"{name}:{line}: a shell command that is not run"
        elif language == "text":
            assert not CODE.search(text), f"{name}:{line}: code that is not run"
        else:
            assert language.startswith("{"), f"{name}:{line}: a block of {language!r}"


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_no_code_stands_outside_a_fence(page):
    text = FENCE.sub(lambda found: "\n" * found[0].count("\n"), page.read_text(encoding="utf-8"))
    for number, line in enumerate(text.splitlines(), 1):
        assert not line.startswith(">>>"), f"{page.name}:{number}: an example outside a fence is not run"
        code = line.startswith("    ") and re.match(r"(tercet|tc\.|import |from |python)", line.strip())
        assert not code, f"{page.name}:{number}: an indented block is not run"


def headings(page):
    """The anchors of a page's headings, as the site makes them."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for title in re.findall(r"^#+ (.*)$", text, re.M):
        plain = re.sub(r"[^\w\- ]", "", title.lower())
        yield plain.strip().replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_every_link_of_the_page_leads_somewhere(page):
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        made = {"api.md", "schema.md", "drawn"} & {target.name, target.parent.name}  # written while the site is built
        assert made or target.exists(), f"{page.name}: {link} is not there"
        if anchor and target.suffix == ".md" and not made:
            assert anchor in set(headings(target)), f"{page.name}: {link}: no such heading"


DOI = re.compile(r"(?:doi:|arXiv:)\S*[^\s.,;]")
YEAR = re.compile(r"([A-Z][\w-]+)[^;.()]*?\b(1[89]\d\d|20\d\d)\b")
BIBLIOGRAPHY = ROOT / "docs" / "theory" / "bibliography.md"


def entries():
    """The papers of the bibliography, one text each."""
    text = html.unescape(BIBLIOGRAPHY.read_text(encoding="utf-8"))
    return [" ".join(entry.split()) for entry in text.split("\n\n")[2:]]


def test_every_paper_that_a_docstring_or_a_page_names_by_address_is_in_the_bibliography():
    known = {found for entry in entries() for found in DOI.findall(entry)}
    texts = [*(ROOT / "src").rglob("*.py"), *PAGES]
    cited = {found for path in texts if path != BIBLIOGRAPHY for found in DOI.findall(path.read_text(encoding="utf-8"))}
    assert len(cited) > 40
    assert cited - known - {"doi:..."} == set()


def in_bibliography(name, year):
    starts = (name.lower(), f"van {name.lower()}")
    return any(entry.lower().startswith(starts) and f"({year})" in entry for entry in entries())


def test_the_papers_behind_the_intervals_are_in_the_bibliography():
    cited = (ROOT / "docs" / "uncertainty.md").read_text(encoding="utf-8").rpartition("## References")[2]
    pairs = YEAR.findall(" ".join(cited.split()))
    assert len(pairs) > 20
    for name, year in pairs:
        assert in_bibliography(name, year), (name, year)


def test_the_papers_that_the_theory_cites_are_in_the_bibliography():
    theory = [page for page in PAGES if page.parent.name == "theory" and page != BIBLIOGRAPHY]
    cited = [
        part
        for page in theory
        for part in re.findall(r"\(([^()]*\b(?:1[89]|20)\d\d)\)", page.read_text(encoding="utf-8"))
    ]
    pairs = [pair for part in cited for pair in YEAR.findall(" ".join(part.split()))]
    assert len(pairs) > 12
    for name, year in pairs:
        assert in_bibliography(name, year), (name, year)


@pytest.mark.parametrize("page", ["speech.md", "biometrics.md", "forensics.md"])
def test_the_report_of_a_field_takes_at_most_twelve_commands(page):
    typed = [text for _, language, text in blocks(ROOT / "docs" / page) if language == "console"]
    commands = [line for text in typed for line in text.splitlines() if line.startswith("$ tercet")]
    assert 4 <= len([line for line in commands if not line.startswith("$ tercet demo")]) <= 12


def rows(page):
    """The cells of each row of a page's tables, whose formulas write a bar as \\mid."""
    for line in (ROOT / "docs" / page).read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith("| term"):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def exists(name):
    """Whether tercet has the name; arguments (`target=`) and the call of a name (`evaluate(...)`) are read as such."""
    value = tercet
    for part in re.split(r"[(\[]", name.removeprefix("tercet.").removeprefix("tc."))[0].split("."):
        if part.endswith("="):
            return True
        value = getattr(value, part, None)
    return value is not None


def test_every_term_of_the_glossary_has_a_meaning_and_a_function_that_exists():
    found = list(rows("glossary.md"))
    assert len(found) > 80
    for row in found:
        assert len(row) == 4, row
        term, _, meaning, names = row
        assert meaning, term
        assert names, term
        for name in re.findall(r"`([^`]+)`", names):
            assert exists(name), f"{term}: tercet has no {name}"


def test_the_gallery_shows_every_kind_of_figure():
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    missing = [kind for kind in KINDS if not re.search(rf'^tc\.plot\(.*, "{kind}"', text, re.M)]
    assert missing == []


def test_the_pages_that_count_or_list_the_figures_have_all_of_them():
    readme, page = ((ROOT / name).read_text(encoding="utf-8") for name in ("README.md", "docs/report.md"))
    assert f"ROC, DET, Bayes error and {len(KINDS) - 3} other kinds of figures" in readme
    table = page.partition("| kind | shows |")[2].partition("\n\n")[0]
    listed = {kind for row in table.splitlines()[2:] for kind in row.split("|")[1].strip().split(", ")}
    assert listed == set(KINDS)


def links(page):
    """The pages that a page links to or lists in its table of contents."""
    text = page.read_text(encoding="utf-8")
    listed = [name for part in re.findall(r"```\{toctree\}\n(.*?)```", text, re.S) for name in part.splitlines()]
    named = [re.sub(r".*<(.*)>", r"\1", name).strip() for name in listed if name and not name.startswith(":")]
    linked = [link.partition("#")[0] for link in re.findall(r"\]\(([^)\s]+\.md[^)\s]*)\)", text)]
    for name in [f"{name}.md" for name in named] + linked:
        target = (page.parent / name).resolve()
        if target.exists():
            yield target


def prose(page):
    """The text of a page without its code."""
    return re.sub(r"`[^`]*`", "", FENCE.sub("", page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=IDS)
def test_a_page_that_says_llr_says_what_it_is(page):
    text = prose(page)
    used = re.search(r"\bllrs?\b", text)
    assert used is None or re.search(r"log-likelihood[-\s]ratio", text[: used.end() + 200], re.I), used


TUTORIALS = sorted(set(links(ROOT / "docs" / "tutorials" / "index.md")) - {ROOT / "docs" / "start" / "index.md"})


@pytest.mark.parametrize("page", TUTORIALS, ids=[page.stem for page in TUTORIALS])
def test_a_tutorial_says_what_you_will_do_and_ends_with_next_steps(page):
    text = prose(page)
    assert re.search(r"\b[Yy]ou (will|want)\b", text.partition("\n## ")[0])
    *_, last = text.split("\n## ")
    assert last.startswith("Next steps\n")
    assert len(re.findall(r"\]\([^)]+\.md", last)) >= 2


@pytest.mark.parametrize(
    ("task", "page", "shows"),
    [
        ("a threshold for my costs", "howto/threshold.md", "threshold"),
        ("each table of the laboratory", "laboratory.md", "laboratory.py"),
        ("an interval by speaker on a minimum DCF", "howto/interval.md", 'by="speaker"'),
        ("a DET of three systems in my own axes", "howto/figure.md", "ax=left"),
        ("100 million rows", "howto/large.md", "scan"),
        ("a new metric", "contributing.md", "CONTRIBUTING"),
    ],
)
def test_a_newcomer_finds_it_in_three_clicks(task, page, shows):
    start, reached = ROOT / "docs" / "index.md", set()
    near = {start}
    for _ in range(3):
        near = {target for one in near for target in links(one)} - reached
        reached |= near
    assert ROOT / "docs" / page in reached, task
    assert shows in (ROOT / "docs" / page).read_text(encoding="utf-8")
