"""Rows of capacity that state one node twice at the same time. They add up, as a node's parts do; that they may be one row told again is a finding.

Rows of other states, meters or sources are no such rows: a node may be up in part and down in part, and of several sources one decides.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from heapq import heappop, heappush
from itertools import pairwise

from apportion.engine.claims import Reach
from apportion.engine.setting import Setting
from apportion.model.findings import ZERO, Finding, list_few, natural, share_of, unit_of
from apportion.model.times import Interval
from apportion.policy.methods import PARTED, SHOWS_IDLE, VALUED
from apportion.policy.pools import Pool

PRICED_BY_CAPACITY = frozenset({*SHOWS_IDLE, *VALUED, *PARTED} - {"energy_two_part"})
SAME = ("resource", "meter", "source", "state")
Level = tuple[Interval, int]


def find_overlaps(name: str, pool: Pool, reach: Reach, setting: Setting) -> Iterator[Finding]:
    """One finding of a pool, by the meter of which the largest part overlaps. Where no price depends on capacity, it touches no share."""
    levels = stated_levels(pool, reach, setting)
    twice = {key: overlap_of(own) for key, own in levels.items()}
    nodes = sorted({key[0] for key, amount in twice.items() if amount})
    if not nodes:
        return
    beyond = by_meter(twice)
    whole = by_meter({key: sum(map(unit_seconds, own)) for key, own in levels.items()})
    shares = {meter: share_of(beyond[meter], whole[meter], lost=False) for meter in beyond}
    meter = max(shares, key=lambda known: (shares[known], known))
    is_priced = pool.method in PRICED_BY_CAPACITY or not setting.resources.shared.isdisjoint(nodes)
    some = list_few(nodes)
    yield Finding(
        "capacity-overlaps",
        f"rows of the capacity of {some} overlap in time, and add up: pool '{name}' has that much more than the largest row of each time says",
        "end each row where the next one begins, or state each node once, and ingest again",
        pool=name,
        rows=sum(1 for amount in twice.values() if amount),
        hours=natural(beyond[meter], meter),
        unit=unit_of(meter),
        share=shares[meter] if is_priced else ZERO,
    )


def stated_levels(pool: Pool, reach: Reach, setting: Setting) -> dict[tuple[str, ...], list[Level]]:
    """What each source states of each of the pool's nodes, inside the plan's days."""
    names = {setting.encoded.resources[number] for number in reach.supplied}
    out: dict[tuple[str, ...], list[Level]] = defaultdict(list)
    for row in setting.capacity:
        if row["meter"] in pool.meter and row["resource"] in names and row["amount"]:
            inside = Interval(row["start_s"], row["end_s"]).clip(setting.calendar.window)
            if inside.seconds > 0:
                out[tuple(row[name] for name in SAME)].append((inside, row["amount"]))
    return out


def unit_seconds(level: Level) -> int:
    return level[0].seconds * level[1]


def by_meter(amounts: Mapping[tuple[str, ...], int]) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for (_, meter, *_), amount in amounts.items():
        found[meter] += amount
    return dict(found)


def overlap_of(levels: Sequence[Level]) -> int:
    """Unit-seconds stated beyond the largest row of each time."""
    if len(levels) == 1:
        return 0
    return sum(map(unit_seconds, levels)) - largest_of(levels)


def largest_of(levels: Sequence[Level]) -> int:
    """Unit-seconds of the largest row of each time."""
    starts = sorted(levels, key=lambda level: level[0].start_s)
    edges = sorted({edge for span, _ in levels for edge in (span.start_s, span.end_s)})
    running: list[tuple[int, int]] = []  # the largest first, with its end
    total = place = 0
    for first, last in pairwise(edges):
        while place < len(starts) and starts[place][0].start_s <= first:
            span, amount = starts[place]
            heappush(running, (-amount, span.end_s))
            place += 1
        while running and running[0][1] <= first:
            heappop(running)
        total -= running[0][0] * (last - first) if running else 0
    return total
