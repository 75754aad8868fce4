"""The names that the package gives, as type checkers see them: `__init__.pyi` says what `__init__.py` says."""

import subprocess
import sys
from pathlib import Path

import tercet as tc

STUB = Path(tc.__file__).with_suffix(".pyi")


def stub():
    """What the stub must say; `python tests/test_public_names.py` writes it."""
    named = {f"tercet.{module}": names.split() for module, names in tc._PUBLIC.items()}
    named |= {"tercet": [name for name in tc._MODULES if name != "report"], "tercet.report": ["report"]}
    lines = [
        f"from {module} import {name} as {name}"
        for module, names in sorted(named.items())
        for name in sorted(names, key=lambda one: (one[0].islower(), one))  # classes first, as the linter sorts
    ]
    return "\n".join([*lines, "", "__version__: str", "__all__: list[str]", ""])


def test_type_checkers_see_every_public_name():
    assert STUB.read_text(encoding="utf-8") == stub(), "run `python tests/test_public_names.py` to write it again"


def test_a_user_who_checks_strictly_sees_the_types(tmp_path):
    """What each name is, is told by the stub and not by `__getattr__`, whose answer is an object."""
    (tmp_path / "user.py").write_text(
        "import tercet as tc\n\n"
        "reveal_type(tc.case_cost_curve)\nreveal_type(tc.evaluate)\nreveal_type(tc.report)\nreveal_type(tc.io.read)\n"
    )
    source = STUB.parent.parent
    known = {} if source.name == "site-packages" else {"MYPYPATH": str(source)}  # mypy looks there by itself
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", tmp_path / "cache", "user.py"],
        cwd=tmp_path, env=known, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seen = [line.split("Revealed type is")[1] for line in done.stdout.splitlines() if "user.py" in line]
    assert len(seen) == 4, done.stdout + done.stderr
    assert "CaseCostCurve" in seen[0]
    assert "Overload" in seen[1]
    assert not any("object" in one[:12] or "Any" in one[:8] for one in seen), seen


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
