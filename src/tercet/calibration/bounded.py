"""A calibrator whose likelihood ratios are held between two bounds."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tercet._numeric.serialization import Model, damaged, finite, word
from tercet._numeric.validation import number, shown, text
from tercet._typing import Facts, Floats
from tercet.calibration.training import FACTS
from tercet.calibration.two_class import Calibrator
from tercet.errors import InputError


@dataclass(frozen=True, slots=True)
class Bounded(Calibrator):
    """A calibrator's llrs, held between the logarithms of a lower and an upper likelihood ratio.

    Attributes
    ----------
    calibrator : str
        The calibrator, as its JSON text.
    lower, upper : float
        Bounds of the likelihood ratio, 0 < lower <= 1 <= upper.
    bounds_method : str
        How they were found: "elub", "iv", or "given".
    training : mapping
        Facts of the calibrator's training.

    Examples
    --------
    >>> from tercet import Trials
    >>> from tercet.calibration.two_class import Gaussian
    >>> pair = Gaussian.fit(Trials.of_scores([-2., 0., 0., 2.], [0, 0, 1, 1]))    # llr = 2 s
    >>> Bounded.of(pair, 0.1, 100)([-5.0, 1.0, 5.0]).round(4).tolist()    # ln 0.1 and ln 100
    [-2.3026, 2.0, 4.6052]
    """

    method = "bounded"
    _parameters: ClassVar = {"calibrator": word, "lower": finite, "upper": finite, "bounds_method": word}
    _facts = FACTS

    calibrator: str = field(repr=False)
    lower: float
    upper: float
    bounds_method: str
    training: Facts = field(repr=False, hash=False)

    @classmethod
    def of(cls, calibrator: Calibrator, lower: float, upper: float, bounds_method: str = "given") -> Bounded:
        """A trained calibrator with bounds of its likelihood ratios.

        Parameters
        ----------
        calibrator : Calibrator
            The map whose llrs are held.
        lower, upper : float
            Bounds of the likelihood ratio, positive and finite, lower <= 1 <= upper.
        bounds_method : str, optional
            How they were found.

        Returns
        -------
        Bounded
        """
        if not isinstance(calibrator, Model) or "targets" not in calibrator.training:
            raise InputError(f"calibrator must be a trained two-class calibrator, not {shown(calibrator)}.")
        text(bounds_method, "bounds_method")
        low, high = number(lower, "lower"), number(upper, "upper")
        if not 0.0 < low <= 1.0 <= high < math.inf:
            raise InputError(f"lower and upper must be LRs with 0 < lower <= 1 <= upper < inf, not {low} and {high}.")
        return cls(
            calibrator.to_json(), low, high, bounds_method, {key: calibrator.training[key] for key in cls._facts}
        )

    def _check(self) -> None:
        if not 0.0 < self.lower <= 1.0 <= self.upper < math.inf:
            raise damaged("bounds must be positive, the lower at most 1 and the upper at least 1")

    def _llr(self, scores: Floats) -> Floats:
        from tercet.calibration.fusion import load_model

        inner = load_model(self.calibrator)
        return np.asarray(np.clip(inner(scores), math.log(self.lower), math.log(self.upper)))
