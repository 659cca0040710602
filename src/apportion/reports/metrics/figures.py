"""Samples of what is posted, estimated and priced. Whatever is handed in is already cut to what somebody may see."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.budgets import Budget
from apportion.model.currencies import is_money
from apportion.model.money import to_grains
from apportion.model.rows import IDLE as IDLE_OWNER
from apportion.model.rows import POSTINGS
from apportion.model.times import day_start
from apportion.reports.budgets import Spending, spendings
from apportion.reports.groups import NOBODY
from apportion.reports.live import Estimate
from apportion.reports.metrics.families import (
    BUDGET,
    CAPACITY,
    COMPLETE,
    COST,
    COVERAGE,
    IDLE,
    MONTH_PRICE,
    PRICE,
    QUOTA_RESERVED,
    QUOTA_SIZE,
    QUOTA_USED,
    SPENT,
)
from apportion.reports.metrics.family import Filled, Number
from apportion.reports.prices import Ahead
from apportion.reports.quotas import Used
from apportion.reports.report import Record, Report
from apportion.reports.sums import SIDES, by_currency, grouped, side_of, summed

POSTED, ESTIMATED = "posted", "estimated"
PARTS = ("used", "unmeasured", "held", "unheld")
HOUR_S = 3600
Rows = dict[tuple[str, ...], Number]


def money_of(rows: pa.Table, period: str, state: str, *, whole: bool) -> Iterator[Filled]:
    """`whole`: all rows of the month are there, so that it can be said which part of it has an owner."""
    parts = [(currency, part) for currency, part in by_currency(rows) if is_money(currency)]
    costs, idle, covered = Rows(), Rows(), Rows()
    for currency, part in parts:
        for (team, pool), amount in grouped(part, ("team", "pool")).items():
            costs[period, state, team, pool or NOBODY, currency] = amount
        stood = part.filter(pc.or_(pc.equal(part["reason"], "idle"), pc.equal(part["team"], IDLE_OWNER)))
        for (team, pool, cause), amount in grouped(stood, ("team", "pool", "cause")).items():
            idle[period, state, team, pool or NOBODY, cause, currency] = amount
        for side, share in shares(part).items() if whole else ():
            covered[period, state, side, currency] = share
    yield Filled(COST, costs)
    yield Filled(IDLE, idle)
    yield Filled(COVERAGE, covered)


def shares(part: pa.Table) -> dict[str, Fraction]:
    """What `report coverage` tells, unrounded: together they are 1."""
    bill = to_grains(summed(part))
    sums = dict.fromkeys(SIDES, 0)
    for (team,), amount in grouped(part, ("team",)).items():
        sums[side_of(team)] += to_grains(amount)
    return {side: Fraction(grains, bill) for side, grains in sums.items()} if bill else {}


def posted_figures(record: Record, *, whole: bool) -> Iterator[Filled]:
    yield from money_of(record.posted, record.period, POSTED, whole=whole)


def estimated_figures(made: Estimate, zone: ZoneInfo, *, whole: bool) -> Iterator[Filled]:
    period = str(made.period)
    yield from money_of(made.rows, period, ESTIMATED, whole=whole)
    if made.complete_to is not None:
        yield Filled(COMPLETE, {(period,): day_start(made.complete_to + timedelta(days=1), zone)})
    prices: Rows = {
        (period, ESTIMATED, one.pool, one.unit, made.price_currency): one.price
        for one in made.pools
        if one.price is not None
    }
    yield Filled(MONTH_PRICE, prices)


def pool_figures(made: Report) -> Iterator[Filled]:
    """Of `report pools`: hours become seconds, since that is the base unit."""
    names = [column.name for column in made.columns]
    prices, capacity = Rows(), Rows()
    for currency, cells in ((section.currency, row) for section in made.sections for row in section.rows):
        row = dict(zip(names, cells, strict=True))
        pool, per = str(row["pool"]), str(row["unit"] or "")
        if isinstance(row["price"], Decimal):
            prices[made.period, POSTED, pool, per, currency] = row["price"]
        hours = {part: amount for part in PARTS if isinstance(amount := row[part], Decimal)}
        capacity |= {(made.period, pool, per.removesuffix("-hour"), part): hours[part] * HOUR_S for part in hours}
    yield Filled(MONTH_PRICE, prices)
    yield Filled(CAPACITY, capacity)


def price_figures(found: Iterable[Ahead], currency: str, now: datetime) -> Iterator[Filled]:
    """`now` is in the policy's time zone."""
    prices: Rows = {
        (one.pool, one.labels, one.per, one.kind, currency): quotes[now.hour].price
        for one in found
        for day, quotes in one.days
        if day == now.date()
    }
    yield Filled(PRICE, prices)


def quota_figures(found: Sequence[Used]) -> Iterator[Filled]:
    """Those of users stay out: monitoring is about teams."""
    own = {quota_labels(one): one for one in found if not one.limit.user}
    yield Filled(QUOTA_SIZE, {key: one.size for key, one in own.items()})
    yield Filled(QUOTA_USED, {key: one.used for key, one in own.items()})
    yield Filled(QUOTA_RESERVED, {key: one.moved.pending for key, one in own.items()})


def quota_labels(one: Used) -> tuple[str, ...]:
    limit = one.limit
    return limit.owner, limit.team, limit.meter or "money", limit.pool, limit.per, one.window, limit.unit


def budget_figures(months: Mapping[str, Sequence[Spending]]) -> Iterator[Filled]:
    """By state: of the newest posted month, and of the running one."""
    sizes, spent = Rows(), Rows()
    for state, found in months.items():
        for one in found:
            budget = one.budget
            sizes[one.period, budget.team, budget.project, budget.currency] = budget.amount
            spent[one.period, state, budget.team, budget.project, budget.currency] = one.spent
    yield Filled(BUDGET, sizes)
    yield Filled(SPENT, spent)


def spent_so_far(made: Estimate, budgets: Iterable[Budget]) -> tuple[Spending, ...]:
    record = Record(str(made.period), made.rows.select(POSTINGS.names), "")
    return spendings(record, budgets, made.period)


def merged(found: Iterable[Filled]) -> list[Filled]:
    """Each family once, its samples in order; what has none is left out."""
    families: dict[str, Filled] = {}
    for one in found:
        before = families.get(one.family.name, Filled(one.family, {}))
        families[one.family.name] = replace(before, samples={**before.samples, **one.samples})
    return [replace(one, samples=dict(sorted(one.samples.items()))) for one in families.values() if one.samples]
