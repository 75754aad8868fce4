"""Scorers for cross-validation and grid search: tercet's numbers, computed from scores where they need scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRequest

from tercet._numeric.matrices import weight_column
from tercet._numeric.validation import chosen, flag, label_list, shown, some
from tercet.application import Application, MulticlassApplication
from tercet.decision import confusion_of
from tercet.errors import InputError
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.metrics.costs import brier, cllr, log_loss, min_cllr
from tercet.metrics.curves import Curve
from tercet.metrics.min_risk import min_normalised_risk
from tercet.metrics.net_benefit import net_benefit
from tercet.sklearn._classifiers import Given, action_labels, application_of, class_order
from tercet.sklearn._common import Labels, target_scores
from tercet.trials import Trials, probability

Metric = Literal[
    "dcf", "min_dcf", "risk", "normalised_risk", "eer", "auc", "cllr", "min_cllr", "log_loss", "brier", "net_benefit"
]
METRICS = Metric.__args__  # type: ignore[attr-defined]
LARGER_IS_BETTER = ("auc", "net_benefit")
_NEED_APPLICATION = ("dcf", "min_dcf", "risk", "normalised_risk")
_BY_RANK = ("min_dcf", "eer", "auc", "min_cllr")


class Scorer:
    """What `scorer` returns: called with (estimator, X, y) it gives one number, higher for the better model.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from tercet.sklearn import cost_scorer
    >>> always = DummyClassifier(strategy="constant", constant=0).fit([[0], [1]], [0, 1])
    >>> cost_scorer((0.5, 1, 1))(always, [[0], [1]], [0, 1])    # minus the cost: larger is better
    -1.0
    """

    def __init__(
        self, metric: str, application: Given | None, target: object, trained_prior: object, threshold: float | None
    ) -> None:
        self.metric = metric
        self.application = application
        self.target = target
        self.trained_prior = trained_prior
        self.threshold = threshold
        self._request = MetadataRequest(owner=f"scorer({metric!r})")

    def __repr__(self) -> str:
        return f"scorer({self.metric!r})"

    def __call__(self, estimator: object, X: object, y: object, sample_weight: object = None) -> float:
        """The number for an estimator on labelled samples; minus the number where smaller is better.

        Parameters
        ----------
        estimator : classifier
            A trained classifier.
        X : array_like of shape (n, features)
            Samples.
        y : array_like of shape (n,)
            Their labels.
        sample_weight : array_like of shape (n,), optional
            Their weights.

        Returns
        -------
        float
            Higher is better.
        """
        sign = 1.0 if self.metric in LARGER_IS_BETTER else -1.0
        if self.metric in ("risk", "normalised_risk"):
            assert self.application is not None
            table = decided(estimator, X, y, self.application, self.target, sample_weight)
            matrix = as_matrix(self.application)
            return sign * float(table.risk(matrix) if self.metric == "risk" else table.normalised_risk(matrix))
        trials = self._trials(estimator, X, y, sample_weight)
        return sign * float(_COMPUTE[self.metric](trials, self))

    def _trials(self, estimator: Any, X: Any, y: Any, weights: Any) -> Trials:
        classes, app = np.asarray(estimator.classes_), self.application
        more: Any = {"trained_prior": self.trained_prior, "weights": weights, "target": self.target}
        if len(classes) > 2:
            if self.metric in _BY_RANK:  # the best offsets absorb any prior of the probabilities
                more["trained_prior"] = "balanced"
            if isinstance(app, MulticlassApplication):
                more["classes"] = classes[class_order(app, classes, self.target)].tolist()
            return Trials.of_estimator(estimator, X, y, **more)
        place = class_order(Application(0.5) if app is None else app, classes, self.target)[-1]
        if self.metric in _BY_RANK:
            scores, labels = target_scores(estimator, X, "auto", place), _class_codes(y, classes)
            return Trials.of_scores(scores, labels == place, weights=weights)
        return Trials.of_estimator(estimator, X, y, **more | {"target": classes[place]})

    def set_score_request(self, **requests: object) -> Scorer:
        """Asks scikit-learn's metadata routing for metadata in scoring, such as sample_weight=True.

        Parameters
        ----------
        **requests
            Names with True, False, None or the name under which they are passed.

        Returns
        -------
        Scorer
            The scorer itself.
        """
        if not get_config()["enable_metadata_routing"]:
            raise InputError("set_score_request needs sklearn.set_config(enable_metadata_routing=True) first.")
        for name, alias in requests.items():
            if name != "sample_weight":
                raise InputError(f"scorers take sample_weight, not {shown(name)}.")
            self._request.score.add_request(param=name, alias=alias)
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """What scoring asks for.

        Returns
        -------
        MetadataRequest
            The request.
        """
        return self._request


def scorer(
    metric: Metric,
    *,
    application: object = None,
    target: object = None,
    trained_prior: object = None,
    threshold: float | None = None,
) -> Scorer:
    """A scorer by name for cross_validate and GridSearchCV.

    Costs are negated, so that higher is always better.

    Parameters
    ----------
    metric : str
        "min_dcf", "eer", "auc" and "min_cllr" ask for scores that rank: decision_function, else predict_proba. "dcf",
        "cllr", "log_loss", "brier" and "net_benefit" ask for probabilities: predict_proba, with `trained_prior`. "risk"
        and "normalised_risk" are the costs of what `predict` decides.
    application : Application, triple, name or MulticlassApplication, optional
        The operating point of "dcf", "min_dcf", "risk" and "normalised_risk".
    target : optional
        The label of the target, if there are two classes with text labels.
    trained_prior : float, array_like or "balanced", optional
        The prior that the estimator's probabilities were made with, as in `Trials.of_estimator`. The estimators of
        tercet know theirs.
    threshold : float, optional
        The threshold probability of "net_benefit".

    Returns
    -------
    Scorer
        Called with (estimator, X, y) and perhaps `sample_weight`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([0, 1, 0, 1])
    >>> scorer("auc")(LogisticRegression().fit(X, y), X, y)
    0.75
    """
    name = chosen(metric, "metric", METRICS)
    if (application is None) == (name in _NEED_APPLICATION):
        word = "is needed for" if application is None else "has no effect on"
        raise InputError(f"application {word} {name!r}.")
    if (threshold is None) == (name == "net_benefit"):
        raise InputError(f"threshold {'is needed for' if threshold is None else 'has no effect on'} {name!r}.")
    if trained_prior is not None and (name in _BY_RANK or name in ("risk", "normalised_risk")):
        raise InputError(f"trained_prior has no effect on {name!r}.")
    if target is not None:
        (target,) = label_list([target], "target")
    point = None if application is None else application_of(application)
    level = None if threshold is None else probability(threshold, "threshold")
    return Scorer(name, point, target, trained_prior, level)


def cost_scorer(application: object, *, target: object = None, normalised: bool = True) -> Scorer:
    """A scorer for cross_val_score and GridSearchCV: minus the cost of the estimator's decisions.

    The classes are weighted by the application's prior, not by their frequencies. Higher (closer to 0) is better; when
    normalised, -1 is the best decision without scores.

    Parameters
    ----------
    application : Application, triple, name or MulticlassApplication
        Prior and costs.
    target : optional
        The label of the target, if there are two classes with text labels.
    normalised : bool, default True
        Whether the cost is divided by that of the best dummy.

    Returns
    -------
    Scorer
        The same as `scorer("normalised_risk", ...)` or `scorer("risk", ...)`.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> always = DummyClassifier(strategy="constant", constant=0).fit([[0], [1]], [0, 1])
    >>> cost_scorer(0.5)(always, [[0], [1]], [0, 1])
    -1.0
    """
    metric: Metric = "normalised_risk" if flag(normalised, "normalised") else "risk"
    return scorer(metric, application=application, target=target)


def decided(estimator: Any, X: Any, y: Any, app: Given, target: object, weights: object) -> Confusion:
    """The confusion matrix of what an estimator's predict decides, in the order of the application."""
    found = np.asarray(estimator.predict(X))
    classes = np.asarray(getattr(estimator, "classes_", np.unique(y)))
    order, matrix = class_order(app, classes, target), as_matrix(app)
    actions = action_labels(app, classes, order)
    rows = _coded(found, actions, "an action")
    true = _class_codes(y, classes[order])
    heavy = None if weights is None else weight_column(weights)
    return Confusion._counted(rows, true, matrix.classes, matrix.actions, None, heavy)


def _class_codes(y: object, classes: Labels) -> NDArray[np.intp]:
    """The place of each sample's class among those of the estimator."""
    return _coded(np.asarray(y), classes, "a class of the estimator")


def _coded(values: Labels, known: Labels, what: str) -> NDArray[np.intp]:
    codes = {label: code for code, label in enumerate(known.tolist())}
    unknown = [value for value in values.tolist() if value not in codes]
    if unknown:
        raise InputError(f"{shown(unknown[0])} is not {what}: {some(codes)}.")
    return np.array([codes[value] for value in values.tolist()], np.intp)


def _min_dcf(trials: Trials, asked: Scorer) -> float:
    if isinstance(asked.application, Application):
        return float(Curve.of(trials).min_dcf(asked.application).dcf)
    app = as_matrix(asked.application)
    if not trials.is_matrix:  # the names of the classes have chosen the target
        app = app.renamed(trials.classes)
    return min_normalised_risk(trials, app)


def _net_benefit(trials: Trials, asked: Scorer) -> float:
    assert asked.threshold is not None
    return net_benefit(trials, asked.threshold)


_COMPUTE: dict[str, Callable[[Trials, Scorer], float]] = {
    "dcf": lambda trials, asked: confusion_of(trials, asked.application).normalised_risk(as_matrix(asked.application)),
    "min_dcf": _min_dcf,
    "eer": lambda trials, _: Curve.of(trials).eer().value,
    "auc": lambda trials, _: Curve.of(trials).auc,
    "cllr": lambda trials, _: cllr(trials),
    "min_cllr": lambda trials, _: min_cllr(trials),
    "log_loss": lambda trials, _: log_loss(trials),
    "brier": lambda trials, _: brier(trials),
    "net_benefit": _net_benefit,
}
