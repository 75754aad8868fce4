"""The contract of the command line: every option changes something or is refused, and no pair of them is a traceback.

Commands and options are found by introspection, so a new one is enrolled by existing. A value is made from an option's
name or type; VALUES, BASES and COMPANIONS say what introspection cannot know. A command that BASES does not describe is
called with a guess and held to exit codes and sentences; one that it describes also to the effect of each option.
There are many pairs: each run takes some by rotation (TERCET_ROTATION, else the day). TERCET_FULL=1 tries each option
in every context, and `python tests/cli/pairs.py` runs all pairs.
"""

import datetime
import itertools
import json
import os
import random
import re
import zlib
from functools import cache
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from tercet.cli._command import Option
from tercet.cli.main import COMMANDS, main

ROTATION = int(os.environ.get("TERCET_ROTATION", datetime.date.today().toordinal()))
PAIRS_PER_COMMAND = 4
FAULT = "a fault in tercet itself"
LOG_ONLY = {"verbose", "quiet", "engine", "scheduler", "memory_limit", "resume", "threads", "config"}
# Options that may say what tercet finds out by itself: the format and separator of a file, the name of a column.
RESTATED = {"format", "separator", "columns", "score_column", "label_column", "id_column", "output", "as_json"}
SKIP = {"open_page", "help", "version", "scheduler", "debug"}
SCORES = ("llr", "posterior", "raw")


def leaves():
    """Every command that runs something, as (words, command)."""
    context = click.Context(main)
    for name in COMMANDS:
        found = main.get_command(context, name)
        if isinstance(found, click.Group):
            yield from (((name, inner), one) for inner, one in found.commands.items())
        else:
            yield (name,), found


LEAVES = dict(leaves())


def write_files(folder):
    """The files that commands are given: two systems, calibration scores, decided labels, classes, models, results."""
    rng = random.Random(0)
    labels = [i % 2 for i in range(60)]
    for name, shift in (("a", 1.5), ("b", 1.0), ("c", 1.2)):
        rows = [
            f"t{i},{rng.gauss(shift * (2 * y - 1), 1.5):.6f},{y},s{i % 10},{'xy'[i // 2 % 2]},{1 + i % 3},"
            f"{1 + i % 4},{rng.gauss(y, 1):.6f}"
            for i, y in enumerate(labels)
        ]
        (folder / f"{name}.csv").write_text(
            "id,score,label,speaker,channel,weight,heavy,other\n" + "\n".join(rows) + "\n"
        )
    posteriors = [f"{rng.uniform(0.05, 0.55) + 0.4 * y:.6f},{y}" for y in labels]
    (folder / "p.csv").write_text("score,label\n" + "\n".join(posteriors) + "\n")
    rows = [
        ",".join(f"{rng.gauss(1.5 * (k == i % 3), 1):.6f}" for k in range(3)) + f",{'abc'[i % 3]}" for i in range(60)
    ]
    (folder / "m.csv").write_text("a,b,c,label\n" + "\n".join(rows) + "\n")
    rows = [f"{'xy'[(i * 7) % 5 < 2]},{'xy'[i % 2]}" for i in range(60)]
    (folder / "d.csv").write_text("decision,label\n" + "\n".join(rows) + "\n")
    (folder / "labels.csv").write_text(
        "label\n" + "\n".join(str(0 if i < 8 else y) for i, y in enumerate(labels)) + "\n"
    )
    keys = [f"t{i},{y}" for i, y in enumerate(labels)] + ["t99,1"]
    (folder / "key.csv").write_text("id,label\n" + "\n".join(keys) + "\n")
    (folder / "utt2spk").write_text("".join(f"t{i} s{i % 10}\n" for i in range(60)))
    (folder / "utt2model").write_text("".join(f"t{i} m{i % 7}\n" for i in range(60)))
    (folder / "ids").write_text("t1\nt2\n")
    (folder / "tercet.toml").write_text("")
    (folder / "other.toml").write_text('weight-column = "heavy"\n')
    for words, out in (
        (
            ("evaluate", "a.csv", "b.csv", "--app", "0.1,1,1", "--ci", "95", "--bootstrap", "39", "--json"),
            "result.json",
        ),
        (("evaluate", "a.csv", "b.csv", "--app", "0.1,1,1", "--json"), "baseline.json"),
    ):
        (folder / out).write_text(CliRunner().invoke(main, list(words)).stdout)
    kinds = [("bonafide", "-") if y else ("attack", ("mask", "photo")[i // 2 % 2]) for i, y in enumerate(labels)]
    rows = [f"{rng.gauss(1.5 * (k == 'bonafide'), 1):.6f},{k},{species}" for k, species in kinds]
    (folder / "pad.csv").write_text("score,label,pai\n" + "\n".join(rows) + "\n")
    three = [("target", "nontarget", "spoof")[i % 3] for i in range(60)]
    rows = [f"{rng.gauss(1.5 * (k == 'target'), 1):.6f},{k},A{1 + i // 3 % 2},s{i % 10}" for i, k in enumerate(three)]
    (folder / "sasv.csv").write_text("score,label,attack,speaker\n" + "\n".join(rows) + "\n")
    rows = [
        f"{rng.gauss(1.5 * (k != 'spoof'), 1):.6f},{k if k == 'spoof' else 'bonafide'},A{1 + i // 3 % 2},s{i % 10}"
        for i, k in enumerate(three)
    ]
    (folder / "cm.csv").write_text("score,label,attack,speaker\n" + "\n".join(rows) + "\n")
    ruled = CliRunner().invoke(main, ["rule", "fit", "c.csv", "--fpr-at-most", "0.3", "-o", "rule.json"])
    assert ruled.exit_code == 0, ruled.stderr
    made = CliRunner().invoke(main, ["calibrate", "fit", "c.csv", "-o", "model.json"])
    assert made.exit_code == 0, made.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("contract")
    before = Path.cwd()
    os.chdir(path)
    write_files(path)
    yield path
    os.chdir(before)


# How a command is called before anything is added, for each context worth trying.
BASES = {
    ("evaluate",): [
        ("a.csv", "--app", "0.1,1,1"), ("b.csv", "a.csv", "c.csv", "--app", "0.1,1,1", "--json"),
        ("a.csv", "--format", "table"),
        ("p.csv", "--meaning", "posterior", "--trained-prior", "0.5", "--app", "0.1,1,1", "--format", "md"),
        ("m.csv", "--meaning", "log-likelihoods", "--class-columns", "a,b,c", "--priors", ".3,.4,.3", "--json"),
        ("d.csv", "--meaning", "decisions", "--target", "y", "--app", "0.1,1,1", "--format", "table"),
    ],
    ("decide",): [("a.csv", "--app", "0.1,1,1")],
    ("calibrate", "fit"): [("a.csv", "-o", "out.json")],
    ("calibrate", "apply"): [("model.json", "a.csv")],
    ("fuse",): [("a.csv", "b.csv", "-o", "out.json")],
    ("select",): [("a.csv", "--app", "0.1,1,1")],
    ("compare",): [("a.csv", "b.csv", "--app", "0.1,1,1", "--bootstrap", "39")],
    ("sample-size",): [("--app", "0.1,1,1", "--fnr", "0.1", "--fpr", "0.1", "--half-width", "0.1")],
    ("report",): [("result.json", "-o", "page.html")],
    ("card",): [("result.json", "-o", "card.md")],
    ("check",): [("result.json", "--fail-if", "dcf>0.3")],
    ("metrics",): [()],
    ("rule", "fit"): [("a.csv", "--fpr-at-most", "0.3", "-o", "out.json")],
    ("count",): [("d.csv", "--target", "y")],
    ("sensitivity", "labels"): [("a.csv", "--app", "0.1,1,1")],
    ("sensitivity", "verification"): [("--accepted", "80,20,5", "--rejected", "2,98,900")],
    ("biometrics", "fnmr"): [("a.csv", "--fmr", "0.1")],
    ("biometrics", "attacks"): [("pad.csv", "--target", "bonafide")],
    ("biometrics", "plan"): [("--rate", "0.01")],
    ("forensics", "report"): [("a.csv", "--bootstrap", "39")],
    ("points",): [()],
    ("rule", "apply"): [("rule.json", "a.csv")],
    ("rule", "judge"): [("rule.json", "a.csv")],
    ("coverage",): [("a.csv", "b.csv"), ("a.csv", "--json")],
    ("gaps",): [("a.csv", "--between", "channel", "--app", "0.5,1,1")],
    ("primary",): [("a.csv", "--points", "sre16", "--json")],
    ("prevalence",): [("a.csv", "--calibrate-on", "c.csv")],
    ("calibration",): [("a.csv", "--bootstrap", "199")],
    ("plot",): [("a.csv", "--out", "out.svg")],
    ("biometrics", "rates"): [("a.csv", "--threshold", "0")],
    ("forensics", "bounds"): [("a.csv",)],
    ("sweep",): [("a.csv", "b.csv", "--json")],
    ("sensitivity", "inputs"): [("a.csv", "--prior", "0.1:0.3"), ("a.csv", "--prior", "beta:2:8")],
    ("spoofing", "a-dcf"): [("sasv.csv",)],
    ("spoofing", "t-dcf"): [("cm.csv", "--asv", "sasv.csv", "--target", "bonafide")],
    ("spoofing", "t-eer"): [("sasv.csv", "cm.csv", "--target", "bonafide")],
    ("assemble",): [("a.csv", "--out", "out.csv")],
    ("demo",): [("--out", "demo")],
}  # fmt: skip
# Options whose effect is tried alone: beside another option the few numbers of small files can come out the same.
ALONE = {"seed"}
# With this option these commands' few numbers come out the same, whatever else is asked for; --other-trials is a
# permission, and the baseline here has the same trials.
DEGENERATE = {("forensics", "bounds"): "target", ("rule", "fit"): "score_column", ("check",): "other_trials"}
VALUES = {
    "labels": "labels.csv", "key": "key.csv", "format": "csv", "separator": ";", "columns": "id,score,label",
    "score_column": "other", "label_column": "channel", "class_columns": "b,a,c", "classes": "y,x",
    "weight_column": "weight", "group_columns": "speaker", "id_column": "id", "target": "0", "trained_prior": "0.3",
    "missing": "drop", "apps": "0.3,2,1", "priors": "0.2,0.3,0.5", "costs": "0,1,2;1,0,1;2,1,0", "actions": "p,q,r",
    "memory_limit": "900MB", "resume": "parts", "ci": "90", "resamples": "49", "seed": "3", "bayes_plot": "-2,2,9",
    "sigma": "2", "condition_columns": "channel", "calibrate_on": "c.csv", "calibrate_prior": "0.2",
    "calibrate_labels": "labels.csv", "calibrate_key": "key.csv", "report": "page.html", "plots": "figures",
    "asv_key": "key.csv",
    "names": "named", "sort": "dcf", "title": "A title", "metrics": "ppv,cllr", "fpr_at_most": "0.1",
    "calibrator": "model.json", "out": "out.csv", "prior": "0.2", "priors_to_try": "0.2", "folds": "3", "by": "speaker",
    "fnr": "0.2", "fpr": "0.2", "half_width": "0.2", "band": "-1,1,5", "margin": "0.1", "assurance": "60",
    "conditions": "auc<0.1", "systems": "a", "design_effect": "3",
    "baseline": "baseline.json", "junit": "junit.xml", "config": "other.toml", "scheme": "interleaved",
    "wanted": "0.5", "prices": "0.1", "partitions": "channel", "by_attack": "attack", "reference": "x", "cost": "2,1",
    "kind": "roc", "cost_fn": "2", "cost_fp": "2", "point": "0.8,0.1,0.1,1,5,5", "only": "ids", "without": "ids",
    "group_map": "utt2spk", "enrolment_map": "utt2model", "quality": "weight", "out_of_fold": "oof.csv",
    "path": "other.md", "sampling": "natural", ("biometrics", "rates", "by"): "channel",
    "figure": "figure.svg", "thresholds": "0.1,0.2", "accepted": "70,30,5", "rejected": "4,96,900",
}  # fmt: skip
# What a value needs beside what its option declares.
_QUICK = ("--ci", "90", "--bootstrap", "39")
COMPANIONS = {
    "by": ("--group-column", "speaker"), "group_map": ("--id-column", "id"), "enrolment_map": ("--id-column", "id"),
    ("evaluate", "group_map"): ("--id-column", "id", "--ci", "90"),
    ("evaluate", "enrolment_map"): ("--id-column", "id", "--ci", "90"),
    "calibrate_labels": ("--calibrate-on", "c.csv"),
    "resume": ("--engine", "local"),
    "missing": ("--key", "key.csv"), "calibrate_key": ("--calibrate-on", "c.csv"), "key": ("--missing", "drop"),
    "baseline": ("--fail-if", "dcf>baseline+1"),
    ("evaluate", "sampling"): _QUICK,
    ("evaluate", "seed"): _QUICK, ("evaluate", "resamples"): ("--ci", "90"), ("evaluate", "group_columns"): _QUICK,
    ("biometrics", "rates", "by"): (), ("biometrics", "rates", "group_columns"): ("--by", "channel"),
    ("primary", "group_columns"): ("--ci", "90"), ("primary", "group_map"): ("--ci", "90", "--id-column", "id"),
    ("primary", "enrolment_map"): ("--ci", "90", "--id-column", "id"),
    ("plot", "bands"): ("--kind", "roc"), ("plot", "sigma"): ("--kind", "roc", "--app", "0.5,1,1"),
    ("evaluate", "bands"): (*_QUICK, "--report", "page.html"), ("evaluate", "ci"): ("--bootstrap", "39"),
}  # fmt: skip
FULL = "TERCET_FULL" in os.environ
SLOW = set() if FULL else {"plots", "sigma", "plot_formats"}  # figures take seconds


def spelled(one, words=()):
    """An option of a command with a value that is not its default, as it is typed."""
    flag = max(one.opts, key=len)
    if one.is_flag:
        return (one.secondary_opts[0] if one.secondary_opts else flag,)
    if one.name in VALUES:
        return (flag, VALUES.get((*words, one.name), VALUES[one.name]))
    if isinstance(one.type, click.Choice):
        usual = (
            one.default
            if isinstance(one.default, str)
            else (one.default or [None])[0]
            if isinstance(one.default, list | tuple)
            else None
        )
        return (flag, next(str(choice) for choice in one.type.choices if choice != usual))
    if isinstance(one.type, click.types.IntParamType):
        return (flag, "3")
    return (flag, "0.25" if isinstance(one.type, click.types.FloatParamType) else "word")


def asked(command, one, own):
    """The option with what it needs: what COMPANIONS says, else the first of what it declares."""
    words = list(COMPANIONS.get((*command, one.name), COMPANIONS.get(one.name, ())))
    for part in one.needs[0].split("&") if isinstance(one, Option) and one.needs and not words else ():
        name, equals, value = part.partition("=")
        if (equals and not value) or isinstance(own[name], click.Argument):
            continue
        words += (max(own[name].opts, key=len), value) if value else spelled(own[name])
    return tuple(words), spelled(one, command)


_TIMES = re.compile(r"\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?)?(?: UTC)?|\d\d:\d\d:\d\d")


def outcome(words):
    """Exit code, stdout, stderr and what was written, for one call in the current folder."""
    return _outcome(tuple(map(str, words)))


@cache
def _outcome(words):
    written = (
        "out.json", "out.csv", "out.svg", "oof.csv", "page.html", "card.md", "other.md", "junit.xml", "figures",
        "demo", "parts", "figure.svg",
    )  # fmt: skip
    before = dict.fromkeys(written)
    for name in before:
        _remove(Path(name))
    result = CliRunner().invoke(main, list(words))
    files = {str(path): _content(path) for name in written for path in _inside(Path(name))}
    return result.exit_code, _TIMES.sub("", result.stdout), result.stderr, json.dumps(files, sort_keys=True)


def _inside(path):
    return sorted(one for one in path.rglob("*") if one.is_file()) if path.is_dir() else [path] if path.exists() else []


def _content(path):
    """A digest of a file: thousands of calls are remembered, and some write pages."""
    content = path.read_bytes()
    if path.suffix in (".html", ".json", ".csv", ".md", ".xml", ".svg"):
        content = _TIMES.sub("", content.decode("utf-8")).encode()
    elif path.suffix != ".npz":
        return len(content)  # pictures that hold the time
    return zlib.crc32(content)


def _remove(path):
    for one in sorted(path.rglob("*"), reverse=True) if path.is_dir() else ():
        one.unlink() if one.is_file() else one.rmdir()
    if path.is_dir():
        path.rmdir()
    elif path.exists():
        path.unlink()


def sound(result, words):
    code, _, err, _ = result
    assert code in (0, 1, 2, 3), (words, result)
    assert FAULT not in err, (words, err)
    assert "Traceback" not in err, (words, err)
    if code in (1, 2):
        assert err, (words, "an exit without a sentence")


def options_of(command):
    return [one for one in command.params if isinstance(one, click.Option) and one.name not in SKIP | SLOW]


def effects(words, base, one, own):
    """Whether an option is refused, or changes what is printed or written, or is one that only the log shows."""
    companions, given = asked(words, one, own)
    without, with_it = outcome((*words, *base, *companions)), outcome((*words, *base, *companions, *given))
    sound(with_it, (*words, *base, *companions, *given))
    if with_it[0] in (1, 2):
        return "refused"
    return "effect" if with_it != without else "none"


SINGLES = [
    pytest.param(words, one.name, id=f"{'-'.join(words)}-{one.name}")
    for words, command in LEAVES.items()
    for one in options_of(command)
]


@pytest.mark.parametrize(("words", "name"), SINGLES)
def test_an_option_has_an_effect_or_is_refused(words, name, folder):
    command = LEAVES[words]
    own = {one.name: one for one in command.params}
    found = {}
    bases = _bases(words, command)
    for base in bases if FULL else random.Random(ROTATION + len(name)).sample(bases, min(2, len(bases))):
        if (max(own[name].opts, key=len) in base) and not own[name].multiple:
            continue  # the base says it already
        found[base] = effects(words, base, own[name], own)
    if words in BASES and name not in LOG_ONLY | RESTATED:
        assert "none" not in found.values(), {base: kind for base, kind in found.items() if kind == "none"}


def _bases(words, command):
    if words in BASES:
        return BASES[words]
    return [_guessed(command)]


def _guessed(command):
    """How a command that nobody described is called: its arguments by name, and the options that it requires."""
    words = []
    for one in command.params:
        if isinstance(one, click.Argument):
            words += {"scores": ["a.csv", "b.csv"][: 2 if one.nargs == -1 else 1], "result": ["result.json"]}.get(
                one.name, ["a.csv"]
            )
        elif one.required:
            words += spelled(one)
    return tuple(words)


@pytest.mark.parametrize("words", LEAVES, ids="-".join)
def test_a_command_runs_as_the_test_calls_it(words, folder):
    for base in _bases(words, LEAVES[words]):
        result = outcome((*words, *base))
        sound(result, (*words, *base))
        assert words not in BASES or result[0] in (0, 3), (words, base, result)


def pairs_of(words):
    """Every pair of options of a command in every context."""
    command = LEAVES[words]
    own = {one.name: one for one in command.params}
    pairs = itertools.combinations([one.name for one in options_of(command)], 2)
    return [(base, first, second) for first, second in pairs for base in _bases(words, command)], own


def check_pair(words, base, first, second, own):
    """A pair of options ends in an exit code and a sentence; where it is taken, each of the two has an effect."""
    wanted = [asked(words, own[name], own) for name in (first, second)]
    common = [word for companions, _ in wanted for word in companions]
    call = (*words, *base, *common, *wanted[0][1], *wanted[1][1])
    result = outcome(call)
    sound(result, call)
    if result[0] in (1, 2):
        return "refused"
    if words not in BASES or DEGENERATE.get(words) in (first, second):
        return "taken"
    for name, other in ((first, wanted[1][1]), (second, wanted[0][1])):
        if name not in LOG_ONLY | RESTATED | ALONE and max(own[name].opts, key=len) not in (*base, *common):
            assert outcome((*words, *base, *common, *other)) != result, (call, f"{name} has no effect")
    return "taken"


@pytest.mark.parametrize("words", LEAVES, ids="-".join)
def test_a_pair_of_options_has_an_effect_or_is_refused(words, folder):
    pairs, own = pairs_of(words)
    for base, first, second in random.Random(ROTATION).sample(pairs, min(len(pairs), PAIRS_PER_COMMAND)):
        check_pair(words, base, first, second, own)


def _takes_a_value(one):
    """Whether the value of an option is checked by its parser or its type: a number, a list, a size."""
    return isinstance(one, Option) and one.expose_value and not one.is_flag and (
        one.parse is not None or not isinstance(one.type, click.types.StringParamType)
    )  # fmt: skip


def test_every_number_has_a_parser_that_knows_its_range():
    numbers = (click.types.IntParamType, click.types.FloatParamType)
    lacking = [
        (*words, one.name)
        for words, command in LEAVES.items()
        for one in command.params
        if isinstance(one.type, numbers) and one.parse is None
    ]
    assert lacking == []


# Values that an option of some kind cannot have; every option that takes a value is given each of them.
BAD = ("x", "nan", "-1", "1.5", "1e999", "", ",", "1,2,3,4", "a;b", "0.5,1", "0.95x")
NAMES = {"columns", "class_columns", "classes", "actions"}  # any words are names
# The data decide: how much memory is too little.
BY_DATA = {"memory_limit"}


@pytest.mark.parametrize("words", LEAVES, ids="-".join)
def test_a_value_that_an_option_cannot_have_is_wrong_use(words, folder, tmp_path_factory):
    """Exit code 2, whether or not the files exist; what is left to the data does not blame the option."""
    empty = tmp_path_factory.mktemp("empty")
    for one in filter(_takes_a_value, LEAVES[words].params):
        calls = [
            call for base in _bases(words, LEAVES[words]) if _applies(call := _call_without(words, base, one), one)
        ]
        refused = [bad for bad in BAD for call in calls[:1] if _is_refused(call, one, bad)]
        assert refused or not calls or one.name in NAMES, (words, one.flag)
        os.chdir(empty)
        try:
            assert all(_is_refused(call, one, bad) for bad in refused[:1] for call in calls[:1])
        finally:
            os.chdir(folder)


def _call_without(words, base, one):
    """A call to which the option is added, with what it needs."""
    own = list(base)
    if one.flag in own and not one.multiple:
        del own[own.index(one.flag) : own.index(one.flag) + 2]
    companions, _ = asked(words, one, {each.name: each for each in LEAVES[words].params})
    return [*words, *own, *companions]


def _applies(call, one):
    """Whether the option belongs into the call, whatever its value."""
    found = CliRunner().invoke(main, [*call, one.flag, "nan"])
    return not any(words in found.stderr for words in ("has no effect", "cannot be combined"))


def _is_refused(call, one, bad):
    found = CliRunner().invoke(main, [*call, one.flag, bad])
    blamed = found.stderr.startswith(f"tercet: {one.flag}") and one.name not in BY_DATA
    assert not (found.exit_code == 1 and blamed), (call, one.flag, bad, found.stderr)
    return found.exit_code == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("evaluate", "a.csv", "--app", "1.5"), "--app 1.5: prior must lie strictly between 0 and 1, not 1.5."),
        (("evaluate", "a.csv", "--app", "0.5,1,-1"), "--app 0.5,1,-1: cost_fp must be finite and not negative"),
        (("calibrate", "fit", "a.csv", "-o", "o.json", "--app", "1.5"), "--app 1.5: prior must lie strictly"),
        (("evaluate", "a.csv", "--ci", "2", "--bootstrap", "0"), "--bootstrap must be a whole number, at least 1"),
        (("evaluate", "a.csv", "--ci", "0.95"), "--ci is a level in per cent, such as 95, not 0.95."),
        (
            ("evaluate", "a.csv", "--ci", "95", "--bootstrap", "9"),
            "--bootstrap must be a whole number, at least 39 for",
        ),
        (("evaluate", "a.csv", "--json", "--bayes-plot", "3,-3,9"), "--bayes-plot is LOW,HIGH,POINTS with LOW < HIGH"),
        (
            ("evaluate", "a.csv", "--priors", "0.5,0.5", "--costs", "0,1;1"),
            "--costs has rows of different lengths: 2, 1.",
        ),
        (("sensitivity", "inputs", "a.csv", "--prior", "0.5:0.1"), "--prior is a number or a range LOW:HIGH"),
        (("sensitivity", "inputs", "a.csv", "--prior", "0.1:0.2:0.3"), "--prior is a number or a range LOW:HIGH"),
        (("evaluate", "a.csv", "--priors", "0.5,0.6"), "--priors must sum to 1, not to 1.1"),
        (("evaluate", "a.csv", "--memory-limit", "0"), "--memory-limit is a size such as 500MB or 2GB, not '0'."),
        (("evaluate", "a.csv", "--separator", "ab"), "--separator 'ab' must be one character"),
        (("check", "result.json", "--fail-if", "nothing>1"), "--fail-if 'nothing>1': no number is called 'nothing'."),
        (("primary", "a.csv", "--points", "sre99"), "--points 'sre99' is not a known mean. Known: sre12"),
        (("spoofing", "a-dcf", "sasv.csv", "--point", "x"), "--point 'x' is not a known point."),
    ],
    ids=lambda one: one[-1] if isinstance(one, tuple) else "",
)
def test_a_bad_value_is_named_with_its_option(words, sentence, folder):
    code, _, err, _ = outcome(words)
    assert code == 2, err
    assert f"Error: {sentence}" in err


def test_every_option_that_names_a_file_says_whether_it_is_read_or_written():
    for words, command in leaves():
        for one in command.params:
            if isinstance(one, Option) and "FILE" in str(one.metavar) and one.expose_value:
                assert one.reads or one.writes, (words, one.flag)


def test_a_group_column_and_a_map_of_the_same_name_are_refused(folder):
    code, _, err, _ = outcome(
        (
            "rule",
            "apply",
            "rule.json",
            "a.csv",
            "--id-column",
            "id",
            "--group-column",
            "speaker",
            "--group-map",
            "utt2spk",
        )
    )
    assert code == 2
    assert "both make the group 'speaker'" in err


@pytest.mark.parametrize(
    "words",
    [
        ("calibrate", "fit", "a.csv", "-o", "out.json", "--method", "isotonic", "--prior", "0.2"),
        ("evaluate", "a.csv", "--calibrate-on", "c.csv", "--calibrate-with", "gaussian", "--calibrate-prior", "0.2"),
    ],
)
def test_a_training_prior_is_refused_by_calibrators_without_one(words, folder):
    code, _, err, _ = outcome(words)
    assert code == 2
    assert "has no effect on" in err


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "a.csv", "--app", "0.1", "--plots", "b.csv"),
        ("evaluate", "a.csv", "--app", "0.1", "--engine", "local", "--resume", "b.csv"),
        ("demo", "--out", "b.csv"),
    ],
)
def test_a_file_where_a_folder_is_meant_is_wrong_use(words, folder):
    code, _, err, _ = outcome(words)
    assert code == 2
    assert f"{words[-2]} must be a folder, and 'b.csv' is a file" in " ".join(err.split())


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("evaluate", "a.csv", "--app", "0.1", "--metrics", "auc,dfc"), "--metrics: no quantity is called 'dfc'"),
        (("evaluate", "a.csv", "--app", "0.1", "--metrics", "partial_auc:7"), "--metrics: FPR of 'partial_auc:7'"),
        (("check", "result.json", "--fail-if", "dfc>0.3"), "--fail-if 'dfc>0.3': no number is called 'dfc'"),
        (("check", "result.json", "--fail-if", "dcf!"), "--fail-if must be NAME OP NUMBER"),
    ],
)
def test_a_word_that_nothing_is_called_is_wrong_use(words, named, folder):
    code, _, err, _ = outcome(words)
    assert code == 2
    assert named in " ".join(err.split())


def test_a_number_that_the_result_lacks_is_a_fault_of_the_data(folder):
    code, _, err, _ = outcome(("check", "result.json", "--fail-if", "normalised_cross_entropy<0.3"))
    assert code == 1
    assert "--fail-if 'normalised_cross_entropy<0.3': no number is called" in " ".join(err.split())
