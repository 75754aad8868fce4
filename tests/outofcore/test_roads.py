"""Which road is taken: memory where the trials fit, a scan where they do not; the same numbers either way."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.outofcore.limits import IN_MEMORY_ROW, PROCESS, TEXT_ROW, Budget
from tercet.outofcore.scan import memory_needed

from .helpers import APPS, assert_same_bits, evaluated

ROWS = 1500


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(ROWS) < 0.3
    return np.round(rng.normal(size=ROWS) * 2 + labels * 2, 3), labels, rng.integers(1, 9, ROWS) / 4.0


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=300, edges=64, part=400, at_once=0))


def lines(trials, cut=","):
    rows = zip(trials[0].tolist(), trials[1].astype(int), trials[2].tolist(), strict=True)
    return cut.join(["score", "label", "w"]) + "\n" + "".join(f"{s!r}{cut}{y}{cut}{w!r}\n" for s, y, w in rows)


def csv(folder, trials):
    (folder / "a.csv").write_text(lines(trials))
    return folder / "a.csv", {}


def packed(folder, trials):
    (folder / "a.tsv.gz").write_bytes(gzip.compress(lines(trials, "\t").encode()))
    return folder / "a.tsv.gz", {}


def json_lines(folder, trials):
    rows = zip(trials[0].tolist(), trials[1].tolist(), trials[2].tolist(), strict=True)
    text = "".join(json.dumps({"score": s, "label": y, "w": w}) + "\n" for s, y, w in rows)
    (folder / "a.jsonl").write_text(text)
    return folder / "a.jsonl", {}


def parquet(folder, trials):
    table = pa.table({"score": trials[0], "label": trials[1], "w": trials[2]})
    pq.write_table(table, folder / "a.parquet", row_group_size=250)
    return folder / "a.parquet", {}


def npz(folder, trials):
    np.savez(folder / "a.npz", score=trials[0], label=trials[1], w=trials[2])
    return folder / "a.npz", {}


def npy_pair(folder, trials):
    np.save(folder / "s.npy", trials[0])
    np.save(folder / "l.npy", trials[1])
    return folder / "s.npy", {"labels": folder / "l.npy"}


def trial_list(folder, trials):
    order = np.random.default_rng(1).permutation(ROWS)
    scores = "".join(f"m{k} t{k} {s!r}\n" for k, s in enumerate(trials[0].tolist()))
    key = "".join(f"m{k} t{k} {'target' if trials[1][k] else 'nontarget'}\n" for k in order)
    (folder / "scores.txt").write_text(scores)
    (folder / "key.txt").write_text(key)
    return folder / "scores.txt", {"key": folder / "key.txt"}


FORMATS = [csv, packed, json_lines, parquet, npz, npy_pair, trial_list]


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_gives_the_bits_of_memory(tmp_path, trials, small, write):
    path, more = write(tmp_path, trials)
    assert_same_bits(evaluated(path, APPS, **more), tc.evaluate(tc.read(path, **more), APPS))


@pytest.mark.parametrize("write", FORMATS[:5])
def test_every_format_with_weights_gives_the_bits_of_memory(tmp_path, trials, small, write):
    path, _ = write(tmp_path, trials)
    truth = tc.read(path, weight_column="w")
    assert truth.weights is not None
    assert_same_bits(evaluated(path, APPS, weight_column="w"), tc.evaluate(truth, APPS))


@pytest.mark.parametrize("meaning", ["posterior", "log-odds"])
def test_weighted_scores_that_were_made_with_a_prior_have_the_bits_of_memory(tmp_path, trials, small, meaning):
    scores, *others = trials
    path, _ = parquet(tmp_path, (1.0 / (1.0 + np.exp(-scores)), *others))
    more = {"weight_column": "w", "meaning": meaning, "trained_prior": 0.3}
    assert_same_bits(evaluated(path, APPS, **more), tc.evaluate(tc.read(path, **more), APPS))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("score,label\n1.0,1\n,0\n", "line 3, column 'score'"),
        ("score,label\n1.0,1\n1e400,0\n", "too large for a 64-bit number"),
        ("score,label\n1.0,1\nnan,0\n", "line 3, column 'score'"),
        ("score,label\n1.0,1\n2.0,\n", "line 3, column 'label'"),
        ("score,label\n", "no rows"),
    ],
)
def test_both_roads_refuse_the_same_files_in_the_same_words(tmp_path, text, says):
    (tmp_path / "a.csv").write_text(text)
    words = []
    for ask in (lambda: tc.read(tmp_path / "a.csv"), lambda: evaluated(tmp_path / "a.csv", APPS)):
        with pytest.raises(tc.InputError, match=says) as caught:
            ask()
        words.append(str(caught.value))
    assert words[0] == words[1]


def test_what_memory_takes_is_known_before_a_file_is_read(tmp_path, trials):
    path, _ = parquet(tmp_path, trials)
    assert memory_needed(path) == PROCESS + ROWS * IN_MEMORY_ROW
    assert memory_needed(path, {"class_columns": ["a", "b", "c"]}) == PROCESS + 3 * ROWS * IN_MEMORY_ROW
    assert memory_needed(path, {"group_columns": ["w"]}) == PROCESS + ROWS * (IN_MEMORY_ROW + TEXT_ROW)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"labels": "l.npy"}, "labels= and key= are for one file"),
        ({"target": "yes"}, "target='yes' is not among the labels"),
        ({"weight_column": "weight"}, "has no column 'weight'"),
        ({"label_column": "truth"}, "has no column 'truth'"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_way_out(tmp_path, trials, more, says):
    path, _ = parquet(tmp_path, trials)
    (tmp_path / "b.parquet").write_bytes(path.read_bytes())
    with pytest.raises(tc.InputError, match=says):
        evaluated([path, tmp_path / "b.parquet"], APPS, **more)


def test_files_without_labels_are_refused(tmp_path, trials):
    pq.write_table(pa.table({"score": trials[0]}), tmp_path / "a.parquet")
    with pytest.raises(tc.InputError, match="has no labels: they come from a column"):
        evaluated(tmp_path / "a.parquet", APPS)


# Conditions


def with_sites(trials, seed=4):
    """The same trials at three sites, of which one has targets only."""
    sites = np.random.default_rng(seed).choice(list("abc"), ROWS)
    return trials[0], trials[1] | (sites == "c"), trials[2], sites


def write_sites(folder, kind, rows):
    columns = {"score": rows[0], "label": rows[1], "w": rows[2], "site": rows[3]}
    path = folder / f"a.{kind}"
    if kind == "parquet":
        pq.write_table(pa.table(columns), path, row_group_size=250)
        return path
    table = [dict(zip(columns, (s, int(y), w, c), strict=True)) for s, y, w, c in zip(*map(list, rows), strict=True)]
    lines = ["score,label,w,site", *(",".join(map(str, row.values())) for row in table)]
    if kind == "jsonl":
        lines = [json.dumps({key: getattr(value, "item", lambda v=value: v)() for key, value in row.items()})
                 for row in table]  # fmt: skip
    data = ("\n".join(lines) + "\n").encode()
    path.write_bytes(gzip.compress(data) if kind.endswith("gz") else data)
    return path


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("kind", ["parquet", "csv", "csv.gz", "jsonl"])
def test_conditions_of_a_scan_have_the_bits_of_memory(tmp_path, trials, small, monkeypatch, kind, weights):
    monkeypatch.setattr("tercet.outofcore.conditions._ROWS", 400)
    path = write_sites(tmp_path, kind, with_sites(trials))
    truth = tc.by_condition(tc.read(path, group_columns=["site"], weight_column=weights), "site", APPS)
    found = tc.by_condition(tc.scan(path, weight_column=weights), "site", APPS)
    assert found.sizes == truth.sizes
    assert (found.undefined, found.rates) == (truth.undefined, truth.rates)
    assert set(found.results) == {"a", "b"}
    assert set(found.rates) == {"c"}
    for name in found.results:
        assert_same_bits(found.results[name], truth.results[name])
    assert_same_bits(found.pooled, truth.pooled)
    assert_same_bits(found.equalised, truth.equalised)
    assert truth.counted.input.items() <= found.counted.input.items()


def test_conditions_of_several_classes_have_the_numbers_of_memory(tmp_path):
    rng = np.random.default_rng(5)
    truth, sites = rng.integers(0, 3, 300), rng.choice(list("xy"), 300)
    rows = rng.normal(size=(300, 3)) + np.eye(3)[truth]
    lines = ["a,b,c,label,site"]
    lines += [f"{a!r},{b!r},{c!r},{'abc'[y]},{s}" for (a, b, c), y, s in zip(rows.tolist(), truth, sites, strict=True)]
    (tmp_path / "m.csv").write_text("\n".join(lines) + "\n")
    how = {"meaning": "log-likelihoods", "class_columns": ["a", "b", "c"]}
    apps = [tc.Application.multiclass([0.2, 0.3, 0.5])]
    in_memory = tc.by_condition(tc.read(tmp_path / "m.csv", group_columns=["site"], **how), "site", apps)
    found = tc.by_condition(tc.scan(tmp_path / "m.csv", **how), "site", apps)
    for one, other in ((found.results["x"], in_memory.results["x"]), (found.equalised, in_memory.equalised)):
        assert (one.log_loss, one.brier, one.accuracy) == (other.log_loss, other.brier, other.accuracy)
        assert one.applications == other.applications


def test_conditions_of_chunks_are_groups_of_their_trials(trials):
    scores, labels, _, sites = with_sites(trials)

    class Halves:
        def __init__(self, grouped):
            self.grouped = grouped

        def chunks(self):
            for part in (slice(0, 700), slice(700, None)):
                groups = {"site": sites[part]} if self.grouped else None
                yield tc.Trials.of_llr(scores[part], labels[part], groups=groups)

    truth = tc.by_condition(tc.Trials.of_llr(scores, labels, groups={"site": sites}), "site", APPS)
    assert_same_bits(tc.by_condition(tc.scan(Halves(True)), "site", APPS).results["a"], truth.results["a"])
    with pytest.raises(tc.InputError, match="column='site' is not a group of the chunks"):
        tc.by_condition(tc.scan(Halves(False)), "site", APPS)
    with pytest.raises(tc.InputError, match="chunks must be Trials"):
        tc.by_condition(tc.scan(tc.outofcore.scan.Arrays(scores, labels)), "site", APPS)


@pytest.mark.parametrize(
    ("scanned", "column", "more", "says"),
    [
        ({}, "nowhere", {}, "has no column 'nowhere'"),
        ({}, 3, {}, "column must be text"),
        ({}, "site", {"ci": 0.95}, "Intervals need the trials in memory"),
        ({"engine": "dask"}, "site", {}, "leave engine= out"),
        ({}, "score", {}, "more than 20 values"),
    ],
)
def test_conditions_that_a_scan_cannot_answer_are_refused(
    tmp_path, trials, monkeypatch, scanned, column, more, says
):  # fmt: skip
    monkeypatch.setattr("tercet.outofcore.conditions._MOST", 20)
    path = write_sites(tmp_path, "csv", with_sites(trials))
    with pytest.raises(tc.InputError, match=says):
        tc.by_condition(tc.scan(path, **scanned), column, APPS, **more)


def test_a_scan_has_the_intervals_that_counts_decide(tmp_path, trials):
    path, _ = csv(tmp_path, trials)
    truth, found = (tc.evaluate(source, APPS, ci=0.9).intervals for source in (tc.read(path), tc.scan(path)))
    assert {name.split(".")[-1] for name in found} == {"fnr", "fpr", "dcf", "dcf_u", "ppv", "f1"}
    assert {*found, *found.missing} == {*truth, *truth.missing}
    for name, one in found.items():
        assert one.method == truth[name].method
        np.testing.assert_array_equal((one.low, one.high), (truth[name].low, truth[name].high))
    assert "in memory" in found.missing["applications.0.min_dcf"]


@pytest.mark.parametrize("more", [{"by": "speaker"}, {"resamples": 100}, {"method": "bca"}, {"sampling": "natural"}])
def test_intervals_that_a_scan_cannot_give_are_refused(tmp_path, trials, more):
    path, _ = csv(tmp_path, trials)
    with pytest.raises(tc.InputError, match=f"{next(iter(more))} needs trials in memory"):
        tc.evaluate(tc.scan(path), APPS, ci=0.95, **more)


def test_real_weights_of_a_scan_have_no_intervals(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("score,label,weight\n1.5,1,0.3\n-1,0,1\n0.2,0,0.7\n-0.4,1,1\n")
    found = tc.evaluate(tc.scan(path, weight_column="weight"), APPS, ci=0.95).intervals
    assert len(found) == 0
    assert "not whole" in found.missing["applications.0.fnr"]


# The command line keeps to --memory-limit


@pytest.fixture
def command(monkeypatch):
    """Runs a command in this process; a row counts as 100 kB, so that small files are large."""
    from click.testing import CliRunner

    from tercet.cli.main import main

    monkeypatch.setattr("tercet.outofcore.scan.IN_MEMORY_ROW", 10**5)

    def run(*words, **more):
        found = CliRunner().invoke(main, [str(word) for word in words], **more)
        return found.exit_code, found.stdout, found.stderr

    return run


def test_conditions_of_a_large_file_are_scanned_on_the_command_line(tmp_path, trials, command, monkeypatch):
    path = write_sites(tmp_path, "csv", with_sites(trials))
    asked = ("evaluate", path, "--app", "0.5,1,1", "--condition-column", "site", "--json")
    code, out, err = command(*asked, "--verbose", "--memory-limit", "350MB")
    assert code == 0, err
    assert "in bounded memory" in err
    monkeypatch.undo()
    truth = json.loads(command(*asked)[1])
    found = json.loads(out)
    for one, other in zip(found["conditions"][0]["rows"], truth["conditions"][0]["rows"], strict=True):
        for key in ("fnr", "fpr", "dcf", "min_dcf", "threshold"):
            assert [row[key] for row in one["applications"]] == [row[key] for row in other["applications"]]


def test_standard_input_is_scanned_where_it_is_too_large(tmp_path, trials, command):
    data = lines(trials).encode()
    code, out, err = command(
        "evaluate", "-", "--app", "0.5,1,1", "--verbose", "--memory-limit", "350MB", "--json", input=data
    )
    assert code == 0, err
    assert "in bounded memory" in err
    assert json.loads(out)["systems"][0]["name"] == "stdin"


def test_several_systems_are_counted_together(tmp_path, trials, command):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    paths = [parquet(tmp_path / name, trials)[0] for name in "ab"]
    alone = memory_needed(paths[0])
    code, _, err = command("evaluate", *paths, "--app", "0.5,1,1", "--memory-limit", f"{alone + 1}B")
    assert code == 1
    assert "Several systems at a time would take about 531 MB" in err


def test_a_file_is_scanned_where_it_does_not_fit_and_what_needs_every_row_is_refused(tmp_path, trials, command):
    path, _ = parquet(tmp_path, trials)
    asked = ("evaluate", path, "--app", "0.5,1,1", "--verbose", "--memory-limit")
    assert "in bounded memory" in command(*asked, "350MB")[2]
    assert "reading into memory: about 381 MB" in command(*asked, "400MB")[2]
    code, _, err = command(*asked, "350MB", "--ci", "95")
    assert code == 1
    assert "--ci would take about 381 MB of memory, and --memory-limit is 350MB: raise it, or leave --ci out" in err
    assert "or use --engine local, which has the intervals of rates and actual costs." in err
    assert command(*asked, "350MB", "--ci", "95", "--engine", "local")[0] == 0


def test_training_keeps_to_the_memory_limit(tmp_path, trials, command):
    path, _ = parquet(tmp_path, trials)
    asked = ("calibrate", "fit", path, "-o", tmp_path / "m.json", "--memory-limit", "350MB")
    code, _, err = command(*asked)
    assert code == 0, err
    assert "not evaluated by folds" in err
    assert json.loads((tmp_path / "m.json").read_text())["training"]["trials"] == ROWS
    code, _, err = command(*asked, "--folds", "3")
    assert code == 1
    assert "--folds would take about 381 MB" in err


def test_what_needs_every_row_says_how_much_it_needs(tmp_path, command):
    rows = "".join(f"{k % 7 - 3},{k % 5 - 2},{k % 3},{'abc'[k % 3]}\n" for k in range(2000))
    (tmp_path / "m.csv").write_text("a,b,c,label\n" + rows)
    more = ("--meaning", "log-likelihoods", "--class-columns", "a,b,c", "--memory-limit", "400MB")
    for option in ("--min-risk", "--one-vs-rest"):
        code, _, err = command("evaluate", tmp_path / "m.csv", *more, option, "--format", "json")
        assert code == 1
        assert f"{option} would take about" in err


@pytest.mark.parametrize(
    "words",
    [
        ("compare", "a.csv", "b.csv", "--app", "0.5,1,1"),
        ("plot", "a.csv", "b.csv", "--out", "out.svg"),
        ("coverage", "a.csv", "b.csv"),
        ("fuse", "a.csv", "b.csv", "--out", "out.json"),
    ],
)
def test_every_command_counts_what_it_reads(tmp_path, trials, command, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(lines(trials))
    alone = memory_needed(tmp_path / "a.csv")
    code, _, err = command(*words, "--memory-limit", f"{alone + 1}B")
    assert code == 1
    assert "The trials up to b.csv would take about" in err
    assert command(*words, "--memory-limit", f"{alone - 1}B")[0] == 1
    assert not (tmp_path / "out.json").exists()
