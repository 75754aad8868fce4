"""`tercet spoofing`: costs of keys with three classes."""

from __future__ import annotations

from typing import Any

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option, options
from tercet.cli._options import WORDS, source_options
from tercet.cli._output import Facts, chosen_format, working
from tercet.cli._rows import Row, print_rows, rows_options
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import level, numbers, one_group, reading
from tercet.errors import InputError
from tercet.trials import Trials

_MEANINGS = ("llr", "lr", "log10-llr", "raw")
_POINT = option("--point", default=None, metavar="NAME|6 NUMBERS",
                help="Priors of target, nontarget, spoof; costs of a miss, of accepting each; or a name.")  # fmt: skip
_THRESHOLD = option("--threshold", metavar="T|bayes", help="The threshold in use, for the actual cost.")
_ATTACKS = option("--by-attack", metavar="COLUMN", help="One more row for each attack of this column.")

_DRAWS = options(
    option("--ci", type=float, metavar="LEVEL", help="Add intervals at this level in per cent, such as 95."),
    option("--bootstrap", "resamples", type=int, default=1000, show_default=True, needs=("ci",), help="Resamples."),
    option("--seed", type=int, default=0, show_default=True, needs=("ci",), help="Seed of the random draws."),
)


@click.group()
def command() -> None:
    """Spoofing-robust verification: a-DCF, t-DCF and t-EER of keys with targets, nontargets and spoofs."""


@new_command("a-dcf", epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(_MEANINGS, groups=("ci",), ids=("key",))
@_POINT
@_THRESHOLD
@_ATTACKS
@_DRAWS
@rows_options
def a_dcf_command(scores: tuple[str, ...], **given: object) -> int:
    """Minimum and actual a-DCF of each file; labels are target, nontarget and spoof."""
    from tercet.spoofing import a_dcf, a_dcf_by_attack

    draws = {name: given.pop(name) for name in ("ci", "resamples", "seed")}
    asked, point, threshold = _asked(given, "asvspoof5")
    by, column = asked["by_attack"], asked["label_column"]
    rows: list[Row] = []
    facts: list[Facts] = []
    for path in scores:
        trials = three_class_trials(path, asked)
        with working(f"evaluating {name_of(path)}"):
            whole = a_dcf(trials, point, threshold=threshold, key=column, **_drawn(draws, asked))
        parts = {} if by is None else dict(a_dcf_by_attack(trials, point, threshold=threshold, key=column, attack=by))
        for name, one in {"all": whole, **parts}.items():
            row = {
                "system": name_of(path),
                "attack": name,
                "min_a_dcf": one.minimum,
                "min_threshold": one.min_threshold,
            }
            row |= {"a_dcf": one.actual, "threshold": one.threshold, "miss": one.miss, "nontarget": one.nontarget}
            rows.append(
                row
                | {"spoof": one.spoof}
                | _ends("min_a_dcf", one.minimum_interval)
                | _ends("a_dcf", one.actual_interval)
            )
        kept = {name: one.to_dict() for name, one in parts.items()}
        facts.append({"name": name_of(path), "a_dcf": whole.to_dict()} | ({"by_attack": kept} if kept else {}))
    print_rows(rows, asked["format_asked"], {"systems": facts})
    return 0


@new_command("t-dcf", epilog=WORDS)
@click.argument("scores")
@source_options(_MEANINGS, groups=("ci",), ids=("key",))
@option("--asv", required=True, reads=True, metavar="FILE",
        help="Verification scores with labels target, nontarget and spoof.")  # fmt: skip
@option("--asv-threshold", type=float, metavar="T",
        help="Threshold of the verification system. [default: that of its EER]")  # fmt: skip
@_POINT
@option("--form", type=click.Choice(["2021", "2019"]), default="2021", show_default=True,
        help="The definition of ASVspoof 2021 or 2019.")  # fmt: skip
@_THRESHOLD
@_ATTACKS
@_DRAWS
@rows_options
def t_dcf_command(scores: str, asv: str, asv_threshold: float | None, form: object, **given: object) -> int:
    """Minimum and actual t-DCF of a countermeasure (SCORES, bona fide is the target) before a verification system."""
    from tercet.spoofing import TDcf, t_dcf, t_dcf_by_attack

    draws = {name: given.pop(name) for name in ("ci", "resamples", "seed")}
    asked, point, threshold = _asked(given, "asvspoof2021")
    by = asked["by_attack"]
    behind = three_class_trials(asv, asked | {"target": None})
    front = read_trials(scores, _source(asked, () if by is None else (by,)))
    more: Facts = {"form": form, "threshold": threshold, "asv_threshold": asv_threshold, "key": asked["label_column"]}
    with working(f"evaluating {name_of(scores)}"):
        found: dict[str, TDcf | str] = {"all": t_dcf(front, behind, point, **more, **_drawn(draws, asked))}
    if by is not None:
        found |= t_dcf_by_attack(front, behind, point, attack=by, **more)
    rows: list[Row] = [
        {"attack": name, "note": one}
        if isinstance(one, str)
        else {"attack": name, "min_t_dcf": one.minimum, "min_threshold": one.min_threshold, "t_dcf": one.actual,
              "threshold": one.threshold, "c0": one.c0, "c1": one.c1, "c2": one.c2}
        | _ends("min_t_dcf", one.minimum_interval) | _ends("t_dcf", one.actual_interval)
        for name, one in found.items()
    ]  # fmt: skip
    facts = {name: one if isinstance(one, str) else one.to_dict() for name, one in found.items()}
    print_rows(rows, asked["format_asked"], {"t_dcf": facts})
    return 0


@new_command("t-eer", epilog=WORDS)
@click.argument("asv")
@click.argument("countermeasure")
@source_options(_MEANINGS, groups=("ci",), ids=("key",))
@option("--prevalence", type=float, metavar="SHARE", help="Spoofs among impostors. [default: the concurrent t-EER]")
@_DRAWS
@rows_options
def t_eer_command(asv: str, countermeasure: str, prevalence: float | None, **given: object) -> int:
    """Tandem equal error rate of verification scores behind countermeasure scores, read alike."""
    from tercet.spoofing import t_eer

    draws = {name: given.pop(name) for name in ("ci", "resamples", "seed")}
    asked, _, _ = _asked(given | {"point": None, "threshold": None, "by_attack": None}, "asvspoof5")
    behind = three_class_trials(asv, asked | {"target": None})
    front = read_trials(countermeasure, _source(asked, ()))
    with working(f"evaluating {name_of(asv)}"):
        found = t_eer(behind, front, prevalence=prevalence, key=asked["label_column"], **_drawn(draws, asked))
    row = {name: value for name, value in found.to_dict().items() if name != "interval"}
    print_rows([row | _ends("value", found.interval)], asked["format_asked"], {"t_eer": found.to_dict()})
    return 0


def three_class_trials(path: str, asked: Facts) -> Trials:
    """The trials of a file whose label column tells target, nontarget and spoof apart."""
    column, groups = asked["label_column"], [asked["by_attack"]] if asked["by_attack"] else []
    source = _source(asked | {"target": asked["target"] or "target"}, (column, *groups))
    return read_trials(path, source)


def _source(asked: Facts, groups: tuple[str, ...]) -> Facts:
    """The reading options, with more group columns."""
    source = dict(asked["source"])
    if asked["target"] is not None:
        source["target"] = asked["target"]
    wanted = tuple(dict.fromkeys((*source.get("group_columns", ()), *groups)))
    return source | ({"group_columns": wanted} if wanted else {})


def _asked(options: Facts, default: str) -> tuple[Facts, object, Value]:
    """The options of reading apart from point and threshold."""
    output = chosen_format(options.pop("as_json"), options.pop("output"))
    words, threshold, by = options.pop("point"), options.pop("threshold"), options.pop("by_attack")
    source = reading(options)
    target = source.pop("target", None)
    point: object = default if words is None else numbers(words, "--point", 6) if "," in words else words
    asked = {"source": source, "target": target, "by_attack": by, "format_asked": output}
    return asked | {"label_column": source.get("label_column", "label")}, point, _threshold(threshold)


def _drawn(draws: Facts, asked: Facts) -> Facts:
    """How intervals are made, where they are asked for."""
    if draws["ci"] is None:
        return {}
    return draws | {"ci": level(draws["ci"]), "by": one_group(asked["source"])}


def _threshold(words: str | None) -> Value:
    if words is None or words == "bayes":
        return words
    try:
        return float(words)
    except ValueError:
        raise InputError(f"--threshold is a number or bayes, not {words!a}.") from None


def _ends(name: str, ends: Any) -> Row:
    return {} if ends is None else {f"{name}_low": ends.low, f"{name}_high": ends.high}


for _one in (a_dcf_command, t_dcf_command, t_eer_command):
    command.add_command(_one)
