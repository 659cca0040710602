"""A month's forecasts: every group, all of them together in each currency, their budgets, and how such forecasts did before."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.result import Result
from apportion.model.times import Period
from apportion.reports.forecast.outlook import CHECKS, Ahead, Outlook, path
from apportion.reports.forecast.series import by_currency, months_of, series_of
from apportion.reports.forecast.shares import WHOLE, Bill, Booked, Certain, bill_of, ends_of
from apportion.reports.forecast.trial import Score, Trial, score, scores, trials
from apportion.reports.groups import names
from apportion.reports.sums import ZERO, grouped, less, total

Step = tuple[
    date, Decimal, Decimal | None, Decimal | None
]  # what the month comes to by a day's end; of days to come with the 80 % around it
Days = Mapping[tuple[str, str], Mapping[date, Decimal]]  # (name, currency) -> what the month has of each of its days


@dataclass(frozen=True, slots=True)
class Known:
    """What is known when a forecast is made: rows (postings, or estimated ones like them) from `first` through `through`, and what is posted or billed for later
    days of the month. `standing` is what such lines cost a day, before and after `through`, by (day, currency). `partial` are days of which some hours are missing.
    `seen`: teams that are told of, None for all. `budgets` of the month by (team, currency); `estimated_from` is the first day that is not posted.
    """

    rows: pa.Table
    month: Period
    first: date
    through: date
    budgets: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    estimated_from: date | None = None
    head: str = ""
    standing: Mapping[tuple[date, str], Decimal] = field(default_factory=dict)
    partial: frozenset[date] = frozenset()
    seen: frozenset[str] | None = None
    is_closed: bool = False  # every bill of the month is there, to its end

    @property
    def days(self) -> int:
        """Of the month."""
        return self.month.last_day.day if self.is_closed else max(0, (self.through - self.month.first_day).days + 1)

    @property
    def is_over(self) -> bool:
        return self.is_closed or self.through >= self.month.last_day

    @property
    def known_to(self) -> date:
        """Beyond it nothing is foreseen of a month that is over."""
        return max(self.through, self.month.last_day) if self.is_over else self.through

    @property
    def own(self) -> pa.Table:
        """Rows that are told of."""
        return self.rows if self.seen is None else only(self.rows, self.seen)


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
    """Pools add up to what teams do, and teams to what all do: a month has one end, whoever looks at it."""
    groups: list[Group] = []
    wholes: list[Group] = []
    teams, rows = days_booked(known, known.rows, "team"), days_booked(known, known.own, by)
    for currency, bill in bills_of(known, by, known.standing).items():
        booked = booked_in(known, currency, teams, rows)
        ends, whole = ends_of(bill, known.known_to, known.month, booked)
        tried = {one.name: one for one in tried_at(known, bill)}
        aheads = {one.series.name: one for one in bill.rows}
        for one in ends:
            days = rows.get((one.name, currency), {})
            groups.append(group_of(known, aheads[one.name], one, days, tried.get(one.name)))
        every = sums_of([days for (_, unit), days in rows.items() if unit == currency])
        wholes.append(group_of(known, bill.own, whole, every, tried.get(WHOLE)))
    return Forecast(known, by, tuple(groups), tuple(wholes))


def month_ends(known: Known) -> dict[tuple[str, str, str], Decimal]:
    """What every team and each of its projects ends at, by (team, project, currency); the team's own has no project."""
    teams, found = days_booked(known, known.rows, "team"), dict[tuple[str, str, str], Decimal]()
    for team in sorted({team for team, _ in teams if known.seen is None or team in known.seen}):
        one = replace(known, seen=frozenset({team}))
        projects = days_booked(known, one.own, "project")
        for currency, bill in bills_of(one, "project", known.standing).items():
            booked = booked_in(known, currency, teams, projects)
            ends, whole = ends_of(bill, known.known_to, known.month, booked)
            found[team, "", currency] = whole.amount
            found |= {(team, project_of(end.name, team), currency): end.amount for end in ends}
    return found


def project_of(name: str, team: str) -> str:
    return name.removeprefix(team).removeprefix("/")


def bills_of(known: Known, by: str, standing: Mapping[tuple[date, str], Decimal]) -> dict[str, Bill]:
    """By currency, where anything of it is told of."""
    span = known.first, known.through, known.partial
    teams, found = by_currency(series_of(known.rows, "team", *span)), {}
    rows = {} if by == "team" else by_currency(series_of(known.own, by, *span))
    for currency, every in teams.items():
        seen = {one.name for one in every if known.seen is None or one.name in known.seen}
        if seen:
            own = {day: amount for (day, unit), amount in standing.items() if unit == currency}
            found[currency] = bill_of(every, None if by == "team" else rows.get(currency, []), seen, own)
    return found


def days_booked(known: Known, rows: pa.Table, by: str) -> Days:
    """What the month has of each of its days. What it books for others counts on its nearest."""
    mine = rows.filter(pc.equal(rows["period"], str(known.month)))
    named = mine.append_column("name", names(mine, by))
    first, last = known.month.first_day, known.month.last_day
    found: dict[tuple[str, str], dict[date, Decimal]] = {}
    for (name, currency, text), amount in grouped(named, ("name", "currency", "day")).items():
        day = min(max(date.fromisoformat(text), first), last)
        days = found.setdefault((name, currency), {})
        days[day] = total([days.get(day, ZERO), amount])
    return found


def booked_in(known: Known, currency: str, teams: Days, rows: Days) -> Booked:
    def certain(days: Mapping[date, Decimal]) -> Certain:
        spent = total(amount for day, amount in days.items() if day <= known.known_to)
        return Certain(spent, less(total(days.values()), spent))

    by_team = {name: certain(days) for (name, unit), days in teams.items() if unit == currency}
    committed = total(one.committed for one in by_team.values())
    after = [
        amount
        for (day, unit), amount in known.standing.items()
        if unit == currency and known.known_to < day <= known.month.last_day
    ]
    flow = less(committed, total(after))
    return Booked(by_team, {name: certain(days) for (name, unit), days in rows.items() if unit == currency}, flow)


def group_of(known: Known, ahead: Ahead, said: Outlook, days: Mapping[date, Decimal], tried: Score | None) -> Group:
    budget = known.budgets.get((said.name, said.currency))
    amounts = ahead.series.amounts
    first = next((n for n, amount in enumerate(amounts) if amount), len(amounts))
    return Group(said, len(amounts) - first, tried, budget, tuple(steps_of(known, ahead, said, days)))


def steps_of(known: Known, ahead: Ahead, said: Outlook, days: Mapping[date, Decimal]) -> Iterator[Step]:
    """What is certain day by day, and beyond it what is foreseen."""
    sums, at = dict[date, Decimal](), ZERO
    for day in days_of(known.month):
        at = sums[day] = total([at, days.get(day, ZERO)])
        if day <= known.known_to:
            yield day, at, None, None
    for day, one in path(ahead, said, known.known_to, known.month):
        then = replace(one, committed=less(sums[day], said.spent))
        around = then.range(80)
        yield day, then.amount, around.low, around.high


def sums_of(every: Sequence[Mapping[date, Decimal]]) -> dict[date, Decimal]:
    found: dict[date, list[Decimal]] = {}
    for days in every:
        for day, amount in days.items():
            found.setdefault(day, []).append(amount)
    return {day: total(amounts) for day, amounts in found.items()}


def days_of(month: Period) -> list[date]:
    return [month.first_day + timedelta(days=n) for n in range(month.last_day.day)]


def only(rows: pa.Table, teams: frozenset[str]) -> pa.Table:
    return rows.filter(pc.is_in(rows["team"], pa.array(sorted(teams), pa.string())))


def tried_at(known: Known, bill: Bill) -> list[Score]:
    """How forecasts did on months before that were as far as this one is."""
    if known.is_over:
        return []
    day = max((day for day in (0, *CHECKS) if day <= known.days), default=0)
    return scores(trials(replace(bill, standing={}) if bill.standing else bill, [day]), day)


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
    for bill in bills_of(known, by, {}).values():
        tried = trials(bill)
        found += tried
        months = [str(month) for month in months_of(bill.sum.series)[1:]]
        for day in CHECKS:
            made += scores(tried, day)
            groups = [one for one in tried if one.day == day and one.name != WHOLE]
            every += [score(groups, "every one", day)] if groups else []
    return Backtest(by, tuple(months), tuple(found), tuple(made), tuple(every), known.head)
