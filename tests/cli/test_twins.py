"""Each step of the workflow exists in Python and on the command line, under one name and with the same numbers."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.cli.main import COMMANDS, main

STEPS = (
    "evaluate", "decide", "calibrate", "fuse", "compare", "select", "rule", "count", "sample-size", "sweep", "report",
    "check", "plot",
)  # fmt: skip
FIELDS = {"biometrics", "spoofing", "forensics"}  # modules of this name hold what the command prints
PYTHON_NAMES = {  # commands that print what functions of another name give
    "coverage": "risk_coverage", "prevalence": "estimate_prevalence", "gaps": "group_gaps",
    "calibration": "expected_calibration_error", "primary": "nist", "assemble": "io", "points": "Application",
    "demo": "datasets", "metrics": "evaluate", "sensitivity": "robust_thresholds", "card": "model_card",
}  # fmt: skip


def run(*words):
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code in (0, 3), found.stderr
    return found


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3 == 0
    for name in "ab":
        scores = rng.normal(size=300) * 1.5 + 2.0 * labels - 1.0
        rows = [f"t{i},{s!r},{int(y)},g{i % 30},{1 + i % 2}" for i, (s, y) in enumerate(zip(scores.tolist(), labels))]  # noqa: B905
        (tmp_path / f"{name}.csv").write_text("id,score,label,speaker,weight\n" + "\n".join(rows) + "\n")
    return tmp_path


def test_every_step_is_a_command_and_a_public_name():
    for step in STEPS:
        assert step in COMMANDS, step
        assert step.replace("-", "_") in tc.__all__, step


def test_every_command_has_its_python_name():
    lacking = [
        name
        for name in COMMANDS
        if name.replace("-", "_") not in tc.__all__
        and name not in FIELDS
        and not hasattr(tc, PYTHON_NAMES.get(name, "-"))
    ]
    assert lacking == []


def systems(name):
    return list(json.loads(run(*name).stdout)["systems"])


def test_evaluate(files):
    ours = tc.evaluate(tc.read("a.csv"), [(0.1, 1, 1)], ci=0.95).to_dict(curves=False)
    theirs = systems(("evaluate", "a.csv", "--app", "0.1,1,1", "--ci", "95", "--json"))[0]
    for key in ("auc", "cllr", "min_cllr", "eer", "auc_ci"):
        assert theirs[key] == ours[key], key
    assert theirs["applications"][0]["dcf_ci"] == ours["applications"][0]["dcf_ci"]


def test_decide(files):
    run("decide", "a.csv", "--app", "0.1,5,1", "-o", "decided.csv")
    lines = (files / "decided.csv").read_text().splitlines()
    place = lines[0].split(",").index("decision")
    decided = [line.split(",")[place] == "target" for line in lines[1:]]
    assert decided == tc.decide(tc.read("a.csv"), (0.1, 5, 1)).astype(bool).tolist()


@pytest.mark.parametrize("more", [{}, {"penalty": 0.5}, {"scheme": "interleaved"}, {"seed": 3}, {"folds": 3}])
def test_calibrate(files, more):
    options = [word for name, value in more.items() for word in (f"--{name}", value)]
    keep = ("--id-column", "id", "--group-column", "speaker", "--by", "speaker", "--weight-column", "weight")
    run("calibrate", "fit", "a.csv", "--prior", 0.2, *keep, *options, "-o", "m.json", "--out-of-fold", "folds.csv")
    trials = tc.read("a.csv", ids="id", groups="speaker", weight="weight")
    ours = tc.calibrate(trials, "logistic", 0.2, by="speaker", **more)
    assert tc.load_model((files / "m.json").read_text()) == ours.model
    again = tc.read("folds.csv", ids="id", groups="speaker", weight="weight")
    assert np.array_equal(again.scores, ours.scores.scores)
    assert again.ids.tolist() == trials.ids.tolist()
    assert again.groups["speaker"].tolist() == trials.groups["speaker"].tolist()
    assert again.weights.tolist() == trials.weights.tolist()


def test_calibrate_shows_raw_calibrated_and_minimum_at_the_points_asked_for(files):
    rows = run("calibrate", "fit", "a.csv", "--app", "0.05,10,1", "-o", "m.json").stdout.splitlines()
    head = rows[0].split("\t")
    table = [dict(zip(head, row.split("\t"), strict=True)) for row in rows[1:]]
    trials = tc.read("a.csv")
    raw = tc.evaluate(trials, [(0.05, 10, 1)]).applications[0]
    after = tc.evaluate(tc.calibrate(trials).scores, [(0.05, 10, 1)]).applications[0]
    assert [float(row["dcf"]) for row in table] == [raw.dcf, after.dcf]
    assert float(table[0]["min_dcf"]) == raw.min_dcf


def test_a_penalty_is_refused_where_there_is_none(files):
    words = ("calibrate", "fit", "a.csv", "--method", "isotonic", "--penalty", "1", "-o", "m.json")
    found = CliRunner().invoke(main, words)
    assert found.exit_code == 2
    assert "--penalty has no effect without --method" in found.stderr
    with pytest.raises(tc.InputError, match="penalty"):
        tc.calibrate(tc.read("a.csv"), "isotonic", penalty=1.0)


def test_fuse(files):
    run("fuse", "a.csv", "b.csv", "--prior", 0.2, "--penalty", 0.1, "-o", "f.json", "--out-of-fold", "fused.csv")
    ours = tc.fuse([tc.read("a.csv"), tc.read("b.csv")], 0.2, penalty=0.1)
    saved = tc.load_model((files / "f.json").read_text())
    assert np.array_equal(saved.weights, ours.model.weights)
    assert np.array_equal(tc.read("fused.csv").scores, ours.scores.scores)


def test_compare(files):
    theirs = json.loads(run("compare", "a.csv", "b.csv", "--app", "0.1,1,1", "--json").stdout)
    ours = tc.compare(tc.read("a.csv"), tc.read("b.csv"), applications=[(0.1, 1, 1)], names=["a", "b"]).to_dict()
    assert theirs["differences"] == ours["differences"]


def test_select(files):
    words = ("--method", "logistic", "--method", "isotonic", "--prior", "0.1", "--prior", "0.5", "-o", "best.json")
    theirs = json.loads(run("select", "a.csv", "--app", "0.1,1,1", *words, "--json").stdout)
    trials = tc.read("a.csv")
    ours = tc.select(trials, (0.1, 1, 1), methods=["logistic", "isotonic"], priors=[0.1, 0.5])
    assert [(row["method"], row["prior"], row["dcf"]) for row in theirs["rows"]] == [
        (row.method, row.prior, row.dcf) for row in ours.rows
    ]
    best = tc.load_model((files / "best.json").read_text())
    first = next(row for row in ours.rows if row.method != "as given")
    assert best.method == first.method


def test_rule(files):
    run("rule", "fit", "a.csv", "--fpr-at-most", "0.1", "-o", "r.json")
    assert tc.Rule.from_json((files / "r.json").read_text()) == tc.rule(tc.read("a.csv"), fpr_at_most=0.1)


def test_count():
    theirs = json.loads(run("count", "--matrix", "8,1;2,9", "--app", "0.1,1,1", "--json").stdout)
    ours = tc.count([[8, 1], [2, 9]], application=(0.1, 1, 1)).to_dict()
    assert {key: theirs[key] for key in ours} == ours
    rates = json.loads(run("count", "--rates", "0.9,0.1", "--prevalence", "0.2", "--json").stdout)
    assert {key: rates[key] for key in ours if key in rates}["rates"] == tc.count(
        rates=(0.9, 0.1), prevalence=0.2
    ).to_dict()["rates"]
    for wrong in ({}, {"confusion": [[1, 0], [0, 1]], "rates": (0.1, 0.2)}, {"rates": (0.1,)}):
        with pytest.raises(tc.InputError):
            tc.count(**wrong)


def test_sample_size():
    words = ("--app", "0.1,1,1", "--fnr", "0.1", "--fpr", "0.05", "--half-width", "0.05")
    line = run("sample-size", *words).stdout.splitlines()[1].split("\t")
    ours = tc.sample_size(0.1, 0.05, (0.1, 1, 1), 0.05)
    assert line[6:] == [str(value) for value in ours]


def test_sweep(files):
    theirs = json.loads(run("sweep", "a.csv", "b.csv", "--app", "0.1,1,1", "--json").stdout)
    ours = tc.sweep_trials({"a": tc.read("a.csv"), "b": tc.read("b.csv")}, (0.1, 1, 1))
    assert theirs["sweep"] == ours.to_dict()


def test_report(files):
    (files / "r.json").write_text(run("evaluate", "a.csv", "--app", "0.1,1,1", "--json").stdout)
    run("report", "r.json", "-o", "page.html")
    tc.report(tc.evaluate(tc.read("a.csv", name="a"), [(0.1, 1, 1)]), "ours.html")
    value = repr(tc.evaluate(tc.read("a.csv")).auc)
    assert value in (files / "page.html").read_text()
    assert value in (files / "ours.html").read_text()


def test_check(files):
    (files / "r.json").write_text(run("evaluate", "a.csv", "--app", "0.1,1,1", "--ci", "95", "--json").stdout)
    ev = tc.evaluate(tc.read("a.csv", name="a"), [(0.1, 1, 1)], ci=0.95)
    conditions = ("dcf > 0.3", "dcf.high > 2", "auc < 0.5", "ppv < 0.01", "f_beta:2 > 0")
    found = run("check", "r.json", *(word for one in conditions for word in ("--fail-if", one)))
    ours = tc.check(ev, conditions)
    assert (found.exit_code == 0) == ours.passed
    assert sorted(
        [*found.stdout.splitlines(), *(line.removeprefix("tercet: ") for line in found.stderr.splitlines())]
    ) == (sorted(str(ours).splitlines()))


# Several classes


def three_classes(folder):
    rng = np.random.default_rng(1)
    rows = [
        ",".join(repr(float(rng.normal() + 1.5 * (k == i % 3))) for k in range(3)) + f",{'abc'[i % 3]}"
        for i in range(90)
    ]
    (folder / "m.csv").write_text("a,b,c,label\n" + "\n".join(rows) + "\n")
    return ("evaluate", "m.csv", "--meaning", "log-likelihoods", "--json")


def test_several_classes_have_a_default_operating_point_of_equal_classes(files):
    found = systems(three_classes(files))[0]
    trials = tc.read("m.csv", meaning="log-likelihoods")
    ours = tc.evaluate(trials, [tc.Application.multiclass([1 / 3] * 3)]).applications[0]
    assert [(row["priors"], row["risk"]) for row in found["applications"]] == [(ours.priors, ours.risk)]


def test_several_applications_the_minimum_risk_and_one_against_the_rest_in_one_run(files):
    words = ("--priors", ".2,.3,.5", "--priors", ".6,.2,.2", "--costs", "0-1", "--min-risk", "--one-vs-rest")
    found = systems((*three_classes(files), *words))[0]
    trials = tc.read("m.csv", meaning="log-likelihoods")
    for row, prior in zip(found["applications"], ([0.2, 0.3, 0.5], [0.6, 0.2, 0.2]), strict=True):
        least = tc.min_risk(trials, tc.Application.multiclass(prior))
        assert row["min_risk"] == least.risk <= row["risk"]
        assert row["min_dcf"] == least.normalised
    assert len(found["versus"]) == 3
    table = run(*three_classes(files)[:-1], *words, "--format", "table").stdout
    assert "minimum risk" in table


def test_the_minimum_cost_says_why_it_does_not_exist_where_the_dummy_costs_nothing(files):
    words = ("--priors", ".2,.3,.5", "--costs", "0,1,1;1,0,1;1,1,0;0,0,0", "--actions", "a,b,c,wait", "--min-risk")
    row = systems((*three_classes(files), *words))[0]["applications"][0]
    assert (row["min_risk"], row["min_dcf"]) == (0.0, None)
    assert (
        row["reasons"]["min_dcf"]
        == row["reasons"]["dcf"]
        == "A normalised risk does not exist: the best dummy costs 0."
    )
    table = run(*three_classes(files)[:-1], *words, "--format", "table").stdout
    assert "minimum DCF undefined" in " ".join(table.split())


def test_the_order_of_the_classes_follows_the_option(files):
    words = ("--class-columns", "c,a,b", "--priors", ".2,.3,.5")
    found = systems((*three_classes(files), *words))[0]
    trials = tc.read("m.csv", meaning="log-likelihoods", class_columns=["c", "a", "b"])
    assert found["classes"] == ["c", "a", "b"]
    assert found["applications"][0]["risk"] == (
        tc.evaluate(trials, [tc.Application.multiclass([0.2, 0.3, 0.5])]).applications[0].risk
    )


# Gates


def test_a_gate_on_a_comparison_pairs_the_trials(files):
    (files / "d.json").write_text(run("compare", "a.csv", "b.csv", "--app", "0.1,1,1", "--json").stdout)
    both = tc.compare(tc.read("a.csv"), tc.read("b.csv"), applications=[(0.1, 1, 1)], names=["a", "b"])
    high = next(row for row in both.to_dict()["differences"] if row["quantity"] == "applications.0.dcf")["value_ci"][1]
    assert run("check", "d.json", "--fail-if", f"dcf.high > {high + 1e-9}").exit_code == 0
    assert run("check", "d.json", "--fail-if", f"dcf.high > {high - 1e-9}").exit_code == 3
    found = tc.check(both, f"dcf.high > {high - 1e-9}")
    assert not found.passed
    assert "a minus b" in str(found)
    with pytest.raises(AssertionError, match=r"dcf\.high"):
        found.require()
    tc.check(both, f"dcf.high > {high + 1e-9}").require()


def test_a_gate_takes_evaluations_dictionaries_and_paths_and_a_baseline(files):
    new = tc.evaluate(tc.read("a.csv", name="m"), [(0.1, 1, 1)])
    old = tc.evaluate(tc.read("b.csv", name="m"), [(0.1, 1, 1)])
    margin = new.applications[0].dcf - old.applications[0].dcf
    assert tc.check(new, f"dcf > baseline + {margin + 1e-9}", baseline=old).passed
    assert not tc.check([new], f"dcf > baseline + {margin - 1e-9}", baseline=[old]).passed
    document = {"schema_version": 1, "tercet": "0", "systems": [new.to_dict()]}
    assert tc.check(document, "auc < 0").passed
    for wrong in (
        (new, []),
        (new, 3),
        (new, "dcf"),
        (new, "dcg > 1"),
        (3, "dcf > 1"),
        ([], "dcf > 1"),
        (new, "dcf > baseline"),
    ):
        with pytest.raises(tc.InputError):
            tc.check(*wrong)
    other = tc.evaluate(tc.read("a.csv", name="m").select(slice(0, 200)), [(0.1, 1, 1)])
    with pytest.raises(tc.InputError, match="other trials"):
        tc.check(new, "dcf > baseline", baseline=other)
