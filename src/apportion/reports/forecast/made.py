"""A month's forecasts: every group, all of them together in each currency, their budgets, and how such forecasts did before."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import accumulate

import pyarrow as pa

from apportion.model.money import to_decimal, to_grains
from apportion.model.result import Result
from apportion.model.times import Period
from apportion.reports.forecast.outlook import CHECKS, Ahead, Outlook, outlook, path, together
from apportion.reports.forecast.series import by_currency, months_of, series_of
from apportion.reports.forecast.trial import Score, Trial, score, scores, trials
from apportion.reports.sums import less, total
from apportion.reports.words import add_up

WHOLE = "all together"
Part = tuple[Ahead, Outlook]
Step = tuple[
    date, Decimal, Decimal | None, Decimal | None
]  # what the month comes to by a day's end; of days to come with the 80 % around it


@dataclass(frozen=True, slots=True)
class Known:
    """What is known when a forecast is made: rows (postings, or estimated ones like them) from `first` through `through`. `budgets` of the month by
    (team, currency); `estimated_from` is the first day that is not posted.
    """

    rows: pa.Table
    month: Period
    first: date
    through: date
    budgets: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    estimated_from: date | None = None
    head: str = ""

    @property
    def days(self) -> int:
        """Of the month."""
        return max(0, (self.through - self.month.first_day).days + 1)

    @property
    def is_over(self) -> bool:
        return self.through >= self.month.last_day


@dataclass(frozen=True, slots=True)
class Group:
    """One owner or pool, or all of a currency. `history` are the days since its first spending."""

    outlook: Outlook
    history: int
    score: Score | None = None
    budget: Decimal | None = None
    steps: tuple[Step, ...] = ()

    @property
    def over(self) -> Decimal | None:
        return None if self.budget is None else self.outlook.chance_over(self.budget)


@dataclass(frozen=True, slots=True, repr=False)
class Forecast(Result):
    """By team or pool; `wholes` are the sums, one for each currency."""

    known: Known
    by: str
    groups: tuple[Group, ...]
    wholes: tuple[Group, ...]


def forecast_of(known: Known, by: str = "team") -> Forecast:
    """Pools add up to what teams do: a month has one end, whoever looks at it."""
    groups: list[Group] = []
    wholes: list[Group] = []
    teams = foreseen(known, "team")
    for currency, own in (teams if by == "team" else foreseen(known, by)).items():
        parts, same = own, teams[currency]
        whole = together(same, WHOLE, known.through, known.month)
        if by != "team":
            said = adding_up([one for _, one in own], whole)
            parts = list(zip((ahead for ahead, _ in own), said, strict=True))
        tried = {one.name: one for one in tried_at(known, own)}
        groups += [group_of(known, [part], part[1], tried.get(part[1].name)) for part in parts]
        wholes.append(group_of(known, same, whole, {one.name: one for one in tried_at(known, same)}.get(WHOLE)))
    return Forecast(known, by, tuple(groups), tuple(wholes))


def foreseen(known: Known, by: str) -> dict[str, list[Part]]:
    """Every group with its outlook, by currency."""
    found = by_currency(series_of(known.rows, by, known.first, known.through))
    return {
        currency: [(one, outlook(one, known.through, known.month)) for one in map(Ahead, own)]
        for currency, own in found.items()
    }


def group_of(known: Known, parts: Sequence[Part], said: Outlook, tried: Score | None) -> Group:
    days = [total(day) for day in zip(*(ahead.series.amounts for ahead, _ in parts), strict=True)]
    first = next((n for n, amount in enumerate(days) if amount), len(days))
    so_far = days[len(days) - known.days :] if known.days else []
    ran = zip(days_of(known.month), accumulate(map(to_grains, so_far)), strict=False)
    steps: list[Step] = [(day, to_decimal(grains), None, None) for day, grains in ran]
    ahead = ((day, one.amount, one.range(80)) for day, one in path(parts, said, known.through, known.month))
    steps += [(day, amount, at.low, at.high) for day, amount, at in ahead]
    budget = known.budgets.get((said.name, said.currency))
    return Group(said, len(days) - first, tried, budget, tuple(steps))


def days_of(month: Period) -> list[date]:
    return [month.first_day + timedelta(days=n) for n in range(month.last_day.day)]


def adding_up(parts: Sequence[Outlook], whole: Outlook) -> list[Outlook]:
    """In proportion; where nothing is foreseen for any part, the one that spent most takes what is foreseen for all."""
    sums = total(one.remaining for one in parts)
    if sums == whole.remaining or not parts:
        return list(parts)
    if sums <= 0 or whole.remaining < 0:
        most = max(parts, key=lambda one: (one.spent, one.name))
        missing = less(whole.remaining, sums)
        return [replace(one, remaining=total([one.remaining, missing])) if one is most else one for one in parts]
    whole_grains, grains = to_grains(whole.remaining), to_grains(sums)
    shares = [to_decimal(to_grains(one.remaining) * whole_grains // grains) for one in parts]
    return [
        replace(one, remaining=amount, spread=one.spread * whole_grains / grains)
        for one, amount in zip(parts, add_up(shares, whole.currency), strict=True)
    ]


def tried_at(known: Known, parts: Sequence[Part]) -> list[Score]:
    """How forecasts did on months before that were as far as this one is."""
    if known.is_over:
        return []
    day = max((day for day in (0, *CHECKS) if day <= known.days), default=0)
    return scores(trials([ahead for ahead, _ in parts], WHOLE, [day]), day)


@dataclass(frozen=True, slots=True, repr=False)
class Backtest(Result):
    """`trials` of every month that is over and has one before; `every` is over all groups of a currency, each counting by what it spent."""

    by: str
    months: tuple[str, ...]
    trials: tuple[Trial, ...]
    scores: tuple[Score, ...]
    every: tuple[Score, ...]
    head: str = ""

    @property
    def is_better(self) -> bool | None:
        """Than 'same as last month', in each currency and on each day; None where there is nothing to compare."""
        found = [one.is_better for one in self.every if one.is_better is not None]
        return all(found) if found else None


def backtest_of(known: Known, by: str = "team") -> Backtest:
    found: list[Trial] = []
    made: list[Score] = []
    every: list[Score] = []
    months: list[str] = []
    for own in by_currency(series_of(known.rows, by, known.first, known.through)).values():
        tried = trials([Ahead(one) for one in own], WHOLE)
        found += tried
        months = [str(month) for month in months_of(own[0])[1:]]
        for day in CHECKS:
            made += scores(tried, day)
            groups = [one for one in tried if one.day == day and one.name != WHOLE]
            every += [score(groups, "every one", day)] if groups else []
    return Backtest(by, tuple(months), tuple(found), tuple(made), tuple(every), known.head)
