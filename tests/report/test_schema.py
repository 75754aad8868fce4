"""The published schemas are those of the code, and every JSON that is written follows them."""

import json
from importlib.resources import files

import pytest

from tercet.errors import InputError
from tercet.report.schema import NAMES, faults, published, schema

FOLDER = files("tercet.report") / "schema"


@pytest.mark.parametrize("name", NAMES)
def test_the_published_schema_is_the_one_of_the_code(name):
    assert published(name) == json.loads(json.dumps(schema(name)))


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_is_a_json_schema(name):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: pip install jsonschema")
    jsonschema.Draft202012Validator.check_schema(published(name))


def test_an_unknown_schema_is_refused():
    with pytest.raises(InputError, match="result, comparison, model"):
        schema("page")


@pytest.mark.parametrize(
    ("value", "rule", "problem"),
    [
        (1.0, {"type": "string"}, "must be string"),
        (True, {"type": "number"}, "must be number"),
        (float("inf"), {"type": "number"}, "finite"),
        (10**400, {"type": "number"}, "finite"),
        (2, {"type": "number", "maximum": 1}, "out of range"),
        ([], {"type": "array", "minItems": 1}, "0 entries"),
        ({}, {"type": "object", "required": ["a"]}, "lacks 'a'"),
        ({"a": [1], "b": []}, {"type": "object", "x-equal-lengths": ["a", "b"]}, "different lengths"),
        (True, {"enum": [1]}, "must be one of"),
    ],
)
def test_what_breaks_a_rule_is_named(value, rule, problem):
    assert [problem in found for _, found in faults(value, rule)] == [True]


if __name__ == "__main__":  # writes the published schemas
    for name in NAMES:
        (FOLDER / f"{name}.json").write_text(json.dumps(schema(name), indent=1) + "\n", encoding="utf-8")
