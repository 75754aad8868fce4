"""BayesClassifier: the action of least expected cost, on another classifier's probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from tercet._numeric.validation import shown
from tercet._typing import Array, Floats
from tercet.application import Application, MulticlassApplication
from tercet.decision import decide
from tercet.errors import InputError
from tercet.metrics.case_costs import CaseCosts
from tercet.metrics.confusion import as_matrix
from tercet.metrics.posteriors import posteriors
from tercet.sklearn._common import (
    Labels,
    Wrapper,
    base_of,
    checked_labels,
    keep_features,
    posteriors_of,
    prior_in_order,
    routed,
    shares_of,
    target_place,
    trained,
    weights_of,
)
from tercet.trials import Trials

if TYPE_CHECKING:
    from sklearn.utils import Tags

Given = Application | MulticlassApplication


def application_of(application: object) -> Given:
    """An application: as it is, or from a triple, a prior or a name."""
    return application if isinstance(application, MulticlassApplication) else Application.of(application)


def class_order(app: Given, classes: Labels, target: object) -> list[int]:
    """For each class of the application its place among the sorted labels: by target, by names, or by number."""
    known = ("nontarget", "target") if isinstance(app, Application) else app.classes
    if len(known) != len(classes):
        raise InputError(
            f"application has {len(known)} classes and y holds {len(classes)} class"
            f"{'es' if len(classes) != 1 else ''}. Only binary classification is supported by a two-class application."
        )
    labels = [str(label) for label in classes.tolist()]
    if isinstance(app, Application):
        return [0, 1] if target_place(classes, target) == 1 else [1, 0]
    if target is not None:
        raise InputError("target belongs to a two-class application (prior, cost_fn, cost_fp): leave it out here.")
    if sorted(labels) == sorted(app.classes):
        return [labels.index(name) for name in app.classes]
    if classes.dtype.kind in "biuf" and app.classes == tuple(map(str, range(len(labels)))):
        return list(range(len(labels)))
    raise InputError(
        f"application speaks of the classes {', '.join(map(shown, app.classes[:4]))}, and y of "
        f"{', '.join(map(shown, labels[:4]))}: name them in the order of its priors, "
        f"Application.multiclass(prior, costs, classes=[...])."
    )


def action_labels(app: Given, classes: Labels, order: list[int]) -> Labels:
    """What predict gives for each action: labels of y where every action is a class, else names, all of them text."""
    ordered = classes[order]
    if isinstance(app, Application) or app.actions == app.classes:
        return np.asarray(ordered)
    labels = dict(zip(app.classes, ordered.tolist(), strict=True))
    if all(action in labels for action in app.actions):
        return np.asarray(ordered[[app.classes.index(action) for action in app.actions]])
    names = {name: str(label) for name, label in labels.items()}
    return np.array([names.get(action, action) for action in app.actions])


class BayesClassifier(Wrapper):
    """Cost-optimal decisions on another classifier's posteriors, for any cost matrix and deployment prior.

    The estimator's predict_proba is taken as posteriors at the prior it was trained with, and moved to the
    application's. Decisions are those of `tercet.decide`.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier with predict_proba; a logistic regression unless given.
    application : Application, triple, name or MulticlassApplication
        Prior and costs of the use. Its classes are matched by name, by number, or by `target`.
    trained_prior : float, array_like or "balanced", optional
        The prior that is in the estimator's probabilities: the target's, or one number per class in the order of the
        application's classes; "balanced" after class_weight="balanced", which makes the classes equal. The shares of
        the classes in y (by `sample_weight`, where the estimator takes it) unless given.
    target : optional
        The label of the target where a two-class application meets classes that are called by text.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    estimator_ : object
        The trained estimator.
    trained_prior_, prior_ : ndarray
        The prior taken out of its probabilities, and the application's, in the order of `classes_`.

    Examples
    --------
    Missing a target costs 9 times a false alarm, so a case is accepted from a probability of 1 in 10 on:

    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 4), np.array([0, 0, 1, 1] * 2 + [0, 1, 0, 1] * 2)
    >>> model = BayesClassifier(application=(0.5, 9, 1)).fit(X, y)
    >>> model.predict([[1.0], [2.0]]).tolist(), bool(model.predict_proba([[1.0]])[0, 1] < 0.5)
    ([1, 1], True)
    """

    def __init__(
        self,
        estimator: object = None,
        application: object = (0.5, 1.0, 1.0),
        trained_prior: object = None,
        target: object = None,
    ) -> None:
        self.estimator = estimator
        self.application = application
        self.trained_prior = trained_prior
        self.target = target

    def fit(self, X: object, y: object, sample_weight: object = None, **params: object) -> BayesClassifier:
        """Trains the estimator and notes the prior of its probabilities.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights, for an estimator that takes them.
        **params
            Further metadata for the estimator's fit.

        Returns
        -------
        BayesClassifier
            The estimator itself, trained.
        """
        labels = checked_labels(y)
        weights = weights_of(sample_weight, labels)
        self.classes_ = np.unique(labels)
        self.app_ = application_of(self.application)
        self._order = class_order(self.app_, self.classes_, self.target)
        metadata = routed(self, base_of(self.estimator), sample_weight, params)
        counted = weights if "sample_weight" in metadata.estimator.fit else None
        shares = shares_of(labels, counted)
        self.trained_prior_ = prior_in_order(self.trained_prior, shares, self._order, "trained_prior")
        self.prior_ = np.empty(len(self.classes_))
        self.prior_[self._order] = as_matrix(self.app_).prior
        self.estimator_ = trained(base_of(self.estimator), X, labels, metadata)
        keep_features(self, self.estimator_)
        return self

    def predict(self, X: object, cost_fn: ArrayLike | None = None, cost_fp: ArrayLike | None = None) -> Array:
        """The action of least expected cost: a label of y, or a name where the application has further actions.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.
        cost_fn, cost_fp : array_like of shape (n,), optional
            Each sample's own cost of a miss and of a false alarm, for two classes; the application's where not given.

        Returns
        -------
        ndarray of shape (n,)
            One decision per sample; text, all of them, where the application has actions that are not classes.
        """
        actions = decide(self._trials(X), self._costs(cost_fn, cost_fp))
        return np.asarray(action_labels(self.app_, self.classes_, self._order)[actions])

    def _costs(self, cost_fn: ArrayLike | None, cost_fp: ArrayLike | None) -> Given | CaseCosts:
        """The application, with costs of each sample where they are given."""
        check_is_fitted(self)
        if cost_fn is None and cost_fp is None:
            return self.app_
        app = as_matrix(self.app_)
        if app.costs.shape != (2, 2) or np.diag(app.costs).any():
            raise InputError("cost_fn and cost_fp per sample need two classes and no further action.")
        own = (app.costs[0, 1] if cost_fn is None else cost_fn, app.costs[1, 0] if cost_fp is None else cost_fp)
        return CaseCosts(float(app.prior[1]), *own)

    def predict_proba(self, X: object) -> Floats:
        """Posteriors at the application's prior, one column per class in the order of `classes_`.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.

        Returns
        -------
        ndarray of shape (n, classes)
            Posterior probabilities.
        """
        found = posteriors(self._trials(X), self.prior_[self._order])
        ordered = np.empty(found.shape)
        ordered[:, self._order] = found
        return ordered

    def _trials(self, X: object) -> Trials:
        """The probabilities as trials, with classes in the order of the application."""
        check_is_fitted(self)
        given = posteriors_of(self.estimator_, X)[:, self._order]
        prior = self.trained_prior_[self._order]
        return Trials.of_posteriors(given, trained_prior=prior, orientation="samples x classes")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        multiclass = isinstance(self.application, MulticlassApplication) and len(self.application.classes) > 2
        tags.classifier_tags.multi_class = multiclass
        return tags
