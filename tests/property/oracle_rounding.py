"""Whole nanos down a tree, by largest remainder; written from the rule, not from the product's code."""

from collections.abc import Mapping
from datetime import date
from fractions import Fraction

Key = tuple[str, str, str, str, date, str, str, str, str, str, str, str]
Root = tuple[str, str, str]
NANO = 10**9
FIRST = 3  # bill, currency, component name a root; the levels below it are the rest of the key


def largest_remainder(total: int, parts: Mapping[str, Fraction]) -> dict[str, int]:
    """`total` whole nanos over children whose exact nanos are `parts`. A negative sum mirrors the positive one."""
    if sum(parts.values()) < 0:
        mirrored = largest_remainder(-total, {name: -part for name, part in parts.items()})
        return {name: -part for name, part in mirrored.items()}
    whole = {name: part.numerator // part.denominator for name, part in parts.items()}
    order = sorted(parts, key=lambda name: (whole[name] - parts[name], name.encode()))
    for name in order[: total - sum(whole.values())]:
        whole[name] += 1
    return whole


def round_tree(exact: Mapping[Key, Fraction]) -> dict[Key, int]:
    """Posted nanos of every key, without those of `_residual` for what is finer than a nano (its exact amount is `rest_of`)."""
    posted: dict[Key, int] = {}
    roots: dict[Root, dict[Key, Fraction]] = {}
    wholes = whole_of(exact)
    for key, amount in exact.items():
        roots.setdefault((key[0], key[1], key[2]), {})[key] = amount * NANO
    for root, leaves in roots.items():
        descend(leaves, wholes[root], FIRST, posted)
    return posted


def descend(leaves: Mapping[Key, Fraction], total: int, level: int, posted: dict[Key, int]) -> None:
    children: dict[str, dict[Key, Fraction]] = {}
    for key, amount in leaves.items():
        children.setdefault(str(key[level]), {})[key] = amount
    parts = largest_remainder(total, {name: sum(below.values(), Fraction(0)) for name, below in children.items()})
    for name, below in children.items():
        if level + 1 == len(next(iter(below))):
            posted[next(iter(below))] = parts[name]
        else:
            descend(below, parts[name], level + 1, posted)


def totals_of(exact: Mapping[Key, Fraction]) -> dict[Root, Fraction]:
    totals: dict[Root, Fraction] = {}
    for key, amount in exact.items():
        root = (key[0], key[1], key[2])
        totals[root] = totals.get(root, Fraction(0)) + amount
    return totals


def whole_of(exact: Mapping[Key, Fraction]) -> dict[Root, int]:
    """The roots' nanos, cut toward zero."""
    return {root: int(total * NANO) for root, total in totals_of(exact).items()}


def rest_of(exact: Mapping[Key, Fraction]) -> dict[Root, Fraction]:
    """What the roots cut off, in the currency's unit."""
    return {root: total - Fraction(int(total * NANO), NANO) for root, total in totals_of(exact).items()}
