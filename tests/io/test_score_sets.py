"""Score sets as laboratories keep them: read, grouped, merged, chosen and written back."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.cli.main import main
from tercet.io import score_sets


def write(folder, name, text):
    path = folder / name
    path.write_text(text)
    return path


def run(*words, code=0):
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code == code, found.output
    return found


def test_two_files_are_targets_and_non_targets(tmp_path):
    genuine, impostor = write(tmp_path, "g.txt", "2\n3e0\n\n"), write(tmp_path, "i.txt", "-inf\n0.1\n")
    trials = score_sets.read_two_files(genuine, impostor, meaning="llr")
    assert trials.scores.tolist() == [2.0, 3.0, -math.inf, 0.1]
    assert trials.labels.tolist() == [True, True, False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [("1\nx\n", "line 2"), ("1\nnan\n", "NaN"), ("", "no numbers"), ("1_0\n", "line 1"), ("1 2\n", "line 1")],
)
def test_lines_that_are_no_number_are_refused_by_line(tmp_path, text, words):
    with pytest.raises(tc.InputError, match=words):
        score_sets.read_numbers(write(tmp_path, "s.txt", text))


@pytest.mark.parametrize("layout", ["m1 u1 target\nm1 u2 nontarget\n", "1 m1 u1\n0 m1 u2\n", "m1 u1 yes\nm1 u2 no\n"])
def test_numbers_beside_a_trial_list_have_its_ids_and_labels(tmp_path, layout):
    scores, trials = write(tmp_path, "s.txt", "1.5\n-2\n"), write(tmp_path, "list", layout)
    found = score_sets.read_beside(scores, trials, target="yes" if "yes" in layout else None)
    assert found.ids.tolist() == [("m1", "u1"), ("m1", "u2")]
    assert found.labels.tolist() == [True, False]


def test_lists_that_do_not_fit_are_refused(tmp_path):
    scores = write(tmp_path, "s.txt", "1\n2\n")
    with pytest.raises(tc.InputError, match="2 scores and list 1 trials"):
        score_sets.read_beside(scores, write(tmp_path, "list", "m1 u1 target\n"))
    with pytest.raises(tc.InputError, match="1 trial id more than once, the first is 'm1 u1'"):
        score_sets.read_beside(scores, write(tmp_path, "list", "m1 u1 target\nm1 u1 target\n"))
    with pytest.raises(tc.InputError, match="may both be the label"):
        score_sets.read_beside(scores, write(tmp_path, "list", "1 u1 0\n0 u2 1\n"))
    with pytest.raises(tc.InputError, match=r"row 1 .* has an id of 1 fields, the first one of 2"):
        score_sets.read_beside(scores, write(tmp_path, "list", "m1 u1 target\nm2 target\n"))


def test_a_map_without_an_utterance_is_refused_with_counts(tmp_path):
    trials = tc.Trials.of_scores([1.0, 2.0, 3.0], ids=["m u1", "m u2", "m u2"])
    with pytest.raises(tc.InputError, match=r"lacks 1 utterances of 2 trials, the first is 'u2' .row 1"):
        score_sets.with_group_map(trials, {"u1": "anna"})
    assert score_sets.with_group_map(trials, {"m": "x"}, "model", field=0).groups["model"].tolist() == ["x"] * 3
    with pytest.raises(tc.InputError, match="field=2"):
        score_sets.with_group_map(trials, {}, field=2)
    with pytest.raises(tc.InputError, match="line 2 gives 'u1'"):
        score_sets.read_group_map(write(tmp_path, "utt2spk", "u1 anna\nu1 bert\n"))
    with pytest.raises(tc.InputError, match="line 1 has 3 fields"):
        score_sets.read_group_map(write(tmp_path, "utt2spk", "u1 anna x\n"))
    with pytest.raises(tc.InputError, match="needs trial ids"):
        score_sets.with_group_map(tc.Trials.of_scores([1.0]), {})


def test_merging_keeps_every_column_and_refuses_what_repeats():
    parts = [
        tc.Trials.of_llr([1.0], [1], ids=["a"], weights=[2.0], groups={"site": ["x"]}),
        tc.Trials.of_llr([2.0, 3.0], [0, 1], ids=["b", "c"], weights=[1.0, 0.5], groups={"site": ["y", "z"]}),
    ]
    whole = score_sets.merged(parts)
    assert whole.ids.tolist() == ["a", "b", "c"]
    assert whole.weights.tolist() == [2.0, 1.0, 0.5]
    assert whole.groups["site"].tolist() == ["x", "y", "z"]
    with pytest.raises(tc.InputError, match="1 trial id more than once, the first is 'a'"):
        score_sets.merged([parts[0], parts[0]])
    with pytest.raises(tc.InputError, match="meaning"):
        score_sets.merged([parts[0], tc.Trials.of_scores([1.0], [1], ids=["z"])])
    with pytest.raises(tc.InputError, match="differ in having ids"):
        score_sets.merged([parts[0], tc.Trials.of_llr([1.0], [1], weights=[1.0], groups={"site": ["x"]})])


def test_choosing_by_id():
    trials = tc.Trials.of_llr([1.0, 2.0, 3.0], ids=["a", "b", "c"])
    assert score_sets.chosen_by_id(trials, ["c", "a"]).ids.tolist() == ["a", "c"]
    assert score_sets.chosen_by_id(trials, ["c", "x"], keep=False).ids.tolist() == ["a", "b"]
    with pytest.raises(tc.InputError, match="1 of 2 ids are not among the trials, the first is 'x'"):
        score_sets.chosen_by_id(trials, ["c", "x"])


def test_ids_of_several_parts_are_chosen_by_their_parts():
    trials = tc.Trials.of_llr([1.0, 2.0, 3.0], ids=[("m1", "u1", "a"), ("m1", "u2", "a"), ("m2", "u1", "b")])
    for asked in (["m1\tu2 a"], [("m1", "u2", "a")], [["m1", "u2", "a"]]):
        assert score_sets.chosen_by_id(trials, asked).scores.tolist() == [2.0]
        assert score_sets.chosen_by_id(trials, asked, keep=False).scores.tolist() == [1.0, 3.0]


@pytest.mark.parametrize("layout", ["kaldi", "voxceleb", "sre", "sre16"])
def test_written_layouts_come_back_bit_for_bit(tmp_path, layout):
    rng = np.random.default_rng(0)
    scores = np.r_[rng.normal(size=50) * 10.0 ** rng.integers(-12, 12, 50), math.inf, -math.inf, 0.1]
    trials = tc.Trials.of_llr(scores, ids=[f"m{k % 5} u{k}" for k in range(53)])
    file = tmp_path / "scores.txt"
    score_sets.write_scores(file, trials, layout)
    back = tc.read(file, format=layout.removesuffix("16"), keep_ids=True)
    assert back.scores.tolist() == scores.tolist()
    score_sets.write_scores(tmp_path / "again.txt", back, layout)
    assert (tmp_path / "again.txt").read_bytes() == file.read_bytes()


def test_layouts_refuse_what_they_cannot_hold(tmp_path):
    for trials, layout, words in (
        (tc.Trials.of_llr([1.0]), "kaldi", "needs trial ids"),
        (tc.Trials.of_llr([1.0], ids=["alone"]), "kaldi", "enrolment and a test"),
        (tc.Trials.of_scores([1.0], ids=["m u"]), "sre", "calibrate"),
        (tc.Trials.of_llr([1.0], ids=["m u"]), "xml", "layout"),
    ):
        with pytest.raises(tc.InputError, match=words):
            score_sets.write_scores(tmp_path / "x", trials, layout)


def test_the_command_makes_one_table_with_groups(tmp_path):
    write(tmp_path, "s.txt", "1.5\n-2\n0.25\n")
    write(tmp_path, "list", "m1 u1 target\nm1 u2 nontarget\nm2 u3 target\n")
    write(tmp_path, "utt2spk", "u1 anna\nu2 bert\nu3 anna\n")
    out = tmp_path / "scores.csv"
    run(
        "assemble",
        tmp_path / "s.txt",
        "--beside",
        tmp_path / "list",
        "--group-map",
        tmp_path / "utt2spk",
        "--meaning",
        "raw",
        "-o",
        out,
    )
    back = tc.read(out, meaning="raw", group_columns=["speaker"], id_column=["enrol", "test"])
    assert back.scores.tolist() == [1.5, -2.0, 0.25]
    assert back.ids.tolist() == [("m1", "u1"), ("m1", "u2"), ("m2", "u3")]
    assert back.groups["speaker"].tolist() == ["anna", "bert", "anna"]
    listed = write(tmp_path, "only", "m1 u1\nm2 u3\n")
    kaldi = tmp_path / "kaldi.txt"
    parts = ("--id-column", "enrol", "--id-column", "test")
    run("assemble", out, *parts, "--only", listed, "--layout", "kaldi", "-o", kaldi)
    assert kaldi.read_text() == "m1 u1 1.5\nm2 u3 0.25\n"
    genuine, impostor = write(tmp_path, "g", "1\n"), write(tmp_path, "i", "0\n")
    run("assemble", "--genuine", genuine, "--impostor", impostor, "-o", tmp_path / "two.csv")
    assert json.loads(run("evaluate", tmp_path / "two.csv", "--json").stdout)["systems"][0]["auc"] == 1.0
    assert "takes SCORES" in run("assemble", "-o", out, code=2).stderr


def test_an_assembled_table_is_read_with_the_options_of_its_parts(tmp_path):
    write(tmp_path, "a.csv", "tx,p,class,w\nt1,1.5,fraud,2\nt2,-0.5,legit,1\n")
    write(tmp_path, "b.csv", "tx,p,class,w\nt3,0.5,fraud,1\nt4,0.25,legit,3\n")
    out = tmp_path / "both.csv"
    words = ("--id-column", "tx", "--score-column", "p", "--label-column", "class", "--weight-column", "w")
    run("assemble", tmp_path / "a.csv", tmp_path / "b.csv", *words, "--target", "fraud", "-o", out)
    back = tc.read(out, id_column="tx", score_column="p", label_column="class", weight_column="w", target="fraud")
    assert back.classes == ("legit", "fraud")
    assert back.labels.tolist() == [True, False, True, False]
    assert (back.ids.tolist(), back.scores.tolist()) == (["t1", "t2", "t3", "t4"], [1.5, -0.5, 0.5, 0.25])
    assert back.weights.tolist() == [2, 1, 1, 3]


def awkward(count=60):
    """Doubles that a short form would spoil: many digits, tiny, huge, whole; ordered by neither class nor size."""
    rng = np.random.default_rng(7)
    scores = rng.normal(size=count) * 10.0 ** rng.integers(-12, 12, count)
    scores[:6] = [0.1, 1 / 3, 5e-324, 1.7976931348623157e308, -(2.0**-40), 12345678901234567.0]
    return scores, np.arange(count) % 2


@pytest.mark.parametrize("layout", ["kaldi", "voxceleb", "sre", "numbers", "csv", "tsv", "csv.gz", "parquet"])
def test_every_layout_goes_through_read_calibrate_and_write_bit_by_bit(tmp_path, layout):
    scores, labels = awkward()
    fields = [(f"m{k % 7}", f"u{k}", "a") for k in range(len(scores))]
    ids = fields if layout == "sre" else [one[:2] for one in fields]
    trials = tc.Trials.of_llr(
        scores, labels, ids=ids, weights=np.arange(1, 61) / 8, groups={"speaker": [f"s{k % 9}" for k in range(60)]}
    )
    plain = layout in score_sets.LAYOUTS
    first, second, third = (tmp_path / f"{n}.{'txt' if plain else layout}" for n in ("first", "second", "third"))
    if plain:
        score_sets.write_scores(first, trials, layout)
    else:
        tc.io.write_like(first, [(trials, {"score": trials.scores})])
    table = ("--id-column", "enrol", "--id-column", "test", "--weight-column", "weight", "--group-column", "speaker")
    reading = {
        "kaldi": (), "voxceleb": (), "numbers": ("--columns", "score"),
        "sre": ("--separator", "\t", "--score-column", "LLR", "--id-column", "modelid", "--id-column", "segmentid",
                "--id-column", "side"),
    }.get(layout, table)  # fmt: skip
    more = (*reading, *(("--layout", layout) if plain else ()))
    identity = tc.Logistic(1.0, 0.0, tc.Logistic.fit(tc.Trials.of_llr([0.0, 1.0, 0.5, 0.7], [0, 1, 1, 0])).training)
    steep = tc.Logistic(1.0 / 3.0, 0.1, identity.training)
    one, other = write(tmp_path, "one.json", identity.to_json()), write(tmp_path, "other.json", steep.to_json())
    run("calibrate", "apply", one, first, *more, "-o", second)
    assert second.read_bytes() == first.read_bytes()
    run("calibrate", "apply", other, first, *more, "-o", third)
    run("calibrate", "apply", one, third, *more, "-o", second)
    assert second.read_bytes() == third.read_bytes()
    if layout == "numbers":
        assert score_sets.read_numbers(third).tobytes() == steep(scores).tobytes()


LISTS = {
    "sre": ("modelid\tsegmentid\tside\tLLR\nm1\tu 1\ta\t1.5\nm1\tu2\tb\t-0.1\n", ()),
    "sre16": ("modelid\tsegment\tside\tLLR\nm1\tu1\ta\t1.5\nm1\tu2\tb\t-0.1\n", ()),
    "bosaris": ("m1 u1 1.5\nm1 u2 -0.1\nm2 u3 1e-300\n", ()),
    "asvspoof": ("u1 1.5\nu2 -0.1\nu3 1e-300\n", ()),
    "asvspoof with labels": ("u1 - bonafide 1.5\nu2 A07 spoof -0.1\nu3 A08 spoof 1e-300\n", ("source",)),
    "bob": ("ann ann u1 1.5\nann bob u2 -0.1\nbob eve u3 1e-300\n", ("real_id",)),
    "bob with models": ("ann m1 ann u1 1.5\nann m1 bob u2 -0.1\nbob m2 eve u3 1e-300\n", ("real_id",)),
}


@pytest.mark.parametrize("kind", LISTS)
def test_a_list_of_the_field_is_written_back_as_it_was_read(tmp_path, kind):
    text, groups = LISTS[kind]
    file, out = write(tmp_path, "scores.txt", text), tmp_path / "out.txt"
    identity = tc.Logistic(1.0, 0.0, tc.Logistic.fit(tc.Trials.of_llr([0.0, 1.0, 0.5, 0.7], [0, 1, 1, 0])).training)
    model, layout = write(tmp_path, "model.json", identity.to_json()), kind.split()[0]
    more = [word for name in groups for word in ("--group-column", name)]
    for command in (("calibrate", "apply", model, file), ("assemble", file)):
        run(*command, "--meaning", "llr", *more, "--layout", layout, "-o", out)
        assert out.read_text() == text
    run("decide", file, "--app", "0.5", *more, "--layout", layout, "-o", out)
    words = ("spoof", "bonafide") if layout == "asvspoof" else ("nontarget", "target")
    pairs = [line.rsplit(maxsplit=1) for line in text.splitlines()]
    named = [(start, "decision" if end == "LLR" else words[float(end) > 0.0]) for start, end in pairs]
    separator = "\t" if layout.startswith("sre") else " "
    assert out.read_text() == "".join(f"{start}{separator}{word}\n" for start, word in named)


def test_a_list_says_what_it_needs(tmp_path):
    pair, one = (
        tc.Trials.of_llr([1.0], ids=[("m", "u")]),
        tc.Trials.of_llr([1.0], [1], ids=["u"], groups={"source": [""]}),
    )
    for trials, layout, words in (
        (pair, "bob", "needs the group column 'real_id'"),
        (pair, "asvspoof", "one utterance: row 0"),
        (one, "asvspoof", "row 0 .* has the field ''"),
    ):
        with pytest.raises(tc.InputError, match=words):
            score_sets.write_scores(tmp_path / "x", trials, layout)
    from tercet.cli._options import LAYOUTS

    assert ("table", *score_sets.LAYOUTS) == LAYOUTS


def test_two_files_by_class_are_written_back_as_they_were_read(tmp_path):
    genuine, impostor = write(tmp_path, "g.txt", "1.5\n0.1\n"), write(tmp_path, "i.txt", "-2.0\n0.3\n1e-300\n")
    whole, out = tmp_path / "whole.csv", tmp_path / "out.txt"
    run("assemble", "--genuine", genuine, "--impostor", impostor, "-o", whole)
    for name, file in (("target", genuine), ("nontarget", impostor)):
        run("assemble", whole, "--class", name, "--layout", "numbers", "-o", out)
        assert out.read_text() == file.read_text()


@pytest.mark.parametrize(
    ("ids", "layout"),
    [(("ann smith", "u"), "kaldi"), (("ann", "u\n2"), "bosaris"), (("m\t1", "u"), "sre"), (("m", ""), "bob")],
)
def test_an_id_that_a_layout_would_cut_in_two_is_refused(tmp_path, ids, layout):
    trials = tc.Trials.of_llr([1.0, 2.0], ids=[("m1", "u1"), ids], groups={"real_id": ["m1", "m2"]})
    with pytest.raises(tc.InputError, match=r"row 1 .*Rename it, or write a table"):
        score_sets.write_scores(tmp_path / "x", trials, layout)
    assert not (tmp_path / "x").exists()


def test_decisions_are_as_many_as_the_trials_and_have_names_without_blanks(tmp_path):
    trials = tc.Trials.of_llr([1.0, 2.0], ids=["u1", "u2"])
    for decisions, words in ((["target"], "each of 2 trials, not 1"), (["yes", "not sure"], "'not sure'")):
        with pytest.raises(tc.InputError, match=words):
            score_sets.write_decisions(tmp_path / "x", trials, decisions, "asvspoof")


def test_files_that_cannot_be_read_are_input_errors(tmp_path):
    write(tmp_path, "utf16", "x").write_bytes(b"\xff\xfe")
    for path, words in ((tmp_path / "none", "none cannot be read: No such"), (tmp_path, "Is a directory")):
        with pytest.raises(tc.InputError, match=words):
            score_sets.read_group_map(path)
    scores = write(tmp_path, "s.txt", "m u1 1.5\nm u2 -2\n")
    for option in ("--only", "--without"):
        words = run("assemble", scores, option, tmp_path / "utf16", "-o", tmp_path / "x.csv", code=1).stderr
        assert "utf16 is not UTF-8 text" in words


def test_duplicates_are_named_by_their_parts():
    twice = [tc.Trials.of_llr([1.0], ids=[("m1", "u1")])] * 2
    with pytest.raises(tc.InputError, match="hold 1 trial id more than once, the first is 'm1 u1'"):
        score_sets.merged(twice)
    assert len(score_sets.merged([tc.Trials.of_llr([1.0], ids=[one]) for one in (("a b", "c"), ("a", "b c"))])) == 2


def test_ids_to_drop_that_no_trial_has_are_mentioned(tmp_path):
    scores, listed = write(tmp_path, "s.txt", "m u1 1.5\nm u2 -2\n"), write(tmp_path, "list", "m u1\nu2\n")
    words = run("assemble", scores, "--without", listed, "--layout", "kaldi", "-o", tmp_path / "x").stderr
    assert "1 of 2 ids are not among the trials, the first is 'u2'" in words
    assert (tmp_path / "x").read_text() == "m u2 -2.0\n"


def test_a_set_without_trials_is_not_written(tmp_path):
    scores, listed = write(tmp_path, "s.txt", "m u1 1.5\n"), write(tmp_path, "list", "m u1\n")
    assert "No trial is left" in run("assemble", scores, "--without", listed, "-o", tmp_path / "x.csv", code=1).stderr
    none = tc.Trials.of_llr([1.0], ids=[("m", "u")]).select([])
    assert list(tc.io.columns_like(none, id_column=["model", "test"])) == ["model", "test"]


def test_bare_numbers_do_not_take_the_options_of_tables(tmp_path):
    numbers, listed = write(tmp_path, "s.txt", "1.5\n-2\n"), write(tmp_path, "list", "m u1\nm u2\n")
    for words in (("--genuine", numbers, "--impostor", numbers), (numbers, "--beside", listed)):
        for option in ("--group-column", "--key", "--id-column", "--weight-column", "--score-column"):
            error = run("assemble", *words, option, "x", "-o", tmp_path / "out.csv", code=2).stderr
            assert f"cannot be combined with {option}" in error


def test_a_table_keeps_the_names_of_its_columns_and_labels(tmp_path):
    text = "pair,score,source,count,truth\na,1.5,s1,2.0,same\nb,-0.5,s2,0.5,different\n"
    file, out = write(tmp_path, "scores.csv", text), tmp_path / "out.csv"
    columns = ("--id-column", "pair", "--group-column", "source", "--weight-column", "count", "--label-column", "truth")
    run("assemble", file, *columns, "--target", "same", "-o", out)
    assert out.read_text() == text
