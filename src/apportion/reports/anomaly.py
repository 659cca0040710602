"""Days on which a team spent far more than it usually does. Quiet by default: a figure must stand out in every way before it is told.

Usual is the median of the team's 28 days before, and of the same weekdays among them; what is far is measured by the median distance from it (MAD),
which a single wild day does not move. What came on the same day of the month before, such as a monthly fee, is no news.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from statistics import median

from apportion.model.money import to_decimal, to_grains
from apportion.reports.report import Column, Report
from apportion.reports.sums import less, section, total
from apportion.reports.words import counted, shown

WINDOW, FEWEST, WEEK = 28, 14, 7  # days before; days that must be known
FAR = Fraction(6)  # median distances: about four standard deviations
RELATIVE, ABSOLUTE = Fraction(1, 2), 100  # at least half as much again as usual, and so much of the currency
Spent = Mapping[date, Mapping[str, Decimal]]  # by day and pool, of one team


@dataclass(frozen=True, slots=True)
class Anomaly:
    """`pool` is the one that most of the excess is in; `estimated` where the day is not posted yet."""

    team: str
    day: date
    currency: str
    amount: Decimal
    usual: Decimal
    pool: str
    pool_above: Decimal
    estimated: bool = False

    @property
    def above(self) -> Decimal:
        return less(self.amount, self.usual)

    @property
    def sentence(self) -> str:
        """`vision spent 812.00 USD on 2026-11-12, 604.10 USD above its usual 207.90 USD; most of it in gpus (600.00 USD).`"""
        said = " (estimated)" if self.estimated else ""
        return (
            f"{self.team} spent {shown(self.amount, self.currency)} on {self.day}{said}, {shown(self.above, self.currency)} above its usual "
            f"{shown(self.usual, self.currency)}; most of it in {self.pool} ({shown(self.pool_above, self.currency)})."
        )


def stands_out(team: str, currency: str, spent: Spent, days: Sequence[date]) -> list[Anomaly]:
    """Which of `days` stand out from the days before them. Days without any spending count as 0 from the first that is known."""
    if not spent:
        return []
    first = min(spent)
    sums = {day: sum(map(to_grains, pools.values())) for day, pools in spent.items()}
    found = []
    for day in days:
        usual = usual_before(day, sums, first)
        if usual is None or not is_far(sums.get(day, 0), usual) or came_last_month(day, sums):
            continue
        pool, above = most_of(day, spent, first)
        amount, centre = (to_decimal(round(grains)) for grains in (sums[day], max(median(part) for part in usual)))
        found.append(Anomaly(team, day, currency, amount, centre, pool, above))
    return found


def usual_before(day: date, sums: Mapping[date, int], first: date) -> list[list[Fraction]] | None:
    """What was spent on the days before, and on the same weekdays of them; None where too few are known."""
    before = [day - timedelta(days=n) for n in range(1, WINDOW + 1)]
    known = [one for one in before if one >= first]
    if len(known) < FEWEST:
        return None
    same = [one for one in known if (day - one).days % WEEK == 0]
    return [[Fraction(sums.get(one, 0)) for one in part] for part in (known, same)]


def is_far(amount: int, usual: Sequence[Sequence[Fraction]]) -> bool:
    """From all days and from the same weekdays: whoever always works on Mondays is not told of each."""
    return all(amount > centre + least(centre, part) for part in usual for centre in (median(part),))


def least(centre: Fraction, part: Sequence[Fraction]) -> Fraction:
    spread = median(abs(one - centre) for one in part)
    return max(FAR * spread, RELATIVE * abs(centre), Fraction(to_grains(Decimal(ABSOLUTE))))


def came_last_month(day: date, sums: Mapping[date, int]) -> bool:
    """About as much on the same day of the month before."""
    end = day.replace(day=1) - timedelta(days=1)
    before = sums.get(end.replace(day=min(day.day, end.day)), 0)
    return sums[day] <= before * (1 + RELATIVE)


def most_of(day: date, spent: Spent, first: date) -> tuple[str, Decimal]:
    before = [one for n in range(1, WINDOW + 1) if (one := day - timedelta(days=n)) >= first]
    above = {
        pool: to_grains(amount)
        - median(Fraction(to_grains(spent.get(one, {}).get(pool, Decimal(0)))) for one in before)
        for pool, amount in spent[day].items()
    }
    pool = max(sorted(above), key=lambda name: above[name])
    return pool, to_decimal(round(above[pool]))


def anomaly_report(found: Sequence[Anomaly], period: str = "") -> Report:
    """The newest first."""
    columns = (
        Column("day", "day"),
        Column("team", "team"),
        Column("amount", "spent", "money"),
        Column("usual", "usual", "money"),
        Column("above", "above", "money"),
        Column("pool", "most in"),
        Column("state", "state"),
    )
    order = sorted(found, key=lambda one: (-one.day.toordinal(), one.team))
    sections = []
    for currency in sorted({one.currency for one in order}):
        rows = [
            {"day": str(one.day), "team": one.team, "amount": one.amount, "usual": one.usual, "above": one.above, "pool": one.pool,
             "state": "estimated" if one.estimated else "posted"}
            for one in order if one.currency == currency
        ]  # fmt: skip
        made = section(currency, total(one.above for one in order if one.currency == currency), columns, rows)
        sections.append(made)
    days = counted(len(order), "day stands", "days stand")
    title = f"{days} out." if order else "No day stands out."
    return Report("anomalies", title, period, columns, tuple(sections), "", notes=tuple(one.sentence for one in order))
