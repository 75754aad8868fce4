"""The commands of speech, biometrics, anti-spoofing and forensics, on small made data."""

import itertools
import json

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet import biometrics, forensics, nist, spoofing
from tercet.cli.main import main


def run(*words, code=0):
    found = CliRunner().invoke(main, [str(word) for word in words])
    assert found.exit_code == code, found.output
    return found


def as_json(*words):
    return json.loads(run(*words, "--json").stdout)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Scores of 300 verification trials by 30 people, with sexes; presentations with species; spoofs with attacks."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 2
    people, sexes = np.arange(300) // 10, np.where(np.arange(300) % 3, "f", "m")
    for name, shift in (("a", 2.0), ("b", 3.0)):
        scores = rng.normal(size=300) + shift * labels
        rows = zip(scores, labels, people, sexes, strict=True)
        lines = [
            f"{score!r},{label},p{person},{sex}" for score, label, person, sex in ((float(s), *r) for s, *r in rows)
        ]
        (folder / f"{name}.csv").write_text("score,label,person,sex\n" + "\n".join(lines) + "\n")
    kinds = np.where(labels, "-", np.array(["print", "mask"])[rng.integers(0, 2, 300)])
    lines = [
        f"{float(s)!r},{'bonafide' if y else 'attack'},{k}"
        for s, y, k in zip(rng.normal(size=300) + 2 * labels, labels, kinds, strict=True)
    ]
    (folder / "pad.csv").write_text("score,label,pai\n" + "\n".join(lines) + "\n")
    classes = np.array(["target", "nontarget", "spoof"])[np.arange(300) % 3]
    shifts = {"target": 3.0, "nontarget": 0.0, "spoof": 1.5}
    lines = [f"{float(rng.normal() + shifts[c])!r},{c},{'A1' if i % 2 else 'A2'}" for i, c in enumerate(classes)]
    (folder / "sasv.csv").write_text("score,label,attack\n" + "\n".join(lines) + "\n")
    lines = [
        f"{float(rng.normal() + 2 * (c != 'spoof'))!r},{'spoof' if c == 'spoof' else 'bonafide'},A{1 if i % 2 else 2}"
        for i, c in enumerate(classes)
    ]
    (folder / "cm.csv").write_text("score,label,attack\n" + "\n".join(lines) + "\n")
    return folder


def read(made, name, **more):
    return tc.read(made / f"{name}.csv", **more)


def test_points_lists_every_named_point_with_its_source():
    rows = {row["name"]: row for row in as_json("points")["rows"]}
    assert set(tc.Application.names()) <= set(rows)
    assert rows["sre08"]["threshold"] == tc.Application.named("sre08").threshold
    assert rows["sre16"]["source"] == "mean of sre16-a, sre16-b"
    assert rows["asvspoof2021"]["cost_spoof"] == 10.0
    assert "sre08" in run("points", "--format", "md").stdout


def test_fnmr_is_that_of_python(made):
    found = as_json("biometrics", "fnmr", made / "a.csv", "--fmr", "0.1,1e-3", "--development", made / "b.csv")
    rows = biometrics.fnmr_at_fmr(read(made, "a"), [0.1, 1e-3], development=read(made, "b"))
    assert found["systems"][0]["fnmr_at_fmr"] == [row.to_dict() for row in rows]
    table = run("biometrics", "fnmr", made / "a.csv", "--fmr", "1e-3", "--format", "table").stdout
    assert "not measurable with 150 impostor comparisons" in table
    grouped = as_json("biometrics", "fnmr", made / "a.csv", "--fmr", "0.1", "--group-column", "person")
    assert grouped["systems"][0]["fnmr_at_fmr"][0]["fnmr"]["interval"]["method"] != "clopper-pearson"


def test_rates_of_a_threshold_by_group(made):
    found = as_json("biometrics", "rates", made / "a.csv", "--threshold", "1", "--by", "sex")
    expected = biometrics.rates_by(read(made, "a", group_columns=["sex"]), "sex", 1.0)
    assert found["rates"] == {name: one.to_dict() for name, one in expected.items()}
    assert "hter" in run("biometrics", "rates", made / "a.csv", "--threshold", "1").stdout


def test_attacks_are_those_of_python(made):
    words = ("biometrics", "attacks", made / "pad.csv", "--target", "bonafide", "--threshold", "1")
    trials = read(made, "pad", target="bonafide", group_columns=["pai"])
    assert as_json(*words)["presentation_attacks"] == biometrics.presentation_attacks(trials, threshold=1.0).to_dict()
    table = run(*words, "--format", "table").stdout
    assert all(word in table for word in ("APCER", "worst:", "BPCER", "ACER", "BPCER10", "BPCER20", "BPCER100"))


def test_the_figure_of_attacks_names_its_rates(made, tmp_path):
    figure = tmp_path / "species.svg"
    run("biometrics", "attacks", made / "pad.csv", "--target", "bonafide", "--plot", figure)
    drawn = figure.read_text(encoding="utf-8")
    assert "APCER (%)" in drawn
    assert "BPCER (%)" in drawn
    assert "False positive rate" not in drawn


def test_persons_can_be_the_unit_of_every_biometric_table(tmp_path):
    rng = np.random.default_rng(2)
    rows = [(round(rng.normal(2.0 * (k % 2)), 3), k % 2, f"p{k % 13}", "ab"[k // 2 % 2]) for k in range(400)]
    file = tmp_path / "pad.csv"
    file.write_text("score,label,person,pai\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    words = (file, "--meaning", "raw", "--threshold", "1", "--group-column", "person")
    trials = tc.read(file, meaning="raw", group_columns=["person", "pai"])
    attacks = as_json("biometrics", "attacks", *words)["presentation_attacks"]
    assert attacks == biometrics.presentation_attacks(trials, threshold=1.0, by="person").to_dict()
    assert attacks != biometrics.presentation_attacks(trials, threshold=1.0).to_dict()
    rates = as_json("biometrics", "rates", *words, "--by", "pai")["rates"]
    expected = biometrics.rates_by(trials, "pai", 1.0, by="person")
    assert rates == {name: one.to_dict() for name, one in expected.items()}


def test_every_named_point_is_listed_once():
    names = [row["name"] for row in as_json("points")["rows"]]
    assert len(names) == len(set(names))
    assert {"asvspoof5-track1", "asvspoof5", "asvspoof5-tandem"} <= set(names)


def test_a_plan_for_a_claimed_rate():
    assert as_json("biometrics", "plan", "--rate", "0.01")["rows"][0]["rule_of_3"] == 300
    assert "rate" in run("biometrics", "plan", "--rate", "2", code=2).stderr


def test_a_dcf_is_that_of_python(made):
    words = ("spoofing", "a-dcf", made / "sasv.csv", "--meaning", "raw", "--threshold", "2", "--by-attack", "attack")
    found = as_json(*words)["systems"][0]
    trials = read(made, "sasv", target="target", meaning="raw", group_columns=["label", "attack"])
    assert found["a_dcf"] == spoofing.a_dcf(trials, threshold=2.0, key="label").to_dict()
    assert set(found["by_attack"]) == {"A1", "A2"}
    assert "min_a_dcf" in run(*words).stdout


def test_t_dcf_and_t_eer_are_those_of_python(made):
    asv = read(made, "sasv", target="target", meaning="raw", group_columns=["label", "attack"])
    front = read(made, "cm", target="bonafide", meaning="raw", group_columns=["attack"])
    words = ("--target", "bonafide", "--meaning", "raw")
    found = as_json("spoofing", "t-dcf", made / "cm.csv", "--asv", made / "sasv.csv", *words, "--by-attack", "attack")
    assert found["t_dcf"]["all"] == spoofing.t_dcf(front, asv, key="label").to_dict()
    assert set(found["t_dcf"]) == {"all", "A1", "A2"}
    equal = as_json("spoofing", "t-eer", made / "sasv.csv", made / "cm.csv", *words)
    assert equal["t_eer"] == spoofing.t_eer(asv, front, key="label").to_dict()


def test_files_of_asvspoof_are_read_as_they_are(tmp_path):
    rng = np.random.default_rng(4)
    kinds = np.repeat(["spoof", "target", "nontarget"], 30)
    scores = rng.normal(np.select([kinds == "target", kinds == "spoof"], [3.0, 1.5], 0.0)).round(3).tolist()
    attacks = [f"A{k % 2}" if kind == "spoof" else "-" for k, kind in enumerate(kinds.tolist())]
    rows = list(zip(range(90), scores, kinds.tolist(), attacks, strict=True))
    real = {kind: "spoof" if kind == "spoof" else "bonafide" for kind in set(kinds.tolist())}
    files = {
        "asv.csv": "score,label,source\n" + "".join(f"{s},{k},{a}\n" for _, s, k, a in rows),
        "asv.txt": "".join(f"{a} {k} {s}\n" for _, s, k, a in rows),
        "lists.txt": "".join(f"m{n % 5} u{n} {s}\n" for n, s, _, _ in rows),
        "lists.key": "".join(f"m{n % 5} u{n} {k}\n" for n, _, k, _ in rows),
        "cm.csv": "score,label,source\n" + "".join(f"{s},{real[k]},{a}\n" for _, s, k, a in rows),
        "cm.txt": "".join(f"u{n} {a} {real[k]} {s}\n" for n, s, k, a in rows),
        "short.txt": "".join(f"u{n} {s}\n" for n, s, _, _ in rows),
        "protocol.txt": "".join(f"p{n % 3} u{n} - {a} {real[k]}\n" for n, _, k, a in rows),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    raw = ("--meaning", "raw")
    agnostic = {
        as_json("spoofing", "a-dcf", tmp_path / name, *raw, *more)["systems"][0]["a_dcf"]["minimum"]
        for name, more in (("asv.csv", ()), ("asv.txt", ()), ("lists.txt", ("--key", tmp_path / "lists.key")))
    }
    assert len(agnostic) == 1
    fronts = (("cm.csv", "--target", "bonafide"), ("cm.txt",), ("short.txt", "--key", tmp_path / "protocol.txt"))
    behinds = (("asv.csv",), ("asv.txt",), ("lists.txt", "--asv-key", tmp_path / "lists.key"))
    tandem, equal = set(), set()
    for (front, *more), (behind, *key) in itertools.product(fronts, behinds):
        words = (*more, *key, *raw)
        costs = as_json("spoofing", "t-dcf", tmp_path / front, "--asv", tmp_path / behind, *words)["t_dcf"]
        tandem.add(costs["all"]["minimum"])
        equal.add(as_json("spoofing", "t-eer", tmp_path / behind, tmp_path / front, *words)["t_eer"]["value"])
    assert len(tandem) == len(equal) == 1
    words = ("--asv", tmp_path / "asv.txt", *raw, "--by-attack", "source")
    assert {"A0", "A1"} < set(as_json("spoofing", "t-dcf", tmp_path / "cm.txt", *words)["t_dcf"])


def test_a_key_without_spoofs_is_refused_in_words(made):
    words = run("spoofing", "a-dcf", made / "a.csv", code=1).stderr
    assert "target" in words


def test_the_forensic_sheet_holds_measures_and_figures(made, tmp_path):
    out = tmp_path / "sheet.html"
    found = as_json("forensics", "report", made / "b.csv", "-o", out, "--bootstrap", "60", "--title", "Glass <1>")
    page = out.read_text(encoding="utf-8")
    assert page.count("<svg") == 5
    assert "Glass &lt;1&gt;" in page
    assert "http" not in page.replace("http://www.w3.org", "").replace("http://purl.org", "").replace(
        "https://matplotlib", ""
    ).replace("http://creativecommons", "")
    names = [row["name"] for row in found["validation"]["measures"]]
    assert names == ["Cllr (bits)", "min Cllr (bits)", "Cllr cal (bits)", "EER (rocch)", "devPAV"]
    ends = found["validation"]["bound_intervals"]["elub lower"]
    assert f"{ends['low']:.3g} to {ends['high']:.3g}" in page
    bounds = as_json("forensics", "bounds", made / "b.csv")["rows"]
    assert bounds[0] == forensics.elub(read(made, "b"))._asdict()


def test_primary_is_that_of_python(made):
    found = as_json("primary", made / "a.csv", "--points", "sre16", "--partition", "sex")
    trials = read(made, "a", group_columns=["sex"])
    assert found["systems"][0]["c_primary"] == nist.c_primary(trials, "sre16", partitions="sex").to_dict()
    assert "min_c_primary_low" in run("primary", made / "a.csv", "--points", "sre12", "--ci", "90").stdout


def test_a_sweep_over_score_files_keeps_the_choice_beside_its_held_out_cost(made, tmp_path):
    figure = tmp_path / "sweep.svg"
    words = ("sweep", made / "a.csv", made / "b.csv", "--held-out", made / "b.csv", "--held-out", made / "a.csv")
    found = as_json(*words, "--criterion", "min_dcf", "--plot", figure)["sweep"]
    chosen = found["rows"][found["chosen"]]
    assert chosen["parameters"] == {"system": "b"}
    assert chosen["held_out_min_dcf"] == found["rows"][0]["min_dcf"]
    assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert "2 score files" in run(*words[:3], "--held-out", made / "a.csv", code=2).stderr


def test_a_sweep_over_models_trains_every_combination(tmp_path):
    rng = np.random.default_rng(1)
    for name in ("train", "validation"):
        labels = np.arange(100) % 2
        table = rng.normal(size=(100, 2)) * np.where(labels, 2, 1)[:, None]
        lines = [f"{x!r},{y!r},{label}" for (x, y), label in zip(table.tolist(), labels, strict=True)]
        (tmp_path / f"{name}.csv").write_text("x,y,label\n" + "\n".join(lines) + "\n")
    words = ("sweep", "--train", tmp_path / "train.csv", "--validation", tmp_path / "validation.csv")
    grid = ("--grid", "penalty=1e-4,1e-2", "--grid", "expansion=linear,quadratic")
    found = as_json(*words, *grid, "--plot", tmp_path / "figure.png")["sweep"]
    assert len(found["rows"]) == 4
    assert found["rows"][found["chosen"]]["parameters"]["expansion"] == "quadratic"
    assert as_json(*words, "--model", "gaussian", "--grid", "covariance=full,tied")["sweep"]["chosen"] == 0
    assert "NAME=VALUE" in run(*words, "--grid", "penalty", code=2).stderr
    (tmp_path / "bad.csv").write_text("x,label\n1,0\nz,1\n")
    assert (
        "line 3" in run("sweep", "--train", tmp_path / "bad.csv", "--validation", tmp_path / "bad.csv", code=1).stderr
    )


def test_a_calibrator_is_bounded_by_what_scores_support(made, tmp_path):
    model, safe = tmp_path / "model.json", tmp_path / "safe.json"
    run("calibrate", "fit", made / "a.csv", "--meaning", "raw", "-o", model)
    run("forensics", "bounded", model, made / "b.csv", "--meaning", "raw", "--bounds", "iv", "-o", safe)
    calibrator, trials = tc.load_model(model.read_text()), read(made, "b", meaning="raw")
    assert tc.load_model(safe.read_text()) == forensics.bounded(calibrator, trials, method="iv")
    assert (
        "not a tercet model" in run("forensics", "bounded", made / "a.csv", made / "b.csv", "-o", safe, code=1).stderr
    )


def test_the_lrs_of_a_case_have_intervals(made, tmp_path):
    (tmp_path / "case.csv").write_text("score\n0.5\n2.5\n")
    words = ("forensics", "interval", tmp_path / "case.csv", "--calibrate-on", made / "a.csv", "--meaning", "raw")
    found = as_json(*words, "--bootstrap", "39", "--group-column", "person", "--ci", "90")["lr_intervals"]
    trials = read(made, "a", meaning="raw", group_columns=["person"])
    same = forensics.lr_interval([0.5, 2.5], trials, ci=0.9, by="person", resamples=39)
    assert [(row["lr"], row["low"], row["high"]) for row in found] == [(one.lr, *one.interval[:2]) for one in same]


def test_a_sweep_without_models_says_what_it_takes():
    assert "score files, or --train" in run("sweep", code=2).stderr


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    """Two systems on 240 trials of 24 speakers, with a quality measure that shifts both, and a map to speakers."""
    folder = tmp_path_factory.mktemp("scored")
    rng = np.random.default_rng(5)
    labels, quality = np.arange(240) % 2, rng.normal(size=240)
    for name in "ab":
        scores = rng.normal(size=240) + 1.5 * labels + quality
        rows = [f"m{k % 12},u{k},{float(scores[k])!r},{labels[k]},{float(quality[k])!r},s{k // 10}" for k in range(240)]
        (folder / f"{name}.csv").write_text("enrol,test,score,label,snr,speaker\n" + "\n".join(rows) + "\n")
    (folder / "utt2spk").write_text("".join(f"u{k} s{k // 10}\n" for k in range(240)))
    return folder


IDS = ("--id-column", "enrol", "--id-column", "test")


def test_quality_columns_and_penalty_of_a_fusion_are_those_of_python(scored, tmp_path):
    model, out, held = tmp_path / "fusion.json", tmp_path / "fused.csv", tmp_path / "held.csv"
    files = (scored / "a.csv", scored / "b.csv", "--meaning", "raw", *IDS, "--quality-column", "snr")
    dealt = ("--scheme", "interleaved", "--folds", 3)
    run("fuse", *files, "--penalty", 0.01, *dealt, "--out-of-fold", held, "-o", model)
    run("calibrate", "apply", model, *files, "-o", out)
    systems = [read(scored, one, meaning="raw", group_columns=["snr"]) for one in "ab"]
    quality = systems[0].groups["snr"].astype(float)
    wanted = tc.cross_fit(
        tc.Fusion, systems, folds=3, scheme="interleaved", penalty=0.01, quality=quality, pair_by="position"
    )
    assert tc.read(out).scores == pytest.approx(wanted.model(systems, quality=quality).scores, abs=1e-12)
    back = tc.read(held, group_columns=["fold"])
    assert back.scores == pytest.approx(wanted.scores.scores, abs=1e-12)
    assert back.groups["fold"].tolist() == [str(k % 3) for k in range(240)]
    assert "trained with 1 quality measures" in run("calibrate", "apply", model, *files[:4], code=1).stderr


def test_a_group_map_is_a_group_column_in_every_command(scored, tmp_path):
    mapped = (*IDS, "--group-map", scored / "utt2spk")
    listed = ("--group-column", "speaker")
    assert "lacks" not in run("compare", scored / "a.csv", scored / "b.csv", *mapped).stdout
    for words in (
        ("evaluate", scored / "a.csv", "--app", "0.1", "--ci", 95),
        ("forensics", "report", scored / "a.csv", "--bootstrap", 39, "-o", tmp_path / "sheet.html"),
        ("biometrics", "fnmr", scored / "a.csv", "--fmr", "0.1"),
        ("primary", scored / "a.csv", "--points", "sre16", "--ci", 95),
    ):
        one, other = (json.loads(run(*words, *more, "--json").stdout) for more in (mapped, listed))
        assert _without_input(one) == _without_input(other), words
    lacking = tmp_path / "utt2spk"
    lacking.write_text("u0 s0\n")
    found = run("evaluate", scored / "a.csv", "--ci", 95, *IDS, "--group-map", lacking, code=1)
    assert "lacks 239 utterances" in found.stderr


def test_a_group_column_and_a_map_of_the_same_name_are_refused_unless_the_column_is_a_setting(scored, tmp_path):
    words = (
        "evaluate",
        scored / "a.csv",
        "--app",
        "0.1",
        "--ci",
        95,
        *IDS,
        "--group-map",
        scored / "utt2spk",
        "--json",
    )
    assert "both make the group 'speaker'" in run(*words, "--group-column", "speaker", code=2).stderr
    (tmp_path / "team.toml").write_text('group-column = ["speaker"]\n')
    one, other = (json.loads(run(*words, *more).stdout) for more in ((), ("--config", tmp_path / "team.toml")))
    assert _without_input(one) | {"command": []} == _without_input(other) | {"command": []}


def test_scores_out_of_fold_are_written_with_ids_groups_and_weights(scored, tmp_path):
    rows = (scored / "a.csv").read_text().splitlines()
    heavy = [f"{row},{'weight' if k == 0 else k % 3 + 1}" for k, row in enumerate(rows)]
    (tmp_path / "w.csv").write_text("\n".join(heavy) + "\n")
    more = (*IDS, "--group-column", "speaker", "--weight-column", "weight")
    run("calibrate", "fit", tmp_path / "w.csv", *more, "--out-of-fold", tmp_path / "o.csv", "-o", tmp_path / "m.json")
    given, back = (
        tc.read(tmp_path / one, id_column=list(IDS[1::2]), group_columns=["speaker"], weight_column="weight")
        for one in ("w.csv", "o.csv")
    )
    assert back.ids.tolist() == given.ids.tolist()
    assert back.groups["speaker"].tolist() == given.groups["speaker"].tolist()
    assert back.weights.tolist() == given.weights.tolist()
    assert back.labels.tolist() == given.labels.tolist()


def _without_input(facts):
    if isinstance(facts, dict):
        return {name: _without_input(value) for name, value in facts.items() if name not in ("input", "created")}
    return [_without_input(one) for one in facts] if isinstance(facts, list) else facts


@pytest.mark.parametrize(
    "words",
    [("--method", "isotonic-linear", "--pseudo-errors", 3), ("--method", "kernel-density", "--bandwidth", 0.4),
     ("--method", "offset"), ("--method", "logistic", "--penalty", 0.1)],
)  # fmt: skip
def test_calibrators_of_the_command_line_are_those_of_python(scored, tmp_path, words):
    run("calibrate", "fit", scored / "a.csv", "--meaning", "raw", *words, "-o", tmp_path / "model.json")
    trials = read(scored, "a", meaning="raw")
    wanted = {
        "isotonic-linear": lambda: tc.Isotonic.fit(trials, interpolation="linear", pseudo_errors=3),
        "kernel-density": lambda: tc.KernelDensity.fit(trials, bandwidth=0.4),
        "offset": lambda: tc.Offset.fit(trials),
        "logistic": lambda: tc.Logistic.fit(trials, penalty=0.1),
    }[words[1]]()
    assert (tmp_path / "model.json").read_text() == wanted.to_json()


def test_attacks_have_intervals_and_the_tandem_cost_a_figure(made, tmp_path):
    draws = ("--ci", "90", "--bootstrap", "39", "--by-attack", "attack", "--meaning", "raw", "--threshold", "1")
    figure = tmp_path / "a-dcf.svg"
    agnostic = as_json("spoofing", "a-dcf", made / "sasv.csv", *draws, "--plot", figure)["systems"][0]["by_attack"]
    drawn = figure.read_text(encoding="utf-8")
    assert all(word in drawn for word in ("Normalised a-DCF", "A1", "A2", "all"))
    figure = tmp_path / "t-dcf.svg"
    words = ("spoofing", "t-dcf", made / "cm.csv", "--asv", made / "sasv.csv", "--target", "bonafide", *draws)
    tandem = as_json(*words, "--plot", figure)["t_dcf"]
    for name in ("A1", "A2"):
        for one in (agnostic[name], tandem[name]):
            assert one["minimum_interval"]["low"] <= one["minimum"] <= one["minimum_interval"]["high"]
            assert one["actual_interval"]["low"] < one["actual_interval"]["high"]
    drawn = figure.read_text(encoding="utf-8")
    assert all(word in drawn for word in ("Normalised t-DCF", "A1", "A2", "all"))
    figure = tmp_path / "t-eer.svg"
    as_json("spoofing", "t-eer", made / "sasv.csv", made / "cm.csv", "--target", "bonafide", "--plot", figure)
    drawn = figure.read_text(encoding="utf-8")
    assert all(word in drawn for word in ("0 % spoofs", "50 % spoofs", "100 % spoofs", "concurrent t-EER"))
    words = (
        "spoofing",
        "t-eer",
        made / "sasv.csv",
        made / "cm.csv",
        "--target",
        "bonafide",
        "--plot",
        tmp_path / "x.txt",
    )
    assert "The file of a figure must end in .png, .svg, .pdf, not 'x.txt'" in run(*words, code=1).stderr


def test_a_sweep_has_intervals(made):
    words = ("sweep", made / "a.csv", made / "b.csv", "--app", "0.2", "--ci", "90")
    found = as_json(*words)["sweep"]["rows"][0]
    assert found["intervals"]["dcf"]["low"] <= found["dcf"] <= found["intervals"]["dcf"]["high"]
    assert "dcf_low" in run(*words, "--format", "tsv").stdout.splitlines()[0]
    assert "--ci" in run("sweep", made / "a.csv", "--group-column", "sex", code=2).stderr


def test_the_columns_of_rates_do_not_depend_on_the_first_row(tmp_path):
    lines = ["score,label,kind", "1,0,a", "2,0,a", "3,1,b", "1,0,b"]
    (tmp_path / "one.csv").write_text("\n".join(lines) + "\n")
    words = ("biometrics", "rates", tmp_path / "one.csv", "--meaning", "raw", "--threshold", "1.5", "--by", "kind")
    head = run(*words, "--format", "tsv").stdout.splitlines()[0].split("\t")
    order = [name for name in head if not name.endswith(("_low", "_high", "_errors", "_trials"))]
    assert order == ["of", "fmr", "fnmr", "far", "frr", "gar", "hter", "note"]
    words = ("biometrics", "fnmr", tmp_path / "one.csv", "--meaning", "raw", "--fmr", "0.01,0.5", "--format", "tsv")
    head = run(*words).stdout.splitlines()[0].split("\t")
    assert head.index("note") == len(head) - 1


def test_supported_lrs_have_the_intervals_of_the_sheet(made):
    draws = ("--ci", "90", "--bootstrap", "39", "--seed", "3")
    sheet = as_json("forensics", "report", made / "b.csv", *draws)["validation"]["bound_intervals"]
    for row in as_json("forensics", "bounds", made / "b.csv", *draws)["rows"]:
        for side in ("lower", "upper"):
            ends = sheet[f"{row['method']} {side}"]
            assert (row[f"{side}_low"], row[f"{side}_high"]) == (ends["low"], ends["high"])
