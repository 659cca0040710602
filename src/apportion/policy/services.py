"""Pools that serve other pools: which part of each one's money ends where.

`reciprocal` solves the loop: a pool passes on its own money and all that reaches it. `step_down` goes through the pools as the policy
lists them, and nothing returns to one that has passed its money on.
"""

from collections.abc import Mapping
from fractions import Fraction

from apportion.policy.methods import SERVICES
from apportion.policy.pools import Pool

Parts = dict[str, Fraction]  # receiver -> part of the money
ONE = Fraction(1)


def services_of(pools: Mapping[str, Pool]) -> dict[str, Parts]:
    """Each serving pool's receivers, without itself, with their parts."""
    out = {}
    for name, pool in pools.items():
        if pool.method in SERVICES:
            parts = {receiver: weight for receiver, weight in pool.serves.items() if weight and receiver != name}
            whole = sum(parts.values(), Fraction(0))
            out[name] = {receiver: weight / whole for receiver, weight in parts.items()}
    return out


def stuck(pools: Mapping[str, Pool]) -> str | None:
    """A serving pool whose money would never leave the serving pools."""
    served = services_of(pools)
    if is_ordered(pools):
        served = downward(served)
    leaves = {name for name in pools if name not in served}
    reached: set[str] = set()
    while grown := {name for name, parts in served.items() if parts.keys() & (leaves | reached)} - reached:
        reached |= grown
    return next((name for name in served if name not in reached), None)


def ends_of(pools: Mapping[str, Pool]) -> dict[str, Parts]:
    """Each serving pool's money, by the pools where it ends. None of them is stuck."""
    served = services_of(pools)
    if is_ordered(pools):
        return followed_down(downward(served))
    return solved(served)


def is_ordered(pools: Mapping[str, Pool]) -> bool:
    return any(pool.method == "step_down" for pool in pools.values())


def downward(served: Mapping[str, Parts]) -> dict[str, Parts]:
    """Only what is passed to pools that are still open, or serve nobody."""
    out, closed = {}, set[str]()
    for name, parts in served.items():
        closed.add(name)
        open_parts = {receiver: part for receiver, part in parts.items() if receiver not in closed}
        whole = sum(open_parts.values(), Fraction(0))
        out[name] = {receiver: part / whole for receiver, part in open_parts.items()}
    return out


def followed_down(served: Mapping[str, Parts]) -> dict[str, Parts]:
    out: dict[str, Parts] = {}
    for name in reversed(list(served)):
        out[name] = spread(served[name], out)
    return {name: out[name] for name in served}


def spread(parts: Parts, known: Mapping[str, Parts]) -> Parts:
    """Parts of pools that serve, replaced by those where their money ends."""
    out: Parts = {}
    for receiver, part in parts.items():
        for end, share in known.get(receiver, {receiver: ONE}).items():
            out[end] = out.get(end, Fraction(0)) + part * share
    return out


def solved(served: Mapping[str, Parts]) -> dict[str, Parts]:
    """Ends E of E = S E + F, by elimination: row by row, a pool's own part is taken out of it and the rest put in where others name it."""
    rows = {name: dict(parts) for name, parts in served.items()}
    for name in served:
        own = rows[name].pop(name, Fraction(0))
        rows[name] = {receiver: part / (1 - own) for receiver, part in rows[name].items()}
        for other, parts in rows.items():
            through = parts.pop(name, Fraction(0)) if other != name else 0
            for receiver, part in rows[name].items() if through else ():
                parts[receiver] = parts.get(receiver, Fraction(0)) + through * part
    return rows
