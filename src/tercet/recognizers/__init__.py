"""Recognisers: Gaussian classes, a multinomial text model and logistic regression; they give scores, not labels.

Priors and costs belong to the application, so a recogniser returns the class-conditional log-likelihoods of
each sample (samples x classes), ready for `Trials.of_log_likelihoods`, or the log-likelihood ratios of two
classes.
"""

from tercet.recognizers._classes import Split, every_nth, k_folds, split_2_to_1
from tercet.recognizers.gaussian import COVARIANCES, GaussianRecognizer
from tercet.recognizers.logistic import EXPANSIONS, LogisticRecognizer
from tercet.recognizers.text import TextRecognizer, read_texts

__all__ = [
    "COVARIANCES",
    "EXPANSIONS",
    "GaussianRecognizer",
    "LogisticRecognizer",
    "Split",
    "TextRecognizer",
    "every_nth",
    "k_folds",
    "read_texts",
    "split_2_to_1",
]
