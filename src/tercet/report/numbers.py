"""How numbers are written: one rule for the page's Python and its JavaScript (page/numbers.js), to the same letters.

A double stands for its shortest decimal form, which Python and JavaScript agree on: a rate of 73 / 400 is 0.1825, not
the binary number next to it. That form is rounded once, half to even, to three significant digits.
"""

from __future__ import annotations

from decimal import ROUND_HALF_EVEN, Context, Decimal

from tercet._typing import Value

_THREE = Context(prec=3, rounding=ROUND_HALF_EVEN)
_MOST_DIGITS = 6  # decimals that distinguish a number from the whole number next to it
NO_EVIDENCE = 1e-12  # of an llr, far below what any model's scores mean
UNDEFINED = {"en": "undefined", "it": "non definito"}
_SWAPPED = str.maketrans(".,", ",.")


def localised(text: str, language: str = "en") -> str:
    """A number as the language writes it: Italian 1.234,5 for English 1,234.5."""
    return text.translate(_SWAPPED) if language == "it" else text


def short(value: object, language: str = "en") -> str:
    """Three significant digits; whole numbers with separators; infinities as signs; "undefined" for None and nan."""
    if value is None:
        return UNDEFINED[language]
    number = float(value)  # type: ignore[arg-type]
    if number != number:
        return UNDEFINED[language]
    if number in (float("inf"), float("-inf")):
        return "∞" if number > 0 else "−∞"
    size = Decimal(repr(abs(number)))
    return ("−" if number < 0 else "") + localised(_positive(size, beside_one=number > 0), language)


def llr_shown(value: Value) -> Value:
    """An llr as it is shown: 0 for what binary fractions leave of it where prior and costs cancel, as 0.1, 0.9, 0.1 do.

    >>> llr_shown(-3e-17), llr_shown(0.25)
    (0.0, 0.25)
    """
    return 0.0 if isinstance(value, float) and abs(value) < NO_EVIDENCE else value


def percent(value: object, language: str = "en") -> str:
    """A rate in per cent, three significant digits; 0 % and 100 % only where they are exact.

    >>> percent(0.2542), percent(1.0), percent(0.99996)
    ('25.4 %', '100 %', '99.996 %')
    """
    if value is None or value != value:
        return UNDEFINED[language]
    number = float(value)  # type: ignore[arg-type]
    share = Decimal(repr(abs(number))).scaleb(2)
    text = _positive(share, beside_one=True)
    if text == "100" and share != 100:
        text = _beside(share, Decimal(100))
    return f"{'−' if number < 0 else ''}{localised(text, language)} %"


def _positive(size: Decimal, *, beside_one: bool) -> str:
    if size == 0:
        return "0"
    rounded = _THREE.plus(size)
    if rounded >= 1000:
        return f"{int(size.to_integral_value(ROUND_HALF_EVEN)):,}" if size < 10**7 else _power(rounded)
    if size < Decimal("0.0001"):
        return _power(rounded)
    text = format(rounded.normalize(), "f") if rounded == size else format(rounded, "f")
    if Decimal(text) == 1 and size != 1 and beside_one:
        return _beside(size, Decimal(1))
    return text


def _power(rounded: Decimal) -> str:
    mantissa, exponent = f"{rounded:.2e}".split("e")
    return f"{mantissa}e{exponent[0]}{exponent[1:].zfill(2)}"


def _beside(size: Decimal, whole: Decimal) -> str:
    """A number that three digits would round to a whole: as many decimals as distinguish it, up to six."""
    gap = size - whole
    digits = -gap.adjusted()
    if digits <= _MOST_DIGITS:
        text = format(size.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_EVEN).normalize(), "f")
        if Decimal(text) != whole:
            return text
    return f"> {whole}" if gap > 0 else f"> {whole - Decimal(1).scaleb(-_MOST_DIGITS)}"


def apportioned(total: int, parts: list[float]) -> list[int]:
    """Whole numbers in proportion to the parts that add up to the total: by largest remainder, the first on ties."""
    whole = sum(parts)
    if whole == 0:
        return [0] * len(parts)
    exact = [total * part / whole for part in parts]
    cells = [int(share) for share in exact]
    order = sorted(range(len(parts)), key=lambda k: (cells[k] - exact[k], k))
    for k in order[: total - sum(cells)]:
        cells[k] += 1
    return cells
