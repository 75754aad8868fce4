"""JSON Schemas of what commands other than evaluate and compare print: their top-level fields, and rows where there are
some."""

from __future__ import annotations

from tercet._typing import JSON

Schema = JSON

_TEXT: Schema = {"type": "string"}
_NUMBER: Schema = {"anyOf": [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}]}
_OBJECT: Schema = {"type": "object"}
_ENDS: Schema = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2}


def _rows(of: Schema | None = None) -> Schema:
    return {"type": "array", "items": _OBJECT if of is None else of}


def _row(**fields: Schema) -> Schema:
    return {"type": "object", "properties": fields, "required": sorted(fields)}


_RULE: Schema = {
    "criterion": _TEXT, "threshold": _NUMBER, "accept_all": {"type": "boolean"}, "meaning": _TEXT, "rates": _OBJECT,
}  # fmt: skip
_CHOICE = _row(method=_TEXT, prior={}, dcf=_NUMBER, cross_entropy=_NUMBER)
_RATE = _row(name=_TEXT, value=_NUMBER)

# Each command, its subcommand after a hyphen: the fields that are always there.
FIELDS: dict[str, Schema] = {
    "select": {"rows": _rows(_CHOICE), "min_dcf": _NUMBER},
    "count": {"rates": _rows(_RATE), "classes": {"type": "array", "items": _TEXT}},
    "rule-fit": _RULE,
    "rule-judge": {
        "rule": _row(**_RULE), "hindsight": _row(**_RULE), "confusion": {"type": "array"}, "quantity": _TEXT,
        "value": _NUMBER, "in_hindsight": _NUMBER, "regret": _NUMBER, "rates": _OBJECT,
        "kept": {"type": ["boolean", "null"]},
    },
    "coverage": {"systems": _rows()},
    "prevalence": {"prevalence": _NUMBER, "prevalence_ci": _ENDS, "level": _NUMBER, "method": _TEXT},
    "gaps": {"column": _TEXT, "level": _NUMBER, "groups": _rows(), "gaps": _rows()},
    "calibration": {"rows": _rows()},
    "sensitivity-inputs": {"inputs": _OBJECT, "thresholds": _rows()},
    "sensitivity-labels": {"rows": _rows()},
    "sensitivity-verification": {"rates": _rows(), "prevalence": {}},
    "primary": {"systems": _rows()},
    "biometrics-fnmr": {"systems": _rows(_row(name=_TEXT, fnmr_at_fmr=_rows()))},
    "biometrics-rates": {"rates": _OBJECT},
    "biometrics-attacks": {"presentation_attacks": _OBJECT},
    "biometrics-plan": {"rows": _rows()},
    "spoofing-a-dcf": {"systems": _rows()},
    "spoofing-t-dcf": {"t_dcf": {}},
    "spoofing-t-eer": {"t_eer": _OBJECT},
    "forensics-report": {"validation": _OBJECT},
    "forensics-bounds": {"rows": _rows()},
    "sweep": {"sweep": _OBJECT},
    "sample-size": {"rows": _rows()},
    "points": {"rows": _rows(_row(name=_TEXT, source=_TEXT))},
}  # fmt: skip
