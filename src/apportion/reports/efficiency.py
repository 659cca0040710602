"""How much of what a team held did useful work, and what came of its getting better. Nobody wins by doing less.

Useful is what was measured as used by work that did not fail by its own fault. Months are compared pool by pool with the weights of the month before,
and what a team no longer runs counts as it was. What was saved is counted for the work that was done: the same work at the efficiency of before would
have cost so much more. Half the work saves half as much, and none saves nothing.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction

from apportion.model.money import for_reading
from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Report, Section
from apportion.reports.sums import section, total
from apportion.reports.words import counted, percent, shown

LOST = ("failed", "out_of_memory")  # by its own fault
NOBODY_S = ("node_fail",)  # counts neither for nor against whoever ran there
COLUMNS = (
    Column("team", "team"),
    Column("held", "held", "money"),
    Column("useful", "useful", "money"),
    Column("efficiency", "efficiency", "share"),
    Column("before", "before", "share", quiet=True),
    Column("same_work", "same work", "share", quiet=True),
    Column("saved", "saved", "money", quiet=True),
)


@dataclass(frozen=True, slots=True)
class Work:
    """Of a team in one pool and currency: what its measured hours cost, and which part of them was useful."""

    cost: Fraction
    efficiency: Fraction


Works = Mapping[str, Work]  # by pool


@dataclass(frozen=True, slots=True)
class Standing:
    """Of a team in one currency. `before` is empty where it had nothing that was measured."""

    team: str
    currency: str
    now: Works
    before: Works

    @property
    def held(self) -> Fraction:
        return sum((work.cost for work in self.now.values()), Fraction(0))

    @property
    def useful(self) -> Fraction:
        return sum((work.cost * work.efficiency for work in self.now.values()), Fraction(0))

    @property
    def was(self) -> Fraction | None:
        return mean(self.before, {})

    @property
    def same_work(self) -> Fraction | None:
        """The efficiency that the work of before would have now."""
        return mean(self.before, self.now)

    @property
    def saved(self) -> Fraction | None:
        """Below 0 where it got worse. None where nothing can be compared."""
        both = [
            (work, self.before[pool].efficiency)
            for pool, work in self.now.items()
            if pool in self.before and self.before[pool].efficiency
        ]
        return sum((work.cost * (work.efficiency / was - 1) for work, was in both), Fraction(0)) if both else None


def mean(before: Works, now: Works) -> Fraction | None:
    """By what each pool's hours cost before; a pool that is not in `now` is as it was."""
    whole = sum((work.cost for work in before.values()), Fraction(0))
    if not whole:
        return None
    return sum((work.cost * now.get(pool, work).efficiency for pool, work in before.items()), Fraction(0)) / whole


def efficiency(
    found: Iterable[Standing], period: str, before: str, head: str, policies: tuple[str, ...] = ()
) -> Report:
    """Whoever saved most comes first."""
    some = [one for one in found if one.held]
    sections, sentences = [], []
    for currency in sorted({one.currency for one in some}):
        own = sorted((one for one in some if one.currency == currency), key=lambda one: (-(one.saved or 0), one.team))
        made = section(currency, Decimal(0), COLUMNS, [cells(one) for one in own])
        sections.append(footed(made, own))
        sentences.append(sentence(own, currency, period, before))
    title = " ".join(sentences) or f"Nothing that was held in {period} was measured: its efficiency is not known."
    notes = (
        "Useful is what was measured as used by work that did not fail by its own fault; node failures count for nobody.",
        f"`same work`: as if the work of {before} were done now; what is no longer run counts as it was.",
        f"`saved`: what the work of {period} would have cost more at the efficiency of {before}.",
    )
    return Report("efficiency", title, period, COLUMNS, tuple(sections), head, policies, notes if sections else ())


def footed(made: Section, own: list[Standing]) -> Section:
    """The total of what was held is that of the rows, digit for digit."""
    held, useful = sums_of(own)
    amounts = total(cell for row in made.rows if isinstance(cell := row[1], Decimal))
    return replace(made, bill=amounts, totals=(*made.totals[:3], places(useful / held), None, None, made.totals[-1]))


def sums_of(own: list[Standing]) -> tuple[Fraction, Fraction]:
    """What was held, and what of it was useful."""
    return sum((one.held for one in own), Fraction(0)), sum((one.useful for one in own), Fraction(0))


def sentence(own: list[Standing], currency: str, period: str, before: str) -> str:
    held, useful = sums_of(own)
    said = (
        f"{percent(places(useful / held))} of what {counted(len(own), 'team')} held in {period} was useful, "
        f"of {shown(for_reading(held), currency)} that was measured."
    )
    known = [one.saved for one in own if one.saved is not None]
    if not known:
        return f"{said} There is no month before to compare it with."
    won = sum(known, Fraction(0))
    word = "more" if won >= 0 else "less"
    return f"{said} The same work would have cost {shown(for_reading(abs(won)), currency)} {word} at the efficiency of {before}."


def cells(one: Standing) -> dict[str, Cell]:
    saved = one.saved
    return {
        "team": one.team,
        "held": for_reading(one.held),
        "useful": for_reading(one.useful),
        "efficiency": places(one.useful / one.held),
        "before": places(one.was),
        "same_work": places(one.same_work),
        "saved": None if saved is None else for_reading(saved),
    }
