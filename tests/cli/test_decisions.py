"""rule, count, decision curves and costs per case on the command line."""

import csv
import io
import json

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.cli.main import main


def run(*words, code=0):
    done = CliRunner().invoke(main, [str(word) for word in words])
    assert done.exit_code == code, (done.output, done.stderr, done.exception)
    return done


def rows_of(done):
    return list(csv.DictReader(io.StringIO(done.stdout), delimiter="\t"))


@pytest.fixture
def scores(tmp_path):
    rng = np.random.default_rng(0)
    paths = []
    for name in ("validation", "test"):
        labels = rng.random(600) < 0.3
        llrs = rng.normal(np.where(labels, 1.5, -1.5), 1.7)
        amounts = rng.lognormal(3.0, 1.0, 600)
        path = tmp_path / f"{name}.csv"
        lines = [f"{a!r},{int(y)},{c!r},2.5" for a, y, c in zip(llrs.tolist(), labels, amounts.tolist(), strict=True)]
        path.write_text("score,label,amount,fee\n" + "\n".join(lines) + "\n")
        paths.append(path)
    return paths


def test_a_rule_is_fitted_saved_applied_and_judged(scores, tmp_path):
    validation, test = scores
    saved = tmp_path / "rule.json"
    done = run("rule", "fit", validation, "--fpr-at-most", "0.05", "--confidence", "95", "-o", saved)
    assert "guaranteed: FPR at most 0.05 with 95 % confidence" in done.stderr
    rule = tc.Rule.fit(tc.read(validation), fpr_at_most=0.05, confidence=0.95)
    assert tc.Rule.from_json(saved.read_text()) == rule
    assert float(rows_of(done)[0]["threshold"]) == rule.threshold
    out, again = tmp_path / "decisions.csv", tmp_path / "again.csv"
    run("rule", "apply", saved, test, "-o", out)
    run("decide", test, "--rule", saved, "-o", again)
    assert out.read_text() == again.read_text()
    chosen = [row["decision"] for row in csv.DictReader(io.StringIO(out.read_text()))]
    named = ("--id-column", "amount", "--weight-column", "fee")
    for more in (named, (*named, "--layout", "asvspoof")):
        run("rule", "apply", saved, test, *more, "-o", out)
        run("decide", test, "--rule", saved, *more, "-o", again)
        assert out.read_text() == again.read_text()
    assert chosen == np.where(rule(tc.read(test)), "target", "nontarget").tolist()
    facts = json.loads(run("rule", "judge", saved, test, "--json").stdout)
    found = rule.judge(tc.read(test))
    assert (facts["regret"], facts["kept"]) == (found.regret, found.kept)
    assert facts["rates"]["fpr"]["ci"] == list(found.rates["fpr"].interval[:2])


def test_a_least_cost_rule_takes_an_operating_point(scores, tmp_path):
    run("rule", "fit", scores[0], "--least-cost", "0.01,10,1", "-o", tmp_path / "r.json")
    rule = tc.Rule.from_json((tmp_path / "r.json").read_text())
    assert rule.threshold == tc.Curve.of(tc.read(scores[0])).min_dcf((0.01, 10, 1)).threshold


def test_a_promise_that_cannot_be_kept_ends_in_a_sentence(scores, tmp_path):
    done = run("rule", "fit", scores[0], "--fpr-at-most", "0.001", "--confidence", "95", "-o", tmp_path / "r", code=1)
    assert "can guarantee at best FPR" in done.stderr
    run("rule", "fit", scores[0], "-o", tmp_path / "r", code=2)
    run("rule", "fit", scores[0], "--best", "eer", "--f-beta", "1", "-o", tmp_path / "r", code=2)
    done = run("decide", scores[0], "--rule", scores[0], code=1)
    assert "not a tercet rule file" in done.stderr


def test_count_says_everything_about_a_matrix():
    done = run("count", "--matrix", "2680,23;72,28", "--prevalence", "0.1", "--app", "0.1,5,1", "--format", "tsv")
    found = {row["rate"]: row for row in rows_of(done)}
    report = tc.count_report(tc.Confusion([[2680, 23], [72, 28]]), prevalence=0.1, application=(0.1, 5, 1))
    for name in ("tpr", "ppv", "ppv_at", "risk", "dor"):
        assert float(found[name]["value"]) == report[name].value
    assert float(found["tpr"]["low"]) == report["tpr"].interval.low
    assert "sensitivity" in found["tpr"]["also"]
    assert "always decide '0'" in done.stderr
    facts = json.loads(run("count", "--matrix", "2680,23;72,28", "--json").stdout)
    assert facts["confusion"] == [[2680, 23], [72, 28]]


def test_count_takes_bare_rates_decided_labels_and_several_classes(tmp_path):
    found = {row["rate"]: row for row in rows_of(run("count", "--rates", "0.8,0.1", "--prevalence", "0.5"))}
    assert float(found["ppv"]["value"]) == pytest.approx(8 / 9)
    path = tmp_path / "decided.csv"
    path.write_text("decision,label\n1,1\n0,0\n1,0\n1,1\n")
    found = {row["rate"]: row for row in rows_of(run("count", path))}
    assert float(found["ppv"]["value"]) == pytest.approx(2 / 3)
    done = run("count", "--matrix", "8,1,0;2,6,1;0,3,9", "--classes", "a,b,c", "--format", "table")
    assert "macro average" in done.stdout
    run("count", code=2)
    run("count", "--matrix", "1,2;3,4", "--rates", "0.1,0.2", code=2)
    run("count", "--matrix", "1,x;3,4", code=2)


def test_evaluate_adds_a_decision_curve_with_bands(scores):
    facts = json.loads(
        run("evaluate", scores[0], "--decision-curve", "--ci", "95", "--bootstrap", "99", "--json").stdout
    )
    curve = tc.decision_curve(tc.read(scores[0]), ci=0.95)
    assert facts["systems"][0]["decision_curve"]["net_benefit"] == curve.net_benefit.tolist()
    assert facts["systems"][0]["decision_curve"]["net_benefit_ci"][0] == [curve.low[0], curve.high[0]]
    done = run("evaluate", scores[0], "--decision-curve", "--prevalence", "0.1", "--format", "md")
    assert "best_apparent" in done.stdout
    run("evaluate", scores[0], "--prevalence", "0.1", code=2)


def test_evaluate_and_decide_take_costs_of_each_case(scores, tmp_path):
    words = ("--app", "0.02,100,5", "--cost-fn-column", "amount", "--cost-fp-column", "fee")
    facts = json.loads(run("evaluate", scores[0], *words, "--json").stdout)["systems"][0]["case_costs"][0]
    amounts = [float(row["amount"]) for row in csv.DictReader(io.StringIO(scores[0].read_text()))]
    costs = tc.CaseCosts(0.02, amounts, 2.5)
    found = tc.evaluate_case_costs(tc.read(scores[0]), tc.CaseCosts(0.02, amounts, [2.5] * 600))
    assert facts["cost"] == found.cost == tc.evaluate_case_costs(tc.read(scores[0]), costs).cost
    assert facts["cost_per_1000"] == found.per(1000)
    out = tmp_path / "decisions.csv"
    run("decide", scores[0], *words, "-o", out)
    chosen = [row["decision"] == "target" for row in csv.DictReader(io.StringIO(out.read_text()))]
    assert chosen == tc.decide(tc.read(scores[0]), costs).astype(bool).tolist()
    expected = [float(row["expected_cost"]) for row in csv.DictReader(io.StringIO(out.read_text()))]
    assert expected == tc.decisions(tc.read(scores[0]), costs).expected_cost.tolist()
    one = json.loads(run("evaluate", scores[0], "--app", "0.02,100,5", "--cost-fn-column", "amount", "--json").stdout)
    assert (
        one["systems"][0]["case_costs"][0]["cost"]
        == tc.evaluate_case_costs(tc.read(scores[0]), tc.CaseCosts(0.02, amounts, 5.0)).cost
    )
    assert "constant_action" in run("evaluate", scores[0], *words, "--format", "table").stdout
    run("evaluate", scores[0], "--cost-fn-column", "amount", code=2)
    for command in ("evaluate", "decide"):
        done = run(command, scores[0], "--cost-fn-column", "amount", "--priors", "0.5,0.5", code=2)
        assert "two-class operating point" in done.stderr
    done = run("evaluate", scores[0], "--app", "0.02", "--cost-fn-column", "nowhere", code=1)
    assert "nowhere" in done.stderr


def test_costs_of_each_case_are_the_same_in_bounded_memory(scores, monkeypatch):
    words = ("--app", "0.02,100,5", "--app", "0.1", "--cost-fn-column", "amount", "--cost-fp-column", "fee", "--json")
    whole = json.loads(run("evaluate", scores[0], *words).stdout)["systems"][0]["case_costs"]
    parts = json.loads(run("evaluate", scores[0], *words, "--engine", "local").stdout)["systems"][0]["case_costs"]
    assert parts == whole
    assert "cost_per_1000" in run("evaluate", scores[0], *words[:-1], "--engine", "local").stdout
    done = run("evaluate", scores[0], *words, "--engine", "dask", code=1)
    assert "use --engine local" in done.stderr
    monkeypatch.setattr("tercet.outofcore.scan.memory_needed", lambda *files, **options: 10**15)
    assert json.loads(run("evaluate", scores[0], *words).stdout)["systems"][0]["case_costs"] == whole


def test_a_margin_is_tested_in_costs_of_each_case_too(scores, tmp_path):
    words = ("--app", "0.02,100,5", "--cost-fn-column", "amount", "--margin", "0.5")
    same = tmp_path / "same.csv"
    same.write_text(scores[0].read_text())
    tests = json.loads(run("compare", scores[0], same, *words, "--json").stdout)["margin_tests"]
    assert {one["quantity"] for one in tests} == {"applications.0.cost"}
    assert next(one for one in tests if one["test"] == "equivalence")["shown"]


@pytest.mark.parametrize("cost", ["nan", "-4", "inf"])
def test_costs_that_cannot_be_meant_are_refused_in_the_name_of_the_option(tmp_path, cost):
    path = tmp_path / "c.csv"
    path.write_text(f"score,label,amount\n1,1,2\n-1,0,{cost}\n")
    for more in (("evaluate",), ("decide",), ("evaluate", "--engine", "local")):
        done = run(*more, path, "--app", "0.02", "--cost-fn-column", "amount", code=1)
        assert "--cost-fn-column 'amount' must" in done.stderr
        assert "row 1" in done.stderr


def test_coverage_compares_the_areas_of_two_systems(scores, tmp_path):
    rows = scores[0].read_text().splitlines()
    noise = np.random.default_rng(1).normal(size=len(rows))
    other = tmp_path / "other.csv"
    cells = [(row.split(","), move) for row, move in zip(rows[1:], noise, strict=False)]
    other.write_text("\n".join([rows[0], *(",".join([repr(float(c[0]) + float(m)), *c[1:]]) for c, m in cells)]) + "\n")
    words = ("coverage", scores[0], other, "--compare", "--app", "0.3,1,1")
    found = tc.compare_risk_coverage(tc.read(scores[0]), tc.read(other), (0.3, 1, 1))
    row = json.loads(run(*words, "--json").stdout)["comparisons"][0]
    assert [row[key] for key in ("aurc_difference", "low", "high", "p_value")] == [*found[:4]]
    assert (row["first"], row["second"]) == ("validation", "other")
    assert "aurc_difference" in run(*words, "--format", "md").stdout
    grouped = json.loads(run(*words, "--group-column", "amount", "--json").stdout)["comparisons"][0]
    assert grouped["method"].endswith("over groups")
    run("coverage", scores[0], "--compare", code=2)
    run("coverage", *scores, "--compare", "--app", "0.3,1,1", code=1)  # other trials


def test_coverage_prevalence_gaps_and_calibration_answer_as_python_does(scores, tmp_path):
    validation, test = scores
    trials = tc.read(validation)
    facts = json.loads(run("coverage", validation, "--app", "0.3,1,1", "--price", "0.1", "--json").stdout)
    assert facts["systems"][0]["risk_coverage"]["aurc"] == tc.risk_coverage(trials, (0.3, 1, 1)).aurc
    facts = json.loads(run("prevalence", test, "--calibrate-on", validation, "--cost", "5,1", "--json").stdout)
    found = tc.estimate_prevalence(tc.read(test), trials)
    assert facts["prevalence_ci"] == [found.low, found.high]
    done = run("calibration", validation, "--bootstrap", "19", "--format", "tsv")
    values = {row["quantity"]: row["value"] for row in rows_of(done)}
    assert float(values["slope"]) == tc.calibration_line(trials).slope
    assert "expected calibration error of the target, 15 equal-width bins, mean absolute" in values
    path = tmp_path / "groups.csv"
    lines = [
        f"{s!r},{int(y)},{'ab'[i % 2]}"
        for i, (s, y) in enumerate(zip(trials.scores.tolist(), trials.labels, strict=True))
    ]
    path.write_text("score,label,site\n" + "\n".join(lines) + "\n")
    facts = json.loads(run("gaps", path, "--between", "site", "--app", "0.5", "--json").stdout)
    own = tc.group_gaps(tc.read(path, group_columns=["site"]), "site", 0.5)
    assert facts["gaps"][0]["difference"] == own.gaps[0].difference


def test_figures_of_decision_curves_coverage_and_consistency_are_written(scores, tmp_path):
    pytest.importorskip("matplotlib")
    run("evaluate", *scores, "--decision-curve", "--plots", tmp_path / "figures")
    assert (tmp_path / "figures" / "decision-curve.png").stat().st_size > 1000
    run("coverage", *scores, "--plot", tmp_path / "coverage.svg")
    assert b"Coverage" in (tmp_path / "coverage.svg").read_bytes()
    run("calibration", scores[0], "--bootstrap", "19", "--plot", tmp_path / "corp.png")
    assert (tmp_path / "corp.png").stat().st_size > 1000


def test_a_decision_curve_takes_thresholds_groups_and_bounded_memory(scores, tmp_path):
    words = ("evaluate", scores[0], "--decision-curve", "--thresholds", "0.1,0.3")
    whole = json.loads(run(*words, "--json").stdout)["systems"][0]["decision_curve"]
    assert whole["threshold"] == [0.1, 0.3]
    parts = json.loads(run(*words, "--engine", "local", "--json").stdout)["systems"][0]["decision_curve"]
    assert parts["net_benefit"] == whole["net_benefit"]
    grouped = tmp_path / "grouped.csv"
    lines = scores[0].read_text().splitlines()
    people = [lines[0] + ",person", *(f"{line},{k // 3}" for k, line in enumerate(lines[1:]))]
    grouped.write_text("\n".join(people) + "\n")
    done = run("evaluate", grouped, *words[2:], "--group-column", "person", "--ci", "95", "--json")
    found = json.loads(done.stdout)["systems"][0]["decision_curve"]
    trials = tc.read(grouped, group_columns=["person"])
    curve = tc.decision_curve(trials, [0.1, 0.3], ci=0.95, by="person")
    assert found["net_benefit_ci"] == np.column_stack((curve.low, curve.high)).tolist()
    assert "avoided_per_100" in run(*words, "--format", "md").stdout
    assert "--thresholds" in run(*words[:-1], "x", code=2).stderr


def test_costs_of_each_case_vary_by_two_group_columns(scores, tmp_path):
    grouped = tmp_path / "grouped.csv"
    lines = scores[0].read_text().splitlines()
    people = [lines[0] + ",person,shop", *(f"{line},{k // 3},s{k % 7}" for k, line in enumerate(lines[1:]))]
    grouped.write_text("\n".join(people) + "\n")
    words = ("--app", "0.02,100,5", "--cost-fn-column", "amount", "--ci", "95", "--json")
    groups = ("--group-column", "person", "--group-column", "shop")
    facts = json.loads(run("evaluate", grouped, *words, *groups).stdout)["systems"][0]["case_costs"][0]
    trials = tc.read(grouped, group_columns=["person", "shop", "amount"])
    costs = tc.CaseCosts(0.02, trials.groups["amount"].astype(float), 5.0)
    found = tc.evaluate_case_costs(trials, costs, ci=0.95, by=("person", "shop"))
    assert facts["cost_ci"] == list(found.cost_ci)
    assert facts["min_cost_ci"] == found.to_dict()["min_cost_ci"]


def test_gaps_take_joint_resamples(scores, tmp_path):
    grouped = tmp_path / "grouped.csv"
    lines = scores[0].read_text().splitlines()
    grouped.write_text(
        "\n".join([lines[0] + ",site", *(f"{row},{'ab'[k % 2]}" for k, row in enumerate(lines[1:])), ""])
    )
    words = ("gaps", grouped, "--between", "site", "--app", "0.1,5,1", "--bootstrap", "200", "--seed", "3")
    done = run(*words, "--json")
    found = tc.group_gaps(tc.read(grouped, group_columns=["site"]), "site", (0.1, 5, 1), resamples=200, seed=3)
    facts = json.loads(done.stdout)
    assert facts["worst_in"] == found.worst_in
    assert facts["gaps"][0]["ratio_ci"] == list(found.gaps[0].ratio_ci[:2])
    assert "% of the resamples" in done.stderr
    run("gaps", grouped, "--between", "site", "--app", "0.1", "--seed", "3", code=2)


def test_compare_prints_and_draws_differences_of_net_benefit(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    labels = np.arange(300) % 3 == 0
    for name, shift in (("a", 2.0), ("b", 0.5)):
        rows = [f"{s:.4f},{int(y)}" for s, y in zip(shift * (labels - 0.5) + rng.normal(size=300), labels, strict=True)]
        (tmp_path / f"{name}.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    words = ["compare", "a.csv", "b.csv", "--thresholds", "0.1,0.2", "--prevalence", "0.3"]
    table = CliRunner().invoke(main, [*words, "--plot", "d.svg"])
    assert table.exit_code == 0, table.stderr
    assert "net benefit at threshold 0.2, prevalence 0.3" in table.stdout
    assert (tmp_path / "d.svg").exists()
    facts = json.loads(CliRunner().invoke(main, [*words, "--json", "--margin", "0.01"]).stdout)
    systems = [tc.read(tmp_path / f"{name}.csv") for name in "ab"]
    same = tc.compare_net_benefit(*systems, thresholds=[0.1, 0.2], prevalence=0.3)
    assert [one["value"] for one in facts["differences"]] == [one.value for one in same.differences]
    assert [one["adjusted"] for one in facts["differences"]] == [one.adjusted for one in same.differences]
    assert facts["margin_tests"]
    refused = CliRunner().invoke(main, ["compare", "a.csv", "b.csv", "--thresholds", "0.1", "--app", "0.5"])
    assert refused.exit_code == 2


def test_compare_prints_the_differences_of_costs_per_case(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, flip in (("a", 1), ("b", -1)):
        rows = [f"{flip * (1 if k % 2 else -1)},{k % 2},{10 + k % 5}" for k in range(20)]
        (tmp_path / f"{name}.csv").write_text("score,label,amount\n" + "\n".join(rows) + "\n")
    found = CliRunner().invoke(main, ["compare", "a.csv", "b.csv", "--app", "0.5", "--cost-fn-column", "amount"])
    assert found.exit_code == 0, found.stderr
    assert "a - b" in found.stdout


def test_costs_per_case_and_decision_curves_of_a_scan_have_intervals(tmp_path):
    rng = np.random.default_rng(0)
    rows = [
        f"{float(s)!r},{y},{a}" for s, y, a in zip(rng.normal(size=90), [0, 1, 0] * 30, range(10, 100), strict=True)
    ]
    file = tmp_path / "cases.csv"
    file.write_text("score,label,amount\n" + "\n".join(rows) + "\n")
    asked = ("evaluate", file, "--app", "0.1", "--cost-fn-column", "amount", "--decision-curve", "--thresholds", "0.3",
             "--ci", "90", "--json")  # fmt: skip
    scan, memory = (json.loads(run(*asked, *more).stdout)["systems"][0] for more in (("--engine", "local"), ()))
    for name in ("cost_ci", "savings_ci"):
        assert scan["case_costs"][0][name] == pytest.approx(memory["case_costs"][0][name], rel=1e-9)
    assert "min_cost_ci" not in scan["case_costs"][0]
    assert scan["decision_curve"]["net_benefit_ci"] == memory["decision_curve"]["net_benefit_ci"]
    assert "cost_low" in run(*asked[:-1], "--engine", "local", "--format", "table").stdout
    assert scan["applications"][0]["fnr_ci"] == memory["applications"][0]["fnr_ci"]


@pytest.mark.parametrize(
    ("scores", "why"),
    [([0.9, 1.0, 0.2, 0.0], "strictly between 0 and 1"), ([0.9, 0.8, 0.2, 0.1], "separates the classes")],
)
def test_what_has_no_calibration_line_is_assessed_all_the_same(tmp_path, scores, why):
    rows = zip(scores, [1, 1, 0, 0], strict=True)
    (tmp_path / "few.csv").write_text("score,label\n" + "".join(f"{score},{label}\n" for score, label in rows))
    asked = ("--meaning", "posterior", "--trained-prior", "0.5", "--bootstrap", "19", "--json")
    found = {
        row["quantity"]: row for row in json.loads(run("calibration", tmp_path / "few.csv", *asked).stdout)["rows"]
    }
    assert found["slope"]["value"] is None
    assert why in found["slope"]["note"]
    [debiased] = [row for name, row in found.items() if "debiased" in name]
    assert debiased["value"] is None
    assert "no bin has two rows" in debiased["note"]
    assert found["spiegelhalter"]["value"] is not None
    assert found["observed expected"]["value"] == pytest.approx(2.0 / sum(scores))
    assert found["observed expected"]["low"] < 1.0 < found["observed expected"]["high"]


def test_a_matrix_with_rows_of_different_lengths_is_refused_in_words():
    assert "--matrix has rows of different lengths: 2, 1." in run("count", "--matrix", "1,2;3", code=2).stderr


def test_select_says_why_the_cost_of_its_choice_is_unknown_in_every_format(tmp_path):
    rng = np.random.default_rng(0)
    rows = [f"{rng.normal() + 2 * (k % 2) - 1},{k % 2},s{k // 12}" for k in range(60)]
    (tmp_path / "a.csv").write_text("\n".join(["score,label,speaker", *rows, ""]))
    asked = ("select", tmp_path / "a.csv", "--app", "0.1", "--group-column", "speaker", "--by", "speaker", "--format")
    reason = "not known: There are 4 groups 'speaker' for 5 folds."
    told = run(*asked, "tsv")
    assert reason in told.stderr
    assert reason in " ".join(run(*asked, "table").stdout.split())
    silent = run(*asked, "tsv", "--no-nested")
    assert (silent.stdout, silent.stderr) == (told.stdout, "")


def test_decisions_on_a_file_without_labels_have_the_name_of_the_target(tmp_path):
    path = tmp_path / "new.csv"
    path.write_text("id,score\na,2.0\nb,-2.0\n")
    found = run("decide", path, "--id-column", "id", "--target", "fraud", "--app", "0.5").stdout
    assert [line.split(",")[1] for line in found.splitlines()] == ["decision", "fraud", "not fraud"]


def test_a_missing_column_of_scores_is_named_with_its_option(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("p,label\n0.5,1\n0.1,0\n")
    assert "Name the column of scores with --score-column." in run("evaluate", path, code=1).stderr
    path.write_text("p;label\n0.5;1\n")
    for words in ((), ("--label-column", "y")):
        assert "separates the columns, give --separator." in run("evaluate", path, *words, code=1).stderr


def test_the_points_of_a_mean_take_costs_of_each_case(scores):
    facts = json.loads(run("evaluate", scores[0], "--app", "sre16", "--cost-fn-column", "amount", "--json").stdout)
    assert [row["prior"] for row in facts["systems"][0]["case_costs"]] == [0.01, 0.005]


def test_notes_are_never_cut_and_go_on_below_their_first_word(scores, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = run("calibration", scores[0], "--bootstrap", "19", "--format", "table").stdout
    assert "the more so the fewer rows a bin has" in " ".join(shown.split())
    assert "…" not in shown
    lines = shown.splitlines()
    first = next(place for place, line in enumerate(lines) if "note " in line)
    assert lines[first + 1].startswith(" " * lines[first].index("no interval"))
    assert "the more so the fewer rows a bin has" in run("calibration", scores[0], "--bootstrap", "19").stdout


@pytest.mark.parametrize("engine", [(), ("--engine", "local")])
def test_a_cost_is_a_number_only_where_a_score_would_be_one(tmp_path, engine):
    path = tmp_path / "a.csv"
    for word in ("1_200", "\u0661", "12 EUR"):
        path.write_text(f"score,label,amount\n1.0,1,5\n-1.0,0,{word}\n2.0,1,3\n-2.0,0,3\n", encoding="utf-8")
        asked = ("--app", "0.1", "--cost-fn-column", "amount", *engine)
        assert "must hold numbers: row 1 (counting from 0) holds" in run("evaluate", path, *asked, code=1).stderr


def test_a_gate_judges_costs_per_case(scores, tmp_path):
    results = []
    for path in scores:
        results.append(tmp_path / f"{path.stem}.json")
        asked = ("--app", "0.02,1,5", "--app", "0.02,1,9", "--cost-fn-column", "amount", "--ci", "95", "--name", "new")
        results[-1].write_text(run("evaluate", path, *asked, "--json").stdout)
    found = [json.loads(path.read_text())["systems"][0]["case_costs"] for path in results]
    costs = sorted(row["cost"] for row in found[0])
    run("check", results[0], "--fail-if", f"cost > {costs[1]!r}")
    done = run("check", results[0], "--fail-if", f"cost > {(costs[0] + costs[1]) / 2!r}", code=3)
    assert "new, prior 0.02, costs per case: cost is" in done.stderr
    run("check", results[0], "--fail-if", f"cost.high > {max(row['cost_ci'][1] for row in found[0])!r}")
    gap = max(one["cost"] - other["cost"] for one, other in zip(*found, strict=True))
    for margin, code in ((gap + 0.001, 0), (gap - 0.001, 3)):
        words = f"cost > baseline {margin:+.6f}".replace("+", "+ ").replace("-", "- ")
        run("check", results[0], "--baseline", results[1], "--other-trials", "--fail-if", words, code=code)
    assert (
        "no number is called 'cots'. Did you mean cost"
        in run("check", results[0], "--fail-if", "cots>1", code=2).stderr
    )


@pytest.mark.parametrize("output", ["table", "md", "latex", "tsv"])
def test_costs_per_case_and_net_benefit_are_in_every_format(scores, output):
    asked = ("--app", "0.02,1,5", "--cost-fn-column", "amount", "--decision-curve", "--thresholds", "0.1,0.2")
    shown = run("evaluate", scores[0], *asked, "--format", output).stdout.replace("\\_", "_")
    assert "cost_per_1000" in shown
    assert "net_benefit" in shown
    assert ("costs per case, in the unit of the columns" in shown) == (output != "tsv")
