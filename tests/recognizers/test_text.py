"""The text recogniser: the laboratory's numbers, scikit-learn's, and what it refuses."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.recognizers import TextRecognizer, every_nth, read_texts, text
from tercet.recognizers import _classes as classes

CANTICHE = ("inferno", "purgatorio", "paradiso")
EPS = {0.001: "", 1.0: "_eps1"}
UNIFORM = tc.Application.multiclass([1 / 3, 1 / 3, 1 / 3], classes=CANTICHE)


@pytest.fixture(scope="module")
def poem(lab_data):
    parts = {"train": ([], []), "test": ([], [])}
    for name in CANTICHE:
        lines = read_texts(lab_data / "lab" / f"{name}.txt", "latin-1")
        for part, rows in zip(parts.values(), every_nth(len(lines), 4), strict=True):
            part[0].extend(lines[i] for i in rows)
            part[1].extend([name] * len(rows))
    return parts


def model_of(poem, pseudo_count, splitter=str.split):
    return TextRecognizer.fit(*poem["train"], pseudo_count, splitter, classes=CANTICHE)


@pytest.mark.parametrize("pseudo_count", EPS)
def test_the_log_likelihoods_are_the_laboratorys(poem, lab_data, pseudo_count):
    trials = model_of(poem, pseudo_count).trials(*poem["test"])
    given_ll = np.load(lab_data / "lab" / f"commedia_ll{EPS[pseudo_count]}.npy").T
    labels = np.load(lab_data / "lab" / f"commedia_labels{EPS[pseudo_count]}.npy")
    assert trials.scores.shape == given_ll.shape == (1204, 3)
    assert np.abs(trials.scores - given_ll).max() <= 1e-11
    assert trials.labels.tolist() == labels.tolist()


def test_so_many_tercets_of_each_cantica_are_recognised(poem):
    found = tc.confusion_of(model_of(poem, 0.001).trials(*poem["test"]), UNIFORM)
    assert [round(100 * share, 1) for share in found.per_class("tpr").values()] == [52.5, 47.5, 57.2]
    assert round(100 * found.accuracy) == 52


@pytest.mark.parametrize(
    ("target", "other", "strict", "loose"),
    [
        ("inferno", "paradiso", 74.4, 75),
        ("inferno", "purgatorio", 61.8, 62),
        ("purgatorio", "paradiso", 65.0, 65),
    ],
)
def test_pairs_of_cantiche_under_both_tie_rules(poem, target, other, strict, loose):
    pair = model_of(poem, 0.001).trials(*poem["test"]).versus(target, other)
    assert round(100 * tc.confusion_of(pair, 0.5).accuracy, 1) == strict
    assert round(100 * np.mean((pair.scores >= 0) == pair.labels)) == loose
    assert np.sum(pair.scores == 0.0) == (target == "inferno")


def test_the_tie_is_the_one_tercet_without_a_known_word(poem):
    model = model_of(poem, 0.001)
    texts = poem["test"][0]
    known = model.known_words(texts)
    silent = np.flatnonzero(known == 0)
    assert len(silent) == 1
    assert (model.log_likelihoods(texts)[silent] == 0.0).all()
    assert known.sum() == sum(word in model.vocabulary for text in texts[:3] for word in text.split()) + known[3:].sum()


@pytest.mark.parametrize("pseudo_count", EPS)
def test_it_is_multinomial_naive_bayes(poem, pseudo_count):
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB

    counter = CountVectorizer(lowercase=False, tokenizer=str.split, token_pattern=None)
    theirs = MultinomialNB(alpha=pseudo_count, fit_prior=False).fit(
        counter.fit_transform(poem["train"][0]), poem["train"][1]
    )
    model = model_of(poem, pseudo_count)
    assert list(model.vocabulary) == counter.get_feature_names_out().tolist()
    order = [theirs.classes_.tolist().index(name) for name in CANTICHE]
    np.testing.assert_allclose(model.log_frequencies, theirs.feature_log_prob_[order].T, rtol=1e-12)
    joint = theirs.predict_joint_log_proba(counter.transform(poem["test"][0]))[:, order]
    np.testing.assert_allclose(model.log_likelihoods(poem["test"][0]) - math.log(3), joint, rtol=1e-11, atol=1e-11)


words = st.lists(st.sampled_from(["a", "b", "c", "d", "selva"]), min_size=1, max_size=8).map(" ".join)


@given(
    st.lists(st.tuples(words, st.sampled_from("xyz")), min_size=2, max_size=12),
    words,
    st.sampled_from([0.0, 0.001, 1.0]),
)
def test_the_model_follows_its_definition(pairs, text, pseudo_count):
    texts, labels = zip(*pairs, strict=True)
    if len(set(labels)) < 2:
        return
    model = TextRecognizer.fit(texts, labels, pseudo_count)
    vocabulary = {word for one in texts for word in one.split()}
    for k, name in enumerate(sorted(set(labels))):
        own = [word for one, label in pairs if label == name for word in one.split()]
        total = len(own) + pseudo_count * len(vocabulary)
        chances = [(own.count(word) + pseudo_count) / total for word in text.split() if word in vocabulary]
        expected = sum(math.log(chance) if chance > 0 else -math.inf for chance in chances)
        assert model.log_likelihoods([text])[0, k] == pytest.approx(expected, rel=1e-12)


def test_neither_the_order_of_the_texts_nor_their_chunks_matter(poem, monkeypatch):
    texts, labels = poem["train"]
    model = model_of(poem, 0.001)
    assert TextRecognizer.fit(texts[::-1], labels[::-1], 0.001, classes=CANTICHE).to_json() == model.to_json()
    whole = model.log_likelihoods(poem["test"][0])
    monkeypatch.setattr(text, "_TEXTS", 7)
    assert model.log_likelihoods(poem["test"][0]).tobytes() == whole.tobytes()
    assert model.log_likelihoods(poem["test"][0][::-1])[::-1].tobytes() == whole.tobytes()


def test_a_splitter_of_ones_own_gives_the_words(poem):
    assert (
        model_of(poem, 1.0, lambda text: text.split()).to_json().replace('"own"', '"blanks"')
        == model_of(poem, 1.0).to_json()
    )
    model = TextRecognizer.fit(["Ab", "c"], [0, 1], 1, splitter=lambda text: (letter for letter in text.lower()))
    assert model.vocabulary == ("a", "b", "c")
    assert model.known_words(["CAB!"]).tolist() == [3]


def test_a_stored_model_gives_the_same_bits(poem):
    model = model_of(poem, 0.001)
    again = TextRecognizer.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert again.log_likelihoods(poem["test"][0]).tobytes() == model.log_likelihoods(poem["test"][0]).tobytes()
    odd = TextRecognizer.fit(["é \ud800 =HYPERLINK(1) </script>", "NaN null"], ["x", "y"], 0.1)
    assert TextRecognizer.from_json(odd.to_json()).vocabulary == odd.vocabulary


def test_empty_texts_and_unknown_words_say_nothing():
    model = TextRecognizer.fit(["a b", "", "c"], [0, 0, 1])
    assert model.log_likelihoods(["", "   ", "zzz yyy"]).tolist() == [[0.0, 0.0]] * 3
    assert model.log_likelihoods([]).shape == (0, 2)
    assert model.known_words([]).tolist() == []
    np.testing.assert_array_equal(model.log_likelihoods(["a zzz"]), model.log_likelihoods(["a"]))


def test_without_pseudo_count_a_word_of_another_class_is_impossible():
    model = TextRecognizer.fit(["a a b", "b"], [0, 1], 0)
    assert model.log_likelihoods(["a", "b"])[:, 1].tolist() == [-math.inf, 0.0]
    with pytest.raises(tc.InputError, match="-inf for every class"):
        TextRecognizer.fit(["a", "b"], [0, 1], 0).trials(["a b"])


def test_columns_of_frames_are_taken():
    import pandas as pd
    import polars as pl

    texts, labels = ["a b", "c", "a"], ["x", "y", "x"]
    expected = TextRecognizer.fit(texts, labels).to_json()
    assert TextRecognizer.fit(pd.Series(texts), pd.Series(labels)).to_json() == expected
    assert TextRecognizer.fit(pl.Series(texts), pl.Series(labels)).to_json() == expected
    assert TextRecognizer.fit(np.array(texts), np.array(labels)).to_json() == expected
    assert TextRecognizer.fit(iter(texts), labels).to_json() == expected
    with pytest.raises(tc.InputError, match="different indexes"):
        TextRecognizer.fit(pd.Series(texts), pd.Series(labels, index=[3, 4, 5]))


@pytest.mark.parametrize(
    ("match", "change"),
    [
        ("put a single text into a list", {"texts": "a b"}),
        ("put a single text into a list", {"texts": 7}),
        ("entry 1 .* bytes: decode", {"texts": ["a", b"b"]}),
        ("entry 1 .* NoneType", {"texts": ["a", None]}),
        ("entry 0 .* float", {"texts": [math.nan, "b"]}),
        ("'y' has no words", {"texts": ["a", " "]}),
        ("has no words", {"texts": ["", ""]}),
        ("entries", {"labels": ["x"]}),
        ("two classes", {"labels": ["x", "x"]}),
        ("two classes", {"texts": [], "labels": []}),
        ("missing", {"labels": ["x", None]}),
        ("no training samples", {"classes": ["x", "y", "z"]}),
        ("not among the classes", {"classes": ["x", "z"]}),
        ("pseudo_count", {"pseudo_count": -1}),
        ("pseudo_count", {"pseudo_count": math.nan}),
        ("pseudo_count", {"pseudo_count": math.inf}),
        ("pseudo_count", {"pseudo_count": "1"}),
        ("pseudo_count", {"pseudo_count": True}),
        ("splitter must", {"splitter": lambda text: [1, 2]}),
    ],
)
def test_what_cannot_be_trained_on_is_refused(match, change):
    with pytest.raises(tc.InputError, match=match):
        TextRecognizer.fit(**{"texts": ["a", "b"], "labels": ["x", "y"], **change})


def test_a_model_too_large_to_hold_is_refused_by_a_stated_cap(monkeypatch):
    monkeypatch.setattr(classes, "_CAP", 3)
    with pytest.raises(tc.InputError, match=r"4 numbers .*above the cap of 3"):
        TextRecognizer.fit(["a", "b"], ["x", "y"])


def stored(**changes):
    document = json.loads(TextRecognizer.fit(["a a b", "b"], ["x", "y"]).to_json())
    for name, value in changes.items():
        part = next((part for part in ("parameters", "training") if name in document[part]), None)
        (document[part] if part else document)[name] = value
    return json.dumps(document)


@pytest.mark.parametrize(
    ("match", "text"),
    [
        ("unknown field.*code", stored(code="import os")),
        ("lacks the field.*classes", stored(parameters={})),
        ("not 'text-recognizer'", stored(method="gaussian-recognizer")),
        ("whole numbers", stored(counts=[[1.5, 0], [1, 1]])),
        ("whole numbers", stored(counts=[[-1, 0], [1, 1]])),
        ("whole numbers", stored(counts=[])),
        ("whole numbers", stored(counts=[[True, False], [True, True]])),
        ("counts|array", stored(counts=[[1], [1, 2]])),
        ("whole numbers|counts", stored(counts=[[2**70, 0], [1, 1]])),
        ("vocabulary", stored(vocabulary=["a"])),
        ("vocabulary", stored(vocabulary=["a", "a"])),
        ("vocabulary", stored(vocabulary=["a", 1])),
        ("vocabulary", stored(vocabulary="ab")),
        ("no words", stored(counts=[[2, 0], [1, 0]])),
        ("pseudo_count", stored(pseudo_count=-1)),
        ("splitter", stored(splitter="eval")),
        ("give it again", stored(splitter="own")),
        ("classes", stored(classes=["x", "y", "z"])),
    ],
)
def test_a_stored_model_that_breaks_the_schema_is_refused(match, text):
    with pytest.raises(tc.InputError, match=match):
        TextRecognizer.from_json(text)


def test_a_model_can_be_sent_to_another_process():
    model = TextRecognizer.fit(["ab", "b"], ["x", "y"], splitter=list)
    again = pickle.loads(pickle.dumps(model))
    assert again.log_likelihoods(["ba"]).tobytes() == model.log_likelihoods(["ba"]).tobytes()


def test_a_splitter_is_given_again_exactly_where_it_is_needed():
    assert TextRecognizer.from_json(stored(splitter="own"), splitter=list).known_words(["ab"]).tolist() == [2]
    with pytest.raises(tc.InputError, match="no other one"):
        TextRecognizer.from_json(stored(), splitter=list)


def test_files_are_read_in_the_encoding_that_is_said(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes("perché\r\npiù\n\nfine".encode())
    assert read_texts(path) == ["perché", "più", "", "fine"]
    path.write_bytes("\ufeffperché\n".encode())
    assert read_texts(path) == ["perché"]
    path.write_bytes(b"")
    assert read_texts(path) == []
    path.write_bytes("uno\nperché\n".encode("latin-1"))
    assert read_texts(path, "latin-1") == ["uno", "perché"]
    with pytest.raises(tc.InputError, match=r"a.txt is not utf-8: line 2, byte 0xe9 at 9.*latin-1.*iconv"):
        read_texts(path)
    path.write_text("uno\ndue", encoding="utf-16")
    assert read_texts(path, "utf-16") == ["uno", "due"]
    for encoding in ("utf-8", "latin-1"):
        with pytest.raises(tc.InputError, match="looks like UTF-16"):
            read_texts(path, encoding)
    with pytest.raises(tc.InputError, match="not known"):
        read_texts(path, "utf-16-klingon")
