"""Where the money of a pool that serves others ends, by Cramer's rule; and, step by step, where an order is agreed."""

from collections.abc import Mapping
from fractions import Fraction
from itertools import permutations
from math import prod

from apportion.policy.pools import Pool

ZERO = Fraction(0)
Matrix = list[list[Fraction]]


def walk(pools: Mapping[str, Pool], start: str) -> dict[str, Fraction]:
    if pools[start].method == "step_down":
        return step_down(pools, start)
    serving = [name for name, pool in pools.items() if pool.serves]
    passed = {name: parts(pools, name, {name}) for name in serving}
    # gross g = start + S^T g: how much of one unit at `start` each serving pool passes on in all
    matrix = [[Fraction(row == column) - passed[column].get(row, ZERO) for column in serving] for row in serving]
    whole = determinant(matrix)
    found: dict[str, Fraction] = {}
    for n, name in enumerate(serving):
        replaced = [
            [Fraction(serving[r] == start) if c == n else value for c, value in enumerate(row)]
            for r, row in enumerate(matrix)
        ]
        gross = determinant(replaced) / whole
        for receiver, part in passed[name].items():
            if receiver not in serving:
                found[receiver] = found.get(receiver, ZERO) + gross * part
    return {name: part for name, part in found.items() if part}


def parts(pools: Mapping[str, Pool], name: str, closed: set[str]) -> dict[str, Fraction]:
    open_to = {receiver: weight for receiver, weight in pools[name].serves.items() if receiver not in closed}
    whole = sum(open_to.values(), ZERO)
    return {receiver: weight / whole for receiver, weight in open_to.items()}


def determinant(matrix: Matrix) -> Fraction:
    total = ZERO
    for order in permutations(range(len(matrix))):
        swaps = sum(1 for i in range(len(order)) for j in range(i) if order[j] > order[i])
        total += (-1) ** swaps * prod((matrix[i][j] for i, j in enumerate(order)), start=Fraction(1))
    return total


def step_down(pools: Mapping[str, Pool], start: str) -> dict[str, Fraction]:
    money = {start: Fraction(1)}
    closed: set[str] = set()
    for name in (name for name, pool in pools.items() if pool.serves):
        closed.add(name)
        here = money.pop(name, ZERO)
        for receiver, part in parts(pools, name, closed).items() if here else ():
            money[receiver] = money.get(receiver, ZERO) + here * part
    return money
