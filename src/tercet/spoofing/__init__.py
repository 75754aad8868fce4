"""Spoofing-robust verification: one key with three classes, target, nontarget and spoof.

a-DCF is the cost of one score against both kinds of impostors; t-DCF and t-EER assess a countermeasure in
front of a verification system. Minima are those of the two-class curve with weights.

References
----------
Shim, Jung, Kinnunen et al. (2024), "a-DCF: an architecture agnostic metric with application to spoofing-robust speaker
verification", Odyssey. Kinnunen, Delgado, Evans et al. (2020), "Tandem Assessment of Spoofing Countermeasures and
Automatic Speaker Verification: Fundamentals", IEEE/ACM TASLP, doi:10.1109/TASLP.2020.3009494. Kinnunen, Lee, Tak, Evans
and Nautsch (2023), "t-EER: Parameter-Free Tandem Evaluation of Countermeasures and Biometric Comparators", IEEE TPAMI,
doi:10.1109/TPAMI.2023.3313648.
"""

from tercet.metrics.spoofing_curve import SpoofingCurve, TandemEerCurve
from tercet.spoofing._agnostic import ADcf, a_dcf, a_dcf_by_attack, a_dcf_curve
from tercet.spoofing._classes import SpoofingPoint, mixture_llr, of_key
from tercet.spoofing._tandem import (
    AsvRates,
    TDcf,
    TEer,
    asv_rates,
    t_dcf,
    t_dcf_by_attack,
    t_dcf_curve,
    t_eer,
    t_eer_curve,
)

__all__ = [
    "ADcf",
    "AsvRates",
    "SpoofingCurve",
    "SpoofingPoint",
    "TDcf",
    "TEer",
    "TandemEerCurve",
    "a_dcf",
    "a_dcf_by_attack",
    "a_dcf_curve",
    "asv_rates",
    "mixture_llr",
    "of_key",
    "t_dcf",
    "t_dcf_by_attack",
    "t_dcf_curve",
    "t_eer",
    "t_eer_curve",
]
