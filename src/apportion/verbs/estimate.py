"""What would my job cost? From what such jobs came to in the months that are settled; what it does to budgets and quotas; cheaper ways. Nothing is kept."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import PLAN
from apportion.errors import ProjectError
from apportion.model.meters import METERS
from apportion.model.money import for_reading, plain
from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import Period, local_day, parse_period
from apportion.reports.capacity import WEEK
from apportion.reports.estimate import (
    LISTED,
    MEAN,
    SETTLED,
    SUCH_HOURS,
    Beside,
    Curve,
    Direct,
    Effect,
    Estimate,
    Job,
    Price,
    Range,
    Rule,
    Way,
    added,
    by_hour,
    direct_of,
    price_of,
)
from apportion.reports.job import Sums, add_postings
from apportion.reports.sums import less, total
from apportion.reports.words import counted, percent, shown
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import refuse_unknown, today_of
from apportion.verbs.budget import budgets
from apportion.verbs.estimating.asked import Asked, read_job
from apportion.verbs.estimating.places import placed
from apportion.verbs.estimating.rates import Rate, Settled, along_of, follow_of, other_months, rate_of
from apportion.verbs.estimating.ways import other_ways, percentages
from apportion.verbs.ground import Means, afresh
from apportion.verbs.pools import computed_month
from apportion.verbs.project import Project
from apportion.verbs.quota import quotas
from apportion.verbs.report import read_record
from apportion.verbs.steps import Step, silent

Posted = Mapping[str, Sums]


def estimate(project: Project, /, *, step: Step = silent, **asked: Any) -> Estimate:
    """What a job would cost before it runs, and cheaper ways.

    `estimate(project, team="vision", hours=12, gpus=8, model="h100")`; also cpus, memory (GiB), pool, start, project, user and labels (`qos=low`).
    """
    return estimate_by(afresh(step), project, Asked(**asked))


@dataclass(frozen=True, slots=True)
class Seen:
    """What somebody may see; None is all."""

    teams: frozenset[str] | None = None
    pools: frozenset[str] | None = None


def estimate_by(means: Means, project: Project, asked: Asked, seen: Seen = Seen()) -> Estimate:  # noqa: B008 - frozen
    """By means that somebody else keeps, and of what somebody may see."""
    refuse_unknown(project, asked.team)
    job = read_job(asked, project.policy)
    settled = replace(settled_for(means, project, job), teams=seen.teams, pools=seen.pools)
    job, pools = placed(settled, job)
    books = Desk(settled, posted_sums(means, settled))
    own = books.way("as asked", job, pools)
    cheaper = [*books.other_hours(job, pools, own), *books.others(job, pools, own)]
    cheaper.sort(key=lambda way: way.price.owed)
    month = Period(settled.day.year, settled.day.month)
    return Estimate(
        job,
        called(job),
        str(month),
        settled.month,
        settled.policy.currency,
        own,
        tuple(cheaper),
        tuple(effects(means, settled, job, own)),
        tuple(books.notes(job, pools, own)),
    )


def settled_for(means: Means, project: Project, job: Job) -> Settled:
    """The months that the job's hours lie in, if all are posted; else the last that is."""
    known = sorted({run.period for run in project.books.runs(PLAN)})
    if not known:
        raise ProjectError(
            "nothing-posted",
            "no month is posted yet: there is no price to estimate by",
            hint="run `apportion plan` and `apportion apply` first",
        )
    zone = ZoneInfo(project.policy.time_zone)
    day = today_of(project) if job.start_s is None else local_day(job.start_s, zone)
    own = months_of(job, zone)
    months = own if own and all(month in known for month in own) else known[-1:]
    computed = (computed_month(means, project, parse_period(month)) for month in months)
    kept = tuple(one if one.asked is not None else one.kept() for one in computed)
    return Settled(project, kept, policy_for(project, Period(day.year, day.month)), day)


def months_of(job: Job, zone: ZoneInfo) -> list[str]:
    if job.window is None:
        return []
    day, last = local_day(job.window.start_s, zone), local_day(job.window.end_s - 1, zone)
    found = []
    while day <= last:
        found.append(f"{day:%Y-%m}")
        day = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return found


def posted_sums(means: Means, settled: Settled) -> Posted:
    """What the last month posted, by team and pool: to those that may be seen."""
    posted = means.ground(settled.project, parse_period(settled.month)).posted
    rows = posted if posted is not None else settled.last.plan.postings
    if settled.teams is not None:
        rows = rows.filter(pc.is_in(rows["team"], pa.array(sorted(settled.teams), pa.string())))
    return add_postings(rows.filter(pc.equal(rows["currency"], settled.policy.currency)), ())


@dataclass(frozen=True, slots=True)
class Desk:
    """What estimates are made of: settled months, and what teams bear beside their direct price."""

    settled: Settled
    posted: Posted

    def way(self, what: str, job: Job, pools: tuple[str, ...]) -> Way:
        rates = [rate_of(self.settled, name, job) for name in pools]
        curve = added([rate.curve for rate in rates])
        direct = direct_of(curve, job, self.local(job))
        if all(rate.listed for rate in rates):
            direct = replace(direct, kind=LISTED)
        first = rates[0]
        return Way(
            what,
            pools,
            for_reading(first.unit),
            first.per,
            direct.kind,
            self.price(direct.amount, job, rates),
            self.rests_on(direct),
            self.range(direct, job, rates, curve),
        )

    def local(self, job: Job) -> datetime | None:
        zone = ZoneInfo(self.settled.policy.time_zone)
        return None if job.start_s is None else datetime.fromtimestamp(job.start_s, zone)

    def price(self, direct: Fraction, job: Job, rates: list[Rate]) -> Price:
        """Of each pool its part, since idle and percentages are by pool."""
        whole = sum((rate.curve.mean for rate in rates), Fraction(0))
        prices = []
        for rate in rates:
            own = direct * rate.curve.mean / whole if whole else Fraction(0)
            rules = [
                Rule(
                    one.percent or Fraction(0),
                    along=one.pool is None,
                    idle=one.when is None,
                    overhead=one.when is None and one.pool is None,
                )
                for one in percentages(self.settled, job, (rate.pool,))
                if one.when is None or one.when.matches(job.labels)
            ]
            beside = self.beside(job.team, rate.pool)
            beside = beside if rate is rates[0] else replace(beside, along=Fraction(0))  # the same jobs: once
            prices.append(price_of(own, beside, rules))
        parts = ("direct", "along", "idle", "overhead", "adjustments")
        return Price(*(total(getattr(one, part) for one in prices) for part in parts))

    def beside(self, team: str, pool: str) -> Beside:
        """As the last settled month posted it: to the team, or to all teams where it used nothing of the pool."""
        posted, along = self.posted, sum(self.along(pool).values(), Fraction(0))
        if posted["usage"].get((team, pool)):
            idle = posted["idle"].get((team, pool), Fraction(0)) / posted["usage"][team, pool]
        else:
            idle = ratio(posted["idle"], posted["usage"], pool)
        if posted["cost"].get((team,)):
            return Beside(along, idle, posted["overheads"].get((team,), Fraction(0)) / posted["cost"][team,])
        return Beside(along, idle, ratio(posted["overheads"], posted["cost"]))

    def along(self, pool: str) -> dict[str, Fraction]:
        name = ("along", pool, self.settled.teams, self.settled.pools)
        return self.settled.last.once(name, lambda: along_of(self.settled, pool))

    def rests_on(self, direct: Direct) -> str:
        month = self.settled.month
        return {
            SETTLED: "the settled prices of those very hours",
            SUCH_HOURS: f"{counted(direct.starts, 'start')} at that hour of the week in {month}",
            MEAN: f"the mean price of {month}",
            LISTED: f"the price list in force on {self.settled.day}",
        }[direct.kind]

    def seen(self, job: Job, rates: list[Rate], curve: Curve) -> tuple[list[Fraction], list[Fraction]]:
        """What such a job came to from every start of the settled months, and on average in other months that knew all its pools."""
        starts = [amount for _, amount in curve.starts(job.seconds)]
        by_pool = [other_months(self.settled, rate.pool, job) for rate in rates if not rate.listed]
        months = set.intersection(*map(set, by_pool)) if by_pool else set[str]()
        return starts, [sum((one[month] for one in by_pool), Fraction(0)) * job.hours for month in sorted(months)]

    def range(self, direct: Direct, job: Job, rates: list[Rate], curve: Curve) -> Range | None:
        """None where the price is certain, or nothing is known of how it varies."""
        if direct.kind in (SETTLED, LISTED):
            return None
        starts, months = self.seen(job, rates, curve)
        every = [*starts, *months, direct.amount]
        low, high = (self.price(amount, job, rates).owed for amount in (min(every), max(every)))
        return Range(low, high, len(starts), len(months)) if low != high or months else None

    def other_hours(self, job: Job, pools: tuple[str, ...], own: Way) -> Iterator[Way]:
        """The hour of the week at which such a job was cheapest, if it was cheaper then."""
        rates = [rate_of(self.settled, name, job) for name in pools]
        alike = by_hour(added([rate.curve for rate in rates]).starts(job.seconds))
        means = {hour: sum(amounts, Fraction(0)) / len(amounts) for hour, amounts in alike.items()}
        if not means:
            return
        (day, hour), direct = min(means.items(), key=lambda item: (item[1], item[0]))
        price = self.price(direct, job, rates)
        if saved := saves(own, price):
            what = f"starting {WEEK[day]} {hour:02d}:00"
            found = Direct(direct, SUCH_HOURS, len(alike[day, hour]))
            yield replace(
                own, what=what, kind=SUCH_HOURS, price=price, rests_on=self.rests_on(found), range=None, saves=saved
            )

    def others(self, job: Job, pools: tuple[str, ...], own: Way) -> Iterator[Way]:
        for what, other in other_ways(self.settled, job, pools):
            with suppress(ProjectError):  # nothing is known of that way
                there, fallen = placed(self.settled, other)
                found = self.way(what, there, fallen)
                if saved := saves(own, found.price):
                    moved = there.model != job.model
                    until = (
                        job.hours * Fraction(own.price.owed) / Fraction(found.price.owed) if found.price.owed else None
                    )
                    known = for_reading(until) if moved and until is not None else None
                    yield replace(found, saves=saved, until=known)

    def notes(self, job: Job, pools: tuple[str, ...], own: Way) -> Iterator[str]:
        currency = self.settled.policy.currency
        if own.kind == SETTLED:
            yield "Its hours are settled: the price is certain, and there is no range."
        elif own.range is not None:
            looked = [f"{counted(own.range.starts, 'start')} in {self.settled.month}"] if own.range.starts else []
            looked += [f"the mean prices of {counted(own.range.months, 'other month')}"] if own.range.months else []
            yield (
                f"Between {shown(own.range.low, currency)} and {shown(own.range.high, currency)}: the least and the most of "
                f"{' and '.join(looked)}."
            )
        elif own.kind != LISTED:
            yield f"Only one price is known, that of {self.settled.month}, and it was the same throughout: there is no range to tell."
        for pool in pools:
            if (follow := follow_of(self.settled.last, pool)) != 1:
                more = f"{float(follow * 100 - 100):+.1f} %"
                yield f"Tax, credits and fees that follow {pool} are in the direct price: {more} in {self.settled.month}."
            for other, share in self.along(pool).items() if pool == pools[0] else ():
                yield f"Jobs in {pool} were also charged from {other}: {percent(for_reading(share))} of the direct price in {self.settled.month}."
            if not self.posted["usage"].get((job.team, pool)):
                yield f"{job.team} used nothing of {pool} in {self.settled.month}: idle is what all teams bore on average."
        if any(one.percent is None and one.team == job.team for one in self.settled.policy.adjustments):
            yield f"The policy bounds or grants part of what {job.team} owes in all: that is not counted here."
        if any(self.settled.policy.pools[pool].free for pool in pools):
            yield "What is free by the price list is not counted here."


def ratio(above: Sums, below: Sums, pool: str = "") -> Fraction:
    """Over all teams."""
    sums = [
        sum(
            (amount for (team, *rest), amount in some.items() if team not in SYSTEM_OWNERS and rest in ([], [pool])),
            Fraction(0),
        )
        for some in (above, below)
    ]
    return sums[0] / sums[1] if sums[1] else Fraction(0)


def saves(own: Way, price: Price) -> Decimal | None:
    saved = less(own.price.owed, price.owed)
    return saved if saved > 0 else None


def called(job: Job) -> str:
    """`8 GPUs (H100) for 12 hours`."""
    parts = []
    for meter, amount in job.amounts.items():
        unit = METERS[meter].unit
        number = plain(for_reading(amount))
        parts.append(f"{number} {unit if number == '1' or unit == 'GiB' else unit + 's'}")
    model = f" ({job.model})" if job.model else ""
    number = plain(for_reading(job.hours))
    return f"{' and '.join(parts)}{model} for {number} {'hour' if number == '1' else 'hours'}"


def effects(means: Means, settled: Settled, job: Job, own: Way) -> Iterator[Effect]:
    """On the budgets and quotas of the team and the project that hold when the job starts."""
    month = Period(settled.day.year, settled.day.month)
    owed = own.price.owed
    for one in budgets(settled.project, month, means.read, foresee=None):
        budget = one.budget
        if budget.team == job.team and budget.project in ("", job.project) and budget.amount:
            yield Effect(f"budget of {budget.owner}", one.period, budget.currency, budget.amount, one.spent, owed)
    for used in quotas(settled.project, month, means.read):
        limit = used.limit
        whole = means.read is read_record  # a department's counts for those alone who see all of it
        concerned = (
            (limit.team == job.team or (whole and limit.is_of(job.team)))
            and limit.project in ("", job.project)
            and limit.pool in ("", *own.pools)
        )
        concerned = concerned and limit.user in ("", job.user)
        adds = job.amounts.get(limit.meter, Fraction(0)) * job.hours if limit.meter else Fraction(owed)
        if concerned and adds and used.first <= settled.day <= used.last:
            figures = (for_reading(figure) for figure in (used.size, used.used + used.moved.pending, adds))
            yield Effect(f"quota of {limit.owner}, {limit.what}", used.window, limit.unit, *figures)
