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
    Column("used", "used", "money"),
    Column("left", "left", "money"),
    Column("share", "share", "share"),
    Column("per", "per"),
    Column("in", "in"),
    Column("through", "known through", quiet=True),
    Column("runs_out", "runs out at this pace", quiet=True),
    Column("state", "state"),
)
PACE = "'At this pace' goes on like the days so far on average: a straight line, not a forecast."
OVER, WARNED, FINE = "over", "warned", "fine"


@dataclass(frozen=True, slots=True)
class Limit:
    """A quota as reports see it: so many of a `unit` in each day, week, month, quarter or year. Without `pool` of all that count the meter."""

    team: str
    project: str
    meter: str
    pool: str
    unit: str
    size: Fraction
    per: str
    warn: tuple[Fraction, ...] = ()  # percent

    @property
    def owner(self) -> str:
        return f"{self.team}/{self.project}" if self.project else self.team

    @property
    def what(self) -> str:
        return " of ".join(part for part in (self.meter or "money", self.pool) if part)


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

    @property
    def window(self) -> str:
        """`2026-10-05`, `2026-W41`, `2026-10`, `2026-Q4` or `2026`."""
        quarter = (self.first.month + 2) // 3
        texts = {
            "week": f"{self.first:%G-W%V}",
            "month": f"{self.first:%Y-%m}",
            "quarter": f"{self.first:%Y}-Q{quarter}",
        }
        return texts.get(self.limit.per, f"{self.first:%Y}" if self.limit.per == "year" else str(self.first))

    @property
    def left(self) -> Fraction:
        """Below 0 where more was used."""
        return self.limit.size - self.used

    @property
    def share(self) -> Fraction:
        return self.used / self.limit.size

    @property
    def marks(self) -> tuple[Fraction, ...]:
        """Warnings that were reached, in percent."""
        return tuple(mark for mark in self.limit.warn if self.share * 100 >= mark)

    @property
    def state(self) -> str:
        return OVER if self.used > self.limit.size else WARNED if self.marks else FINE

    @property
    def runs_out(self) -> date | None:
        """At the pace of the days so far; None where it lasts, is used up already, or nothing is known."""
        if self.through is None or not self.used or self.left <= 0:
            return None
        days = (self.through - self.first).days + 1
        ends = self.first + timedelta(days=ceil(self.limit.size * days / self.used) - 1)
        return ends if self.through < ends <= self.last else None


def quota_report(found: Sequence[Used], period: str, head: str) -> Report:
    """A section for each unit: hours and money are never added."""
    sections = []
    for unit in dict.fromkeys(one.limit.unit for one in found):
        own = [cells(one) for one in found if one.limit.unit == unit]
        rows = tuple(tuple(row.get(column.name) for column in COLUMNS) for row in own)
        sections.append(Section(unit, total(row["used"] for row in own if isinstance(row["used"], Decimal)), rows, ()))
    over, warned = (sum(one.state == state for one in found) for state in (OVER, WARNED))
    title = f"{counted(len(found), 'quota')} for {period}: {over} over, {warned} warned."
    notes = (PACE,) if any(one.runs_out for one in found) else ()
    said = title if found else f"No quota holds in {period}."
    return Report("quotas", said, period, COLUMNS, tuple(sections), head, notes=notes)


def cells(one: Used) -> dict[str, Cell]:
    limit = one.limit
    return {
        "owner": limit.owner,
        "what": limit.what,
        "unit": limit.unit,
        "limit": places(limit.size),
        "used": places(one.used),
        "left": places(one.left),
        "share": places(one.share),
        "per": limit.per,
        "in": one.window,
        "through": str(one.through) if one.through else None,
        "runs_out": str(one.runs_out) if one.runs_out else None,
        "state": f"warned at {one.marks[-1]} %" if one.state == WARNED else one.state,
    }
