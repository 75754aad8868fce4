"""What the estimators share: the target among the labels, an estimator's scores, priors and metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import Bunch, _safe_indexing, check_consistent_length, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from tercet._numeric.matrices import prior_vector
from tercet._numeric.validation import chosen, same_label, shown, some
from tercet._typing import JSON, Array, Floats
from tercet.errors import InputError
from tercet.trials import Trials, probability

if TYPE_CHECKING:
    from sklearn.utils import Tags

Labels = Array
RESPONSES = ("auto", "decision_function", "log_odds", "predict_proba")


def checked_labels(y: object) -> Labels:
    """Labels of a classification task, one-dimensional."""
    if y is None:
        raise InputError("This classifier requires y to be passed, but the target y is None.")
    labels: Labels = column_or_1d(y, warn=True)
    check_classification_targets(labels)
    return labels


def check_two(classes: Labels, why: str) -> None:
    """Refuses labels that are not of two classes."""
    if len(classes) != 2:
        raise InputError(
            f"Only binary classification is supported: the labels hold {len(classes)} "
            f"class{'es' if len(classes) != 1 else ''}, and {why} needs two classes."
        )


def target_place(classes: Labels, target: object) -> int:
    """The place of the target among two sorted labels: that of the named one, else 1 for numbers, booleans or names."""
    if target is not None:
        places = [place for place, label in enumerate(classes.tolist()) if same_label(label, target)]
        if not places:
            raise InputError(
                f"target={shown(target)} is not among the labels {', '.join(map(shown, classes.tolist()))}."
            )
        return places[0]
    if classes.dtype.kind in "biuf":
        return 1  # scikit-learn's own rule: the larger label is the positive one
    words = [str(label).lower() for label in classes.tolist()]
    if words in (["nontarget", "target"], ["false", "true"], ["0", "1"]):
        return 1
    raise InputError(
        f"labels hold {some(classes.tolist(), 4)}: name the one that is the target (target=...). Its "
        f"prior and costs are the application's."
    )


def weights_of(sample_weight: object, y: Labels) -> Floats | None:
    """Weights of the samples, some of them positive."""
    if sample_weight is None:
        return None
    weights: Floats = column_or_1d(sample_weight, dtype=np.float64)
    check_consistent_length(y, weights)
    if not weights.any():
        raise InputError("Sample weights must contain at least one non-zero number.")
    if len(np.unique(y[weights > 0.0])) < len(np.unique(y)):
        raise InputError("sample_weight leaves a class without weight: leave its samples out, or give them weight.")
    return weights


def shares_of(y: Labels, weights: Floats | None) -> Floats:
    """The share of each class, samples counted by their weights."""
    codes = np.unique(y, return_inverse=True)[1]
    sizes = np.bincount(codes, weights=weights)
    return np.asarray(sizes / sizes.sum(), np.float64)


def prior_in_order(prior: object, shares: Floats, order: list[int], name: str) -> Floats:
    """A prior in the order of the sorted labels.

    None: the shares in training; "balanced": equal; a number: the target's, of two; a vector: in the order of the
    application, whose class k is the label at order[k].
    """
    count = len(shares)
    if prior is None:
        return shares
    if isinstance(prior, str):
        chosen(prior, name, ("balanced",))
        return np.full(count, 1.0 / count)
    if np.ndim(np.asarray(prior, object)) == 0:
        if count != 2:
            raise InputError(f"{name} must have one entry for each of the {count} classes, or be 'balanced'.")
        target = probability(prior, name)
        given = np.array([1.0 - target, target])
    else:
        given = prior_vector(prior, count, name)
        if count == 2 and order != [0, 1]:
            raise InputError(
                f"{name} of two entries could be in the order of the labels or (non-target, target): give the target's "
                f"alone, as one number."
            )
    found = np.empty(count)
    found[order] = given
    return found


def target_scores(estimator: BaseEstimator, X: Any, response: object, place: int) -> Floats:
    """An estimator's scores, higher for the target, which is at this place of its two classes."""
    kind = _response(estimator, response, "log_odds")
    if kind == "decision_function":
        found = np.asarray(estimator.decision_function(X), np.float64)
        found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
        return found if place == 1 else 0.0 - found
    shares = np.asarray(estimator.predict_proba(X), np.float64)
    if kind == "predict_proba":
        return shares[:, place]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(shares[:, place]) - np.log(shares[:, 1 - place]), np.float64)


def class_scores(
    estimator: BaseEstimator, X: Any, response: object, trained_prior: Floats, labels: object = None
) -> Trials:
    """An estimator's scores with one column per class: posteriors where it has them, else logits."""
    classes = [str(label) for label in estimator.classes_.tolist()]
    kind = _response(estimator, response, "predict_proba", first="predict_proba")
    more: JSON = {"classes": classes, "trained_prior": trained_prior, "orientation": "samples x classes"}
    named = None if labels is None else [str(label) for label in np.asarray(labels).tolist()]
    if kind == "decision_function":
        found = np.asarray(estimator.decision_function(X), np.float64)
        found = np.stack((np.zeros(len(found)), found), axis=1) if found.ndim == 1 else found
        return Trials.of_logits(found, named, **more)
    return Trials.of_posteriors(posteriors_of(estimator, X), named, **more)


def posteriors_of(estimator: object, X: object) -> Floats:
    """What predict_proba gives, in double precision."""
    if not hasattr(estimator, "predict_proba"):
        raise InputError(
            f"{type(estimator).__name__} has no predict_proba: put it into CalibratedClassifier, which makes "
            f"probabilities of its scores."
        )
    return np.asarray(estimator.predict_proba(X), np.float64)


def _response(estimator: object, wanted: object, usual: str, first: str = "decision_function") -> str:
    kind = chosen(wanted, "response", RESPONSES)
    if kind != "auto":
        return kind
    other = "predict_proba" if first == "decision_function" else "decision_function"
    if hasattr(estimator, first):
        return first
    return usual if other == "predict_proba" else other


# Training another estimator


class Wrapper(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier around another one (`estimator`), which is trained on everything or by folds (`cv`)."""

    estimator: object
    cv: object = "none"  # those without folds

    def get_metadata_routing(self) -> MetadataRouter:
        """Which part takes which metadata, for scikit-learn's routing: the estimator in fit, and the splitter.

        Returns
        -------
        MetadataRouter
            The requests of the parts.
        """
        router = MetadataRouter(owner=type(self).__name__)
        router.add_self_request(self)
        router.add(estimator=base_of(self.estimator), method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        if not isinstance(self.cv, str):
            mapping = MethodMapping().add(caller="fit", callee="split")
            router.add(splitter=check_cv(self.cv, classifier=True), method_mapping=mapping)
        return router

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = get_tags(base_of(self.estimator)).input_tags.sparse
        return tags

    def _prefit(self) -> Any:
        """The estimator that `cv="prefit"` says is trained already."""
        if self.cv != "prefit":
            raise InputError(f'cv must be a number of folds, a splitter or "prefit", not {self.cv!a}.')
        if self.estimator is None:
            raise InputError('cv="prefit" needs an estimator that is trained already.')
        check_is_fitted(self.estimator)
        return self.estimator

    def _out_of_fold(self, X: Any, y: Labels, metadata: Any, scores: Callable[[Any, Any], Floats]) -> Floats:
        """Scores of each sample by an estimator that did not see it; `estimator_` is trained on all samples."""
        base = base_of(self.estimator)
        self.estimator_ = trained(base, X, y, metadata)
        parts = [(rows, scores(model, samples)) for model, rows, samples in held_out(base, X, y, self.cv, metadata)]
        found = np.empty((len(y), *parts[0][1].shape[1:]))
        for rows, part in parts:
            found[rows] = part
        return found


def base_of(estimator: object) -> Any:
    """The estimator that was given, or a logistic regression."""
    if estimator is not None:
        return estimator
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression()


def keep_features(outer: object, inner: object) -> None:
    """Notes the number and names of the features that the inner estimator saw."""
    for name in ("n_features_in_", "feature_names_in_"):
        if hasattr(inner, name):
            setattr(outer, name, getattr(inner, name))


def routed(outer: object, estimator: BaseEstimator, sample_weight: Any, params: JSON) -> Any:
    """The metadata of fit by recipient; without routing, weights go to an estimator that accepts them."""
    if get_config()["enable_metadata_routing"]:
        given = params if sample_weight is None else params | {"sample_weight": sample_weight}
        found = process_routing(outer, "fit", **given)
        return found if hasattr(found, "splitter") else Bunch(estimator=found.estimator, splitter=Bunch(split={}))
    own = dict(params)
    groups = {"groups": own.pop("groups")} if "groups" in own else {}
    if sample_weight is not None and "sample_weight" in signature(estimator.fit).parameters:
        own["sample_weight"] = sample_weight
    return Bunch(estimator=Bunch(fit=own), splitter=Bunch(split=groups))


def folds_of(cv: Any, X: Any, y: Labels, metadata: Any) -> list[tuple[Any, Any]]:
    """The rows of each training part and of each held-out part."""
    found = list(check_cv(cv, y, classifier=True).split(X, y, **metadata.splitter.split))
    held = np.concatenate([rows for _, rows in found]) if found else np.zeros(0, np.intp)
    if not np.array_equal(np.sort(held), np.arange(len(y))):
        raise InputError("cv must hold out every sample exactly once, as k folds do.")
    return found


def trained(estimator: BaseEstimator, X: Any, y: Labels, metadata: Any) -> Any:
    """A clone of the estimator, trained on everything."""
    return clone(estimator).fit(X, y, **metadata.estimator.fit)


def trained_on(estimator: BaseEstimator, X: Any, y: Labels, rows: Any, metadata: Any) -> Any:
    """A clone of the estimator, trained on some rows."""
    more = {name: _part(value, rows, len(y)) for name, value in metadata.estimator.fit.items()}
    return clone(estimator).fit(_safe_indexing(X, rows), y[rows], **more)


def _part(value: object, rows: object, count: int) -> Any:
    """These rows of a column that has one entry per sample; anything else as it is."""
    if not any(hasattr(value, name) for name in ("__len__", "shape", "__array__")) or isinstance(value, str):
        return value
    whole = indexable(value)[0]
    length = whole.shape[0] if getattr(whole, "shape", None) else len(whole)
    return _safe_indexing(whole, rows) if length == count else value


def held_out(estimator: object, X: object, y: Labels, cv: object, metadata: object) -> Iterator[tuple[Any, Any, Any]]:
    """For each fold: an estimator that did not see it, its rows, and their samples."""
    X = indexable(X)[0]
    for train, test in folds_of(cv, X, y, metadata):
        if len(np.unique(y[train])) < len(np.unique(y)):
            raise InputError("cv leaves a training part without one of the classes: use fewer folds.")
        yield trained_on(estimator, X, y, train, metadata), test, _safe_indexing(X, test)
