"""How groups share what is foreseen of all: the sum is forecast on its own days, teams add up to it, and pools to the teams that are looked at."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal

from apportion.model.times import Period
from apportion.reports.forecast.outlook import Ahead, Outlook, adding_up, outlook
from apportion.reports.forecast.series import Series, summed
from apportion.reports.sums import ZERO, less, total

WHOLE = "all together"
Amounts = Mapping[date, Decimal]


@dataclass(frozen=True, slots=True)
class Certain:
    """What a month has of one group: `spent` through the last known day, `committed` beyond it."""

    spent: Decimal = ZERO
    committed: Decimal = ZERO

    def of(self, one: Outlook) -> Outlook:
        """A group's own days hold what is committed, too."""
        left = less(one.remaining, self.committed)
        left = max(left, ZERO) if one.never_negative else left
        return replace(one, spent=self.spent, committed=self.committed, remaining=left)


@dataclass
class Bill:
    """All teams of a currency. `rows` are what is told of: the teams that are looked at, or pools of theirs. `standing` is what lines cost on days before that
    are committed for days to come; it is no part of what is foreseen.
    """

    teams: Sequence[Ahead]
    seen: Collection[str]
    rows: Sequence[Ahead]
    standing: Amounts = field(default_factory=dict)

    def __post_init__(self) -> None:
        every = [one.series for one in self.teams]
        self.sum = Ahead(summed(every, WHOLE).without(self.standing))
        mine = [one for one in every if one.name in self.seen]
        self.own = self.sum if len(mine) == len(every) else Ahead(summed(mine or every[:1], WHOLE))

    @property
    def is_whole(self) -> bool:
        return self.own is self.sum


@dataclass(frozen=True, slots=True)
class Booked:
    """What is certain of a month: of all together, by team and by row. What is committed for no team is certain for all together alone."""

    whole: Certain
    teams: Mapping[str, Certain]
    rows: Mapping[str, Certain]


def ends_of(bill: Bill, through: date, month: Period, booked: Booked | None = None) -> tuple[list[Outlook], Outlook]:
    """Of every row, and of all rows together. Without `booked` it is a month that is looked back at."""

    def said(ahead: Ahead, certain: Mapping[str, Certain]) -> Outlook:
        one = outlook(ahead, through, month)
        return one if booked is None else certain.get(one.name, Certain()).of(one)

    whole = outlook(bill.sum, through, month)
    if booked is not None:
        whole = replace(whole, spent=booked.whole.spent, committed=booked.whole.committed)
    teams = adding_up([said(one, booked.teams if booked else {}) for one in bill.teams], whole)
    seen = [one for one in teams if one.name in bill.seen]
    top = whole if bill.is_whole else together(seen, outlook(bill.own, through, month))
    if bill.rows is bill.teams:
        return seen, top
    return adding_up([said(one, booked.rows if booked else {}) for one in bill.rows], top), top


def together(parts: Sequence[Outlook], own: Outlook) -> Outlook:
    """Some teams: the sum of their amounts, as sure as their sum is by itself."""
    if len(parts) == 1:
        return replace(parts[0], name=own.name)
    remaining = total(one.remaining for one in parts)
    factor = float(remaining / own.remaining) if own.remaining > 0 and remaining > 0 else 1.0
    return replace(
        own,
        spent=total(one.spent for one in parts),
        committed=total(one.committed for one in parts),
        remaining=remaining,
        spread=own.spread * factor,
        never_negative=all(one.never_negative for one in parts),
    )


def bill_of(teams: Sequence[Series], pools: Sequence[Series] | None, seen: Collection[str], standing: Amounts) -> Bill:
    """`pools` are those of the teams that are seen; None where rows are teams."""
    every = [Ahead(one) for one in teams]
    return Bill(every, seen, every if pools is None else [Ahead(one) for one in pools], standing)
