"""Whole units given down a tree: each node's are shared inside what its parent was given, by largest remainder, ties by name."""

from collections.abc import Sequence
from itertools import groupby

from apportion.model.money import round_children

Leaf = tuple[str, ...]  # the names from the root down


def descend(items: Sequence[tuple[Leaf, int]], level: int, total: int, unit: int, given: dict[Leaf, int]) -> None:
    """Give `total` whole units to the children of one node; `items` are in the order of their leaves."""
    if len(items) == 1:
        given[items[0][0]] = total
        return
    children = [list(group) for _, group in groupby(items, key=lambda item: item[0][level])]
    if len(children) == 1:
        descend(children[0], level + 1, total, unit, given)
        return
    exact = [sum(grains for _, grains in child) for child in children]
    names = [child[0][0][level] for child in children]
    for child, share in zip(children, round_children(total, exact, unit, names), strict=True):
        descend(child, level + 1, share, unit, given)
