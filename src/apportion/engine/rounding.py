"""Round down the tree: bill and component, pool, day, reason, cause, cost centre, department, team, project, user.

Each node's whole nanos are shared inside what its parent was given, by largest remainder. Every posting lands less than one nano from
its exact amount, and children always add up to their parents.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import groupby

from apportion.engine.account import Account
from apportion.engine.bearers import Bearers
from apportion.model.money import GRAINS_PER_NANO
from apportion.model.tree import Leaf, descend

ROOT = 2  # bill and component


def leaves(account: Account, bearers: Bearers, days: Sequence[str]) -> dict[Leaf, int]:
    """Exact amounts by posting: what no posting tells apart is one amount."""
    out: dict[Leaf, int] = defaultdict(int)
    for entry, grains in account:
        owner = bearers[entry.bearer].owner
        where = (entry.column.bill, entry.column.component, entry.pool, days[entry.day], entry.reason, entry.cause)
        out[*where, owner.cost_centre, owner.department, owner.team, owner.project, owner.user] += grains
    return out


def round_tree(exact: Mapping[Leaf, int]) -> tuple[dict[Leaf, int], dict[tuple[str, str], int]]:
    """Nanos by leaf, and what is finer than a nano of each bill and component, in grains."""
    ordered = sorted(exact.items(), key=lambda item: [part.encode() for part in item[0]])
    nanos: dict[Leaf, int] = {}
    dust: dict[tuple[str, str], int] = {}
    for root, group in groupby(ordered, key=lambda item: item[0][:ROOT]):
        items = list(group)
        total = sum(grains for _, grains in items)
        whole = abs(total) // GRAINS_PER_NANO * (-1 if total < 0 else 1)
        dust[root[0], root[1]] = total - whole * GRAINS_PER_NANO
        descend(items, ROOT, whole, GRAINS_PER_NANO, nanos)
    return nanos, dust
