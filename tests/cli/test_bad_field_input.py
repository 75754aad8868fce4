"""Input that decisions and fields cannot use: commands say what is wrong, how often, where first, and the way out."""

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.cli.main import main

LABELS = np.arange(60) % 2
SCORES = np.round(np.random.default_rng(0).normal(2 * LABELS), 3).tolist()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One file per fault."""
    made = tmp_path_factory.mktemp("faults")

    def write(name, head, cells):
        lines = [",".join(map(str, (SCORES[k], *cells(k)))) for k in range(60)]
        (made / f"{name}.csv").write_text(f"score,{head}\n" + "\n".join(lines) + "\n")

    write("plain", "label,id", lambda k: (LABELS[k], f"t{k}"))
    (made / "separable.csv").write_text("score,label\n" + "".join(f"{k},{k // 10}\n" for k in range(20)))
    write("spoofless", "label", lambda k: ("target" if LABELS[k] else "nontarget",))
    kinds = ("print", "Print", "mask")
    write("species", "label,pai", lambda k: ("bonafide", "-") if LABELS[k] else ("attack", kinds[k // 2 % 3]))
    write("twice", "label,id", lambda k: (LABELS[k], f"t{k // 2}"))
    write("missing", "label,amount", lambda k: (LABELS[k], "nan" if k in (4, 7) else 10 + k))
    write("negative", "label,amount", lambda k: (LABELS[k], -5 if k in (4, 7) else 10 + k))
    write("lonely", "label,site", lambda k: (LABELS[k], "z" if k < 10 and LABELS[k] else "y"))
    write("targets", "label,site", lambda k: (1, "z" if k < 10 else "y"))
    (made / "utt2spk").write_text("".join(f"t{k} s{k // 10}\n" for k in range(55)))
    return made


REFUSED = {
    "a key without spoofs": (
        "spoofing a-dcf spoofless.csv --meaning raw", 1, ("30 target, 30 nontarget, 0 spoof", "two-class"),
    ),
    "a species spelt in two cases": (
        "biometrics attacks species.csv --target bonafide", 1, ("'Print' (10 attacks)", "Spell it in one way"),
    ),
    "an id of two trials": (
        "compare twice.csv plain.csv --id-column id --app 0.5", 1, ("Repeated in 30 of 60 rows: 't0'", "--unpaired"),
    ),
    "ids that nothing uses": ("evaluate twice.csv --id-column id --app 0.5", 2, ("--id-column has no effect",)),
    "a map without an utterance": (
        "evaluate plain.csv --id-column id --group-map utt2spk --ci 90 --app 0.5", 1,
        ("lacks 5 utterances", "the first is 't55'", "complete the map"),
    ),
    "a threshold probability above 1": (
        "evaluate plain.csv --app 0.1 --decision-curve --thresholds 0.2,1.5", 2,
        ("--thresholds", "strictly between 0 and 1", "not 1.5"),
    ),
    "a threshold probability of 0": (
        "compare plain.csv plain.csv --name a --name b --thresholds 0,0.2", 2, ("--thresholds", "not 0.0"),
    ),
    "posteriors without their prior": (
        "evaluate plain.csv --meaning posterior --app 0.1", 1, ("--trained-prior",),
    ),
    "costs that are not there": (
        "evaluate missing.csv --app 0.1 --cost-fn-column amount", 1,
        ("--cost-fn-column 'amount'", "2 of 60 rows", "row 4", "Drop these rows"),
    ),
    "costs in a column that a scan does not find": (
        "evaluate plain.csv --app 0.1 --cost-fn-column nope --engine local", 1,
        ("--cost-fn-column 'nope' must be a column or a number", "has no column 'nope'"),
    ),
    "costs below 0": (
        "evaluate negative.csv --app 0.1 --cost-fn-column amount", 1, ("2 of 60 rows", "row 4", "holds -5.0", "A gain"),
    ),
    "a promise that no threshold keeps": (
        "rule fit plain.csv --fpr-at-most 0.001 --confidence 95 -o rule.json", 1,
        ("30 non-targets", "9.5 %", "needs at least 2995"),
    ),
    "a prior in per cent": (
        "evaluate plain.csv --app 0.5%,200,5", 2, ("--app must be numbers", "0.5 % is 0.005"),
    ),
    "a prior alone in per cent": ("evaluate plain.csv --app 1%", 2, ("'1%' is not a known", "1 % is 0.01")),
    "a rate in per cent": (
        "decide plain.csv --fpr-at-most 5%", 2, ("'--fpr-at-most': '5%' is not a number. 5 % is 0.05",),
    ),
    "a decimal comma": ("decide plain.csv --fpr-at-most 0,05", 2, ("decimal point, not a comma",)),
    "separable classes": (
        "calibrate fit separable.csv -o rule.json", 1, ("--penalty 1e-3", "or use --method isotonic"),
    ),
    "a folder that does not exist": (
        "decide plain.csv --app 0.1 -o nowhere/d.csv", 1, ("nowhere", "Make this folder first"),
    ),
    "no trial of a class": ("evaluate targets.csv --app 0.5", 1, ("no non-targets among the trials",)),
}  # fmt: skip


def run(folder, monkeypatch, words):
    monkeypatch.chdir(folder)
    return CliRunner().invoke(main, words.split())


@pytest.mark.parametrize("fault", REFUSED)
def test_what_cannot_be_computed_is_refused_in_a_sentence(fault, folder, monkeypatch):
    words, code, said = REFUSED[fault]
    found = run(folder, monkeypatch, words)
    assert found.exit_code == code, found.stderr
    assert found.stdout == ""
    assert [part for part in said if part not in found.stderr] == [], found.stderr
    assert "Traceback" not in found.stderr
    assert not (folder / "rule.json").exists()


def test_an_fmr_below_one_error_is_not_measurable(folder, monkeypatch):
    found = run(folder, monkeypatch, "biometrics fnmr plain.csv --fmr 0.001 --format tsv")
    assert found.exit_code == 0
    assert "not measurable with 30 impostor comparisons: the least FMR above 0 is 1/30" in found.stdout


@pytest.mark.parametrize(("name", "groups"), [("lonely", "z"), ("targets", "yz")])
def test_groups_without_a_class_are_named_and_keep_what_exists(name, groups, folder, monkeypatch):
    found = run(folder, monkeypatch, f"gaps {name}.csv --between site --app 0.5 --format tsv")
    assert found.exit_code == 0
    for group in groups:
        assert f"fpr is undefined: there are no non-targets in {group}." in found.stderr
    assert "acceptance_rate is undefined" not in found.stderr
    assert {line.split("\t")[0] for line in found.stdout.splitlines()[1:]} == {"fnr", "acceptance_rate"}


def test_an_lr_of_0_has_no_geometric_mean():
    trials = tc.Trials.of_lr([0.0, 0.0, 3.0, 0.5, 0.1], [1, 1, 1, 0, 0])
    with pytest.raises(tc.InputError, match=r"2 of 3 same-source LRs are not, the first is 0. Bound the LRs first"):
        tc.forensics.geometric_mean_lr(trials)
