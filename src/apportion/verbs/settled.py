"""What a unit of a pool last came to: the money that its use was posted for, over what was used of it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN
from apportion.engine.clusters import locate
from apportion.engine.exchange import exchange_of
from apportion.engine.lines import read_lines
from apportion.engine.resources import read_resources
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, to_grains
from apportion.model.rows import IDLE, POSTINGS
from apportion.model.times import Period, parse_period
from apportion.policy.document import Policy
from apportion.policy.methods import METERED, PARTED
from apportion.policy.pools import Pool
from apportion.reports.sums import total
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.engines import backend_of
from apportion.verbs.explaining.prices import measure_of
from apportion.verbs.project import Project
from apportion.verbs.world import bill_lines, exchange_rates, pins_of_run, touches, usage_rows

PRICED = tuple(
    name for name in METERED if name not in (*PARTED, "time", "rate_card")
)  # money per unit says what use costs
USED = ("usage", "burst")


@dataclass(frozen=True, slots=True)
class Settled:
    """`price` is None where the pool has none per unit: then `posted` is carried over.

    `price` holds the idle that users of the pool carry in proportion, `capacity_price` does not: what stands idle has it too. `idle` is what
    stood idle beside `price`.
    """

    month: str
    posted: pa.Table
    price: Fraction | None = None
    capacity_price: Fraction | None = None
    unit: str = ""
    flow: bool = False
    idle: Decimal = Decimal(0)
    resources: frozenset[str] = frozenset()

    @property
    def paid(self) -> Fraction | None:
        """What is shown as the price."""
        return self.price if self.capacity_price is None else self.capacity_price


def settled_prices(project: Project, before: Period, policy: Policy, wanted: Iterable[str]) -> dict[str, Settled]:
    """Of each pool, from the last month before that it was posted in."""
    found: dict[str, Settled] = {}
    left = set(wanted)
    months = sorted({run.period for run in project.books.runs(PLAN) if run.period < str(before)}, reverse=True)
    for month in months:
        if not left:
            break
        posted = project.books.posted(month, kinds=(PLAN,)).select(POSTINGS.names)
        posted = posted.filter(
            pc.and_(pc.is_in(posted["pool"], pa.array(sorted(left))), pc.equal(posted["currency"], policy.currency))
        )
        own = set(pc.unique(posted["pool"]).to_pylist())
        found |= of_month(project, month, policy, {name: posted.filter(pc.equal(posted["pool"], name)) for name in own})
        left -= own
    return found


def of_month(project: Project, month: str, policy: Policy, posted: Mapping[str, pa.Table]) -> dict[str, Settled]:
    priced = {name for name in posted if policy.pools[name].method in PRICED}
    used = quantities(project, month, priced) if priced else {}
    unnamed = [name for name in priced if policy.pools[name].usage is None and used.get(name)]
    named = resources_of(project, month, unnamed) if unnamed else {}
    return {
        name: (
            priced_at(month, policy.pools[name], rows, used[name], named.get(name, frozenset()))
            if used.get(name)
            else Settled(month, rows)
        )
        for name, rows in posted.items()
    }


def priced_at(month: str, pool: Pool, posted: pa.Table, used: int, resources: frozenset[str]) -> Settled:
    """Idle that those who use a pool carry in proportion is part of what a unit costs them; other idle is not."""
    shared = [cause for cause, rule in pool.idle.items() if rule == "proportional"]
    idle = pc.equal(posted["reason"], "idle")
    borne = pc.and_(
        idle,
        pc.and_(pc.is_in(posted["cause"], pa.array(shared, pa.string())), pc.not_equal(posted["team"], IDLE)),
    )
    spent, shared_idle = (
        total(posted.filter(mask)["amount"].to_pylist()) for mask in (pc.is_in(posted["reason"], pa.array(USED)), borne)
    )
    measure = measure_of(pool)
    quantity = used * measure.natural * GRAIN
    flow = all(METERS[name].flow for name in pool.meter)
    bare = max(Fraction(0), to_grains(spent) / quantity)
    return Settled(
        month,
        posted,
        price=max(Fraction(0), to_grains(total([spent, shared_idle])) / quantity),
        capacity_price=bare if pool.method == "capacity_rate" else None,
        unit=measure.name if flow else measure.name.removesuffix("s"),
        flow=flow,
        idle=total(posted.filter(pc.and_(idle, pc.invert(borne)))["amount"].to_pylist()),
        resources=resources,
    )


def quantities(project: Project, month: str, pools: Iterable[str]) -> dict[str, int]:
    """Units times seconds by pool. A workload's stand with every bill and component of its pool: they count once."""
    mine = (pc.field("period") == month) & pc.field("pool").isin(sorted(pools))
    keys = ["pool", "day", "team", "project", "user", "workload"]
    rows = project.books.scan("charges", columns=[*keys, "unit_seconds"], where=mine)
    once = rows.group_by(keys).aggregate([("unit_seconds", "max")])
    sums = once.group_by("pool").aggregate([("unit_seconds_max", "sum")]).to_pylist()
    return {row["pool"]: int(row["unit_seconds_max_sum"]) for row in sums}


def resources_of(project: Project, month: str, pools: Iterable[str]) -> dict[str, frozenset[str]]:
    """Pools that name no usage count that of the resources which their cost lines paid for."""
    run = next(run for run in reversed(project.books.runs(PLAN)) if run.period == month)
    period, policy, pins = (
        parse_period(month),
        policy_of_version(project, run.policy_version),
        pins_of_run(project, run),
    )
    lines = bill_lines(project, period, pins)
    window, backend = period.interval(ZoneInfo(policy.time_zone)), backend_of(project)
    usage = usage_rows(project, pins["usage"], window, backend)
    capacity = project.books.scan("capacity", pins["capacity"], where=touches(window))
    found = locate(usage, capacity, backend)
    usage = backend.lend(found.usage) if isinstance(found.usage, pa.Table) else found.usage
    exchange = exchange_of(policy, period, exchange_rates(project, period, policy, pins, lines))
    placed = read_lines(lines, policy, period, read_resources(usage, found.capacity, found.places), exchange)
    return {name: frozenset(placed.tranches.resources_of(name)) for name in pools}
