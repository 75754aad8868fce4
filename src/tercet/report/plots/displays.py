"""Displays in the manner of scikit-learn: from an estimator, from predictions or from trials, drawn with .plot()."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias, TypeVar

from numpy.typing import ArrayLike

from tercet._numeric.validation import chosen
from tercet.deployment.decision_curves import decision_curve
from tercet.errors import InputError
from tercet.evaluation import Evaluation, MulticlassEvaluation, evaluate
from tercet.metrics.net_benefit import DecisionCurve
from tercet.report.plots._figure import Plot, plot
from tercet.trials import Trials, two_class_trials

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

D = TypeVar("D", bound="_Display")
Shown: TypeAlias = Evaluation | MulticlassEvaluation | DecisionCurve


class _Display:
    """What every display shares: the result, its name, and the axes after plot(); a notebook displays it."""

    kind: ClassVar[str]

    def __init__(self, result: Shown, *, name: str | None = None) -> None:
        self.result = result
        self.name = name
        self.ax_: Axes | None = None
        self.figure_: Figure | None = None
        self._drawn: Plot | None = None

    def _repr_html_(self) -> str | None:
        return None if self._drawn is None else self._drawn._repr_html_()

    def plot(self: D, ax: Axes | None = None, **options: object) -> D:
        """Draw the figure.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw on; by default a new figure is made.
        **options
            As in `tercet.plot`.

        Returns
        -------
        display
            Itself, with `ax_` and `figure_`.
        """
        labels = None if self.name is None else [self.name]
        self._drawn = plot(self.result, self.kind, ax=ax, labels=labels, **options)  # type: ignore[arg-type]
        self.ax_, self.figure_ = self._drawn.ax_, self._drawn.figure_
        return self

    @classmethod
    def from_trials(
        cls: type[D], trials: Trials, applications: Iterable[object] = (), *, name: str | None = None,
        ax: Axes | None = None, **options: object,
    ) -> D:  # fmt: skip
        """Evaluate labelled trials and draw.

        Parameters
        ----------
        trials : Trials
            Labelled trials.
        applications : list
            Operating points to mark.
        name : str, optional
            The system's name.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **options
            As in `tercet.plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        return cls(cls._computed(trials, applications), name=name).plot(ax, **options)

    @classmethod
    def _computed(cls, trials: Trials, applications: Iterable[object]) -> Shown:
        return evaluate(trials, applications)

    @classmethod
    def from_predictions(
        cls: type[D], y_true: ArrayLike, y_score: ArrayLike, *, meaning: Literal["llr", "raw", "posterior"] = "raw",
        target: object = None, trained_prior: float | None = None, applications: Iterable[object] = (),
        name: str | None = None, ax: Axes | None = None, **options: object,
    ) -> D:  # fmt: skip
        """Draw from labels and scores.

        Parameters
        ----------
        y_true : array_like of shape (n,)
            True labels.
        y_score : array_like of shape (n,)
            Scores, higher for targets.
        meaning : {"raw", "llr", "posterior"}, default "raw"
            What the scores mean.
        target : object, optional
            The target's label, unless the labels are 0/1, False/True or nontarget/target.
        trained_prior : float, optional
            The prior that posteriors were made with.
        applications : list
            Operating points to mark.
        name : str, optional
            The system's name.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **options
            As in `tercet.plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        trials = _trials(y_true, y_score, meaning, target, trained_prior)
        return cls.from_trials(trials, applications, name=name, ax=ax, **options)

    @classmethod
    def from_estimator(
        cls: type[D], estimator: object, X: ArrayLike, y: ArrayLike, *, target: object = None,
        trained_prior: object = None, applications: Iterable[object] = (), name: str | None = None,
        ax: Axes | None = None, **options: object,
    ) -> D:  # fmt: skip
        """Draw from a fitted estimator of scikit-learn.

        Parameters
        ----------
        estimator : classifier
            With `predict_proba` if `trained_prior` is given; else of two classes, with `decision_function` or
            `predict_proba`, whose values are taken as raw scores.
        X : array_like
            Samples.
        y : array_like of shape (n,)
            True labels.
        target : object, optional
            The target's label; needed unless the labels are 0/1, False/True or nontarget/target.
        trained_prior : float, array_like or "balanced", optional
            As in `Trials.of_estimator`: then the probabilities are taken as posteriors, of any number of classes.
        applications : list
            Operating points to mark.
        name : str, optional
            The system's name; by default the estimator's class.
        ax : matplotlib Axes, optional
            Axes to draw on.
        **options
            As in `tercet.plot`.

        Returns
        -------
        display
            The display, drawn.
        """
        if trained_prior is None:
            trials = Trials.of_scores(_scores(estimator, X, target), y, target=target)
        else:
            trials = Trials.of_estimator(estimator, X, y, target=target, trained_prior=trained_prior)
        called = type(estimator).__name__ if name is None else name
        return cls.from_trials(trials, applications, name=called, ax=ax, **options)


def _trials(y: ArrayLike, scores: ArrayLike, meaning: str, target: object, trained_prior: float | None) -> Trials:
    if meaning == "posterior":
        return Trials.of_posteriors(scores, y, target=target, trained_prior=trained_prior)
    known = chosen(meaning, "meaning", ("raw", "llr", "posterior"))
    return two_class_trials(known, scores, y, target=target, trained_prior=trained_prior)


def _scores(estimator: object, X: ArrayLike, target: object) -> ArrayLike:
    """The decision function turned towards the target, or the target's column of predict_proba."""
    classes = [] if not hasattr(estimator, "classes_") else list(estimator.classes_)
    if len(classes) != 2:
        raise InputError("estimator must be a fitted classifier of two classes.")
    wanted = classes[1] if target is None else target
    if wanted not in classes:
        raise InputError(f"target must be one of the estimator's classes {classes}, not {wanted!r}.")
    place = classes.index(wanted)
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(X)
        return scores if place == 1 else -scores  # type: ignore[no-any-return]
    if not hasattr(estimator, "predict_proba"):
        raise InputError("estimator must have decision_function or predict_proba.")
    return estimator.predict_proba(X)[:, place]  # type: ignore[no-any-return]


class RocDisplay(_Display):
    """ROC curve with its convex hull and the evaluated decisions."""

    kind = "roc"


class DetDisplay(_Display):
    """DET curve: both error rates on normal-deviate axes."""

    kind = "det"


class PrecisionRecallDisplay(_Display):
    """Precision against recall."""

    kind = "precision-recall"


class ScoreHistogramDisplay(_Display):
    """Densities of the scores of both classes."""

    kind = "histogram"


class BayesErrorDisplay(_Display):
    """Actual and minimum DCF against the prior log-odds."""

    kind = "bayes-error"


class ReliabilityDisplay(_Display):
    """Observed frequency against forecast probability, by isotonic regression."""

    kind = "reliability"


class ConfusionDisplay(_Display):
    """Confusion matrix of the decisions at one operating point."""

    kind = "confusion"


class DecisionCurveDisplay(_Display):
    """Net benefit against the threshold probability."""

    kind = "decision-curve"

    @classmethod
    def _computed(cls, trials: Trials, applications: Iterable[object]) -> DecisionCurve:
        return decision_curve(trials)
