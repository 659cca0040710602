"""How a quota is counted, and what it is in one of its windows."""

from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.claims import component_of
from apportion.engine.label_sets import plain_ids, rows_named
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, to_grains
from apportion.model.rows import held_amounts
from apportion.model.times import Interval, Period, day_start
from apportion.policy.document import Policy
from apportion.policy.quotas import Quota
from apportion.reports.held import HOUR_S
from apportion.reports.quotas import Limit
from apportion.reports.report import Record
from apportion.verbs.explaining.prices import measure_of
from apportion.verbs.project import Project

MONTHS = {"month": 1, "quarter": 3, "year": 12}
WEEK = 7
Window = tuple[date, date]  # first and last day


def window(per: str, day: date) -> Window:
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


def limit_of(quota: Quota, policy: Policy, days: Window) -> Limit:
    """In one window: a whole month has as many hours as it has."""
    return Limit(
        quota.team,
        quota.project,
        "" if quota.money is not None else quota.meter or "",
        quota.pool or "",
        unit_of(quota, policy),
        quota.size * hours_each(quota, policy, days),
        quota.per,
        quota.warn,
        quota.department,
        teams_of(quota.department, policy) if quota.department else (),
        quota.user,
        quota.soft * hours_each(quota, policy, days) if quota.soft is not None else None,
        quota.kind == "hard",
    )


def unit_of(quota: Quota, policy: Policy) -> str:
    if quota.money is not None:
        return policy.currency
    unit = METERS[quota.meter or "gpu"].unit
    return unit if quota.amount is not None else f"{unit}-hours"


def hours_each(quota: Quota, policy: Policy, days: Window) -> Fraction:
    """What one of the quota's own figures is in what it is counted in: the hours of an average month of the window, or 1."""
    if quota.months is None:
        return Fraction(1)
    zone = ZoneInfo(policy.time_zone)
    seconds = day_start(days[1] + timedelta(days=1), zone) - day_start(days[0], zone)
    return Fraction(seconds, HOUR_S * MONTHS[quota.per])


def teams_of(department: str, policy: Policy) -> tuple[str, ...]:
    return tuple(sorted(name for name, team in policy.teams.items() if team.department == department))


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
        if self.quota.amount is not None:
            return self.flow(month, flows)
        return self.hours(record) + (self.beside(month, flows) if self.mixed else Fraction(0))

    def mine(self, rows: pa.Table) -> pa.Table:
        quota = self.quota
        narrowed = (("team", quota.team), ("project", quota.project), ("user", quota.user), ("pool", quota.pool))
        for name, value in narrowed:
            rows = rows.filter(pc.equal(rows[name], value)) if value else rows
        if quota.department:
            rows = rows.filter(pc.is_in(rows["team"], pa.array(teams_of(quota.department, self.policy), pa.string())))
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

    @property
    def mixed(self) -> list[str]:
        """Those that several levels drive together, this one among them: a pool of cores and memory."""
        meter = self.quota.meter or ""
        return [
            name
            for name, pool in self.policy.pools.items()
            if meter in pool.meter
            and len(pool.meter) > 1
            and not METERS[meter].flow
            and component_of(pool) == METERS[meter].component
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

    def beside(self, month: Period, flows: pa.Table | None = None) -> Fraction:
        """Of mixed pools the charges say who was there, and the usage how much each held. Of several sources the one that says most counts."""
        zone = ZoneInfo(self.policy.time_zone)
        span = month.interval(zone)
        if self.days is not None:
            first, last = (day_start(day, zone) for day in (self.days[0], self.days[1] + timedelta(days=1)))
            span = span.clip(Interval(first, last))
        keys = ["pool", "day", "team", "project", "user", "workload"]
        where = (pc.field("period") == str(month)) & pc.field("pool").isin(self.mixed)
        charged = self.project.books.scan("charges", columns=keys, where=where) if flows is None else flows
        rows = self.mine(charged.filter(pc.is_in(charged["pool"], pa.array(self.mixed, pa.string()))))
        sums = held_by(self.project, self.quota.meter or "", pc.unique(rows["workload"]), span)
        return Fraction(sum(max(some.values()) for some in sums.values()), METERS[self.quota.meter or ""].base * HOUR_S)

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


def held_by(project: Project, meter: str, workloads: pa.Array, span: Interval) -> dict[str, dict[str, int]]:
    """Unit-seconds within a time, by workload and source."""
    within = (pc.field("start_s") < span.end_s) & (pc.field("end_s") > span.start_s)
    where = (pc.field("meter") == meter) & within & pc.field("workload").isin(plain_ids(workloads.to_pylist()))
    columns = ["source", "workload", "start_s", "end_s", "allocated", "used", "label_set"]
    sums: dict[str, dict[str, int]] = {}
    rows = rows_named(project.books.scan("usage", columns=columns, where=where), workloads)
    for row, units in zip(rows.to_pylist(), held_amounts(rows).to_pylist(), strict=True):
        seconds = min(row["end_s"], span.end_s) - max(row["start_s"], span.start_s)
        of = sums.setdefault(row["workload"], {})
        of[row["source"]] = of.get(row["source"], 0) + units * seconds
    return sums
