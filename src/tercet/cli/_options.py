"""Groups of options that several commands take, each with what it goes with."""

from __future__ import annotations

from functools import partial

import click

from tercet._numeric.meanings import MATRIX_MEANINGS, TWO_CLASS_MEANINGS, WITH_PRIOR
from tercet._numeric.validation import whole
from tercet.cli._command import Decorator, option, options
from tercet.cli._values import (
    application,
    cost_matrix,
    file_format,
    level,
    point_or_mean,
    prior,
    priors,
    resamples,
    separator,
    size_in_bytes,
    words_of,
)

TWO_CLASS, SEVERAL = TWO_CLASS_MEANINGS, MATRIX_MEANINGS
SCORES = (*TWO_CLASS, *SEVERAL)
MEANINGS = (*SCORES, "decisions")
LAYOUTS = ("table", "kaldi", "voxceleb", "bosaris", "sre", "sre16", "asvspoof", "bob", "numbers")
FORMATS = ("table", "tsv", "json", "md", "latex")
Uses = tuple[str, ...] | None  # what an option needs, or None where it could have no effect


def _if_used(needs: Uses, *declarations: str, **attributes: object) -> Decorator:
    """An option with what it needs; no option where the command has no use for it."""
    return options() if needs is None else option(*declarations, needs=needs, **attributes)


def _group_options(groups: Uses) -> tuple[Decorator, ...]:
    """Which trials belong together."""
    return (
        _if_used(groups, "--group-column", "group_columns", multiple=True, metavar="NAME", meanings=SCORES,
               help="A column that groups trials: speaker, patient, ...; repeat it."),
        _if_used(groups, "--group-map", "group_map", multiple=True, metavar="[NAME=]FILE", reads=True, meanings=SCORES,
               help="Groups (named speaker by default) of the last part of the trial id, as in utt2spk."),
        _if_used(groups, "--enrolment-map", "enrolment_map", multiple=True, metavar="[NAME=]FILE", reads=True,
               meanings=SCORES, help="The same, by the first part of the trial id; named model_speaker by default."),
    )  # fmt: skip


_TEXT_FILES = options(
    option("--key-format", "format", metavar="NAME", parse=file_format,
           help="Format of the trial lists, if it is not clear."),
    option("--separator", metavar="CHAR", parse=separator,
           help="Column separator. [default: by the file's ending]"),
    option("--columns", metavar="NAME,...", parse=words_of,
           help="Names of the columns of a file without a header."),
)  # fmt: skip


def source_options(
    meanings: tuple[str, ...] = SCORES,
    *,
    groups: Uses = (),
    ids: tuple[str, ...] = (),
    labels: Uses = (),
    truth: tuple[str, ...] = (),
    scans: bool = False,
) -> Decorator:
    """How files are read; the names are those of tercet.read.

    groups, ids, labels, truth: options of which the command needs one to make use of groups, of ids, of labels by
    position, or of labels at all. None: the command has no use for them, and the options are left out. scans: files
    that do not fit into memory are scanned, by the engine options.
    """
    maps = () if groups is None else ("group_map", "enrolment_map")
    return options(
        _if_used(None if labels is None else (*labels, *truth), "--labels", metavar="FILE",
               reads=True, excludes=("key",), help="A file with the labels (npy, csv), if they are not in SCORES."),
        option("--key", metavar="FILE", reads=True, needs=truth, help="A trial list with labels, joined by trial id."),
        _TEXT_FILES,
        option("--score-column", default="score", show_default=True, metavar="NAME", meanings=SCORES,
               help="The column with the scores."),
        option("--label-column", default="label", show_default=True, metavar="NAME", needs=truth,
               help="The column with the labels."),
        option("--class-columns", metavar="NAME,...", meanings=SEVERAL, parse=words_of,
               help="The score columns of a multiclass file, in order."),
        option("--classes", metavar="NAME,...", meanings=(*SEVERAL, "decisions"), excludes=("class_columns",),
               parse=words_of, help="Names of the classes, in the order of priors, costs and columns."),
        option("--weight-column", metavar="NAME", help="A column with the weight of each trial."),
        *_group_options(groups),
        option("--id-column", multiple=True, metavar="NAME", needs=(*ids, *maps) if ids else (),
               help="The column with the trial's id; repeat it for an id of several parts."),
        option("--target", metavar="LABEL", meanings=(*TWO_CLASS, "decisions"), needs=truth,
               help="The label of the target class; not needed for 0/1, false/true and nontarget/target."),
        option("--meaning", type=click.Choice(meanings), default="llr", show_default=True, help="What the scores are."),
        option("--trained-prior", metavar="P[,P...]", meanings=WITH_PRIOR, parse=prior,
               help="The prior that log-odds, posteriors or logits were made with."),
        option("--missing", type=click.Choice(["error", "drop", "reject"]), default="error", show_default=True,
               needs=("key",), help="What to do with trials of the key that have no score."),
        _if_used(None if scans else (), "--memory-limit", metavar="SIZE", parse=size_in_bytes,
                 help="Reject input that would take more memory than this. [default: half of the machine's]"),
    )  # fmt: skip


def application_options(means: bool = False) -> Decorator:
    """The operating points; `means`: the name of an evaluation may stand for the points whose costs it averages."""
    return options(
        option("--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", parse=point_or_mean if means else application,
               help="An operating point, a prior alone, or a name (sre08); repeat it."),
        option("--priors", multiple=True, metavar="P0,P1,...", parse=priors,
               help="Class priors, for several classes; repeat it."),
        option("--costs", multiple=True, metavar='"0,1;1,0"', needs=("priors",), parse=cost_matrix,
               help='Costs (rows = decisions, columns = classes), or "0-1", "ordinal"; once, or once per --priors.'),
        option("--actions", metavar="NAME,...", needs=("costs",), parse=words_of,
               help="Names of the rows of --costs, if they are not the classes."),
    )  # fmt: skip


engine_options = options(
    option("--engine", type=click.Choice(["local", "dask"]),
           help="All files are one system, read in bounded memory."),
    option("--scheduler", metavar="ADDRESS", needs=("engine=dask",), help="Address of a running dask cluster."),
    option("--memory-limit", default="1GB", show_default=True, metavar="SIZE", parse=size_in_bytes,
           help="The most memory that a run may take; files that need more are scanned."),
    option("--resume", metavar="DIR", folder=True, needs=("engine",),
           help="Keep finished parts here and resume from them."),
)  # fmt: skip


def seed_option(words: str, **attributes: object) -> Decorator:
    """The seed of what is drawn."""
    return option(
        "--seed", type=int, default=0, show_default=True, parse=partial(whole, least=0), help=words, **attributes
    )


def resamples_option(default: int, **attributes: object) -> Decorator:
    """How many resamples intervals are made from, of commands that have no closed form."""
    return option(
        "--bootstrap", "resamples", type=int, default=default, show_default=True, parse=resamples,
        help="Number of resamples.", **attributes,
    )  # fmt: skip


def language_option(words: str, **attributes: object) -> Decorator:
    """The language of a page or card."""
    return option(
        "--language", type=click.Choice(["en", "it"]), default="en", show_default=True, help=words, **attributes
    )


names_option = option("--name", "names", multiple=True, metavar="NAME",
                      help="A system's name; repeat it, in the order of files.")  # fmt: skip
point_option = option("--app", required=True, metavar="PRIOR,CFN,CFP", parse=application,
                      help="The operating point, a prior alone, or a name.")  # fmt: skip
quality_option = option("--quality-column", "quality", multiple=True, metavar="NAME", meanings=TWO_CLASS,
                        help="A quality measure in the first file; repeat it.")  # fmt: skip


def fit_options(excludes: tuple[str, ...] = ()) -> Decorator:
    """How a model is trained, judged and saved; `excludes` are options under which it is not judged."""
    return options(
        option("--prior", metavar="P[,P...]", parse=prior,
               help="The prior to train for. [default: 0.5, or equal classes]"),
        option("--folds", type=int, parse=partial(whole, least=2), excludes=excludes,
               help="Folds by which the gain is measured. [default: 5]"),
        option(
            "--by", metavar="GROUP", excludes=excludes, help="A --group-column that is never on both sides of a fold."
        ),
        option("--scheme", type=click.Choice(["stratified", "plain", "interleaved"]), default="stratified",
               show_default=True, excludes=excludes, help="How folds are assigned; interleaved: by row number."),
        seed_option("Seed of the folds.", excludes=excludes),
        option("--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", meanings=TWO_CLASS, excludes=excludes,
               parse=application,
               help="Operating points at which the gain is measured; repeat it. [default: four priors]"),
        option("--out-of-fold", metavar="FILE", writes=True, excludes=excludes,
               help="Also write the out-of-fold scores (csv, tsv, parquet)."),
        option("-o", "--out", required=True, writes=True, metavar="FILE.json", help="Where the model goes."),
    )  # fmt: skip


def resampling_options(
    default_level: float | None = None, *, excludes: tuple[str, ...] = (), seeds: tuple[str, ...] = (),
    bayes_excludes: tuple[str, ...] = (), bayes_help: str = "Credible intervals of rates and costs",
) -> Decorator:  # fmt: skip
    """The level of intervals and how resamples are drawn; without a default level the rest needs --ci.

    excludes: options that draws do not go with; seeds: options other than --ci that draw random numbers.
    bayes_excludes, bayes_help: what --bayes cannot be combined with, and what it adds.
    """
    needs = () if default_level is not None else ("ci",)
    return options(
        option("--ci", type=float, default=default_level, show_default=default_level is not None, metavar="LEVEL",
               meanings=SCORES, parse=level, help="Add intervals at this level in per cent, such as 95."),
        option("--bootstrap", "resamples", type=int, default=None, needs=needs, metavar="N",
               excludes=excludes, parse=resamples,
               help="Use percentile bootstrap intervals from N resamples instead of closed forms."),
        option("--bayes", type=click.Choice(["jeffreys", "uniform"]), needs=needs, meanings=SCORES,
               excludes=(*bayes_excludes, *excludes), help=f"{bayes_help} under this prior."),
        seed_option("Seed of the draws.", needs=(*needs, *seeds), excludes=excludes),
    )  # fmt: skip


ci_option = option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", parse=level,
                   help="Interval level in per cent.")  # fmt: skip
limits_option = option("--ci", type=float, metavar="LEVEL", parse=level,
                       help="Add intervals at this level in per cent, such as 95.")  # fmt: skip
table_option = option("-o", "--out", default="-", show_default=True, writes=True, metavar="FILE",
                      help="A csv, tsv or parquet file.")  # fmt: skip
layout_option = option("--layout", type=click.Choice(LAYOUTS), default="table",
                       show_default=True, meanings=TWO_CLASS, help="Layout of the file that is written.")  # fmt: skip
figure_option = option("--plot", "figure", metavar="FILE", writes=True, help="Also draw a figure (png, svg or pdf).")
format_options = options(
    option("--json", "as_json", is_flag=True, excludes=("output",), help="The same as --format json."),
    option(
        "--format", "output", type=click.Choice(FORMATS), help="Format of the result. [default: table, tsv in a pipe]"
    ),
)
result_options = options(
    option("--title", metavar="WORDS", needs=("output=table", "output=md", "output=latex", "output=json", "report"),
           help="Title above the result."),
    option("--metrics", metavar="NAME,...", help="The quantities to show; `tercet metrics` lists them."),
    format_options,
)  # fmt: skip
