"""What a test of bad input needs: short names, and the words that a refusal must hold."""

import json
import math

import pytest

import tercet as tc

NAN, INF = math.nan, math.inf
llr, raw, lr = tc.Trials.of_llr, tc.Trials.of_scores, tc.Trials.of_lr
posteriors, log_odds, logits = tc.Trials.of_posteriors, tc.Trials.of_log_odds, tc.Trials.of_logits
likelihoods, multiclass = tc.Trials.of_log_likelihoods, tc.Application.multiclass
ROWS = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]  # four samples, three classes


def refuses(make, *words, error=tc.InputError):
    """The error that make raises, checked for its kind and for the words that its message must hold."""
    with pytest.raises(error) as caught:
        make()
    message = str(caught.value)
    for word in words:
        assert word.lower() in message.lower(), f"{word!r} is not in: {message}"
    return message


def undefined(make, *words):
    return refuses(make, *words, error=tc.UndefinedError)


def curve_of(scores, labels, **more):
    return tc.Curve.of(tc.Tally.of(llr(scores, labels, **more)))


def facts(evaluation):
    """to_dict as strict JSON: it must survive without nan or infinity."""
    return json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
