"""Postings over their workloads: whole nanos that add up, by largest remainder; millions at a time."""

import numpy as np

from apportion.engine.wide import Whole, zeros
from apportion.model.money import GRAINS_PER_NANO, round_children, share

FINE = 62  # bits of a remainder that are compared first


def share_nanos(nanos: Whole, values: Whole, first: np.ndarray) -> Whole:
    """`nanos[n]` over the values from `first[n]` on, ties by place: `money.share` of every group."""
    if not len(first):
        return zeros(0)
    group = np.repeat(np.arange(len(first)), np.diff(first, append=len(values)))
    lowest, highest = np.minimum.reduceat(values, first), np.maximum.reduceat(values, first)
    whole = np.add.reduceat(values, first)
    mixed = ((lowest < 0) & (highest > 0)) | (whole == 0)
    below, total = abs(whole), abs(nanos)
    below[mixed.astype(bool)] = 1
    exact, under = total[group] * abs(values), below[group]
    parts = exact // under
    rest = exact - parts * under
    parts, close = with_missing(parts, rest, under, (total, first, group))
    parts = np.where((nanos < 0)[group].astype(bool), -parts, parts)
    for n in np.flatnonzero(mixed.astype(bool) | close).tolist():  # few
        here = slice(first[n], first[n + 1] if n + 1 < len(first) else None)
        parts[here] = share_one(nanos[n], values[here].tolist())
    return parts


def with_missing(
    parts: Whole, rest: Whole, under: Whole, groups: tuple[Whole, np.ndarray, np.ndarray]
) -> tuple[Whole, np.ndarray]:
    """One more for the largest remainders; and which groups have some that their first bits do not tell apart."""
    total, first, group = groups
    leading = (rest * 2**FINE // under).astype(np.int64)
    order = np.lexsort((-leading, group))
    missing = (total - np.add.reduceat(parts, first))[group]
    lucky = np.arange(len(order)) - first[group] < missing
    found = parts.copy()
    found[order] = parts[order] + lucky
    ahead, behind = order[:-1], order[1:]
    alike = (group[ahead] == group[behind]) & (leading[ahead] == leading[behind])
    close = np.zeros(len(first), dtype=bool)
    close[group[ahead[alike]][(rest[ahead[alike]] != rest[behind[alike]]).astype(bool)]] = True
    return found, close


def share_one(nanos: int, values: list[int]) -> list[int]:
    """One group, signs as they come. Where nothing has any value, the first takes all."""
    ids = [f"{n:012d}" for n in range(len(values))]
    whole = sum(values)
    if whole and min(values) >= 0:
        return share(nanos, values, ids)
    if whole and max(values) <= 0:
        return share(nanos, [-value for value in values], ids)
    if not whole:
        return [nanos, *(0 for _ in values[1:])]
    exact = [nanos * GRAINS_PER_NANO * value // whole for value in values]
    exact[-1] += nanos * GRAINS_PER_NANO - sum(exact)
    return round_children(nanos, exact, GRAINS_PER_NANO, ids)
