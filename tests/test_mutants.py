"""Every patch of a mutant applies to the source as it is; `python tests/mutants.py` tries whether a test notices it."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def loaded():
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tests" / "mutants.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


mutants = loaded()


@pytest.mark.parametrize("mutant", mutants.MUTANTS, ids=lambda mutant: mutant.name)
def test_each_patch_of_a_mutant_applies_exactly_once_and_changes_a_program_that_still_compiles(mutant):
    for file, right, wrong in mutant.patches:
        path = ROOT / "src" / "tercet" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(right) == 1, f"{file} does not hold {right!r} exactly once"
        compile(text.replace(right, wrong), str(path), "exec")


def test_the_tests_that_mutants_are_tried_on_exist():
    for mutant in mutants.MUTANTS:
        for file in mutant.tests:
            assert (ROOT / file).is_file()
