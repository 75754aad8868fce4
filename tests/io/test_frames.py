"""Data frames become the Trials that their columns make, in any library, and what cannot be meant is refused."""

import time

import numpy as np
import pytest

import tercet as tc
from tercet.errors import InputError

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")
duckdb = pytest.importorskip("duckdb")

COLUMNS = {
    "p": [0.9, 0.2, 0.6, 0.1],
    "y": ["fraud", "ok", "fraud", "ok"],
    "w": [1.0, 2.0, 1.0, 3.0],
    "shop": ["a", "a", "b", "b"],
    "id": ["t1", "t2", "t3", "t4"],
    "part": [1, 2, 1, 2],
}


class Stream:
    """Something that gives an Arrow stream and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


def frames(columns=COLUMNS):
    table = pa.table(columns)
    return {
        "mapping": columns,
        "pandas": pd.DataFrame(columns),
        "pandas, nullable": pd.DataFrame(columns).convert_dtypes(),
        "pandas, another index": pd.DataFrame(columns).set_index(pd.Index([7, 3, 3, 1][: len(table)])),
        "polars": pl.DataFrame(columns),
        "Arrow": table,
        "Arrow, record batch": table.to_batches()[0],
        "Arrow, in chunks": pa.concat_tables([table.slice(0, 1), table.slice(1)]),
        "duckdb": duckdb.from_arrow(table),
        "a stream": Stream(table),
    }


@pytest.mark.parametrize("kind", frames())
def test_every_frame_gives_the_trials_of_its_columns(kind):
    trials = tc.read(
        frames()[kind], score="p", label="y", weight="w", groups=["shop"], ids=["id", "part"], meaning="posterior",
        trained_prior=0.3, target="fraud", name="a",
    )  # fmt: skip
    assert trials.scores.tolist() == COLUMNS["p"]
    assert trials.labels.tolist() == [True, False, True, False]
    assert trials.classes == ("ok", "fraud")
    assert trials.weights.tolist() == COLUMNS["w"]
    assert trials.groups["shop"].tolist() == COLUMNS["shop"]
    assert trials.ids.tolist() == [("t1", 1), ("t2", 2), ("t3", 1), ("t4", 2)]
    assert (trials.meaning, trials.trained_prior, trials.name) == ("posterior", 0.3, "a")


@pytest.mark.parametrize("kind", [kind for kind in frames() if kind != "a stream"])
def test_from_frame_is_read_without_the_options_of_files(kind):
    more = {"score": "p", "label": "y", "groups": "shop", "target": "fraud", "meaning": "raw"}
    one, other = tc.Trials.from_frame(frames()[kind], **more), tc.read(frames()[kind], **more)
    assert one.scores.tolist() == other.scores.tolist()
    assert one.groups["shop"].tolist() == other.groups["shop"].tolist()


@pytest.mark.parametrize("kind", frames())
def test_one_column_per_class_makes_a_matrix(kind):
    columns = {"a": [0.2, 0.5], "b": [0.3, 0.25], "c": [0.5, 0.25], "label": ["c", "a"]}
    more = {"meaning": "posteriors", "trained_prior": [0.2, 0.3, 0.5]}
    trials = tc.read(frames(columns)[kind], score=["c", "a", "b"], **more)
    assert trials.classes == ("c", "a", "b")
    assert trials.labels.tolist() == [0, 1]
    assert trials.scores.tolist() == [[0.5, 0.2, 0.3], [0.25, 0.5, 0.25]]


def test_a_frame_without_labels_gives_trials_without_labels():
    assert tc.read(pd.DataFrame({"score": [1.0]})).labels is None
    assert tc.read(pd.DataFrame({"score": [1.0], "label": ["?"]}), labelled=False).labels is None
    with pytest.raises(InputError, match="label"):
        tc.read(pd.DataFrame({"score": [1.0]}), labelled=True)
    assert tc.Trials.from_frame(pd.DataFrame({"score": [1.0, 2.0], "label": [0, 1]})).labels.tolist() == [False, True]


@pytest.mark.parametrize("start", [0, 1, 3, 9])
def test_booleans_kept_as_bits_are_unpacked_wherever_a_slice_begins(start):
    flags = np.random.default_rng(0).random(50) < 0.4
    table = pa.table({"score": np.arange(50.0), "label": flags}).slice(start)
    both = pa.concat_tables([table, table.slice(2)])
    wanted = [*flags[start:], *flags[start + 2 :]]
    assert tc.read(both).labels.tolist() == wanted
    assert tc.read(pl.from_arrow(both)).labels.tolist() == wanted
    assert tc.read(table.slice(0, 0)).labels.tolist() == []


def test_unused_categories_change_nothing():
    labels = pd.Categorical(["ok", "fraud"], categories=["fraud", "ok", "theft"])
    frame = pd.DataFrame({"score": [0.1, 0.9], "label": labels, "g": pd.Categorical(["x", "y"], ["x", "y", "z"])})
    trials = tc.read(frame, target="fraud", groups="g", meaning="raw")
    assert trials.classes == ("ok", "fraud")
    assert trials.groups["g"].tolist() == ["x", "y"]
    with pytest.raises(InputError, match="'theft' is not among the labels"):
        tc.read(frame, target="theft", meaning="raw")
    named = pl.Series(["ok", "fraud"], dtype=pl.Enum(["a", "fraud", "ok"]))
    polars = pl.DataFrame({"score": [0.1, 0.9], "label": named})
    assert tc.read(polars, target="fraud", meaning="raw").labels.tolist() == [False, True]


def test_repeated_names_are_refused():
    frame = pd.DataFrame([[1.0, 2.0, 0]], columns=["score", "score", "label"])
    with pytest.raises(InputError, match="2 columns called 'score'"):
        tc.read(frame)
    table = pa.Table.from_arrays([pa.array([1.0]), pa.array([2.0])], names=["score", "score"])
    with pytest.raises(InputError, match="2 columns called 'score'"):
        tc.read(table)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"score": pd.array([1, None], dtype="Int64"), "label": [0, 1]}),
        pd.DataFrame({"score": [1.0, 2.0], "label": pd.array([1, None], dtype="Int64")}),
        pd.DataFrame({"score": [1.0, 2.0], "label": pd.array([True, None], dtype="boolean")}),
        pd.DataFrame({"score": [1.0, 2.0], "label": ["target", None]}),
        pl.DataFrame({"score": [1.0, None], "label": [0, 1]}),
        pl.DataFrame({"score": [1.0, 2.0], "label": [0, None]}),
        pa.table({"score": [1.0, 2.0], "label": [0, None]}),
        duckdb.sql("select 1.0 as score, 1 as label union all select 2.0, null"),
    ],
    ids=range(8),
)
def test_missing_values_are_refused_with_their_row(frame):
    with pytest.raises(InputError, match=r"missing|masked|NaN|<NA>|nan"):
        tc.read(frame)


def test_series_whose_index_does_not_align_are_refused():
    scores, labels = pd.Series([1.0, 2.0], index=[0, 1]), pd.Series([1, 0], index=[1, 0])
    with pytest.raises(InputError, match="different indexes"):
        tc.Trials.of_llr(scores, labels)
    with pytest.raises(InputError, match="different indexes"):
        tc.Trials.from_frame({"score": scores, "label": labels})


@pytest.mark.parametrize(
    ("frame", "more", "words"),
    [
        (pd.DataFrame({"scores": [1.0]}), {}, "no column called 'score'. It has 'scores'"),
        (pd.DataFrame({"score": [1.0]}), {"label": "y"}, "no column called 'y'"),
        (pd.DataFrame({"score": [1.0]}), {"key": "k.csv"}, "key= is for files"),
        (pd.DataFrame({"score": [1.0]}), {"missing": "drop"}, "missing= is for files"),
        (pd.DataFrame({"score": [1.0]}), {"score": "a", "score_column": "b"}, "are the same"),
        (pd.DataFrame({"score": ["1,5"]}), {}, "must be numbers"),
        (pd.DataFrame({"score": [1.0]}), {"meaning": "odds"}, "meaning"),
        (pd.DataFrame({"score": [1.0], "label": [["a"]]}), {"target": "a"}, "labels must be names or numbers"),
        (pd.DataFrame({"score": [1.0], "label": ["a"]}), {"score": [], "target": "a"}, "score must name at least one"),
        (pd.DataFrame({"score": [1.0]}), {"trained_prior": 0.5}, "trained_prior"),
        (pd.DataFrame({"score": [1.0]}), {"groups": [3]}, "group_columns"),
        (pl.LazyFrame({"score": [1.0]}), {}, "collect"),
        (pd.DataFrame({"a": [1.0], "b": [2.0]}), {"score": ["a", "b"], "meaning": "logits", "target": "a",
                                                  "trained_prior": [0.5, 0.5]}, "target"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_in_words(frame, more, words):
    with pytest.raises(InputError, match=words.replace("(", r"\(")):
        tc.read(frame, **more)


def test_short_names_work_for_files_too(tmp_path):
    (tmp_path / "a.csv").write_text("p,y,g\n1.5,1,x\n-1.0,0,y\n")
    trials = tc.read(tmp_path / "a.csv", score="p", label="y", groups="g")
    assert trials.scores.tolist() == [1.5, -1.0]
    assert trials.groups["g"].tolist() == ["x", "y"]


def test_results_go_back_into_a_frame_with_ids_and_groups():
    trials = tc.read(
        pd.DataFrame(COLUMNS), score="p", label="y", groups=["shop"], ids="id", meaning="raw", target="fraud"
    )
    calibrated = tc.Logistic.fit(trials, penalty=0.1)(trials)
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        frame = make(calibrated.to_columns(id_column="id"))
        again = tc.read(frame, groups=["shop"], ids="id", target="fraud")
        assert again.scores.tolist() == calibrated.scores.tolist()
        assert again.labels.tolist() == trials.labels.tolist()
        assert again.ids.tolist() == COLUMNS["id"]
    several = tc.Trials.of_log_likelihoods([[0.0, -1.0]], ["b"], classes=["a", "b"])
    assert {name: one.tolist() for name, one in several.to_columns().items()} == {
        "label": ["b"], "a": [0.0], "b": [-1.0]
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["pandas", "polars", "Arrow"])
def test_a_frame_costs_about_as_much_as_its_arrays(kind):
    rng = np.random.default_rng(0)
    scores, labels = rng.normal(size=500_000), rng.random(500_000) < 0.3
    frame = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}[kind](
        {"score": scores, "label": labels}
    )

    def seconds(work):
        best = np.inf
        for _ in range(7):
            start = time.process_time()
            work()
            best = min(best, time.process_time() - start)
        return best

    arrays = seconds(lambda: tc.Trials.of_llr(scores, labels))
    assert seconds(lambda: tc.Trials.from_frame(frame)) < 3 * arrays + 0.01  # 1.2 on a quiet machine, at 10^7 rows


# Labels that are text come coded from a frame


def texts_of(labels):
    columns = {"score": np.arange(float(len(labels))), "label": labels}
    table = pa.table(columns)
    frame, polars = pd.DataFrame(columns), pl.DataFrame(columns)
    halves = [table.slice(0, 2), table.slice(2)]
    encoded = [pa.table({"score": one["score"], "label": one["label"].dictionary_encode()}) for one in halves]
    return {
        "pandas, text": frame,
        "pandas, objects": frame.astype({"label": object}),
        "pandas, categories": frame.astype({"label": "category"}),
        "polars, text": polars,
        "polars, categories": polars.with_columns(pl.col("label").cast(pl.Categorical)),
        "Arrow, text": table,
        "Arrow, large text": table.set_column(1, "label", table["label"].cast(pa.large_string())),
        "Arrow, a slice": pa.concat_tables([table.slice(0, 1), table]).slice(1),
        "Arrow, dictionaries per chunk": pa.concat_tables(encoded),
        "duckdb": duckdb.from_arrow(table),
        "arrays": columns,
    }


@pytest.mark.parametrize("kind", texts_of(["a", "b"]))
@pytest.mark.parametrize(
    "labels",
    [
        ["ok", "ok", "fraud", "ok", "fraud"],
        ["fraud", "fraud"],
        [f"kind{k}" for k in range(12)] + ["fraud"],
        ["ok", "fraud", "theft", "-", "fräud"],
    ],
    ids=["two", "one", "many", "odd"],
)
def test_text_labels_of_any_frame_are_the_labels_of_the_list(kind, labels):
    frame = texts_of(labels)[kind]
    assert tc.read(frame, target="fraud", meaning="raw").labels.tolist() == [one == "fraud" for one in labels]
    if labels != ["fraud", "fraud"]:
        with pytest.raises(InputError, match="name the one that is the target"):
            tc.read(frame, meaning="raw")


@pytest.mark.parametrize("kind", texts_of(["a", "b"]))
def test_text_that_says_itself_which_label_is_the_target_needs_no_name(kind):
    frame = texts_of(["Target", "nontarget", "target", "NONTARGET"])[kind]
    assert tc.read(frame, meaning="raw").labels.tolist() == [True, False, True, False]


def test_the_trials_of_a_frame_do_not_follow_later_changes_of_the_frame():
    flags, scores = np.array([True, False]), np.array([1.0, 2.0])
    frame = pd.DataFrame({"score": scores, "label": flags}, copy=False)
    table = pa.table({"score": pa.array(scores), "label": pa.array(["a", "b"]).dictionary_encode()})
    one, other = tc.read(frame), tc.read(table, target="b")
    flags[:] = ~flags
    scores[:] = 0.0
    assert one.labels.tolist() == [True, False]
    assert one.scores.tolist() == other.scores.tolist() == [1.0, 2.0]
    assert not one.labels.flags.writeable
    assert not other.labels.flags.writeable
