"""What was used of a quota, what is left of it, and when it runs out if it goes on like this."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil

from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Report, Section
from apportion.reports.sums import total
from apportion.reports.words import counted

COLUMNS = (
    Column("owner", "owner"),
    Column("what", "of what"),
    Column("unit", "unit"),
    Column("limit", "quota", "money"),  # two places, or those of the currency
    Column("soft", "soft limit", "money", quiet=True),
    Column("rolled", "rolled over", "money", quiet=True),
    Column("borrowed", "borrowed", "money", quiet=True),
    Column("lent", "lent", "money", quiet=True),
    Column("used", "used", "money"),
    Column("pending", "reserved", "money", quiet=True),
    Column("left", "left", "money"),
    Column("share", "share", "share"),
    Column("per", "per"),
    Column("in", "in"),
    Column("through", "known through", quiet=True),
    Column("runs_out", "runs out at this pace", quiet=True),
    Column("state", "state"),
)
PACE = "'At this pace' goes on like the days so far on average: a straight line, not a forecast."
OVER, SOFT, WARNED, FINE = "over", "over soft", "warned", "fine"


@dataclass(frozen=True, slots=True)
class Limit:
    """A quota as reports see it: so many of a `unit` in each day, week, month, quarter or year. Without `pool` of all that count the meter.

    A department's counts for all of its `teams`. What is above `soft`, or above a limit that is not `hard`, is told and stops nobody.
    """

    team: str
    project: str
    meter: str
    pool: str
    unit: str
    size: Fraction
    per: str
    warn: tuple[Fraction, ...] = ()  # percent
    department: str = ""
    teams: tuple[str, ...] = ()
    user: str = ""
    soft: Fraction | None = None
    hard: bool = True

    @property
    def owner(self) -> str:
        if self.department:
            return f"department {self.department}"
        path = f"{self.team}/{self.project}" if self.project else self.team
        return f"user {self.user} of {path}" if self.user else path

    @property
    def what(self) -> str:
        return " of ".join(part for part in (self.meter or "money", self.pool) if part)

    @property
    def of(self) -> tuple[str, str, str, str]:
        """Whose, of what, where and how often: what stays the same from window to window."""
        return self.owner, self.meter, self.pool, self.per

    def is_of(self, team: str) -> bool:
        """Whether what a team uses counts in it."""
        return team == self.team or team in self.teams


@dataclass(frozen=True, slots=True)
class Lot:
    """What was left of a window and goes on until a day."""

    window: str
    amount: Fraction
    until: date


@dataclass(frozen=True, slots=True)
class Moved:
    """What changes a limit in one window, and what is set aside in it. `waits` is a window that is not closed yet, so that nothing comes from it."""

    rolled: tuple[Lot, ...] = ()
    borrowed: Fraction = Fraction(0)
    lent: Fraction = Fraction(0)
    pending: Fraction = Fraction(0)
    waits: str = ""


@dataclass(frozen=True, slots=True)
class Used:
    """A limit in one of its windows, first and last day included. `through` is the last day that is known, the window's
    own last where it is over; None where nothing is known.
    """

    limit: Limit
    first: date
    last: date
    through: date | None
    used: Fraction
    moved: Moved = Moved()

    @property
    def window(self) -> str:
        return window_name(self.limit.per, self.first)

    @property
    def rolled(self) -> Fraction:
        return sum((lot.amount for lot in self.moved.rolled), Fraction(0))

    @property
    def size(self) -> Fraction:
        """The quota of this window: its own, what was rolled over and what was borrowed, without what was lent."""
        return self.limit.size + self.rolled + self.moved.borrowed - self.moved.lent

    @property
    def left(self) -> Fraction:
        """Of what is neither used nor reserved. Below 0 where more was used."""
        return self.size - self.used - self.moved.pending

    @property
    def share(self) -> Fraction:
        return self.used / self.size if self.size > 0 else Fraction(1 if self.used > 0 else 0)

    @property
    def marks(self) -> tuple[Fraction, ...]:
        """Warnings that were reached, in percent."""
        return tuple(mark for mark in self.limit.warn if self.share * 100 >= mark)

    @property
    def state(self) -> str:
        soft = self.limit.soft
        if self.used > self.size:
            return OVER if self.limit.hard else SOFT
        if soft is not None and self.used > soft:
            return SOFT
        return WARNED if self.marks else FINE

    @property
    def runs_out(self) -> date | None:
        """At the pace of the days so far; None where it lasts, is used up already, or nothing is known."""
        if self.through is None or not self.used or self.used >= self.size:
            return None
        days = (self.through - self.first).days + 1
        ends = self.first + timedelta(days=ceil(self.size * days / self.used) - 1)
        return ends if self.through < ends <= self.last else None


def window_name(per: str, first: date) -> str:
    """`2026-10-05`, `2026-W41`, `2026-10`, `2026-Q4` or `2026`."""
    quarter = (first.month + 2) // 3
    texts = {
        "week": f"{first:%G-W%V}",
        "month": f"{first:%Y-%m}",
        "quarter": f"{first:%Y}-Q{quarter}",
        "year": f"{first:%Y}",
    }
    return texts.get(per, str(first))


def quota_report(found: Sequence[Used], period: str, head: str) -> Report:
    """A section for each unit: hours and money are never added."""
    sections = []
    for unit in dict.fromkeys(one.limit.unit for one in found):
        own = [cells(one) for one in found if one.limit.unit == unit]
        rows = tuple(tuple(row.get(column.name) for column in COLUMNS) for row in own)
        sections.append(Section(unit, total(row["used"] for row in own if isinstance(row["used"], Decimal)), rows, ()))
    over, warned = (sum(one.state == state for one in found) for state in (OVER, WARNED))
    soft = sum(one.state == SOFT for one in found)
    beyond = f", {soft} over a soft limit" if soft else ""
    title = f"{counted(len(found), 'quota')} for {period}: {over} over, {warned} warned{beyond}."
    notes = [said for one in found for said in lines_of(one)]
    notes += [PACE] if any(one.runs_out for one in found) else []
    said = title if found else f"No quota holds in {period}."
    return Report("quotas", said, period, COLUMNS, tuple(sections), head, notes=tuple(notes))


def cells(one: Used) -> dict[str, Cell]:
    limit = one.limit
    return {
        "owner": limit.owner,
        "what": limit.what,
        "unit": limit.unit,
        "limit": places(limit.size),
        "soft": places(limit.soft),
        "rolled": places(one.rolled or None),
        "borrowed": places(one.moved.borrowed or None),
        "lent": places(one.moved.lent or None),
        "pending": places(one.moved.pending or None),
        "used": places(one.used),
        "left": places(one.left),
        "share": places(one.share),
        "per": limit.per,
        "in": one.window,
        "through": str(one.through) if one.through else None,
        "runs_out": str(one.runs_out) if one.runs_out else None,
        "state": f"warned at {one.marks[-1]} %" if one.state == WARNED else one.state,
    }


def lines_of(one: Used) -> list[str]:
    """What was rolled over, each part in a line of its own; what waits to be; and a limit below what was used before it was set."""
    limit, unit = one.limit, one.limit.unit
    said = [
        f"{limit.owner}: {figure(lot.amount)} {unit} rolled over from {lot.window}, until {lot.until}."
        for lot in one.moved.rolled
    ]
    if one.moved.waits:
        said.append(f"{limit.owner}: what is left of {limit.what} in {one.moved.waits} comes once it is closed.")
    return said


def figure(number: Fraction) -> str:
    """For a sentence: at most two places."""
    return f"{places(number) or Decimal(0):,.2f}".removesuffix(".00")
