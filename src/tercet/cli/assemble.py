"""`tercet assemble`: one table of scores from the files that laboratories keep."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from tercet._typing import JSON
from tercet.cli._command import new_command, option
from tercet.cli._options import WORDS, source_options
from tercet.cli._output import say
from tercet.cli._systems import names_of, read_trials, trial_column
from tercet.cli._values import reading
from tercet.trials import Trials

_MEANINGS = ("llr", "lr", "log10-llr", "raw")


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1)
@source_options(_MEANINGS)
@option("--genuine", metavar="FILE", needs=("impostor",), help="Targets' scores, one number per line.")
@option("--impostor", metavar="FILE", needs=("genuine",), help="Non-targets' scores, one number per line.")
@option("--beside", metavar="FILE", excludes=("genuine",), help="A trial list; SCORES holds one number per line.")
@option("--group-map", multiple=True, metavar="[NAME=]FILE", help="Groups of test utterances, as in utt2spk.")
@option("--enrolment-map", multiple=True, metavar="[NAME=]FILE", help="The same, but by the enrolment.")
@option("--only", metavar="FILE", help="Keep the trials listed here, one id per line.")
@option("--without", metavar="FILE", help="Drop the trials listed here.")
@option("--layout", type=click.Choice(["table", "kaldi", "voxceleb", "sre", "numbers"]), default="table",
        show_default=True, help="Layout of the file that is written.")  # fmt: skip
@option("-o", "--out", required=True, metavar="FILE")
def command(scores: tuple[str, ...], out: str, **options: Any) -> int:
    """One table of scores from files by class, numbers beside a trial list, speaker maps, several sets."""
    from tercet.io import write_table
    from tercet.io.score_sets import chosen_by_id, merged, read_group_map, with_group_map, write_scores

    extra = {name: options.pop(name) for name in ("genuine", "impostor", "beside", "only", "without", "layout")}
    maps = [(options.pop("group_map"), -1, "speaker"), (options.pop("enrolment_map"), 0, "model_speaker")]
    trials = merged(_sets(scores, extra, reading(options)))
    for files, field, usual in maps:
        for words in files:
            name, equals, path = words.rpartition("=")
            trials = with_group_map(trials, read_group_map(path), name if equals else usual, field=field)
    for key, keep in (("only", True), ("without", False)):
        if extra[key] is not None:
            trials = chosen_by_id(trials, _listed(extra[key]), keep=keep)
    if extra["layout"] == "table":
        columns = trial_column(trials) | {"score": trials.scores}
        if trials.labels is not None:
            columns["label"] = names_of(trials.labels, ("nontarget", "target"))
        if trials.weights is not None:
            columns["weight"] = trials.weights
        write_table(out, columns | {name: np.asarray(group) for name, group in trials.groups.items()})
    else:
        write_scores(out, trials, extra["layout"])
    say(f"{len(trials)} trials are in {out}.")
    return 0


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
            raise click.UsageError("--beside goes with one file of scores.")
        return [read_beside(scores[0], extra["beside"], meaning=meaning, target=source.get("target"))]
    return [read_trials(path, {"keep_ids": True, **source}) for path in scores]


def _listed(path: str) -> list[str]:
    from pathlib import Path

    return [" ".join(line.split()) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]
