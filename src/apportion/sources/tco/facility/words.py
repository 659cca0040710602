"""Figures inside explanations: for reading, never for computing."""

from collections.abc import Iterable
from fractions import Fraction

from apportion.model.money import for_reading, plain

PLACES = 3


def figure(value: Fraction) -> str:
    """`148.8`; three places are enough to read."""
    return plain(for_reading(Fraction(round(value * 10**PLACES), 10**PLACES)))


def price(value: Fraction) -> str:
    return plain(for_reading(value))


def range_of(values: Iterable[Fraction]) -> str:
    """`0.21`, or `0.21 to 0.34`."""
    found = sorted(set(values))
    return price(found[0]) if len(found) == 1 else f"{price(found[0])} to {price(found[-1])}" if found else "-"
