"""Hypothesis profiles, and the laboratory's files where they are at hand."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, Phase, settings

_PATIENT = {"deadline": None, "database": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("ci", max_examples=100, derandomize=True, **_PATIENT)
settings.register_profile("search", max_examples=1000, **_PATIENT)  # pytest --hypothesis-profile=search
settings.register_profile("mutants", max_examples=60, derandomize=True, phases=[Phase.generate], **_PATIENT)
settings.load_profile("ci")


@pytest.fixture(scope="session")
def lab_data() -> Path:
    """The folder with the laboratory's scores and features."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("TERCET_LAB_DATA", beside))
    if not folder.is_dir():
        pytest.skip(f"the laboratory's files are not at {folder}: name their folder in TERCET_LAB_DATA")
    return folder
