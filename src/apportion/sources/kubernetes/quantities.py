"""Kubernetes' quantities as exact numbers: `100m`, `1Gi`, `2k`, `1e3`, `1E`."""

import re
from fractions import Fraction
from math import ceil

from apportion.errors import InputError
from apportion.model.meters import METERS

QUANTITY = re.compile(
    r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))(?:[eE]([+-]?[0-9]{1,2})|([numkMGTPE]|[KMGTPE]i))?", re.ASCII
)
LONGEST = 64
SUFFIXES = {
    **{letter: Fraction(10) ** power for letter, power in zip("num kMGTPE", range(-9, 19, 3), strict=True)},
    **{f"{letter}i": Fraction(2) ** power for letter, power in zip("KMGTPE", range(10, 61, 10), strict=True)},
}


def quantity(value: object) -> Fraction:
    """`E` alone is exa, `E3` and `e3` are three zeros. Whole numbers come as numbers in objects of some makers."""
    text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    found = QUANTITY.fullmatch(text) if len(text) <= LONGEST else None
    if not found:
        raise InputError(
            "invalid-number", f"{str(value)[:60]!r} is no quantity of Kubernetes", hint="such as 100m, 1Gi or 2k"
        )
    number, exponent, suffix = found.groups()
    if number.startswith("-"):
        raise InputError("negative-amount", f"{text!r} is negative: nobody holds or offers less than nothing")
    return Fraction(number) * (Fraction(10) ** int(exponent) if exponent else SUFFIXES.get(suffix, Fraction(1)))


def base_units(meter: str, amount: Fraction) -> int:
    """Rounded up, as Kubernetes itself does with what is finer than a thousandth of a core or a byte."""
    return ceil(amount * METERS[meter].base)
