"""Saved models: the same bits after loading, and nothing damaged or foreign is taken."""

import contextlib
import copy
import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tercet import Trials
from tercet.calibration.beta import Beta, Offset
from tercet.calibration.fusion import Fusion, load_model
from tercet.calibration.kernel_density import KernelDensity
from tercet.calibration.multiclass import Affine
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic, Threshold
from tercet.errors import CalibrationError, InputError, TercetError
from tercet.testing import labelled_scores, score_matrices

SCORES = np.array([0.1, 1.0, 0.7, 2.0, 1.5, 0.3, math.pi])
LABELS = [0, 1, 0, 1, 0, 1, 1]
TRIALS = Trials.of_scores(SCORES, LABELS, weights=[1, 2, 0.1, 1, 1, 1, 3])
MATRIX = np.random.default_rng(0).normal(size=(30, 3))
ROWS = Trials.of_log_likelihoods(MATRIX + np.eye(3)[np.arange(30) % 3], np.arange(30) % 3)
MODELS = [
    Logistic.fit(TRIALS, 0.1),
    Logistic.fit(TRIALS, 0.1, penalty=0.3),
    Isotonic.fit(TRIALS),
    Isotonic.fit(TRIALS, raw=True),
    Isotonic.fit(TRIALS, pseudo_errors=3, interpolation="linear"),
    Beta.fit(Trials.of_llr(SCORES, LABELS)),
    Offset.fit(TRIALS, 0.1),
    KernelDensity.fit(TRIALS),
    Gaussian.fit(TRIALS),
    Gaussian.fit(TRIALS, shared_variance=False),
    Threshold.fit(TRIALS, (0.5, 1, 1)),
    Threshold.fit(TRIALS, (0.999, 1, 1)),
    *(Affine.fit(ROWS, kind=kind) for kind in ("temperature", "scale", "offsets", "matrix")),
    Fusion.fit([TRIALS, Trials.of_scores(SCORES[::-1].copy(), LABELS, weights=TRIALS.weights)], 0.2),
    Fusion.fit([ROWS, ROWS]),
]
IDS = [f"{place}-{model.method}" for place, model in enumerate(MODELS)]


def applied(model):
    if isinstance(model, Fusion):
        given = [MATRIX, MATRIX] if len(model.classes) == 3 else [SCORES, SCORES]
        return model(given)
    return model(MATRIX if isinstance(model, Affine) else SCORES)


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_a_saved_model_loads_back_to_the_bit(model):
    text = model.to_json()
    for again in (load_model(text), type(model).from_json(text), type(model).from_json(text.encode())):
        assert type(again) is type(model)
        assert again.to_json() == text
        assert applied(again).tobytes() == applied(model).tobytes()
        assert dict(again.training) == json_like(model.training)


def json_like(facts):
    return {key: list(value) if isinstance(value, tuple) else value for key, value in facts.items()}


@given(labelled_scores())
def test_save_load_apply_gives_the_same_bits(rows):
    trials = Trials.of_scores(*rows)
    for method in (Isotonic, Logistic, Gaussian):
        try:
            model = method.fit(trials)
        except CalibrationError:
            continue
        assert load_model(model.to_json())(trials.scores).tobytes() == model(trials.scores).tobytes()


@given(score_matrices(max_size=15, infinities=False))
def test_multiclass_maps_too(rows):
    trials = Trials.of_log_likelihoods(*rows, orientation="samples x classes")
    try:
        model = Affine.fit(trials, kind="offsets", penalty=0.1)
    except CalibrationError:
        assume(False)
    assert load_model(model.to_json())(trials).scores.tobytes() == model(trials).scores.tobytes()


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_models_are_frozen_and_travel_between_processes(model):
    with pytest.raises((AttributeError, TypeError)):
        model.training = {}
    with pytest.raises(TypeError):
        model.training["trials"] = 0
    for twin in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert twin.to_json() == model.to_json()


@pytest.mark.parametrize("model", MODELS, ids=IDS)
def test_unknown_and_missing_fields_are_refused(model):
    for part in ((), ("parameters",), ("training",)):
        document = json.loads(model.to_json())
        inner = document
        for name in part:
            inner = inner[name]
        inner["comment"] = 1
        with pytest.raises(InputError, match="unknown field 'comment'"):
            load_model(json.dumps(document))
        del inner["comment"]
        for name in list(inner):
            kept = inner.pop(name)
            with pytest.raises(InputError):
                load_model(json.dumps(document))
            inner[name] = kept


@pytest.mark.parametrize("model", MODELS, ids=IDS)
@given(data=st.data())
def test_damaged_parameters_are_refused_or_harmless(model, data):
    document = json.loads(model.to_json())
    name = data.draw(st.sampled_from(sorted(document["parameters"])))
    document["parameters"][name] = data.draw(
        st.one_of(
            st.none(),
            st.booleans(),
            st.text(max_size=3),
            st.lists(st.integers(), max_size=3),
            st.just("nan"),
            st.just({}),
        )
    )
    with contextlib.suppress(TercetError):
        load_model(json.dumps(document))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a tercet model file"),
        ("{", "not a tercet model file"),
        ("[]", "table of named fields"),
        ("null", "table of named fields"),
        ("[" * 100_000, "not a tercet model file"),
        (b"\xff\xfe\x00", "not a tercet model file"),
        (b"\x80\x04\x95pickle", "not a tercet model file"),
        ('{"systems": []}', "unknown field"),
    ],
)
def test_foreign_files_are_refused(text, message):
    with pytest.raises(InputError, match=message):
        load_model(text)


def test_versions_methods_and_constants_are_checked():
    document = json.loads(MODELS[0].to_json())
    for change, message in (
        ({"schema_version": 2}, "schema_version must be 1"),
        ({"schema_version": True}, "schema_version must be 1"),
        ({"method": "svm"}, "not one of"),
        ({"method": ["logistic"]}, "not one of"),
        ({"parameters": {"slope": "inf", "offset": 0.0}}, "must be finite"),
        ({"parameters": {"slope": "1", "offset": 0.0}}, "must be a number"),
        ({"parameters": {"slope": 10**400, "offset": 0.0}}, "must be a number"),
    ):
        with pytest.raises(InputError, match=message):
            load_model(json.dumps(document | change))
    with pytest.raises(InputError, match="NaN is not JSON"):
        load_model(MODELS[0].to_json().replace('"slope": ', '"slope": NaN, "x": '))
    with pytest.raises(InputError, match="occurs twice"):
        load_model(MODELS[0].to_json().replace('"offset":', '"slope": 1.0, "offset":'))
    with pytest.raises(InputError, match=r"tercet\.load"):
        Isotonic.from_json(MODELS[0].to_json())


def test_an_isotonic_map_must_ascend():
    document = json.loads(MODELS[2].to_json())
    document["parameters"]["llrs"] = document["parameters"]["llrs"][::-1]
    with pytest.raises(InputError, match="ascend"):
        load_model(json.dumps(document))
    document["parameters"]["llrs"] = document["parameters"]["llrs"][1:]
    with pytest.raises(InputError, match="one llr more"):
        load_model(json.dumps(document))
