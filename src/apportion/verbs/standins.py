"""What stands in for a bill that has not come, so that the engine charges a pool at its last price by the same code as ever.

A pool that prices capacity gets cost lines: its price times the capacity there was, so that what stands idle comes out too. Any other gets a price
list, which without cost lines is the bill.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.engine.claims import component_of
from apportion.engine.lines import BASIS
from apportion.engine.plan import World
from apportion.engine.resources import label_resources
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, to_decimal
from apportion.model.rows import COST_LINES
from apportion.model.times import Interval, Period, day_start, days
from apportion.policy.document import Policy
from apportion.policy.match import Condition, Glob, Selector
from apportion.policy.pool_parts import Price
from apportion.policy.pools import Pool
from apportion.verbs.settled import Settled

HOUR_S = 3600
MARK = "apportion-estimate"  # the tag of a line that stands in for one that has not come
ISSUER = "estimate of {pool}"
Level = tuple[int, int, Fraction]  # from, until, natural units


@dataclass(frozen=True, slots=True)
class StandIns:
    """What is settled of the pools that no bill has come for, and the last day that is asked about."""

    settled: Mapping[str, Settled]
    until: date


def with_standins(world: World, wanted: StandIns) -> World:
    """The same world, in which every pool that has a last price is charged at it."""
    zone = ZoneInfo(world.policy.time_zone)
    whole = world.period.interval(zone)
    span = Interval(whole.start_s, min(whole.end_s, day_start(wanted.until + timedelta(days=1), zone)))
    pools: dict[str, Pool] = {}
    lines: list[pa.Table] = []
    for name, pool in world.policy.pools.items():
        found = wanted.settled.get(name)
        levels = capacity_of(world, pool, found, span) if found else []
        pools[name] = changed(name, pool, found, billed=bool(levels))
        if found and found.capacity_price is not None and levels:
            rows = lines_of(name, pool, found.capacity_price, levels, (span, zone))
            lines.append(as_lines(rows, world.policy, whole))
    policy = world.policy.model_copy(update={"pools": pools})
    return replace(world, policy=policy, cost_lines=pa.concat_tables([world.cost_lines, *lines]))


def changed(name: str, pool: Pool, found: Settled | None, *, billed: bool) -> Pool:
    """A pool that is carried over must not share its owner's charges once more; a pool with a bill does not take the lines that stand in."""
    if found is None:
        spared = pool.costs and Selector(pool.costs.conditions, (*pool.costs.excluded, marked("*")))
        return pool.model_copy(update={"costs": spared})
    if found.price is None:
        return pool.model_copy(update={"from_": None})
    changes: dict[str, object] = {"scope": "pool", "costs": marked(escaped(name)), "otherwise": False}
    if pool.usage is None:
        changes["usage"] = one_of("resource", [escaped(resource) for resource in sorted(found.resources)])
    if not billed:
        price = Price.model_construct(per="unit" if found.flow else "hour", price=found.price)
        changes |= {"method": "rate_card", "prices": (price,)}
    return pool.model_copy(update=changes)


def marked(glob: str) -> Selector:
    return one_of(f"tag.{MARK}", [glob])


def one_of(key: str, globs: Iterable[str]) -> Selector:
    return Selector((Condition(key, tuple(map(Glob, globs))),))


def escaped(text: str) -> str:
    """A glob that matches nothing but this text."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in text)


def capacity_of(world: World, pool: Pool, found: Settled, span: Interval) -> list[Level]:
    """What a pool that prices capacity offered, in all states: it is paid for whether it is up or not."""
    if found.capacity_price is None:
        return []
    levels = []
    labels = label_resources((), world.capacity, world.places or {})
    for row in world.capacity.to_pylist():
        mine = pool.usage.matches(labels[row["resource"]]) if pool.usage else row["resource"] in found.resources
        inside = Interval(row["start_s"], row["end_s"]).clip(span)
        if mine and row["meter"] in pool.meter and inside.seconds > 0:
            units = row["amount"] * pool.meter[row["meter"]] / METERS[row["meter"]].base
            levels.append((inside.start_s, inside.end_s, units))
    return levels


def lines_of(
    name: str, pool: Pool, price: Fraction, levels: Iterable[Level], place: tuple[Interval, ZoneInfo]
) -> Iterator[dict[str, object]]:
    """A line for each stretch of a day in which the capacity stayed the same."""
    span, zone = place
    steps: dict[int, Fraction] = defaultdict(Fraction)
    for start, end, units in levels:
        steps[start] += units
        steps[end] -= units
    for _, day in days(span, zone):
        steps[day.start_s] += 0
        steps[day.end_s] += 0
    offered = Fraction(0)
    for start, end in pairwise(sorted(steps)):
        offered += steps[start]
        grains = price * offered * (end - start) / HOUR_S * GRAIN
        if grains:
            yield {
                "line_id": f"{name} {start}",
                "charge_start_s": start,
                "charge_end_s": end,
                "component": component_of(pool),
                "Tags": [(MARK, name)],
                "InvoiceIssuerName": ISSUER.format(pool=name),
                "amount": to_decimal(grains.numerator // grains.denominator),
            }


def as_lines(rows: Iterable[Mapping[str, object]], policy: Policy, billing: Interval) -> pa.Table:
    """Whatever cost a policy counts, it is this."""
    same = {
        "source": MARK,
        "billing_start_s": billing.start_s,
        "billing_end_s": billing.end_s,
        "BillingCurrency": policy.currency,
        "ChargeCategory": "Usage",
    }
    made = [{**same, **row, **dict.fromkeys(BASIS.values(), row["amount"])} for row in rows]
    return pa.Table.from_pylist(made, schema=COST_LINES)


def bill_names(name: str, period: Period, policy: Policy) -> set[str]:
    """How the bills of what stands in for a pool's are called."""
    return {f"{one} {period} {policy.currency}" for one in (ISSUER.format(pool=name), f"rate card {name}")}
