"""`tercet assemble`: one table of scores from the files that laboratories keep."""

from __future__ import annotations

import click

from tercet._typing import JSON, Value
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._output import say
from tercet.cli._systems import names_in, read_trials, with_maps
from tercet.cli._values import read_options
from tercet.errors import InputError
from tercet.trials import Trials

_MEANINGS = ("llr", "lr", "log10-llr", "raw")
_OF_TABLES = (  # how tables and trial lists are read; files of bare numbers have nothing of the kind
    "labels", "key", "format", "separator", "columns", "score_column", "label_column", "weight_column",
    "group_columns", "id_column", "missing",
)  # fmt: skip


@new_command()
@click.argument("scores", nargs=-1)
@shared.source_options(_MEANINGS)
@option("--genuine", reads=True, metavar="FILE", needs=("impostor",), excludes=(*_OF_TABLES, "target"),
        help="Targets' scores, one number per line.")  # fmt: skip
@option("--impostor", reads=True, metavar="FILE", needs=("genuine",), help="Non-targets' scores, one number per line.")
@option("--beside", reads=True, metavar="FILE", excludes=("genuine", *_OF_TABLES),
        help="A trial list; SCORES holds one number per line.")  # fmt: skip
@option("--only", reads=True, metavar="FILE",
        help="Keep the trials listed here, one id per line, a space between its parts.")  # fmt: skip
@option("--without", reads=True, metavar="FILE", help="Drop the trials listed here.")
@option("--class", "kept", type=click.Choice(["target", "nontarget"]), help="Keep the trials of one class.")
@shared.layout_option
@option("-o", "--out", required=True, writes=True, metavar="FILE", help="A csv, tsv or parquet file.")
def command(scores: tuple[str, ...], out: str, layout: Value, source: JSON, **options: Value) -> None:
    """One table of scores from files by class, numbers beside a trial list, speaker maps, several sets."""
    from tercet.io import write_like
    from tercet.io.score_sets import chosen_by_id, merged, text_lines, write_scores

    plain = {key: value for key, value in read_options(source).items() if value != []}
    trials = with_maps(merged(_sets(scores, options, plain)), source)
    for key, keep in (("only", True), ("without", False)):
        if options[key] is not None:
            listed = [line for _, line in text_lines(options[key])]
            trials = chosen_by_id(trials, listed, keep=keep, notes=say)
    if options["kept"] is not None:
        trials = trials.select(trials.known_labels() == (options["kept"] == "target"))
    if len(trials) == 0:
        raise InputError("No trial is left: look at --only, --without and --class.")
    if layout == "table":
        write_like(out, [(trials, {source.get("score_column", "score"): trials.scores})], **names_in(source))
    else:
        write_scores(out, trials, layout)
    say(f"{len(trials)} trials are in {out}.")


def _sets(scores: tuple[str, ...], extra: JSON, source: JSON) -> list[Trials]:
    from tercet.io.score_sets import read_beside, read_two_files

    meaning = source.get("meaning", "llr")
    if extra["genuine"] is not None:
        if scores:
            raise click.UsageError("--genuine and --impostor take the place of SCORES.")
        return [read_two_files(extra["genuine"], extra["impostor"], meaning=meaning)]
    if not scores:
        raise click.UsageError("assemble takes SCORES, or --genuine and --impostor.")
    if extra["beside"] is not None:
        if len(scores) > 1:
            raise click.UsageError("--beside takes one file of scores.")
        return [read_beside(scores[0], extra["beside"], meaning=meaning, target=source.get("target"))]
    return [read_trials(path, {"keep_ids": True, **source}) for path in scores]
