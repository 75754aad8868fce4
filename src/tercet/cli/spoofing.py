"""`tercet spoofing`: costs of keys with three classes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import click

from tercet._numeric.validation import number
from tercet._typing import Value
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option, options
from tercet.cli._output import Facts, Row, draw, ends, print_rows, working
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import numbers, one_group, ranged, with_columns
from tercet.errors import InputError
from tercet.trials import Trials

if TYPE_CHECKING:
    from tercet.spoofing import ADcf, SpoofingCurve, TDcf


def _point(words: str, flag: str) -> Value:
    """The name of a point, or its six numbers."""
    from tercet.spoofing import SpoofingPoint

    return SpoofingPoint.of(numbers(words, flag, 6) if "," in words else words)


def _threshold(words: str, flag: str) -> float | str:
    """A number, or the word bayes."""
    try:
        return words if words == "bayes" else number(float(words), flag)
    except ValueError:
        raise InputError(f"{flag} is a number or bayes, not {words!a}.") from None


_MEANINGS = ("llr", "lr", "log10-llr", "raw")
_COSTS = options(
    option("--point", metavar="NAME|6 NUMBERS", parse=_point,
           help="Priors of target, nontarget, spoof; costs of a miss, of accepting each; or a name."),
    option("--threshold", metavar="T|bayes", parse=_threshold, help="The threshold in use, for the actual cost."),
    option("--by-attack", metavar="COLUMN", help="One more row for each attack of this column."),
)  # fmt: skip
_DRAWS = options(
    shared.limits_option,
    shared.resamples_option(1000, needs=("ci",)),
    shared.seed_option("Seed of the random draws.", needs=("ci",)),
)
_ASV_KEY = option("--asv-key", reads=True, metavar="FILE",
                  help="A trial list with the labels of the verification scores; --key is for the others.")  # fmt: skip


@click.group()
def command() -> None:
    """Spoofing-robust verification: a-DCF, t-DCF and t-EER of keys with targets, nontargets and spoofs."""


@new_command("a-dcf", group=command)
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(_MEANINGS, groups=("ci",), ids=("key",))
@_COSTS
@_DRAWS
@shared.figure_option
@shared.format_options
def a_dcf_command(
    scores: tuple[str, ...], source: Facts, by_attack: str | None, figure: str | None, output: str, **options: Value
) -> None:
    """Minimum and actual a-DCF of each file; labels are target, nontarget and spoof."""
    from tercet.spoofing import a_dcf, a_dcf_by_attack

    point = options["point"] or "asvspoof5"
    more: Facts = {"threshold": options["threshold"], **_asked(options, source)}
    rows: list[Row] = []
    facts: list[Facts] = []
    curves: dict[str, SpoofingCurve] = {}
    for path in scores:
        trials = three_class_trials(path, {"target": "target", **source}, by_attack)
        with working(f"evaluating {name_of(path)}"):
            whole = a_dcf(trials, point, **more)
            parts = {} if by_attack is None else dict(a_dcf_by_attack(trials, point, attack=by_attack, **more))
        for name, one in {"all": whole, **parts}.items():
            row: Row = {"system": name_of(path), "attack": name, "min_a_dcf": one.minimum}
            row |= {"min_threshold": one.min_threshold, "a_dcf": one.actual, "threshold": one.threshold}
            row |= {"miss": one.miss, "nontarget": one.nontarget, "spoof": one.spoof}
            rows.append(row | ends(one.minimum_interval, "min_a_dcf") | ends(one.actual_interval, "a_dcf"))
        if figure is not None:
            system = name_of(path) if len(scores) > 1 else ""
            curves |= _agnostic_curves(trials, {"all": whole, **parts}, more["key"], by_attack, system)
        kept = {name: one.to_dict() for name, one in parts.items()}
        facts.append({"name": name_of(path), "a_dcf": whole.to_dict()} | ({"by_attack": kept} if kept else {}))
    draw(figure, curves, "a-dcf")
    print_rows(rows, output, {"systems": facts})


def _agnostic_curves(
    trials: Trials, found: Mapping[str, ADcf], key: str, by: str | None, system: str
) -> dict[str, SpoofingCurve]:
    """The cost along the threshold, of all attacks together and of each, named by system and attack."""
    from tercet.spoofing import a_dcf_curve
    from tercet.spoofing._classes import attack_rows, three_classes

    rows = {} if by is None else attack_rows(trials, three_classes(trials, key)["spoof"], by)
    curves = {}
    for name, one in found.items():
        called = " ".join(filter(None, (system, name if rows or not system else "")))
        curves[called] = a_dcf_curve(trials if name == "all" else trials.select(rows[name]), one, key=key)
    return curves


@new_command("t-dcf", group=command)
@click.argument("scores")
@shared.source_options(_MEANINGS, groups=("ci",), ids=("key", "asv_key"))
@option("--asv", required=True, reads=True, metavar="FILE",
        help="Verification scores with labels target, nontarget and spoof.")  # fmt: skip
@_ASV_KEY
@option("--asv-threshold", type=float, metavar="T", parse=number,
        help="Threshold of the verification system. [default: that of its EER]")  # fmt: skip
@option("--form", type=click.Choice(["2021", "2019"]), default="2021", show_default=True,
        help="The definition of ASVspoof 2021 or 2019.")  # fmt: skip
@_COSTS
@_DRAWS
@shared.figure_option
@shared.format_options
def t_dcf_command(scores: str, source: Facts, by_attack: str | None, output: str, **options: Value) -> None:
    """Minimum and actual t-DCF of a countermeasure (SCORES; bona fide is the target) that precedes verification."""
    from tercet.spoofing import t_dcf, t_dcf_by_attack

    point = options["point"] or "asvspoof2021"
    behind = _verification(options["asv"], source, options["asv_key"], by_attack)
    front = read_trials(scores, with_columns(source, [by_attack] if by_attack else []))
    more = {name: options[name] for name in ("form", "threshold", "asv_threshold")} | _asked(options, source)
    with working(f"evaluating {name_of(scores)}"):
        found: dict[str, TDcf | str] = {"all": t_dcf(front, behind, point, **more)}
        if by_attack is not None:
            found |= t_dcf_by_attack(front, behind, point, attack=by_attack, **more)
    if options["figure"] is not None:
        _draw(front, found, by_attack, options["figure"])
    facts = {name: one if isinstance(one, str) else one.to_dict() for name, one in found.items()}
    print_rows([_t_dcf_row(name, one) for name, one in found.items()], output, {"t_dcf": facts})


def _t_dcf_row(attack: str, found: TDcf | str) -> Row:
    """The costs of one attack, or why there are none."""
    if isinstance(found, str):
        return {"attack": attack, "note": found}
    row: Row = {"attack": attack, "min_t_dcf": found.minimum, "min_threshold": found.min_threshold}
    row |= {"t_dcf": found.actual, "threshold": found.threshold, "c0": found.c0, "c1": found.c1, "c2": found.c2}
    return row | ends(found.minimum_interval, "min_t_dcf") | ends(found.actual_interval, "t_dcf")


def _draw(front: Trials, found: Mapping[str, TDcf | str], by: str | None, path: str) -> None:
    """The cost along the countermeasure's threshold, of all attacks together and of each where they are asked for."""
    from tercet.spoofing import t_dcf_curve
    from tercet.spoofing._classes import attack_rows

    rows = {} if by is None else attack_rows(front, ~front.known_labels().astype(bool), by)
    curves = {
        name: t_dcf_curve(front if name == "all" else front.select(rows[name]), one)
        for name, one in found.items()
        if not isinstance(one, str)
    }
    draw(path, curves, "t-dcf")


@new_command("t-eer", group=command)
@click.argument("asv")
@click.argument("countermeasure")
@shared.source_options(_MEANINGS, groups=("ci",), ids=("key", "asv_key"))
@_ASV_KEY
@option("--prevalence", type=float, metavar="SHARE", help="Spoofs among impostors. [default: the concurrent t-EER]",
        parse=ranged("a share between 0 and 1", lambda share: 0.0 <= share <= 1.0))  # fmt: skip
@_DRAWS
@shared.figure_option
@shared.format_options
def t_eer_command(asv: str, countermeasure: str, source: Facts, output: str, **options: Value) -> None:
    """Tandem equal error rate of a countermeasure followed by verification; both files are read in the same way."""
    from tercet.spoofing import t_eer, t_eer_curve

    behind = _verification(asv, source, options["asv_key"])
    front = read_trials(countermeasure, source)
    with working(f"evaluating {name_of(asv)}"):
        asked = _asked(options, source)
        found = t_eer(behind, front, prevalence=options["prevalence"], **asked)
    if options["figure"] is not None:
        draw(options["figure"], {name_of(asv): t_eer_curve(behind, front, found, key=asked["key"])}, "t-eer")
    row = {name: value for name, value in found.to_dict().items() if name != "interval"}
    print_rows([row | ends(found.interval, "value")], output, {"t_eer": found.to_dict()})


def _verification(path: str, source: Facts, key: str | None, attack: str | None = None) -> Trials:
    """Verification scores: read like those of the countermeasure, but for where their labels are."""
    own = {name: value for name, value in source.items() if name not in ("labels", "key")}
    return three_class_trials(path, own | {"target": "target"} | ({} if key is None else {"key": key}), attack)


def three_class_trials(path: str, source: Facts, attack: str | None = None) -> Trials:
    """The trials of a file whose label column tells target, nontarget and spoof apart."""
    return read_trials(path, with_columns(source, [source["label_column"], *([attack] if attack else [])]))


def _asked(options: Facts, source: Facts) -> Facts:
    """The column that tells the classes apart, and how intervals are made where they are asked for."""
    asked: Facts = {"key": source["label_column"]}
    if options["ci"] is not None:
        asked |= {name: options[name] for name in ("ci", "resamples", "seed")} | {"by": one_group(source)}
    return asked
