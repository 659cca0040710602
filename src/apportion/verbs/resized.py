"""What if a pool had more capacity, or less? Every level that counts in it is scaled alike, and its bill with it unless that is to stay.

Usage stays what it was: more capacity means more of it idle, less means less; what was used beyond it still counts.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.backend import Backend
from apportion.engine.exchange import exchange_of
from apportion.engine.held import Unit, unit_of
from apportion.engine.lines import read_lines
from apportion.engine.plan import World
from apportion.engine.resources import read_resources
from apportion.errors import ProjectError
from apportion.model.money import half_even, plain
from apportion.model.times import Interval
from apportion.reports.words import percent

WORDS = re.compile(
    r"(?:(?P<percent>[+-]\d{1,6}(\.\d{1,6})?)\s*%|(?P<amount>\d{1,12}(\.\d{1,6})?))(?P<same>\s+at the same bill)?"
)
HINT = "write gpus=+10%, gpus=-25% or gpus=64 (units on average), or 'gpus=+10% at the same bill'"
LARGEST = 2**62  # base units that a level may have


@dataclass(frozen=True, slots=True)
class NewCapacity:
    """So much more or less in percent, or so many units on average; its bill grows alike, unless it is to stay the `same`."""

    pool: str
    percent: Fraction | None = None
    amount: Fraction | None = None
    same: bool = False

    def of(self, old: Fraction) -> Fraction:
        """By what every level is multiplied."""
        return 1 + self.percent / 100 if self.percent is not None else (self.amount or Fraction(0)) / old


@dataclass(frozen=True, slots=True)
class Resized:
    """What a pool had on average and would have, and what becomes of its bill."""

    size: NewCapacity
    unit: str
    before: Fraction
    factor: Fraction

    @property
    def sentence(self) -> str:
        after, before = (places(self.before * factor) for factor in (self.factor, Fraction(1)))
        bill = "its bill stays the same" if self.size.same else "its bill grows alike"
        change = percent(Decimal(round((self.factor - 1) * 10**6)) / 10**6)
        sign = "+" if self.factor >= 1 else ""
        return f"{self.size.pool} has {after} instead of {before} {self.unit} on average ({sign}{change}); {bill}"


def read_capacity(given: Iterable[str]) -> tuple[NewCapacity, ...]:
    """`gpus=+10%`, `gpus=64`, `gpus=+10% at the same bill`; one for each pool."""
    found: dict[str, NewCapacity] = {}
    for text in given:
        pool, _, said = text.rpartition("=")
        words = WORDS.fullmatch(said.strip())
        if not pool or pool in found:
            raise wrong(f"{pool} has two capacities" if pool else f"{text!r} names no pool")
        if words is None or (words["percent"] and Fraction(words["percent"]) <= -100):
            raise wrong(f"{said!r} is neither a number of units nor a change in percent")
        if words["amount"] and not Fraction(words["amount"]):
            raise wrong("a pool without capacity shares nothing")
        shares, units = (Fraction(words[name]) if words[name] else None for name in ("percent", "amount"))
        found[pool] = NewCapacity(pool, shares, units, same=bool(words["same"]))
    return tuple(found.values())


def resized(world: World, sizes: Iterable[NewCapacity], backend: Backend) -> tuple[World, tuple[Resized, ...]]:
    """The world with other capacity. A node that two pools count in is scaled for both of them."""
    told = []
    for size in sizes:
        unit = unit_of(world.policy.pools[size.pool])
        here = pa.array(sorted(offering(world, size.pool, backend)), pa.string())
        meters = pa.array(list(unit.factors) if unit else [], pa.string())
        counted = pc.and_(pc.is_in(world.capacity["resource"], here), pc.is_in(world.capacity["meter"], meters))
        before = average(world.capacity.filter(counted), unit, world) if unit else Fraction(0)
        if unit is None or not before:
            raise nothing_stated(size.pool, world)
        made = Resized(size, unit.name, before, size.of(before))
        world = replace(world, capacity=scaled(world.capacity, counted, made.factor))
        told.append(made)
    return world, tuple(told)


def offering(world: World, pool: str, backend: Backend) -> set[str]:
    """The resources whose capacity counts in a pool: those that its selector matches, else those that its cost lines name."""
    usage = backend.lend(world.usage) if isinstance(world.usage, pa.Table) else world.usage
    selector = world.policy.pools[pool].usage
    resources = read_resources(usage, world.capacity, world.places or {})
    if selector is not None:
        return {name for name, labels in resources.labels.items() if selector.matches(labels)}
    exchange = exchange_of(world.policy, world.period, world.rates)
    return read_lines(world.cost_lines, world.policy, world.period, resources, exchange).tranches.resources_of(pool)


def average(levels: pa.Table, unit: Unit, world: World) -> Fraction:
    """Units over the whole period."""
    own = world.period.interval(ZoneInfo(world.policy.time_zone))
    rows = levels.select(["meter", "start_s", "end_s", "amount"]).to_pylist()
    sums = sum(row["amount"] * unit.factors[row["meter"]] * seconds(row, own) for row in rows)
    return Fraction(sums, unit.per * own.seconds)


def seconds(row: Mapping[str, int], own: Interval) -> int:
    return max(0, Interval(row["start_s"], row["end_s"]).clip(own).seconds)


def scaled(capacity: pa.Table, counted: pa.ChunkedArray, factor: Fraction) -> pa.Table:
    old = capacity["amount"].to_pylist()
    new = [
        half_even(amount * factor.numerator, factor.denominator) if mine else amount
        for amount, mine in zip(old, counted.to_pylist(), strict=True)
    ]
    if any(abs(amount) >= LARGEST for amount in new):
        raise wrong(f"{factor} times what there is is more than the books can hold")
    field = capacity.schema.field("amount")
    return capacity.set_column(capacity.schema.get_field_index("amount"), field, pa.array(new, field.type))


def places(number: Fraction) -> str:
    return plain(Decimal(round(number * 1000)) / 1000)


def wrong(why: str) -> ProjectError:
    return ProjectError("invalid-new-capacity", why, hint=HINT)


def nothing_stated(pool: str, world: World) -> ProjectError:
    return ProjectError(
        "no-capacity-to-change",
        f"nobody says how much capacity {pool} had in {world.period}",
        hint='read the nodes as capacity (`records = "capacity"`), or ask about its price with --price',
    )
