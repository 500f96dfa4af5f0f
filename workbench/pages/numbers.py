"""Numbers as people read them: few digits, the same number of decimals down a column."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pandas as pd

MISSING = "–"
DIGITS = 4
"""Significant digits of the largest number of a column that was measured."""


def column(values: pd.Series[Any]) -> tuple[list[str], bool]:
    """Write a column's values, and tell whether they are numbers."""
    listed = [None if pd.isna(value) else value for value in values]
    present = [value for value in listed if value is not None]
    if not present:  # a column of numbers keeps its side even when all are missing
        return [MISSING] * len(listed), pd.api.types.is_numeric_dtype(values.dtype)
    if any(isinstance(value, str) for value in present):
        return [MISSING if value is None else str(value) for value in listed], False
    if pd.api.types.is_bool_dtype(values.dtype) or all(
        isinstance(value, bool) for value in present
    ):
        return [MISSING if value is None else "yes" if value else "no" for value in listed], False
    try:
        written = iter(numbers([float(value) for value in present]))
    except (TypeError, ValueError):
        return [MISSING if value is None else str(value) for value in listed], False
    return [MISSING if value is None else next(written) for value in listed], True


def numbers(values: Sequence[float]) -> list[str]:
    """Write numbers alike: whole, or with the decimals their sizes call for."""
    sizes = [abs(value) for value in values if value != 0 and math.isfinite(value)]
    if not sizes or (all(size == int(size) for size in sizes) and max(sizes) < 1e9):
        return [fixed(value, 0) for value in values]
    if not 1e-4 <= max(sizes) < 1e7:
        return [number(value) for value in values]
    if all(float(f"{size:.6g}") == size for size in sizes):
        decimals = max(_decimals(size) for size in sizes)  # given, or short: as they are
        if decimals > DIGITS:
            return [number(value, 6) for value in values]
        return [fixed(value, decimals) for value in values]
    # Four digits of the largest, and two more decimals if the smallest needs them to be seen.
    decimals = max(0, DIGITS - 1 - _exponent(max(sizes)))
    if decimals < -_exponent(min(sizes)) <= decimals + 2:
        decimals = -_exponent(min(sizes))
    return [
        number(value, 2) if 0 < abs(value) < 0.5 * 10**-decimals else fixed(value, decimals)
        for value in values
    ]


def number(value: float, digits: int = DIGITS) -> str:
    """Write one number with so many significant digits."""
    if not math.isfinite(value) or value == 0 or 1e-4 <= abs(value) < 1e9:
        text = f"{value:.{digits}g}"
        if "e" in text:
            text = f"{value:,.0f}"
        return text.replace("-", "−").replace("inf", "∞").replace("nan", MISSING)
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    power = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{mantissa.replace('-', '−')}×10{power}"


def fixed(value: float, decimals: int) -> str:
    """Write one number with so many decimals and commas between thousands."""
    if not math.isfinite(value):
        return number(value)
    return f"{value + 0.0:,.{decimals}f}".replace("-", "−")


def count(n: int, singular: str, plural: str = "") -> str:
    """`1 trial`, `2 trials`."""
    return f"{n:,} {singular if n == 1 else plural or singular + 's'}"


def duration(seconds: float) -> str:
    """From microseconds to hours."""
    if seconds < 0.9995e-3:
        return f"{number(seconds * 1e6, 3)} µs"
    if seconds < 0.9995:
        return f"{number(seconds * 1e3, 3)} ms"
    if seconds < 60:
        return f"{number(seconds, 3)} s"
    if seconds < 3600:
        return f"{number(seconds / 60, 3)} min"
    return f"{number(seconds / 3600, 3)} h"


def _exponent(size: float) -> int:
    return math.floor(math.log10(size))


def _decimals(size: float) -> int:
    exponent = Decimal(f"{size:.6g}").normalize().as_tuple().exponent
    return max(0, -int(exponent))
