"""Quotas of the policy: what was used of each so far. Hours are what was held, by the charges behind the postings; money is what is posted."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.claims import component_of
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, to_grains
from apportion.model.times import Period, parse_period
from apportion.policy.document import Policy
from apportion.policy.rules import Quota
from apportion.reports.held import HOUR_S
from apportion.reports.quotas import Limit, Used
from apportion.reports.report import Record
from apportion.verbs.agreement import policy_for
from apportion.verbs.budget import today_of
from apportion.verbs.explaining.prices import measure_of
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, posted_periods, read_record

MONTHS = {"month": 1, "quarter": 3, "year": 12}
WEEK = 7


def quotas(
    project: Project, period: Period | str, read: Reading = read_record, today: date | None = None
) -> tuple[Used, ...]:
    """Each in its window that the month's last known day lies in: of a running month, so far. `read`: the record as somebody may see it."""
    month = as_period(period)
    policy = policy_for(project, month)
    now = today or today_of(project)
    record = read(project, [month], None) if str(month) in posted_periods(project) else None
    day = reference_day(record, month, now)
    found = []
    for quota in policy.quotas:
        if quota.holds_on(day):
            first, last = window(quota.per, day)
            known = months_of(project, first, day)
            records = [read(project, [one], None) for one in known]
            through = None if not records else last if now > last else min(last_day(records) or last, last)
            counting = Counting(project, policy, quota, None if quota.per in MONTHS else (first, last))
            used = sum((counting.used(*pair) for pair in zip(records, known, strict=True)), Fraction(0))
            found.append(Used(limit_of(quota, policy), first, last, through, used))
    return tuple(sorted(found, key=lambda one: (one.limit.owner, one.limit.what, one.limit.per)))


def reference_day(record: Record | None, month: Period, today: date) -> date:
    """Of a month that is over its last; of a running one the last that something is known of."""
    if today > month.last_day:
        return month.last_day
    known = last_day([record]) if record else None
    return min(known or month.first_day, month.last_day)


def last_day(records: Sequence[Record]) -> date | None:
    days = [pc.max(one.posted["day"]).as_py() for one in records if len(one.posted)]
    return max(days, default=None)


def window(per: str, day: date) -> tuple[date, date]:
    """The first and the last day of the one that a day lies in; weeks begin on Monday."""
    if per == "day":
        return day, day
    if per == "week":
        first = day - timedelta(days=day.weekday())
        return first, first + timedelta(days=WEEK - 1)
    length = MONTHS[per]
    start = Period(day.year, (day.month - 1) // length * length + 1)
    end = start
    for _ in range(length - 1):
        end = end.next
    return start.first_day, end.last_day


def months_of(project: Project, first: date, day: date) -> list[Period]:
    """Those that something is posted in."""
    wanted = {f"{first:%Y-%m}", f"{day:%Y-%m}"}
    found = [text for text in posted_periods(project) if min(wanted) <= text <= max(wanted)]
    return [parse_period(text) for text in sorted(found)]


def limit_of(quota: Quota, policy: Policy) -> Limit:
    if quota.money is not None:
        unit, size = policy.currency, quota.money
    elif quota.meter is not None and quota.amount is not None:
        unit, size = METERS[quota.meter].unit, quota.amount
    else:
        unit, size = f"{METERS[quota.meter or 'gpu'].unit}-hours", quota.hours or Fraction(0)
    return Limit(quota.team, quota.project, quota.meter or "", quota.pool or "", unit, size, quota.per, quota.warn)


@dataclass(frozen=True, slots=True)
class Counting:
    """How a quota is counted. Months go by what is posted for them, as reports do; of a day or week only `days` count."""

    project: Project
    policy: Policy
    quota: Quota
    days: tuple[date, date] | None

    def used(self, record: Record, month: Period, flows: pa.Table | None = None) -> Fraction:
        """`flows` are charges that are not in the books, of a month that is estimated."""
        if self.quota.money is not None:
            rows = self.mine(record.posted)
            rows = rows.filter(pc.equal(rows["currency"], self.policy.currency))
            return Fraction(sum(map(to_grains, rows["amount"].to_pylist())), GRAIN)
        return self.hours(record) if self.quota.hours is not None else self.flow(month, flows)

    def mine(self, rows: pa.Table) -> pa.Table:
        quota = self.quota
        for name, value in (("team", quota.team), ("project", quota.project), ("pool", quota.pool)):
            rows = rows.filter(pc.equal(rows[name], value)) if value else rows
        if self.days is None:
            return rows
        first, last = self.days
        return rows.filter(pc.and_(pc.greater_equal(rows["day"], first), pc.less_equal(rows["day"], last)))

    @property
    def pools(self) -> list[str]:
        """Those that count this meter alone, and as what it usually drives: another component's pool may count the same use once more."""
        meter = self.quota.meter or ""
        return [
            name
            for name, pool in self.policy.pools.items()
            if list(pool.meter) == [meter] and component_of(pool) == METERS[meter].component
        ]

    def hours(self, record: Record) -> Fraction:
        """What was held. It stands once for each currency: where a pool has bills in several, that which says most."""
        if record.charges is None:
            return Fraction(0)
        rows = self.mine(record.charges)
        rows = rows.filter(
            pc.and_(pc.is_in(rows["pool"], pa.array(self.pools, pa.string())), pc.is_valid(rows["held"]))
        )
        currencies = dict(zip(record.posted["bill"].to_pylist(), record.posted["currency"].to_pylist(), strict=True))
        sums: dict[str, dict[str, Fraction]] = {}
        for row in rows.group_by(["pool", "bill", "per_unit"]).aggregate([("held", "sum")]).to_pylist():
            of_pool = sums.setdefault(row["pool"], {})
            currency = currencies.get(row["bill"], "")
            held = Fraction(int(row["held_sum"]), int(row["per_unit"]) * HOUR_S)
            of_pool[currency] = of_pool.get(currency, Fraction(0)) + held
        return sum((max(some.values()) for some in sums.values()), Fraction(0))

    def flow(self, month: Period, flows: pa.Table | None = None) -> Fraction:
        """A workload's amount stands with every bill and component of its pool: it counts once."""
        keys = ["pool", "day", "team", "project", "user", "workload"]
        where = (pc.field("period") == str(month)) & pc.field("pool").isin(self.pools)
        if flows is None:
            flows = self.project.books.scan("charges", columns=[*keys, "unit_seconds"], where=where)
        rows = self.mine(flows.filter(pc.is_in(flows["pool"], pa.array(self.pools, pa.string()))))
        once = rows.group_by(keys).aggregate([("unit_seconds", "max")])
        sums = once.group_by("pool").aggregate([("unit_seconds_max", "sum")]).to_pylist()
        return sum(
            (int(row["unit_seconds_max_sum"]) * measure_of(self.policy.pools[row["pool"]]).natural for row in sums),
            Fraction(0),
        )
