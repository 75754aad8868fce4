"""Several classes scanned: the bits of memory from every cut and format."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.io.formats.parquet import plain_columns
from tercet.outofcore import reading
from tercet.outofcore.limits import Budget

from .helpers import TINY, evaluated

ROWS, K = 700, 4
NAMES = ["dog", "cat", "cow", "emu"]
APPS = [
    tc.Application.multiclass([0.25] * K),
    tc.Application.multiclass([0.1, 0.2, 0.3, 0.4], "ordinal"),
    tc.Application.multiclass(
        [0.4, 0.3, 0.2, 0.1], np.vstack((1 - np.eye(K), np.full(K, 0.3))), classes=NAMES, actions=[*NAMES, "?"]
    ),
]


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, K, ROWS)
    scores = np.round(rng.normal(size=(ROWS, K)) * 2, 1)
    scores[np.arange(ROWS), labels] += 2.0
    scores[7, (labels[7] + 1) % K] = -np.inf
    return scores, labels, rng.integers(0, 9, ROWS) / 4.0


def same(one, other):
    """Everything an evaluation says, but for where it came from."""
    facts = []
    for ev in (one, other):
        plain = ev.to_dict()
        plain["input"] = {key: plain["input"][key] for key in ("trials", "classes")}
        facts.append(json.dumps({key: value for key, value in plain.items() if key != "name"}))
    return facts[0] == facts[1]


class Pieces:
    def __init__(self, trials, cuts):
        self.trials, self.cuts = trials, [0, *sorted(cuts), len(trials)]

    def chunks(self):
        for start, stop in zip(self.cuts, self.cuts[1:], strict=False):
            yield self.trials.select(slice(start, stop))


@given(st.lists(st.integers(0, ROWS), max_size=5), st.sampled_from([None, "halves", "any"]), st.booleans())
@settings(max_examples=25, deadline=None)
def test_any_chunking_gives_the_bits_of_memory(cuts, weighted, certain):
    rng = np.random.default_rng(len(cuts))
    labels = rng.integers(0, K, ROWS)
    scores = rng.normal(size=(ROWS, K))
    weights = {None: None, "halves": rng.integers(0, 5, ROWS) / 2.0, "any": rng.random(ROWS)}[weighted]
    if certain:
        scores[3, labels[3]] = -np.inf
        weights = weights if weights is None else np.maximum(weights, 0.5)
    how = {"trained_prior": (0.1, 0.2, 0.3, 0.4)}
    trials = tc.Trials.of_logits(scores, labels, weights=weights, **how)
    found = evaluated(Pieces(trials, cuts), APPS[:2], meaning="logits", budget=TINY, **how)
    assert same(found, tc.evaluate(trials, APPS[:2]))
    assert certain == (found.log_loss == np.inf)


class Several:
    def __init__(self, *chunks):
        self.parts = chunks

    def chunks(self):
        return iter(self.parts)


def parquet(folder, rows):
    columns = {name: rows[0][:, k] for k, name in enumerate(NAMES)}
    table = pa.table({**columns, "label": np.array(NAMES)[rows[1]], "w": rows[2]})
    pq.write_table(table, folder / "a.parquet", row_group_size=100)
    return folder / "a.parquet"


def csv(folder, rows):
    lines = [",".join([*NAMES, "label", "w"])]
    lines += [",".join([*map(repr, s), NAMES[y], repr(w)]) for s, y, w in zip(*(r.tolist() for r in rows), strict=True)]
    (folder / "a.csv").write_text("\n".join(lines) + "\n")
    return folder / "a.csv"


@pytest.mark.parametrize("write", [parquet, csv])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("meaning", ["log-likelihoods", "logits"])
def test_files_give_the_bits_of_memory(tmp_path, rows, monkeypatch, write, weighted, meaning):
    monkeypatch.setattr(reading, "_PIECE", 60)
    options = {"meaning": meaning, "class_columns": NAMES, "weight_column": "w" if weighted else None}
    options["trained_prior"] = [0.1, 0.2, 0.3, 0.4] if meaning == "logits" else None
    path = write(tmp_path, rows)
    found = evaluated(path, APPS, budget=Budget(300, 64, 150, 0), **options)
    assert same(found, tc.evaluate(tc.read(path, **options), APPS))
    assert found.classes == tuple(NAMES)
    assert found.input["passes"] == (2 if weighted else 1)  # the plan has counted labels without weights


def test_the_quick_way_through_pyarrow_gives_the_bits_of_memory_and_the_same_refusals(tmp_path, rows, monkeypatch):
    monkeypatch.setattr(reading, "_FAST", 1)
    seen, real = [], reading.plain_columns
    monkeypatch.setattr(reading, "plain_columns", lambda *a: seen.append(real(*a)) or seen[-1])
    path = tmp_path / "a.parquet"
    options = {"meaning": "log-likelihoods", "class_columns": NAMES}
    columns = {name: rows[0][:, k].astype(np.float32) for k, name in enumerate(NAMES)}
    labels = [NAMES[k] for k in rows[1]]

    def written(**more):
        pq.write_table(pa.table({**columns, "label": labels, **more}), path, row_group_size=70)
        return path

    found = evaluated(written(), APPS, budget=Budget(300, 64, 150, 0), **options)
    assert same(found, tc.evaluate(tc.read(path, **options), APPS))
    assert sum(one is not None for one in seen) == len(seen) == 6  # of five parts, the one with -inf is read again
    logits = options | {"meaning": "logits", "trained_prior": [0.4, 0.3, 0.2, 0.1]}
    found = evaluated(path, APPS, budget=Budget(300, 64, 150, 0), **logits)
    assert same(found, tc.evaluate(tc.read(path, **logits), APPS))
    for value, rule in ((np.inf, "must not be [+]inf"), (-np.inf, "must not be -inf for every class")):
        odd = {name: np.where(np.arange(ROWS) == 399, np.float32(value), column) for name, column in columns.items()}
        with pytest.raises(tc.InputError, match=rule + ".* row 399 "):
            evaluated(written(**odd), APPS, **options)
    bad = columns["cat"].copy()
    bad[399] = np.nan
    with pytest.raises(tc.InputError, match=r"row 400, column .cat."):
        evaluated(written(cat=bad), APPS, **options)
    with pytest.raises(tc.InputError, match="label"):
        evaluated(written(label=[None if k == 399 else name for k, name in enumerate(labels)]), APPS, **options)
    assert plain_columns(written(), ["dog", "label"], [0, 70], 0, 70, NAMES[:2]) is None


def test_chunks_whose_classes_have_another_order_or_name_are_refused(rows):
    chunks = [
        tc.Trials.of_log_likelihoods(rows[0], np.array(names)[rows[1]], classes=names)
        for names in (NAMES, [NAMES[1], NAMES[0], *NAMES[2:]], ["owl", *NAMES[1:]])
    ]
    for other in chunks[1:]:
        with pytest.raises(tc.InputError, match=r"Chunk 1: its classes are '(cat|owl)'.* before are 'dog', 'cat'"):
            evaluated(Several(chunks[0], other), APPS[:1], meaning="log-likelihoods")
    alike = evaluated(Several(chunks[0], chunks[0]), APPS[:1], meaning="log-likelihoods")
    assert alike.accuracy == tc.evaluate(chunks[0]).accuracy


def test_two_class_chunks_with_other_targets_are_refused():
    yes = tc.Trials.of_llr([1.0, -1.0], ["yes", "no"], target="yes")
    several = tc.Trials.of_llr([1.0, -1.0, 0.5], ["yes", "no", "perhaps"], target="yes")
    assert evaluated(Several(yes, several)).input["targets"] == 2  # the other labels may be several
    with pytest.raises(tc.InputError, match="Chunk 1: its target is 'no', but that of the chunks before is 'yes'"):
        evaluated(Several(yes, tc.Trials.of_llr([1.0, -1.0], ["no", "yes"], target="no")))


def test_the_target_of_a_scan_must_be_that_of_its_trials():
    trials = tc.Trials.of_llr([3.0, 2.0, -1.0, -2.0], ["x", "x", "y", "y"], target="x")
    columns = [3.0, 2.0, -1.0, -2.0], ["x", "x", "y", "y"]
    with pytest.raises(tc.InputError, match=r"Chunk 0: its target is 'x', not 'y' \(target=\)"):
        evaluated(Several(trials), target="y")
    assert evaluated(Several(trials, columns), target="x").input["targets"] == 4
    several = tc.Trials.of_log_likelihoods([[0.0, 1.0, 2.0]], [1])
    with pytest.raises(tc.InputError, match="Chunk 0: target belongs to two classes"):
        evaluated(Several(several), target="1", meaning="log-likelihoods")


def test_chunks_that_change_between_the_passes_are_noticed(rows):
    class Growing:
        size = 0

        def chunks(self):
            self.size += 300
            yield tc.Trials.of_log_likelihoods(rows[0][: self.size], rows[1][: self.size])

    with pytest.raises(tc.InputError, match="changed while they were read"):
        evaluated(Growing(), APPS[:1], meaning="log-likelihoods")


def test_chunks_without_rows_are_nothing_to_evaluate():
    none = tc.Trials.of_log_likelihoods(np.empty((0, 3)), np.empty(0, int))
    with pytest.raises(tc.UndefinedError, match="nothing to evaluate"):
        evaluated(Several(none), meaning="log-likelihoods")


def test_options_of_files_are_refused_for_chunks(tmp_path):
    for options in ({"progress": print}, {"resume": tmp_path / "parts"}, {"hashes": True}):
        with pytest.raises(tc.InputError, match=f"{next(iter(options))}= is for files"):
            tc.scan(Several(), **options)


def test_npy_with_labels_apart_gives_the_bits_of_memory(tmp_path, rows):
    np.save(tmp_path / "s.npy", rows[0])
    np.save(tmp_path / "l.npy", rows[1])
    options = {"labels": tmp_path / "l.npy", "meaning": "log-likelihoods"}
    found = evaluated(tmp_path / "s.npy", APPS[:2], budget=Budget(300, 64, 150, 0), **options)
    assert same(found, tc.evaluate(tc.read(tmp_path / "s.npy", **options), APPS[:2]))


def test_a_class_that_no_label_names_stays_undefined_where_it_must(rows):
    trials = tc.Trials.of_log_likelihoods(np.maximum(rows[0], -50), np.minimum(rows[1], K - 2))
    found = evaluated(Pieces(trials, [100, 650]), APPS[:1], meaning="log-likelihoods", budget=TINY)
    assert same(found, tc.evaluate(trials, APPS[:1]))
    assert found.applications[0].risk is None
    one = tc.Trials.of_log_likelihoods(rows[0], np.zeros(ROWS, int))
    assert same(evaluated(Pieces(one, [300]), meaning="log-likelihoods", budget=TINY), tc.evaluate(one))


def test_two_class_scores_with_a_cost_matrix_give_the_bits_of_memory(tmp_path, rows):
    labels = rows[1] > 1
    pq.write_table(pa.table({"score": rows[0][:, 1] + labels, "label": labels}), tmp_path / "a.parquet")
    app = tc.Application.multiclass([0.7, 0.3], [[0, 5], [1, 0], [0.4, 0.4]], actions=["no", "yes", "?"])
    found = evaluated(tmp_path / "a.parquet", [app], budget=Budget(300, 64, 150, 0))
    assert same(found, tc.evaluate(tc.read(tmp_path / "a.parquet"), [app]))


def test_files_with_other_classes_are_refused(tmp_path, rows):
    parquet(tmp_path, rows)
    table = pq.read_table(tmp_path / "a.parquet").rename_columns(["dog", "cat", "cow", "owl", "label", "w"])
    pq.write_table(table, tmp_path / "b.parquet")
    with pytest.raises(tc.InputError, match=r"b\.parquet has the classes .*owl.*, but a\.parquet .*emu"):
        evaluated(tmp_path / "*.parquet", APPS, meaning="log-likelihoods", weight_column="w")


def test_posteriors_that_do_not_sum_to_one_are_refused_by_their_file(tmp_path, rows):
    parquet(tmp_path, rows)
    options = {"meaning": "posteriors", "trained_prior": [0.25] * K, "class_columns": NAMES}
    with pytest.raises(tc.InputError, match=r"a\.parquet: posteriors must"):
        evaluated(tmp_path / "a.parquet", APPS, **options)


def test_a_scan_of_several_classes_trains_no_two_class_calibrator(tmp_path, rows):
    source = tc.scan(parquet(tmp_path, rows), meaning="log-likelihoods", class_columns=NAMES)
    with pytest.raises(tc.InputError, match="cannot train a two-class calibrator"):
        tc.Logistic.fit(replace(source, budget=TINY))
