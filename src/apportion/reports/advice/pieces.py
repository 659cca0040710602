"""Pieces of advice: what was found of one kind with one owner and name, its price, and an id to follow it by."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from hashlib import sha256

from apportion.reports.advice.kinds import KINDS
from apportion.reports.advice.remedies import remedy
from apportion.reports.advice.slices import LONGEST_LOOK_S
from apportion.reports.advice.work import BOARDS, STORES, Saving, Work, held_in, used_in
from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import section, total
from apportion.reports.words import counted, hours, percent, shown

FEW, TOLD = 20, 3
OTHERS = "(others)"
COLUMNS = (
    Column("kind", "advice"),
    Column("name", "name"),
    Column("owner", "who can act"),
    Column("runs", "runs", "count"),
    Column("unit", "unit", quiet=True),
    Column("held", "held h", "quantity"),
    Column("used", "used h", "quantity"),
    Column("low", "saves from", "money"),
    Column("high", "to", "money"),
    Column("effort", "effort", quiet=True),
    Column("what", "what", quiet=True),
    Column("evidence", "evidence", quiet=True),
    Column("do", "do", quiet=True),
    Column("id", "id", quiet=True),
)
NOTE = (
    "A saving is what the hours were charged: it is cash once they are given back, and room for others' work before. "
    "Each workload is in one piece alone, the most specific."
)


@dataclass(frozen=True, slots=True)
class Piece:
    """`id` is the same in every month."""

    kind: str
    currency: str
    name: str
    owner: str
    unit: str
    held: Fraction
    used: Fraction | None  # None where nothing of it was measured
    low: Decimal
    high: Decimal
    evidence: str
    do: str
    runs: int
    workloads: tuple[str, ...]

    @property
    def id(self) -> str:
        words = f"{self.kind}\x1f{self.owner}\x1f{self.name}\x1f{self.unit}"
        return sha256(words.encode()).hexdigest()[:12]

    @property
    def what(self) -> str:
        return KINDS[self.kind].sentence(self.name, self.unit, self.runs)

    def cells(self) -> dict[str, Cell]:
        named = {
            name: getattr(self, name)
            for name in ("kind", "name", "owner", "runs", "unit", "low", "high", "what", "evidence", "do", "id")
        }
        hours = {"held": places(self.held), "used": places(self.used)}
        return named | hours | {"effort": KINDS[self.kind].effort}

    def value(self) -> dict[str, object]:
        """For programs: with its workloads."""
        return self.cells() | {"currency": self.currency, "workloads": self.workloads}


def pieces(found: Sequence[Saving]) -> list[Piece]:
    """The greatest saving first."""
    groups: dict[tuple[str, ...], list[Saving]] = defaultdict(list)
    for one in found:
        for currency in one.work.amounts:
            groups[one.kind, currency, one.work.name, one.work.owner, one.work.unit].append(one)
    made = [piece(key, some) for key, some in groups.items()]
    return sorted(made, key=lambda one: (-one.high, -one.low, one.currency, one.kind, one.owner, one.name))


def piece(key: tuple[str, ...], some: Sequence[Saving]) -> Piece:
    kind, currency, name, owner, unit = key
    some = sorted(some, key=lambda one: (-one.saving(currency)[1], one.work.workload))
    works = [one.work for one in some]
    seen = [work for work in works if is_measured(work)]
    return Piece(
        kind,
        currency,
        name,
        owner,
        unit,
        sum((work.hours(work.held) for work in works), Fraction(0)),
        sum((work.hours(used_in(work.stretches)) for work in seen), Fraction(0)) if seen else None,
        *range_of([one.saving(currency) for one in some]),
        evidence(some[0]),
        remedy(some[0]),
        len({work.run for work in works}),
        tuple(work.workload for work in works),
    )


def evidence(found: Saving) -> str:
    """Of the greatest workload, for all of them."""
    work = found.work
    measured = (
        f"{hours(work.hours(used_in(work.stretches)))} measured in use" if is_measured(work) else "use not measured"
    )
    told = f"{work.workload}: {hours(work.hours(work.held))} {work.unit}-hours held, {measured}"
    return f"{told}; {found.proof}" if found.proof else told


def is_measured(work: Work) -> bool:
    return any(one.used is not None for one in work.stretches)


def range_of(savings: Sequence[tuple[Decimal, Decimal]]) -> tuple[Decimal, Decimal]:
    return total(low for low, _ in savings), total(high for _, high in savings)


def advice(period: str, made: Sequence[Piece], record: Record, works: Sequence[Work]) -> Report:
    """The first so many pieces of each currency, and how to act on the first of them."""
    sections, sentences, notes = [], [], []
    for currency in sorted({one.currency for one in made}):
        own = [one for one in made if one.currency == currency]
        low, high = range_of([(one.low, one.high) for one in own])
        sections.append(section(currency, high, COLUMNS, rows_of(own)))
        sentences.append(f"{shown(low, currency)} to {shown(high, currency)}")
        notes += [f"{number}. {one.what} {one.owner} can: {one.do}" for number, one in enumerate(own[:TOLD], 1)]
    title = (
        f"{counted(len(made), 'piece')} of advice for {period} would save {' and '.join(sentences)}."
        if made
        else f"Nothing that was measured in {period} calls for advice."
    )
    notes += [*([NOTE] if made else []), *known(works)]
    more = {"advice": [one.value() for one in made]}
    return Report("advice", title, period, COLUMNS, tuple(sections), record.head, record.policies, tuple(notes), more)


def rows_of(own: Sequence[Piece]) -> list[dict[str, Cell]]:
    """Those of one currency."""
    rows, rest = [one.cells() for one in own[:FEW]], own[FEW:]
    if rest:
        low, high = range_of([(one.low, one.high) for one in rest])
        rows.append(
            {
                "kind": OTHERS,
                "name": counted(len(rest), "piece"),
                "runs": sum(one.runs for one in rest),
                "low": low,
                "high": high,
            }
        )
    return rows


def known(works: Sequence[Work]) -> list[str]:
    """What the evidence cannot tell."""
    stored = [work for work in works if work.sort == STORES]
    works = [work for work in works if work.sort == BOARDS]
    held = sum(work.held for work in works)
    unseen = sum(held_in(one for one in work.stretches if one.used is None) for work in works)
    means = sum(len(work.stretches) == 1 and work.seconds > LONGEST_LOOK_S for work in works)
    notes = []
    if unseen:
        notes.append(
            f"{percent(places(Fraction(unseen, held)))} of the hours held were not measured: nothing is said about them."
        )
    if means:
        runs = f"{means:,} of {counted(len(works), 'workload')}"
        notes.append(f"Of {runs} only a mean over the run is known: hung, overnight and slice need use over time.")
    unread = sum(work.told.read_s is None for work in stored)
    if unread:
        notes.append(
            f"Of {counted(unread, 'volume')} nobody said when they were last read (`last_read`): they may be abandoned or not."
        )
    return notes
