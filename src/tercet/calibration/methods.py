"""Calibrators by name, as the command line, `calibrate` and the scikit-learn estimators take them."""

from __future__ import annotations

from typing import Any

from tercet._numeric.validation import chosen
from tercet.calibration.beta import Beta
from tercet.calibration.kernel_density import KernelDensity
from tercet.calibration.multiclass import Affine
from tercet.calibration.offset import Offset
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic

_METHODS: dict[str, tuple[Any, dict[str, Any]]] = {
    "logistic": (Logistic, {}),
    "isotonic": (Isotonic, {}),
    "isotonic-linear": (Isotonic, {"interpolation": "linear"}),
    "gaussian": (Gaussian, {"shared_variance": True}),
    "gaussian-own-variances": (Gaussian, {"shared_variance": False}),
    "beta": (Beta, {}),
    "offset": (Offset, {}),
    "kernel-density": (KernelDensity, {}),
    "affine": (Affine, {"kind": "offsets"}),
    "temperature": (Affine, {"kind": "temperature"}),
    "scale": (Affine, {"kind": "scale"}),
    "matrix": (Affine, {"kind": "matrix"}),
}
METHODS = tuple(_METHODS)
CLASS_METHODS = tuple(name for name, (maker, _) in _METHODS.items() if maker is Affine)
TWO_CLASS_METHODS = tuple(name for name in METHODS if name not in CLASS_METHODS)
PENALISED = ("logistic", "beta", *CLASS_METHODS)


def method_of(name: object, known: tuple[str, ...] = METHODS) -> tuple[Any, dict[str, Any]]:
    """A calibrator's class and its settings, by its name.

    >>> method_of("temperature")[1]
    {'kind': 'temperature'}
    """
    maker, settings = _METHODS[chosen(name, "method", known)]
    return maker, dict(settings)
