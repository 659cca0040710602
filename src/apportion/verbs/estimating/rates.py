"""What an hour of a job costs in a pool, from the months that were settled: hour by hour where the pool has a price per unit, else on average."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN
from apportion.engine.bearers import known_labels
from apportion.engine.capacity import Spent, spent_of
from apportion.engine.claims import rates_of
from apportion.engine.pools import PoolResult
from apportion.errors import ProjectError
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, NANO, to_grains
from apportion.policy.document import Policy
from apportion.policy.methods import VALUES_HOURS
from apportion.policy.pools import Pool
from apportion.reports.estimate import Cell, Curve, Job, added
from apportion.reports.sums import grouped, total
from apportion.verbs.explaining.prices import measure_of
from apportion.verbs.plan import Computed
from apportion.verbs.pools import measured
from apportion.verbs.project import Project
from apportion.verbs.settled import PRICED, USED, quantities

BY_HOUR = (
    "capacity_rate",
    "proportional",
    "resource_weighted",
    *VALUES_HOURS,
)  # a charge is units times the slot's price


@dataclass(frozen=True, slots=True)
class Rate:
    """Of a job in one pool. `unit` is the mean price of one of `per`."""

    pool: str
    unit: Fraction
    per: str
    curve: Curve
    listed: bool = False


@dataclass(frozen=True, slots=True)
class Settled:
    """The months that prices are read from, mostly one; the policy that holds for the job, and the day on which its price list is asked.

    `teams` and `pools`: those that whoever asks may see; None is all.
    """

    project: Project
    months: tuple[Computed, ...]
    policy: Policy
    day: date
    teams: frozenset[str] | None = None
    pools: frozenset[str] | None = None

    @property
    def last(self) -> Computed:
        return self.months[-1]

    @property
    def month(self) -> str:
        return str(self.last.plan.period)

    @property
    def seen(self) -> dict[str, Pool]:
        """The pools of the last month that may be spoken of, and that still are."""
        pools = self.last.world.policy.pools
        return {
            name: pool
            for name, pool in pools.items()
            if name in self.policy.pools and (self.pools is None or name in self.pools)
        }


def rate_of(settled: Settled, name: str, job: Job) -> Rate:
    last = settled.last
    if settled.policy.pools[name].method == "rate_card":
        return listed(settled, name, job)
    pool = last.world.policy.pools[name]
    found = [by_hour(computed, name, job) for computed in settled.months] if pool.method in BY_HOUR else []
    rates = [rate for rate in found if rate is not None]
    if rates:
        cells = tuple(cell for rate in rates for cell in rate.curve.cells)
        return replace(rates[-1], curve=Curve(rates[-1].curve.mean, cells))
    mean = month_mean(settled.project, settled.month, last.world.policy, name)
    if mean is None:
        raise no_price(name, pool, settled.month)
    own = mean * weight_of(last, name, job)
    return Rate(name, own, measure_of(pool).name.removesuffix("s"), Curve(own * units_of(pool, job)))


def no_price(name: str, pool: Pool, month: str) -> ProjectError:
    return ProjectError(
        "no-unit-price",
        f"a unit of {name} has no price in {month}: it is shared by {pool.method.replace('_', ' ')}",
        hint=f"`apportion report pool {name}` shows what became of it; name another pool with --pool",
    )


def units_of(pool: Pool, job: Job) -> Fraction:
    """Natural units, weighed as the pool weighs its meters; all of what is held counts as used."""
    return sum((weight * job.amounts.get(meter, 0) for meter, weight in pool.meter.items()), Fraction(0))


def listed(settled: Settled, name: str, job: Job) -> Rate:
    """By the price list in force on the day."""
    pool, day = settled.policy.pools[name], settled.day
    labels = {**job.labels, **({"gpu.model": job.model} if job.model else {})}
    found = next(
        (one for one in pool.prices if one.holds_on(day) and (one.when is None or one.when.matches(labels))), None
    )
    if found is None or pool.weights:
        raise no_price(name, pool, f"{day:%Y-%m}")
    per = measure_of(pool).name.removesuffix("s")
    hourly = found.price * units_of(pool, job) * follow_of(settled.last, name)
    return Rate(name, found.price, per, Curve(hourly), listed=True)


def by_hour(computed: Computed, name: str, job: Job) -> Rate | None:
    """None where the month has no price of it."""
    factor = weight_of(computed, name, job)
    parts = [part for part in unit_curves(computed, name) if units_of(part.pool, job)]
    if not parts or any(part.curve is None for part in parts):
        return None
    whole = factor * follow_of(computed, name)
    curves = [part.curve.times(units_of(part.pool, job) * whole) for part in parts if part.curve is not None]
    first = parts[0].curve
    return Rate(name, first.mean * factor if first else Fraction(0), parts[0].per, added(curves))


@dataclass(frozen=True, slots=True)
class Part:
    """One measure of a pool: how it weighs meters, and what a unit of it cost; None where it had no price."""

    pool: Pool
    per: str
    curve: Curve | None


def unit_curves(computed: Computed, name: str) -> tuple[Part, ...]:
    return computed.once(
        ("unit curves", name),
        lambda: tuple(part_of(computed, name, spent) for spent in spent_of(computed.plan.own, name)),
    )


def part_of(computed: Computed, name: str, spent: Spent) -> Part:
    """In the policy's currency."""
    one, currency = measured(computed, name, spent), computed.world.policy.currency
    numbered = zip(range(*spent.span), one.stretches, strict=True)
    cells = (
        Cell(spent.market.calendar.interval((number, number + 1)), stretch.start, stretch.prices[currency][0])
        for number, stretch in numbered
        if currency in stretch.prices
    )
    mean = one.mean(currency)
    return Part(spent.market.pool, one.per, None if mean is None else Curve(mean, tuple(cells)))


def follow_of(computed: Computed, name: str) -> Fraction:
    """What tax, credits and fees that follow a pool's charges make of them: all that was posted for use over what use was priced at."""
    return computed.once(("follow", name), lambda: followed(computed, name))


def followed(computed: Computed, name: str) -> Fraction:
    """1 where the two differ by no more than rounding."""
    plan, currency = computed.plan.own, computed.world.policy.currency
    result, rows = plan.trace.pools.get(name), used_rows(plan.postings, name, currency)
    if result is None:
        return Fraction(1)
    own = (
        grains for (column, _, _), grains in result.usage.items() if plan.trace.setting.currency_of(column) == currency
    )
    priced, posted = Fraction(sum(own), GRAIN), Fraction(to_grains(total(rows["amount"].to_pylist())), GRAIN)
    return posted / priced if priced and abs(posted - priced) * NANO > len(rows) else Fraction(1)


def used_rows(posted: pa.Table, name: str, currency: str) -> pa.Table:
    mine = pc.and_(pc.equal(posted["pool"], name), pc.equal(posted["currency"], currency))
    return posted.filter(pc.and_(mine, pc.is_in(posted["reason"], pa.array(USED))))


def along_of(settled: Settled, name: str) -> dict[str, Fraction]:
    """What those who were charged in a pool were charged from pools that count what they move or burn, for each unit of its money: by pool."""
    flows = [other for other, pool in settled.seen.items() if pool.meter and all(METERS[m].flow for m in pool.meter)]
    if not flows:
        return {}
    where = (pc.field("period") == settled.month) & pc.field("pool").isin([name, *flows])
    where = where if settled.teams is None else where & pc.field("team").isin(sorted(settled.teams))
    rows = settled.project.books.scan("charges", columns=["pool", "workload", "amount"], where=where)
    own = rows.filter(pc.equal(rows["pool"], name))
    mine = rows.filter(pc.is_in(rows["workload"], pc.unique(own["workload"])))
    sums = {pool: to_grains(amount) for (pool,), amount in grouped(mine, ("pool",)).items()}
    whole = sums.pop(name, 0)
    return {pool: Fraction(grains, whole) for pool, grains in sums.items() if whole and grains}


def weight_of(computed: Computed, name: str, job: Job) -> Fraction:
    """What a unit of such work pays for one unit: its weight over the average one, by money, as the month was shared."""
    pool, result = computed.world.policy.pools[name], computed.plan.own.trace.pools.get(name)
    if not pool.weights or result is None or result.priced is None:
        return Fraction(1)
    setting = computed.plan.own.trace.setting
    of_resource = {key for key in pool.weights if setting.resources.carries(key)}
    exact = exact_weights(computed, pool, result, of_resource)
    plain = weighed = Fraction(0)
    for (column, _, load), grains in result.priced.usage.items():
        if grains > 0 and setting.currency_of(column) == computed.world.policy.currency:
            plain += grains
            weighed += grains * exact[load]
    own = {key: value for key, value in job.labels.items() if key not in of_resource}
    model = {"gpu.model": job.model} if job.model else {}
    return pool.weight({**model, **own}) * plain / weighed if weighed else Fraction(1)


def exact_weights(
    computed: Computed, pool: Pool, result: PoolResult, of_resource: set[str]
) -> Mapping[tuple[int, int], Fraction]:
    """The weight of every load, by the labels of its work and of its node."""
    setting = computed.plan.own.trace.setting
    rates, keys = rates_of(pool, setting.resources)[1], set(pool.weights) - of_resource
    loads = {load for _, _, load in (result.priced.usage if result.priced else ())}
    return {load: pool.weight(known_labels(setting.bearers[load[0]].named, keys)) * rates[load[1]] for load in loads}


def month_mean(project: Project, month: str, policy: Policy, name: str) -> Fraction | None:
    """What a unit came to that was used: the money of use over the use. None where the method knows no such price, or nobody used it."""
    pool = policy.pools.get(name)
    if pool is None or pool.method not in PRICED:
        return None
    rows = used_rows(project.books.posted(month, kinds=(PLAN,)), name, policy.currency)
    used = quantities(project, month, [name]).get(name)
    if not used or not len(rows):
        return None
    spent = total(rows["amount"].to_pylist())
    return Fraction(to_grains(spent), GRAIN) / (used * measure_of(pool).natural)


def other_months(settled: Settled, name: str, job: Job) -> dict[str, Fraction]:
    """What an hour of the job came to on average in every other month that the pool was posted in."""
    policy, own = settled.last.world.policy, {str(one.plan.period) for one in settled.months}
    months = sorted({run.period for run in settled.project.books.runs(PLAN)} - own)
    units = units_of(policy.pools[name], job) * weight_of(settled.last, name, job)
    found = {month: month_mean(settled.project, month, policy, name) for month in months}
    return {month: mean * units for month, mean in found.items() if mean is not None}
