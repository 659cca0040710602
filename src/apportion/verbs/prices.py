"""What will an hour cost? Published before it runs: price lists, times of use and discounts as the policy has them, else as such hours came to."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from fractions import Fraction

from apportion.errors import ProjectError
from apportion.model.meters import METERS
from apportion.model.times import Period
from apportion.policy.methods import METERED
from apportion.policy.pools import Pool
from apportion.reports.estimate import Job
from apportion.reports.prices import (
    BY_RULE,
    EXPECTED,
    HOURS,
    LISTED,
    Ahead,
    Quote,
    by_weight,
    prices_report,
    such_hours,
)
from apportion.reports.report import Report
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import refuse_unknown, today_of
from apportion.verbs.estimate import Seen, settled_for
from apportion.verbs.estimating.rates import Rate, Settled, rate_of
from apportion.verbs.estimating.ways import percentages, wishes
from apportion.verbs.ground import Means, afresh
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest
from apportion.verbs.steps import Step, silent

LONGEST = 92  # days
HOUR = Fraction(1)
BOUNDS = "Tax, credits and fees that follow a pool are in its prices; idle, overhead, grants and bounds are not: `apportion estimate` counts them."


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """`first` is a day, today unless given. `team`: with the discounts that only it has."""

    days: int = 7
    first: str = ""
    pool: str = ""
    team: str = ""


def prices(project: Project, wish: Wish = Wish(), step: Step = silent) -> Report:  # noqa: B008 - frozen
    """What an hour will cost in the coming days: as published, else as such hours came to in the last settled month."""
    return prices_by(afresh(step), project, wish)


def prices_by(means: Means, project: Project, wish: Wish, seen: Seen = Seen()) -> Report:  # noqa: B008 - frozen
    """By means that somebody else keeps, and of pools that somebody may see."""
    told = told_by(means, project, wish, seen)
    days = told.days
    period = str(days[0]) if len(days) == 1 else f"{days[0]}..{days[-1]}"
    known = {ahead.pool for ahead in told.curves}
    notes = [f"{name} has no price per unit that is known ahead." for name in told.chosen if name not in known]
    notes += [f"With the discounts of {wish.team}."] if wish.team else []
    return prices_report(told.curves, told.currency, period, project.books.head(), (*notes, BOUNDS))


@dataclass(frozen=True, slots=True)
class Told:
    """The curves of some pools over some days."""

    curves: tuple[Ahead, ...]
    currency: str
    days: tuple[date, ...]
    chosen: tuple[str, ...]


def told_by(means: Means, project: Project, wish: Wish, seen: Seen = Seen()) -> Told:  # noqa: B008 - frozen
    if wish.team:
        refuse_unknown(project, wish.team)
    days = days_of(project, wish)
    settled = replace(settled_for(means, project, Job(wish.team, HOUR, {})), teams=seen.teams, pools=seen.pools)
    of_day = [replace(settled, day=day, policy=policy_for(project, Period(day.year, day.month))) for day in days]
    known = [name for name, pool in of_day[0].seen.items() if pool.method in METERED and levels(pool)]
    if wish.pool and wish.pool not in known:
        raise ProjectError(
            "unknown-figure", f"{wish.pool!r} is no pool with a price per unit", hint=nearest(wish.pool, known, "pools")
        )
    chosen = [wish.pool] if wish.pool else known
    curves = tuple(ahead for name in chosen for ahead in curves_of(of_day, name, wish.team))
    return Told(curves, settled.policy.currency, tuple(days), tuple(chosen))


def days_of(project: Project, wish: Wish) -> list[date]:
    if not 1 <= wish.days <= LONGEST:
        raise ProjectError(
            "invalid-amount", f"no prices are told for {wish.days} days", hint=f"write 1 to {LONGEST} days"
        )
    try:
        first = date.fromisoformat(wish.first) if wish.first else today_of(project)
        return [first + timedelta(days=n) for n in range(wish.days)]
    except (ValueError, OverflowError) as error:
        raise ProjectError("invalid-day", f"{wish.first!r} is not a day", hint="write it as 2026-11-16") from error


def levels(pool: Pool) -> list[str]:
    """What can be held for an hour."""
    return [meter for meter, weight in pool.meter.items() if weight and not METERS[meter].flow]


def curves_of(of_day: list[Settled], name: str, team: str) -> Iterator[Ahead]:
    """For work without labels, then for each that the policy has another price for."""
    for meter in levels(of_day[0].seen[name]):
        job = Job(team, HOUR, {meter: HOUR})
        for said, labels in asked_for(of_day, name, job).items():
            with suppress(ProjectError):  # such work has no price
                yield curve_of(of_day, name, replace(job, labels=labels), said)


def asked_for(of_day: list[Settled], name: str, job: Job) -> dict[str, dict[str, str]]:
    """Labels that rules about money ask for, as they are told; none comes first."""
    every = ({}, *(labels for settled in of_day for labels in wishes(settled, job, (name,))))
    told = {", ".join(f"{key}={value}" for key, value in labels.items()): labels for labels in every}
    return {said: labels for said, labels in told.items() if not is_of_nodes(of_day[0], labels)}


def is_of_nodes(settled: Settled, labels: dict[str, str]) -> bool:
    """What is said of a machine is no choice of a job."""
    return any(settled.last.plan.own.trace.setting.resources.carries(key) for key in labels)


def curve_of(of_day: list[Settled], name: str, job: Job, said: str) -> Ahead:
    (meter,) = job.amounts
    days, told = [], ("", "")
    for settled in of_day:
        told, quotes = quotes_on(settled, name, job)
        days.append((settled.day, tuple(quote.times(discount(settled, name, job)) for quote in quotes)))
    return Ahead(name, said, f"{METERS[meter].unit}-hour", *told, tuple(days))


def quotes_on(settled: Settled, name: str, job: Job) -> tuple[tuple[str, str], list[Quote]]:
    """What kind of price it is and why, and that of each hour of the day."""
    if name not in settled.seen:
        raise ProjectError("no-unit-price", f"{name} is no pool on {settled.day}", hint="ask for fewer days")
    rate, day, month = rate_of(settled, name, job), settled.day, settled.month
    if rate.listed:
        return (LISTED, "the policy's price list"), [Quote(rate.curve.mean)] * HOURS
    base = weight_one(settled, name, rate)
    if base is not None:
        pool = settled.policy.pools[name]
        weights = (pool.weight_at(datetime.combine(day, time(hour))) for hour in range(HOURS))
        return (BY_RULE, f"the policy's times of use, at what an hour of weight 1 came to in {month}"), [
            Quote(base * weight) for weight in weights
        ]
    quote = such_hours(rate.curve)
    return (EXPECTED, f"as such hours came to in {month}, which is no promise"), [
        quote(day, hour) for hour in range(HOURS)
    ]


def weight_one(settled: Settled, name: str, rate: Rate) -> Fraction | None:
    """Where hours have weights, then and on the day."""
    then, now = settled.last.world.policy.pools[name], settled.policy.pools[name]
    return by_weight(rate.curve, then.weight_at) if then.times and now.times else None


def discount(settled: Settled, name: str, job: Job) -> Fraction:
    """What the percentages of the policy leave of a price."""
    left = Fraction(1)
    for rule in percentages(settled, job, (name,)):
        if rule.percent is not None and (rule.when is None or rule.when.matches(job.labels)):
            left *= 1 + rule.percent / 100
    return left
