"""What a share is, beside its amount: named or a matter of form, and which whole number is posted for it."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations


def drop_zero_system(shares: Mapping[str, Fraction]) -> dict[str, Fraction]:
    """System owners with nothing are a matter of form, not of money."""
    return {owner: share for owner, share in shares.items() if share or not owner.startswith("_")}


def largest_remainder(bill: int, exact: Mapping[str, Fraction]) -> dict[str, int]:
    """Among all ways to round each share down or up to the bill: least total error, then the earliest names."""
    sign = -1 if bill < 0 else 1
    names = sorted(exact, key=str.encode)
    floors = {name: sign * exact[name] // 1 for name in names}
    missing = abs(bill) - sum(floors.values())

    def error(lucky: Sequence[str]) -> Fraction:
        return sum((abs(sign * exact[name] - floors[name] - (name in lucky)) for name in names), Fraction(0))

    # Combinations come in the order of names, and min keeps the first.
    best = min(combinations(names, missing), key=error)
    return {name: sign * (floors[name] + (name in best)) for name in names}
