"""Every figure with 1, 3 and 8 systems of each shape of data, checked and put on one sheet to look at.

    python tests/report/gallery.py sheet.png [kind ...]

The test suite checks all of it (test_plots.py); this script draws them at the size of a column.
"""

import sys
from functools import cache
from pathlib import Path

import matplotlib.text
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg

import tercet as tc
from tercet.conditions import by_condition
from tercet.report import plots
from tercet.uncertainty import bands, roc_band

COUNTS = (1, 3, 8)
SIZES = {"tiny": 4, "usual": 400, "perfect": 100, "skewed": 3000, "huge": 200_000}
APPS = {"skewed": [(0.01, 10, 1)]}


@cache
def trials(shape, seed):
    """Trials of one shape."""
    rng = np.random.default_rng(seed)
    count = SIZES[shape]
    if shape == "perfect":
        scores, labels = np.r_[np.full(50, -3.0 - seed), np.full(50, 3.0)], np.arange(count) >= 50
    elif shape == "skewed":
        scores, labels = rng.normal(size=count) ** 3 + seed, np.arange(count) % 300 == 0
    else:
        labels = np.arange(count) % 2 == 0
        scores = rng.normal(size=count) * 2 + np.where(labels, 2, -2)
    groups = {"site": np.array(["Rome", "Turin", "a rather long name of a site"])[np.arange(count) // 2 % 3]}
    return tc.Trials.of_llr(scores, labels, name=f"{shape}-{seed}", groups=groups if count > 4 else None)


def rows(shape, count=4):
    """Log-likelihoods of several classes."""
    rng = np.random.default_rng(0)
    labels = np.arange(max(SIZES[shape] // 50, 2) * count) % count
    spread = 8.0 if shape == "perfect" else 2.0
    scores = rng.normal(size=(len(labels), count)) + spread * np.eye(count)[labels]
    return tc.Trials.of_log_likelihoods(scores, labels)


def drawable(kind, shape, seed):
    """What the kind draws, of data of this shape."""
    of = plots.KINDS[kind].of
    names = frozenset(one.__name__ for one in (of if isinstance(of, tuple) else (of,)))
    return _made(names, shape, seed, kind if "SpoofingCurve" in names else None)


def with_spoofs(given):
    """The trials with every other non-target as a spoof."""
    labels = given.known_labels().astype(bool)
    kinds = np.where(labels, "target", np.where(np.cumsum(~labels) % 2, "nontarget", "spoof"))
    return tc.spoofing.of_key(given.scores, kinds, name=given.name)


@cache
def _made(names, shape, seed, kind=None):
    """A result of one of these types; kinds that draw the same one share it."""
    if "Evaluation" in names:
        return tc.evaluate(trials(shape, seed), APPS.get(shape, ["sre08", (0.5, 1, 1)]))
    if "Comparison" in names:
        return tc.compare(*(trials("usual" if shape == "huge" else shape, k) for k in range(4)), [(0.5, 1, 1)])
    if "Calibrator" in names:
        fit = (tc.Isotonic.fit, lambda given: tc.Logistic.fit(given, penalty=0.1), tc.Gaussian.fit)[seed % 3]
        return fit(trials("usual" if shape == "perfect" else shape, seed))
    if "RiskCurve" in names:
        given = rows(shape)
        return tc.risk_curve(given, tc.Application.multiclass([0.25] * 4), seed % 4)
    if "Sweep" in names:
        return tc.sweep_trials({f"model {k}": trials(shape, k) for k in (1, 2, 3)})
    given = trials(shape, seed)
    if "Prevalence" in names:
        return tc.estimate_prevalence(given)
    if "CountReport" in names:
        return tc.count_report(tc.confusion_of(given, (0.5, 1, 1)))
    if "CaseCostCurve" in names:
        amounts = 1.0 + np.random.default_rng(seed).exponential(100.0, len(given))
        return tc.case_cost_curve(given, tc.CaseCosts(0.1, amounts, 5.0), ci=0.95)
    if "SpoofingCurve" in names and kind == "a-dcf":
        scored = with_spoofs(given)
        return tc.spoofing.a_dcf_curve(scored, tc.spoofing.a_dcf(scored, threshold=0.5, ci=0.9, resamples=39))
    if "TandemEerCurve" in names:
        scored = with_spoofs(given)
        return tc.spoofing.t_eer_curve(scored, given, tc.spoofing.t_eer(scored, given, ci=0.9, resamples=39))
    if "SpoofingCurve" in names:
        found = tc.spoofing.t_dcf(given, tc.spoofing.AsvRates(0.02, 0.02, 0.4), threshold="bayes", ci=0.9, resamples=39)
        return tc.spoofing.t_dcf_curve(given, found)
    if "DifferenceBand" in names:
        other = trials(shape, seed + 1)
        return tc.difference_band(given, tc.Trials.of_llr(other.llr, given.known_labels(), name="other"), (-2, 2, 9))
    if "CorpDiagram" in names:
        return tc.corp_diagram(given, resamples=19)
    return tc.risk_coverage(given) if "RiskCoverage" in names else tc.decision_curve(given)


EXTRA = {
    "histogram of classes": lambda: (tc.evaluate(rows("usual"), one_vs_rest=True), "histogram", {}),
    "reliability of classes": lambda: (tc.evaluate(rows("usual"), one_vs_rest=True), "reliability", {}),
    "confusion of all": lambda: (drawable("confusion", "usual", 0), "confusion", {"application": "all"}),
    "confusion by decision": lambda: (drawable("confusion", "usual", 0), "confusion", {"normalise": "decision"}),
    "forest of conditions": lambda: (
        by_condition(trials("usual", 0), "site", [(0.5, 1, 1)], ci=0.95), "forest", {}),
    "posteriors of classes": lambda: (
        tc.recognizers.GaussianRecognizer.fit(np.r_[0.0, 1, 3, 4, 6, 8][:, None], ["a", "a", "b", "b", "c", "c"]),
        "posteriors", {"application": tc.Application.multiclass([0.2, 0.3, 0.5])}),
    "histogram with densities": lambda: (drawable("histogram", "usual", 0), "histogram", {"density": "kernel"}),
    "logarithmic histogram": lambda: (drawable("histogram", "huge", 0), "histogram", {"log": True}),
    "roc over a logarithmic rate": lambda: (drawable("roc", "huge", 0), "roc", {"log": True}),
    "det on logarithmic axes": lambda: (
        [drawable("det", shape, 0) for shape in ("usual", "huge")], "det", {"log": True}),
    "histogram with a rule": lambda: (
        drawable("histogram", "usual", 0), "histogram",
        {"rule": tc.Rule.fit(trials("usual", 0), fpr_at_most=0.05, confidence=0.95)}),
    "forest of group gaps": lambda: (tc.group_gaps(trials("usual", 0), "site", (0.5, 1, 1)), "forest", {}),
    "forest of misses": lambda: (
        tc.group_gaps(trials("usual", 0), "site", (0.5, 1, 1)), "forest", {"quantity": "fnr"}),
    "counts by decision": lambda: (drawable("count", "usual", 0), "count", {"normalise": "decision"}),
    "bayes-error with parts": lambda: (drawable("bayes-error", "usual", 0), "bayes-error", {"parts": True}),
    "roc with a simultaneous band": lambda: (
        drawable("roc", "usual", 0), "roc", {"bands": roc_band(trials("usual", 0), simultaneous=True)}),
    "det with a simultaneous band": lambda: (
        drawable("det", "usual", 0), "det", {"bands": roc_band(trials("usual", 0), simultaneous=True)}),
    "decision curve with a simultaneous band": lambda: (
        drawable("decision-curve", "usual", 0), "decision-curve", {"bands": tc.net_benefit_band(trials("usual", 0))}),
    "roc with a pointwise band": lambda: (
        drawable("roc", "usual", 0), "roc", {"bands": bands(trials("usual", 0), resamples=99), "sigma": 2}),
    "bayes-error with bands": lambda: (
        drawable("bayes-error", "usual", 0), "bayes-error", {"bands": bands(trials("usual", 0), resamples=99)}),
    "reliability with bands": lambda: (
        drawable("reliability", "usual", 0), "reliability", {"bands": bands(trials("usual", 0), resamples=99)}),
    "before and after calibration": lambda: (
        {"before": drawable("tippett", "skewed", 0), "after": tc.evaluate(tc.calibrate(trials("skewed", 0)).scores)},
        "tippett", {}),
    "class names": lambda: (
        tc.evaluate(tc.Trials.of_llr(trials("usual", 0).llr, np.where(trials("usual", 0).known_labels(), "fraud",
                    "an honest payment"), target="fraud"), [0.5]), "confusion", {}),
    "roc with intervals": lambda: (tc.evaluate(trials("usual", 0), [(0.5, 1, 1)], ci=0.95), "roc", {}),
}  # fmt: skip


def overlaid(kind):
    """How many systems the kind is drawn with."""
    return COUNTS if plots.KINDS[kind].overlaid else (1,)


def boxes(figure):
    """Texts that are shown, with their boxes in pixels."""
    FigureCanvasAgg(figure)
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                hidden |= {tick.label2} | (set() if low <= tick.get_loc() <= high else {tick.label1})
    texts = figure.findobj(lambda artist: isinstance(artist, matplotlib.text.Text) and artist not in hidden)
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for text in texts
        if text.get_visible() and text.get_text().strip()
    ]


def overlap(a, b):
    """Whether two boxes share more than a pixel."""
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1.0 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.0


def within(box, frame):
    """Whether a box lies in a frame, but for a pixel."""
    across = box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 + 1
    return across and box.y0 >= frame.y0 - 1 and box.y1 <= frame.y1 + 1


def names_in(drawn):
    """The words of the legend."""
    box = drawn.ax_.get_legend() or (drawn.figure_.legends or [None])[0]
    return [] if box is None else [text.get_text() for text in box.get_texts()]


def faults(drawn, names=()):
    """What is wrong with a figure: texts outside the canvas, texts on texts, systems without a name."""
    found = boxes(drawn.figure_)
    wrong = [f"outside: {text!r}" for text, box in found if not within(box, drawn.figure_.bbox)]
    for place, (text, box) in enumerate(found):
        wrong += [f"overlap: {text!r} and {other!r}" for other, its in found[place + 1 :] if overlap(box, its)]
    told = " ".join(names_in(drawn))
    return wrong + [f"not named: {name!r}" for name in names if name not in told]


def figure(kind, shape, count, size="column"):
    """One figure of the sheet, and the names that it must tell."""
    systems = [drawable(kind, shape, seed) for seed in range(count)]
    labels = [f"{shape}-{seed}" for seed in range(count)]
    drawn = plots.plot(systems, kind, size=size, labels=labels)
    return drawn, labels if count > 1 else ()


def main(path, *kinds):
    """Checks every figure and writes the sheet."""
    import io

    from matplotlib.figure import Figure
    from matplotlib.image import imread

    tiles, wrong = [], 0
    jobs = [(kind, shape, count) for kind in kinds or plots.KINDS for count in overlaid(kind) for shape in SIZES]
    for kind, shape, count in jobs:
        drawn, names = figure(kind, shape, count)
        bad = faults(drawn, names)
        wrong += len(bad)
        print(kind, shape, count, *bad[:3], sep="\t") if bad else None
        tiles.append((f"{kind} {shape} {count}", drawn))
    for name, make in EXTRA.items() if not kinds else ():
        result, kind, options = make()
        drawn = plots.plot(result, kind, size="column", **options)
        bad = faults(drawn)
        wrong += len(bad)
        print(name, *bad[:3], sep="\t") if bad else None
        tiles.append((name, drawn))
    kept = [tile for tile in tiles if kinds or " huge " not in tile[0] or tile[0].endswith("1")]
    per = 35
    for sheet in range(-(-len(kept) // per)):
        page = Figure(figsize=(24, 18))
        for place, (name, drawn) in enumerate(kept[sheet * per : (sheet + 1) * per]):
            axes = page.add_axes((0.005 + place % 7 / 7, 0.99 - (place // 7 + 1) / 5, 0.98 / 7, 0.95 / 5))
            buffer = io.BytesIO()
            drawn.figure_.savefig(buffer, format="png", dpi=90)
            buffer.seek(0)
            axes.imshow(imread(buffer))
            axes.set_title(name, fontsize=8)
            axes.axis("off")
        target = Path(path)
        page.savefig(target.with_name(f"{target.stem}-{sheet}{target.suffix}"), dpi=70)
    print(f"{len(tiles)} figures, {wrong} faults")


if __name__ == "__main__":
    main(*sys.argv[1:])
