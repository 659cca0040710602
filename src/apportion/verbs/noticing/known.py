"""All that anomalies are looked for in: what is posted in the newest month and the three before, and what is estimated of the running one."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.money import GRAINS_PER_ATTO, to_grains
from apportion.model.times import Period, parse_period
from apportion.reports.anomaly.causes import Side
from apportion.reports.anomaly.daily import WEEK, Daily
from apportion.reports.anomaly.levels import SETTLED, Step
from apportion.reports.anomaly.weighing import Weights, days_between, weights_of
from apportion.reports.held import HOUR_S
from apportion.reports.live import ESTIMATED, Estimate
from apportion.reports.statement.drivers import driver_of
from apportion.reports.sums import grouped
from apportion.verbs.held import Holding, held_in
from apportion.verbs.project import Project
from apportion.verbs.report import posted_periods

BEFORE = 3  # months
ROWS = ("day", "team", "project", "user", "currency", "pool", "reason", "cause", "amount")
HOURS = ("day", "team", "currency", "pool", "unit")
LEAST = 100 * 10**18  # attos: what is less is no news, in any currency
MICRO = 10**12  # attos: fine enough to test with
Hours = dict[tuple[date, str, str, str], tuple[str, Fraction]]  # (day, team, currency, pool) -> unit and hours


@dataclass(frozen=True, slots=True)
class Known:
    """`rows` are postings until `until`, from `estimated` on not posted yet; `posted` are the months that are, of which there are hours."""

    project: Project
    rows: pa.Table
    hours: Hours
    posted: tuple[str, ...]
    newest: Period
    until: date
    estimated: date | None = None
    bills: Mapping[str, str] = field(default_factory=dict)  # posted ones, with their currencies

    @property
    def posted_until(self) -> date | None:
        return parse_period(self.posted[-1]).last_day if self.posted else None


def known(project: Project, running: Estimate | None, held: Holding = held_in) -> Known | None:
    """None where there is nothing to look at, or no day is complete."""
    there = posted_periods(project)
    is_estimated = running is not None and str(running.period) not in there
    newest = running.period if running and is_estimated else parse_period(max(there)) if there else None
    if newest is None or (running and is_estimated and running.complete_to is None):
        return None
    months = unbroken(newest, there)
    tables = [project.books.posted(month) for month in months]
    bills = bills_of(tables)
    hours = hours_of(held(project, months, None), bills) if months else {}
    until = newest.last_day
    if running and is_estimated:
        until = running.complete_to or until
        tables.append(running.rows)
        hours |= estimated_hours(running, hours)
    rows = pa.concat_tables([table.select(list(ROWS)) for table in tables])
    oldest = parse_period(months[0]) if months else newest
    rows = within(rows, (oldest.first_day, until))  # what is late for months before would be all that is known of them
    first = newest.first_day if is_estimated else None
    return Known(project, rows, hours, tuple(months), newest, until, first, bills)


def unbroken(newest: Period, posted: Collection[str]) -> list[str]:
    """The months that lead up to the newest one without a gap, with itself where it is posted: a month that is not there would look like one without work."""
    found = [str(newest)] if str(newest) in posted else []
    month = newest.previous
    while str(month) in posted and len(found) <= BEFORE:
        found.append(str(month))
        month = month.previous
    return sorted(found)


def bills_of(tables: Sequence[pa.Table]) -> dict[str, str]:
    found = [table.group_by(["bill", "currency"]).aggregate([]) for table in tables]
    return {row["bill"]: row["currency"] for table in found for row in table.to_pylist()}


def hours_of(charges: pa.Table, bills: dict[str, str]) -> Hours:
    keys = ["day", "team", "bill", "pool", "unit", "per_unit"]
    sums = charges.filter(pc.is_valid(charges["unit"])).group_by(keys).aggregate([("held", "sum")])
    found: Hours = {}
    for row in sums.to_pylist():
        key = row["day"], row["team"], bills.get(row["bill"], ""), row["pool"]
        more = Fraction(int(row["held_sum"] or 0), int(row["per_unit"]) * HOUR_S)
        found[key] = row["unit"], found.get(key, ("", Fraction(0)))[1] + more
    return found


def estimated_hours(running: Estimate, posted: Hours) -> Hours:
    """Of pools that are charged at their last price: what they come to at it."""
    units = {(currency, pool): unit for (_, _, currency, pool), (unit, _) in posted.items()}
    prices = {one.pool: one.price for one in running.pools if one.basis == ESTIMATED and one.price}
    rows = running.rows.filter(pc.is_in(running.rows["reason"], pa.array(["usage", "burst"])))
    found: Hours = {}
    for (day, team, currency, pool), amount in grouped(rows, ("day", "team", "currency", "pool")).items():
        if pool in prices and (currency, pool) in units:
            used = Fraction(attos(amount), 10**18) / prices[pool]
            found[date.fromisoformat(day), team, currency, pool] = units[currency, pool], used
    return found


def attos(amount: Decimal) -> int:
    return to_grains(amount) // GRAINS_PER_ATTO


@dataclass(frozen=True, slots=True)
class Window:
    """From which day on it is looked for and shown, and the days that something lasted, with what stands against them."""

    began: date
    last: date
    before: Weights = field(default_factory=dict)
    now: Weights = field(default_factory=dict)

    @property
    def days(self) -> tuple[date, date]:
        return (min(self.before, default=self.began), self.last)


def window(daily: Daily, step: Step, apart: Collection[int] = ()) -> Window:
    """Of a step, but for days that are told `apart`; where it follows another one, against that one's days."""
    first, end = daily.day(step.began), daily.day(step.last)
    now = [day for day in days_between(first, end) if daily.place(day) not in apart]
    known = daily.first if step.since is None or step.began < step.since + WEEK else daily.day(step.since)
    return Window(first, end, weights_of(now, first, known), dict.fromkeys(now, Fraction(1)))


def looked_from(seen: Known, daily: Daily) -> int:
    """Whatever is seen from there on may last into the newest month."""
    return max(0, daily.place(seen.newest.first_day - timedelta(days=SETTLED)))


def is_shown(seen: Known, daily: Daily, last: int) -> bool:
    """What lasts into the newest month of its own days."""
    return daily.day(last) >= min(seen.newest.first_day, daily.day(len(daily) - 1).replace(day=1))


def within(rows: pa.Table, days: tuple[date, date], **where: str) -> pa.Table:
    for name, value in where.items():
        rows = rows.filter(pc.equal(rows[name], value))
    first, last = (pa.scalar(day, pa.date32()) for day in days)
    return rows.filter(pc.and_(pc.greater_equal(rows["day"], first), pc.less_equal(rows["day"], last)))


def by_weights(rows: pa.Table, key: str, some: Window) -> tuple[dict[str, Fraction], dict[str, Fraction]]:
    """Attos by a column, before and now."""
    found: tuple[dict[str, Fraction], dict[str, Fraction]] = (defaultdict(Fraction), defaultdict(Fraction))
    for (day, name), amount in grouped(rows, ("day", key)).items():
        for sums, weights in zip(found, (some.before, some.now), strict=True):
            sums[name] += attos(amount) * weights.get(date.fromisoformat(day), 0)
    return dict(found[0]), dict(found[1])


def sides(
    rows: pa.Table, hours: Callable[[], Iterator[tuple[date, str, str, Fraction]]], some: Window
) -> tuple[Side, Side]:
    """Money by pool and cause, and hours by pool, before and now."""
    made = []
    sums = grouped(rows, ("day", "pool", "reason"))
    for weights in (some.before, some.now):
        money: dict[tuple[str, str], Fraction] = defaultdict(Fraction)
        for (day, pool, reason), amount in sums.items():
            money[pool, driver_of(reason, "", "")] += attos(amount) * weights.get(date.fromisoformat(day), 0)
        counted: dict[str, Fraction] = defaultdict(Fraction)
        units: dict[str, str] = {}
        for at, pool, unit, held in hours():
            counted[pool] += held * weights.get(at, 0)
            units[pool] = unit
        made.append(Side(dict(money), dict(counted), units))
    return made[0], made[1]
