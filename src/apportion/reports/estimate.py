"""What a job would cost before it runs: what its hours came to where somebody ran such hours, and what that rests on."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from itertools import accumulate
from operator import mul

from apportion.model.money import GRAIN, for_reading
from apportion.model.result import Result
from apportion.model.times import Interval
from apportion.reports.sums import less, total

HOUR_S = 3600
SETTLED, SUCH_HOURS, MEAN, LISTED = "settled", "such hours", "mean", "listed"  # what a price is


@dataclass(frozen=True, slots=True)
class Job:
    """Nobody has run it. `amounts`: natural units by meter. `labels`: as its scheduler would write them, such as `qos`."""

    team: str
    hours: Fraction
    amounts: Mapping[str, Fraction]
    model: str = ""
    pool: str = ""
    start_s: int | None = None
    project: str = ""
    user: str = ""
    labels: Mapping[str, str] = field(default_factory=dict)

    @property
    def seconds(self) -> int:
        return round(self.hours * HOUR_S)

    @property
    def window(self) -> Interval | None:
        return None if self.start_s is None else Interval(self.start_s, self.start_s + self.seconds)


@dataclass(frozen=True, slots=True)
class Cell:
    """At most an hour, and what an hour of the job costs then."""

    interval: Interval
    start: datetime  # local
    hourly: Fraction


@dataclass(frozen=True, slots=True)
class Curve:
    """What an hour of a job costs: on average, and in each cell of the months that were settled. No cells where only the average is known."""

    mean: Fraction
    cells: tuple[Cell, ...] = ()

    def times(self, units: Fraction) -> "Curve":
        cells = (Cell(one.interval, one.start, one.hourly * units) for one in self.cells)
        return Curve(self.mean * units, tuple(cells))

    def over(self, window: Interval) -> Fraction | None:
        """Exact; None where some of it has no price."""
        parts = [(cell.hourly, cell.interval.clip(window).seconds) for cell in self.cells]
        if sum(seconds for _, seconds in parts) < window.seconds:
            return None
        return sum((hourly * seconds for hourly, seconds in parts if seconds), Fraction(0)) / HOUR_S

    def starts(self, seconds: int) -> list[tuple[datetime, Fraction]]:
        """What the job comes to from the beginning of each cell on, where all its hours have a price. To a grain."""
        begins = [cell.interval.start_s for cell in self.cells]
        hourly = [round(cell.hourly * GRAIN) for cell in self.cells]
        lengths = [cell.interval.seconds for cell in self.cells]
        priced, money = [0, *accumulate(lengths)], [0, *accumulate(map(mul, hourly, lengths))]

        def until(second: int) -> tuple[int, int]:
            """Seconds that have a price, and their money."""
            n = bisect_right(begins, second) - 1
            inside = min(second - begins[n], lengths[n])
            return priced[n] + inside, money[n] + hourly[n] * inside

        found = []
        for n, cell in enumerate(self.cells):
            seen, spent = until(begins[n] + seconds)
            if seen - priced[n] == seconds:
                found.append((cell.start, Fraction(spent - money[n], GRAIN * HOUR_S)))
        return found


def added(curves: Sequence[Curve]) -> Curve:
    """Of a job that several pools charge; cells that one of them has no price for are left out."""
    mean = sum((one.mean for one in curves), Fraction(0))
    known = [one for one in curves if one.cells]
    flat = sum((one.mean for one in curves if not one.cells), Fraction(0))
    sums: dict[Interval, list[Cell]] = defaultdict(list)
    for one in known:
        for cell in one.cells:
            sums[cell.interval].append(cell)
    cells = (
        Cell(interval, some[0].start, sum((cell.hourly for cell in some), flat))
        for interval, some in sorted(sums.items())
        if len(some) == len(known)
    )
    return Curve(mean, tuple(cells))


@dataclass(frozen=True, slots=True)
class Direct:
    """A job's direct price, what kind of figure it is, and on how many starts such as its own it rests."""

    amount: Fraction
    kind: str
    starts: int = 0


def direct_of(curve: Curve, job: Job, local: datetime | None) -> Direct:
    """At its very hours where they are settled, else as such hours of the week came to, else on average."""
    if job.window is None or local is None:
        return Direct(curve.mean * job.hours, MEAN)
    settled = curve.over(job.window)
    if settled is not None:
        return Direct(settled, SETTLED)
    starts = curve.starts(job.seconds)
    alike = by_hour(starts).get((local.weekday(), local.hour), [])
    if alike and len({amount for _, amount in starts}) > 1:
        return Direct(sum(alike, Fraction(0)) / len(alike), SUCH_HOURS, len(alike))
    return Direct(curve.mean * job.hours, MEAN)


def by_hour(starts: Iterable[tuple[datetime, Fraction]]) -> dict[tuple[int, int], list[Fraction]]:
    """By weekday and hour of the start."""
    found: dict[tuple[int, int], list[Fraction]] = defaultdict(list)
    for start, amount in starts:
        found[start.weekday(), start.hour].append(amount)
    return dict(found)


@dataclass(frozen=True, slots=True)
class Beside:
    """What is usually borne beside a direct price, for each unit of it: from pools that count flows, such as energy; idle; and overhead on all of it."""

    along: Fraction
    idle: Fraction
    overhead: Fraction


@dataclass(frozen=True, slots=True)
class Rule:
    """A percentage of the policy that concerns the job's use in its pool, and what else of it."""

    percent: Fraction
    along: bool
    idle: bool
    overhead: bool


@dataclass(frozen=True, slots=True)
class Price:
    """As `cost` tells the parts apart, and `along`: what such jobs are charged for what they move or burn. `adjustments` are what others pay (negative)."""

    direct: Decimal
    along: Decimal
    idle: Decimal
    overhead: Decimal
    adjustments: Decimal

    @property
    def with_idle(self) -> Decimal:
        return total([self.direct, self.along, self.idle])

    @property
    def with_overhead(self) -> Decimal:
        return total([self.with_idle, self.overhead])

    @property
    def owed(self) -> Decimal:
        return total([self.with_overhead, self.adjustments])


def price_of(direct: Fraction, beside: Beside, rules: Iterable[Rule]) -> Price:
    """Each rule changes what the ones before it left."""
    along, idle = direct * beside.along, direct * beside.idle
    overhead = (direct + along + idle) * beside.overhead
    stands = [direct, along, idle, overhead]
    for rule in rules:
        concerned = (True, rule.along, rule.idle, rule.overhead)
        stands = [
            stand * (1 + rule.percent / 100) if yes else stand for stand, yes in zip(stands, concerned, strict=True)
        ]
    before = (direct, along, idle, overhead)
    return Price(*map(for_reading, (*before, sum(stands, Fraction(0)) - sum(before, Fraction(0)))))


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the most that such a job would have come to, and in how many starts and earlier months that was looked for."""

    low: Decimal
    high: Decimal
    starts: int
    months: int


@dataclass(frozen=True, slots=True)
class Way:
    """One way to run the job. `unit_price`: what one unit of the first pool costs on average. `until`: the hours up to which it is cheaper."""

    what: str
    pools: tuple[str, ...]
    unit_price: Decimal
    per: str
    kind: str
    price: Price
    rests_on: str
    range: Range | None = None
    saves: Decimal | None = None
    until: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Effect:
    """What a job does to a budget or quota: `used` before it, and what it `adds`."""

    what: str
    window: str
    unit: str
    limit: Decimal
    used: Decimal
    adds: Decimal

    @property
    def left(self) -> Decimal:
        """After the job; below 0 where it is exceeded."""
        return less(self.limit, total([self.used, self.adds]))

    @property
    def exceeded(self) -> bool:
        return self.left < 0


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Result):
    job: Job
    called: str
    period: str
    month: str  # the settled one that prices are of
    currency: str
    asked: Way
    cheaper: tuple[Way, ...]
    effects: tuple[Effect, ...]
    notes: tuple[str, ...]

    @property
    def fits(self) -> bool:
        """Whether every budget and quota holds it."""
        return not any(one.exceeded for one in self.effects)
