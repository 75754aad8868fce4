"""How many functions of tercet one file of scores passes through on its way to the table."""

import collections
import contextlib
import sys
from pathlib import Path

import tercet

ROOT = str(Path(tercet.__file__).parent)
ROWS = "score,label\n2.0,1\n1.0,1\n-0.5,1\n0.3,0\n-1.0,0\n-2.0,0\n"


def entered(arguments):
    """The functions of tercet that a command enters, by package, each named once."""
    from tercet.cli.main import main

    found = set()

    def note(frame, event, _):
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(ROOT) and not code.co_name.startswith("<"):
            found.add((code.co_filename.removeprefix(ROOT).split("/")[1], code.co_filename, code.co_name))

    with contextlib.suppress(SystemExit):
        main(arguments, standalone_mode=False)  # imports are done now
    before = sys.getprofile()
    sys.setprofile(note)
    try:
        with contextlib.suppress(SystemExit):
            main(arguments, standalone_mode=False)
    finally:
        sys.setprofile(before)
    return collections.Counter(package for package, *_ in found)


def test_a_csv_file_reaches_the_table_through_a_bounded_number_of_functions(tmp_path, capsys):
    path = tmp_path / "a.csv"
    path.write_text(ROWS)
    packages = entered(["evaluate", str(path)])
    assert "eer" in capsys.readouterr().out
    assert {"cli", "io", "metrics", "report"} <= set(packages)
    assert sum(packages.values()) <= 352, packages  # docs/architecture.md names the number
