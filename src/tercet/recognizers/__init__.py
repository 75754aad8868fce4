"""Recognisers: Gaussian classes and a multinomial text model, giving log-likelihoods and never just labels.

Priors and costs are the application's business, so every recogniser answers with the class-conditional
log-likelihoods of each sample (samples x classes), ready for `Trials.of_log_likelihoods`.
"""

from tercet.recognizers.gaussian import COVARIANCES, GaussianRecognizer
from tercet.recognizers.splits import Split, every_nth, k_folds, split_2_to_1
from tercet.recognizers.text import TextRecognizer, read_texts

__all__ = [
    "COVARIANCES",
    "GaussianRecognizer",
    "Split",
    "TextRecognizer",
    "every_nth",
    "k_folds",
    "read_texts",
    "split_2_to_1",
]
