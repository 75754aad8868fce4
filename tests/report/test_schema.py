"""The published schemas are JSON Schemas, and what breaks one is named with its place."""

import pytest

from tercet.errors import InputError
from tercet.report.schema import faults, published, schema


@pytest.mark.parametrize("name", published())
def test_the_schema_is_a_json_schema(name):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: pip install jsonschema")
    jsonschema.Draft202012Validator.check_schema(published()[name])


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
