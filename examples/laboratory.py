"""The laboratory from the raw text to every table: each computed number beside the printed one.

    python examples/laboratory.py FOLDER [--out DIR]

FOLDER holds the laboratory's files: inferno.txt, purgatorio.txt, paradiso.txt, and the commedia_*.npy scores to
compare with. Figures go to DIR, if matplotlib is installed. Exit 1 if any number differs from the printed one.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import tercet as tc
from tercet.datasets import iris
from tercet.recognizers import GaussianRecognizer, TextRecognizer, every_nth, read_texts, split_2_to_1

CANTICHE = ("inferno", "purgatorio", "paradiso")
PSEUDO_COUNTS = {0.001: "", 1.0: "_eps1"}  # with the ending of the laboratory's files
POINTS = [(0.5, 1, 1), (0.8, 1, 1), (0.5, 10, 1), (0.8, 1, 10)]
ORDINAL = tc.Application.multiclass([0.3, 0.4, 0.3], "ordinal", classes=CANTICHE)
UNIFORM = tc.Application.multiclass([1 / 3, 1 / 3, 1 / 3], classes=CANTICHE)

# What the course prints.
IRIS = {"full": [[19, 0, 0], [0, 15, 0], [0, 2, 14]], "tied": [[19, 0, 0], [0, 16, 0], [0, 1, 14]]}
RIGHT = {"inferno": 53, "purgatorio": 48, "paradiso": 57, "all": 52}  # per cent
PAIRS = {("inferno", "purgatorio"): 62, ("inferno", "paradiso"): 75, ("purgatorio", "paradiso"): 65}
TABLES = [[[293, 96], [109, 304]], [[271, 80], [131, 320]], [[257, 75], [145, 325]], [[302, 113], [100, 287]]]
DCF_U = [0.256, 0.225, 1.118, 0.724]
DCF = {0.001: [0.511, 1.126, 2.236, 0.904], 1.0: [0.396, 0.748, 1.053, 0.658]}
MIN_DCF = {0.001: [0.506, 0.752, 0.842, 0.709], 1.0: [0.386, 0.695, 0.839, 0.604]}
UNIFORM_TABLE = [[210, 113, 61], [137, 191, 111], [53, 98, 230]]
UNIFORM_COSTS = {0.001: (0.476, 0.714), 1.0: (0.415, 0.623)}
ORDINAL_TABLES = {
    0.001: [[205, 111, 56], [145, 199, 121], [50, 92, 225]],
    1.0: [[216, 77, 31], [146, 236, 143], [38, 89, 228]],
}
ORDINAL_COSTS = {0.001: (0.560, 0.933), 1.0: (0.485, 0.808)}


class Notebook:
    """Prints each step, and keeps count of the numbers that differ from the printed ones."""

    def __init__(self) -> None:
        self.compared = self.wrong = 0

    def step(self, title: str, why: str) -> None:
        print(f"\n{title}\n{why}")

    def line(self, what: str, computed: object, printed: object, same: bool) -> None:
        self.compared += 1
        self.wrong += not same
        print(f"  {what:<46} {computed!s:<44} printed {printed}{'' if same else '   DIFFERS'}")

    def table(self, what: str, computed: Sequence[Sequence[int]], printed: Sequence[Sequence[int]]) -> None:
        self.line(what, computed, printed, computed == printed)

    def number(self, what: str, computed: float, printed: float, digits: int = 3) -> None:
        same = math.floor(computed * 10**digits + 0.5) == round(printed * 10**digits)  # halves go up, as printed
        self.line(what, f"{computed:.{digits + 1}f}", f"{printed:.{digits}f}", same)

    def close(self, what: str, computed: np.ndarray, printed: np.ndarray) -> None:
        """Scores of the laboratory's own files, to 1e-11."""
        apart = float(np.abs(computed - printed).max()) if computed.shape == printed.shape else np.inf
        self.line(what, f"{computed.shape[0]} rows, largest difference {apart:.1e}", "to 1e-11", apart <= 1e-11)


@dataclass(frozen=True)
class Poem:
    """The tercets to train on and those to test on, with their cantiche."""

    train: list[str]
    train_labels: list[str]
    test: list[str]
    test_labels: list[str]

    @classmethod
    def read(cls, folder: Path) -> Poem:
        poem = cls([], [], [], [])
        for name in CANTICHE:
            lines = read_texts(folder / f"{name}.txt", "latin-1")
            split = every_nth(len(lines), 4)
            poem.train.extend(lines[i] for i in split.train)
            poem.train_labels.extend([name] * len(split.train))
            poem.test.extend(lines[i] for i in split.test)
            poem.test_labels.extend([name] * len(split.test))
        return poem

    def scored(self, pseudo_count: float) -> tc.Trials:
        model = TextRecognizer.fit(self.train, self.train_labels, pseudo_count, classes=CANTICHE)
        return model.trials(self.test, self.test_labels)


def flowers(note: Notebook) -> None:
    note.step(
        "Iris: Gaussian classes, 100 flowers to train and 50 to test",
        "With equal priors and costs the best guess is the species under which the flower is likeliest; rows are "
        "guesses, columns the truth.",
    )
    table, (train, test) = iris(), split_2_to_1(150, seed=0)
    for kind, printed in IRIS.items():
        model = GaussianRecognizer.fit(table.samples[train], table.labels[train], kind)
        trials = model.trials(table.samples[test], table.labels[test])
        found = tc.confusion_of(trials, tc.Application.multiclass([1 / 3, 1 / 3, 1 / 3])).matrix
        note.table(f"{kind} covariance", found, printed)


def from_the_text(note: Notebook, folder: Path, systems: dict[float, tc.Trials]) -> None:
    note.step(
        "Tercets: words counted in each cantica",
        "A tercet's log-likelihood is the sum of its words' log-frequencies; a pseudo-count keeps unseen words "
        "possible, and words that no training tercet holds are dropped.",
    )
    for pseudo_count, ending in PSEUDO_COUNTS.items():
        given, labels = (np.load(folder / f"commedia_{what}{ending}.npy") for what in ("ll", "labels"))
        trials = systems[pseudo_count]
        note.close(f"log-likelihoods, pseudo-count {pseudo_count:g}", trials.scores, given.T)
        mine, theirs = trials.labels.tolist(), labels.tolist()
        differing = sum(a != b for a, b in zip(mine, theirs, strict=False)) + abs(len(mine) - len(theirs))
        note.line(f"labels, pseudo-count {pseudo_count:g}", f"{differing} differ", "0", differing == 0)
        pair = trials.versus("inferno", "paradiso")
        given, labels = (np.load(folder / f"commedia_{what}_infpar{ending}.npy") for what in ("llr", "labels"))
        note.close(f"inferno / paradiso llrs, pseudo-count {pseudo_count:g}", pair.scores, given)
        differing = int(np.sum(pair.labels != labels.astype(bool))) if len(pair) == len(labels) else len(labels)
        note.line(f"their labels, pseudo-count {pseudo_count:g}", f"{differing} differ", "0", differing == 0)


def accuracies(note: Notebook, trials: tc.Trials) -> None:
    note.step(
        "How often the guess is right, in per cent",
        "The part of each cantica's own tercets that is recognised does not depend on how many each cantica has; the "
        "part of all tercets does.",
    )
    found = tc.confusion_of(trials, UNIFORM)
    for name, share in found.per_class("tpr").items():
        note.number(name, 100 * share, RIGHT[name], 0)
    note.number("all tercets", 100 * found.accuracy, RIGHT["all"], 0)
    note.step(
        "Two cantiche at a time",
        "One tercet has no known word, so its llr is 0: a tie, which the printed 75 % gives to inferno and tercet to "
        "the other class (74.4 %).",
    )
    for (target, other), printed in PAIRS.items():
        pair = trials.versus(target, other)
        right = (pair.scores >= 0.0) == pair.labels
        strict = tc.confusion_of(pair, 0.5).accuracy
        note.number(f"{target} / {other} ({100 * strict:.1f} by our tie rule)", 100 * right.mean(), printed, 0)


def two_classes(note: Notebook, systems: dict[float, tc.Trials]) -> None:
    evaluated = {e: tc.evaluate(trials.versus("inferno", "paradiso"), POINTS) for e, trials in systems.items()}
    note.step(
        "Decisions for four applications (prior of inferno, cost of a miss, cost of a false alarm)",
        "The llr is compared with minus the log-odds of prior and costs: costly misses or a high prior make inferno "
        "the more frequent answer.",
    )
    results = evaluated[0.001].applications
    for point, result, printed in zip(POINTS, results, TABLES, strict=True):
        note.table(f"decisions at {point}", result.confusion, printed)
    note.step(
        "What these decisions cost",
        "DCF_u weighs each kind of error by its prior and its cost; divided by what deciding without looking would "
        "cost, a value above 1 says that the recogniser does harm.",
    )
    for point, result, printed in zip(POINTS, results, DCF_U, strict=True):
        note.number(f"DCF_u at {point}", result.dcf_u, printed)
    note.step(
        "Actual and least cost, for both pseudo-counts",
        "The least cost over all thresholds is what the scores could reach if they were well calibrated; the gap to "
        "the actual cost is lost by calibration.",
    )
    for pseudo_count, evaluation in evaluated.items():
        columns = zip(POINTS, evaluation.applications, DCF[pseudo_count], MIN_DCF[pseudo_count], strict=True)
        for point, result, dcf, least in columns:
            note.number(f"DCF at {point}, pseudo-count {pseudo_count:g}", result.dcf, dcf)
            note.number(f"min DCF at {point}, pseudo-count {pseudo_count:g}", result.min_dcf, least)


def three_classes(note: Notebook, systems: dict[float, tc.Trials]) -> None:
    note.step(
        "Three classes, equal priors and costs",
        "Each answer's expected cost is a sum over the posteriors; with equal costs the likeliest cantica is cheapest.",
    )
    for pseudo_count, trials in systems.items():
        found = tc.confusion_of(trials, UNIFORM)
        if pseudo_count == 0.001:
            note.table("decisions, pseudo-count 0.001", found.matrix, UNIFORM_TABLE)
        _costs(note, found, UNIFORM, pseudo_count, UNIFORM_COSTS)
    note.step(
        "Three classes, priors .3 .4 .3, and taking hell for heaven costs twice as much",
        "The middle cantica is never far wrong, so that it becomes the answer of doubtful tercets.",
    )
    for pseudo_count, trials in systems.items():
        found = tc.confusion_of(trials, ORDINAL)
        note.table(f"decisions, pseudo-count {pseudo_count:g}", found.matrix, ORDINAL_TABLES[pseudo_count])
        _costs(note, found, ORDINAL, pseudo_count, ORDINAL_COSTS)


def _costs(note: Notebook, found: tc.Confusion, app: tc.MulticlassApplication, pseudo_count: float, printed) -> None:
    note.number(f"DCF_u, pseudo-count {pseudo_count:g}", found.risk(app), printed[pseudo_count][0])
    note.number(f"DCF, pseudo-count {pseudo_count:g}", found.normalised_risk(app), printed[pseudo_count][1])


def curves(note: Notebook, systems: dict[float, tc.Trials], out: Path | None) -> None:
    note.step(
        "ROC curve and Bayes error plots, inferno / paradiso",
        "The ROC shows how detections and false alarms trade along the threshold; the Bayes error plot shows the cost "
        "for every application at once, by its prior log-odds.",
    )
    drawn = {}
    for pseudo_count, trials in systems.items():
        curve = tc.Curve.of(tc.Tally.of(trials.versus("inferno", "paradiso")))
        plot = tc.bayes_error(curve, np.linspace(-3, 3, 21))
        drawn[pseudo_count] = curve, plot
        print(f"  pseudo-count {pseudo_count:g}: {len(curve.fpr)} ROC points, AUC {curve.auc:.4f}")
        for row in list(zip(plot.log_odds, plot.dcf, plot.min_dcf, strict=True))[::5]:
            print("    log-odds {:+.1f}: DCF {:.3f}, min DCF {:.3f}".format(*row))
    if out is None:
        print("  Every point and the figures are written with --out DIR.")
        return
    out.mkdir(parents=True, exist_ok=True)
    write(drawn, out)
    draw(drawn, out)


def write(drawn: dict[float, tuple[tc.Curve, tc.BayesPlot]], out: Path) -> None:
    """The points of the figures, as tab-separated text."""
    for pseudo_count, (curve, plot) in drawn.items():
        ending = PSEUDO_COUNTS[pseudo_count]
        columns = np.column_stack((curve.thresholds, curve.fpr, curve.tpr))
        np.savetxt(out / f"roc{ending}.tsv", columns, "%.17g", "\t", header="threshold\tfpr\ttpr", comments="")
        columns = np.column_stack((plot.log_odds, plot.dcf, plot.min_dcf))
        name = out / f"bayes-error{ending}.tsv"
        np.savetxt(name, columns, "%.17g", "\t", header="log_odds\tdcf\tmin_dcf", comments="")
    print(f"  Points: roc*.tsv and bayes-error*.tsv in {out}")


def draw(drawn: dict[float, tuple[tc.Curve, tc.BayesPlot]], out: Path) -> None:
    """The laboratory's three figures."""
    try:
        import matplotlib
    except ImportError:
        print("  No figures were drawn: matplotlib is not installed (pip install 'tercet[plot]').")
        return
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.add_subplot(xlabel="FPR", ylabel="TPR", title="Inferno against paradiso")
    axes.plot(drawn[0.001][0].fpr, drawn[0.001][0].tpr)
    figure.savefig(out / "roc.png")
    for name, wanted in (("bayes-error.png", [0.001]), ("bayes-error-both.png", [0.001, 1.0])):
        figure = Figure()
        axes = figure.add_subplot(xlabel="prior log-odds", ylabel="DCF", xlim=(-3, 3), ylim=(0, 1.1))
        for pseudo_count in wanted:
            plot = drawn[pseudo_count][1]
            axes.plot(plot.log_odds, plot.dcf, label=f"DCF, pseudo-count {pseudo_count:g}")
            axes.plot(plot.log_odds, plot.min_dcf, "--", label=f"min DCF, pseudo-count {pseudo_count:g}")
        axes.legend()
        figure.savefig(out / name)
    print(f"  Figures: {', '.join(str(out / name) for name in ('roc.png', 'bayes-error.png', 'bayes-error-both.png'))}")


def run(folder: Path, out: Path | None) -> int:
    note = Notebook()
    flowers(note)
    poem = Poem.read(folder)
    systems = {pseudo_count: poem.scored(pseudo_count) for pseudo_count in PSEUDO_COUNTS}
    from_the_text(note, folder, systems)
    accuracies(note, systems[0.001])
    two_classes(note, systems)
    three_classes(note, systems)
    curves(note, systems, out)
    print(f"\n{note.compared - note.wrong} of {note.compared} numbers and tables are the printed ones.")
    return 1 if note.wrong else 0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--out", type=Path, help="folder for the figures")
    args = parser.parse_args(arguments)
    try:
        return run(args.folder, args.out)
    except (tc.TercetError, OSError, ValueError) as error:
        print(f"laboratory: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
