"""A month's forecasts: every group, all of them together in each currency, their budgets, and how such forecasts did before."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.result import Result
from apportion.model.times import Period
from apportion.reports.forecast.outlook import CHECKS, Ahead, Outlook, path
from apportion.reports.forecast.series import ROWS, by_currency, months_of, series_of
from apportion.reports.forecast.shares import WHOLE, Bill, Booked, Certain, bill_of, ends_of
from apportion.reports.forecast.trial import Score, Trial, score, scores, trials
from apportion.reports.groups import names
from apportion.reports.sums import ZERO, grouped, less, total
from apportion.reports.words import rounded

Step = tuple[
    date, Decimal, Decimal | None, Decimal | None
]  # what the month comes to by a day's end; of days to come with the 80 % around it
Days = Mapping[tuple[str, str], Mapping[date, Decimal]]  # (name, currency) -> what the month has of each of its days


@dataclass(frozen=True, slots=True)
class Known:
    """What is known when a forecast is made: rows (postings, or estimated ones like them) from `first` through `through`. `standing` is what lines of bills
    cost a day that hold money for days after it: for those days it is committed. Its team is empty where they are nobody's own. `partial` are days of
    which some hours are missing. `seen`: teams that are told of, None for all. `budgets` of the month by (team, currency); `estimated_from` is the
    first day that is not posted.
    """

    rows: pa.Table
    month: Period
    first: date
    through: date
    budgets: Mapping[tuple[str, str], Decimal] = field(default_factory=dict)
    estimated_from: date | None = None
    head: str = ""
    standing: pa.Table = field(default_factory=ROWS.empty_table)
    partial: frozenset[date] = frozenset()
    seen: frozenset[str] | None = None

    @property
    def days(self) -> int:
        """Of the month."""
        return max(0, (self.through - self.month.first_day).days + 1)

    @property
    def is_over(self) -> bool:
        return self.through >= self.month.last_day

    @property
    def own(self) -> pa.Table:
        """Rows that are told of."""
        return self.rows if self.seen is None else only(self.rows, self.seen)

    def committed(self, by: str) -> Days:
        """By (name, currency) and day, of the teams that are told of."""
        mine = self.standing.filter(pc.greater(self.standing["day"], pa.scalar(self.through, pa.date32())))
        return days_booked(self.month, mine if self.seen is None else only(mine, self.seen), by)


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
    spent, committed = days_booked(known.month, known.own, by), known.committed(by)
    for currency, bill in bills_of(known, by).items():
        ends, whole = ends_of(bill, known.through, known.month, booked_in(known, currency, by))
        tried = {one.name: one for one in tried_at(known, bill)}
        aheads = {one.series.name: one for one in bill.rows}
        for one in ends:
            key = one.name, currency
            days = sums_of([spent.get(key, {}), committed.get(key, {})])
            groups.append(group_of(known, aheads[one.name], one, days, tried.get(one.name)))
        every = [days for part in (spent, committed) for (_, unit), days in part.items() if unit == currency]
        wholes.append(group_of(known, bill.own, whole, sums_of(every), tried.get(WHOLE)))
    return Forecast(known, by, tuple(groups), tuple(wholes))


def month_ends(known: Known, split: Collection[str]) -> dict[tuple[str, str, str], Decimal]:
    """What every team ends at, and the projects of those in `split`, by (team, project, currency); the team's own has no project."""
    found: dict[tuple[str, str, str], Decimal] = {}
    for currency, bill in bills_of(known, "team").items():
        ends, _ = ends_of(bill, known.through, known.month, booked_in(known, currency, "team"))
        found |= {(one.name, "", currency): one.amount for one in ends}
    for team in sorted(split):
        one = replace(known, seen=frozenset({team}))
        for currency, bill in bills_of(one, "project").items():
            ends, _ = ends_of(bill, known.through, known.month, booked_in(one, currency, "project"))
            found |= {(team, project_of(end.name, team), currency): end.amount for end in ends}
    return found


def project_of(name: str, team: str) -> str:
    return name.removeprefix(team).removeprefix("/")


def bills_of(known: Known, by: str) -> dict[str, Bill]:
    """By currency, where anything of it is told of."""
    span = known.first, known.through, known.partial
    teams, found = by_currency(series_of(known.rows, "team", *span)), dict[str, Bill]()
    standing = grouped(known.standing, ("currency", "day"))
    rows = {} if by == "team" else by_currency(series_of(known.own, by, *span))
    for currency, every in teams.items():
        seen = {one.name for one in every if known.seen is None or one.name in known.seen}
        if seen:
            own = {date.fromisoformat(day): amount for (unit, day), amount in standing.items() if unit == currency}
            found[currency] = bill_of(every, None if by == "team" else rows.get(currency, []), seen, own)
    return found


def days_booked(month: Period, rows: pa.Table, by: str) -> Days:
    """What the month has of each of its days. What it books for others counts on its nearest."""
    mine = rows.filter(pc.equal(rows["period"], str(month)))
    named = mine.append_column("name", names(mine, by))
    found: dict[tuple[str, str], dict[date, Decimal]] = {}
    for (name, currency, text), amount in grouped(named, ("name", "currency", "day")).items():
        day = min(max(date.fromisoformat(text), month.first_day), month.last_day)
        days = found.setdefault((name, currency), {})
        days[day] = total([days.get(day, ZERO), amount])
    return found


def booked_in(known: Known, currency: str, by: str) -> Booked:
    """What is committed in whole coins, as all that is not spent yet."""
    every = replace(known, seen=None)

    def certain(one: Known, by: str) -> dict[str, Certain]:
        spent, committed = days_booked(one.month, one.own, by), one.committed(by)
        keys = [key for key in {**spent, **committed} if key[1] == currency]
        return {
            key[0]: Certain(total(spent.get(key, {}).values()), coins(committed.get(key, {}), currency)) for key in keys
        }

    teams = certain(every, "team")
    held = sums_of([days for (_, unit), days in every.committed("team").items() if unit == currency])
    whole = Certain(total(one.spent for one in teams.values()), coins(held, currency))
    return Booked(whole, teams, teams if by == "team" else certain(known, by))


def coins(days: Mapping[date, Decimal], currency: str) -> Decimal:
    return rounded(total(days.values()), currency)


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
        if day <= known.through:
            yield day, at, None, None
    for day, one in path(ahead, said, known.through, known.month):
        then = replace(
            one,
            committed=min(less(sums[day], said.spent), said.committed)
            if day < known.month.last_day
            else said.committed,
        )
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
    for bill in bills_of(replace(known, standing=ROWS.empty_table()), by).values():
        tried = trials(bill)
        found += tried
        months = [str(month) for month in months_of(bill.sum.series)[1:]]
        for day in CHECKS:
            made += scores(tried, day)
            groups = [one for one in tried if one.day == day and one.name != WHOLE]
            every += [score(groups, "every one", day)] if groups else []
    return Backtest(by, tuple(months), tuple(found), tuple(made), tuple(every), known.head)
