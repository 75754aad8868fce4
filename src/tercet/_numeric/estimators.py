"""The output of a trained scikit-learn classifier for samples: its labels, scores and prior."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import numpy as np

from tercet._numeric.validation import chosen, column, is_target, label_list, numbers, probability, shown, some
from tercet._typing import Array
from tercet.errors import InputError


def estimator_classes(estimator: object, target: object, classes: object) -> tuple[list[Hashable], list[int]]:
    """An estimator's labels, and their order in trials: of two, the target is last."""
    found = getattr(estimator, "classes_", None)
    if found is None or np.ndim(found) != 1:
        raise InputError(f"estimator must be a trained classifier with classes_, not {shown(estimator)}.")
    labels = np.asarray(found).tolist()
    if len(labels) == 2:
        if classes is not None:
            raise InputError("classes is for more than two classes: name the target (target=...).")
        mask, _ = is_target(np.asarray(found), target)
        return labels, [int(mask.argmin()), int(mask.argmax())]
    if target is not None:
        raise InputError(f"target is for two classes, and the estimator has {len(labels)}: name them by classes=.")
    if classes is None:
        return labels, list(range(len(labels)))
    wanted = label_list(classes, "classes")
    if len(wanted) != len(labels) or set(wanted) != set(labels):
        raise InputError(f"classes must be the estimator's, in any order: {some(labels)}.")
    return labels, [labels.index(label) for label in wanted]


def asked(method: Callable[[object], object], X: object) -> object:
    """The output of an estimator for samples; if it refuses them, its own message is passed on."""
    try:
        return method(X)
    except Exception as error:  # third-party estimators may raise anything
        raise InputError(f"The estimator rejected X: {error}") from error


def margins(estimator: object, X: object, order: list[int]) -> Array:
    """decision_function, higher for the target."""
    ask = getattr(estimator, "decision_function", None)
    if not callable(ask) or len(order) != 2:
        raise InputError("estimator must have predict_proba, or decision_function where there are two classes.")
    found = numbers(asked(ask, X), "decision_function")
    return found if order == [0, 1] else 0.0 - found


def estimator_prior(estimator: object, given: object, order: list[int]) -> object:
    """The prior of an estimator's probabilities, in the order of the trials."""
    if given is None:
        last = getattr(estimator, "best_estimator_", estimator)
        last = last.steps[-1][1] if hasattr(last, "steps") else last
        own = getattr(last, "prior_", None) if type(last).__module__.startswith("tercet.") else None
        if own is None:
            raise InputError(
                "trained_prior is needed: the prior that the estimator's probabilities were made with, such as the "
                "shares of the classes it was trained on, or 'balanced' after class_weight='balanced'."
            )
        return np.asarray(own)[order]
    if isinstance(given, str):
        chosen(given, "trained_prior", ("balanced",))
        return [1.0 / len(order)] * len(order)
    if len(order) == 2 and column(given, "trained_prior").ndim == 0:
        target = probability(given, "trained_prior")
        return [1.0 - target, target]
    return given
