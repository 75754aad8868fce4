"""`tercet sweep`: minimum and actual cost over a grid of models, the choice, and its held-out cost."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click
from click.core import ParameterSource

from tercet._typing import Value
from tercet.application import Application
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, draw, ends, print_rows, working
from tercet.cli._systems import distinct_names, read_trials
from tercet.cli._values import READING, application, one_group
from tercet.deployment.sweeping import COSTS, Sweep, SweepRow, sweep, sweep_trials
from tercet.errors import InputError

_MODELS = ("logistic", "gaussian")


def _values(words: str, flag: str) -> tuple[str, list[Value]]:
    """The name of a parameter and its values."""
    name, equals, values = words.partition("=")
    if not equals or not name or not values:
        raise click.UsageError(f"{flag} is NAME=VALUE,VALUE,..., not {words!a}.")
    return name, [_value(one) for one in values.split(",")]


def _value(word: str) -> Value:
    try:
        return float(word)
    except ValueError:
        return word


@new_command()
@click.argument("scores", nargs=-1)
@shared.source_options(TWO_CLASS, groups=("ci",), ids=("key",))
@option("--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", parse=application,
        help="The operating point. [default: 0.5,1,1]")  # fmt: skip
@option("--held-out", multiple=True, reads=True, metavar="FILE",
        help="Scores that play no part in the choice, one file for each of SCORES; with --train, samples.")  # fmt: skip
@option("--train", metavar="SAMPLES.csv", reads=True, needs=("validation",),
        help="Samples to train on: features and a label.")  # fmt: skip
@option("--validation", metavar="SAMPLES.csv", reads=True, needs=("train",), help="The samples that choose the model.")
@option("--model", type=click.Choice(_MODELS), default="logistic", show_default=True, needs=("train",),
        help="The kind of model to train.")  # fmt: skip
@option("--grid", multiple=True, metavar="NAME=V,V,...", needs=("train",), parse=_values,
        help="Values of a parameter: penalty=0,1e-3 expansion=linear,quadratic; repeat it.")  # fmt: skip
@option("--criterion", type=click.Choice(["dcf", "min_dcf", "cllr"]), default="dcf", show_default=True,
        help="The quantity by which the validation data choose.")  # fmt: skip
@shared.figure_option
@option("--x", metavar="NAME", needs=("figure",), help="The parameter on the figure's x axis. [default: the first]")
@shared.limits_option
@shared.format_options
def command(scores: tuple[str, ...], apps: tuple[Application, ...], output: str, **options: Value) -> None:
    """Costs over a grid of models, the choice made on validation data, and its held-out cost."""
    if (options["train"] is None) == (not scores):
        raise click.UsageError("sweep takes score files, or --train and --validation samples.")
    if len(apps) > 1:
        raise click.UsageError("sweep takes one --app.")
    point = apps[0] if apps else 0.5
    found = _of_scores(scores, point, options) if scores else _of_samples(point, options)
    draw(options["figure"], found, "sweep", x=options["x"])
    rows: list[Row] = []
    for row in found.rows:
        rows.append(dict(row.parameters) | _costs(row) | {"chosen": "yes" if row is found.chosen else ""})
    print_rows(rows, output, {"sweep": found.to_dict()})


def _costs(row: SweepRow) -> Row:
    """The costs of a model, each with its ends where it has some, or why there are none."""
    found: Row = {}
    for name in COSTS:
        if getattr(row, name) is not None:
            found |= {name: getattr(row, name)} | ends(row.intervals.get(name), name)
    return found | ({} if row.reason is None else {"reason": row.reason})


def _of_scores(scores: Sequence[str], point: object, options: Facts) -> Sweep:
    source, names, held = options["source"], distinct_names(scores), options["held_out"]
    if held and len(held) != len(scores):
        raise click.UsageError(
            f"--held-out was given {len(held)} and there are {len(scores)} score files: name one for each."
        )
    kept = {name: read_trials(path, source) for name, path in zip(names, held, strict=True)} if held else None
    trials = {name: read_trials(path, source) for name, path in zip(names, scores, strict=True)}
    limits: Facts = {} if options["ci"] is None else {"ci": options["ci"], "by": one_group(source)}
    with working("evaluating"):
        return sweep_trials(trials, point, held_out=kept, criterion=options["criterion"], **limits)


def _of_samples(point: object, options: Facts) -> Sweep:
    from tercet.recognizers import GaussianRecognizer, LogisticRecognizer

    _refuse_reading()
    if len(options["held_out"]) > 1:
        raise click.UsageError("--held-out takes one file of samples with --train.")
    maker = LogisticRecognizer if options["model"] == "logistic" else GaussianRecognizer
    files = (options["train"], options["validation"], *options["held_out"])
    train, validation, *held = [read_samples(path, options["source"]["label_column"]) for path in files]
    classes = _classes(train[1], options["source"].get("target"))
    with working("training"):
        return sweep(
            lambda samples, labels, **more: maker.fit(samples, labels, classes=classes, **more),
            dict(options["grid"]) or [{}], train, validation, point, held_out=held[0] if held else None,
            criterion=options["criterion"], ci=options["ci"],
        )  # fmt: skip


def _refuse_reading() -> None:
    """Refuses the options that say how scores are read: samples are features and a label."""
    context = click.get_current_context()
    for one in context.command.params:
        given = context.get_parameter_source(str(one.name)) is ParameterSource.COMMANDLINE
        if given and one.name in READING and one.name not in ("label_column", "target"):
            raise click.UsageError(f"{max(one.opts, key=len)} cannot be combined with --train: samples hold no scores.")


def _classes(labels: list[str], target: str | None) -> list[str]:
    """Non-target and target, in this order."""
    found = sorted(set(labels))
    wanted = target or ({"0": "1", "false": "true", "nontarget": "target"}.get(found[0]) if len(found) == 2 else None)
    if wanted not in found or len(found) != 2:
        raise InputError(f"target= must name one of two labels; the samples hold {', '.join(map(repr, found[:4]))}.")
    return [*(label for label in found if label != wanted), wanted]


def read_samples(path: str, label_column: str) -> tuple[list[list[float]], list[str]]:
    """Features and labels of a CSV or TSV file with a header; every other column is a feature."""
    import csv

    with Path(path).open(encoding="utf-8", newline="") as file:
        table = list(csv.reader(file, delimiter="\t" if path.endswith((".tsv", ".tab")) else ","))
    if len(table) < 2 or label_column not in table[0]:
        raise InputError(f"{path} needs a header with a column {label_column!a} and at least one sample.")
    place = table[0].index(label_column)
    samples, labels = [], []
    for line, row in enumerate(table[1:], 2):
        if len(row) != len(table[0]):
            raise InputError(f"{path} line {line} has {len(row)} fields, the header {len(table[0])}.")
        try:
            samples.append([float(cell) for at, cell in enumerate(row) if at != place])
        except ValueError as error:
            raise InputError(f"{path} line {line}: a feature is not a number ({error}).") from None
        labels.append(row[place])
    return samples, labels
