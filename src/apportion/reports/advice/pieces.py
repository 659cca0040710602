"""Pieces of advice: what was found of one kind with one owner and name, its price, and what counts where several speak of the same workload."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from apportion.reports.advice.kinds import KINDS
from apportion.reports.advice.remedies import remedy
from apportion.reports.advice.slices import LONGEST_LOOK_S
from apportion.reports.advice.work import Finding, Work, held_in, used_in
from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import less, section, total
from apportion.reports.words import counted, percent, shown

FEW, TOLD = 20, 3
OTHERS, TWICE = "(others)", "(told twice)"
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
    Column("do", "do", quiet=True),
)
NOTE = (
    "A saving is what the hours were charged: it is cash once they are given back, and room for others' work before. "
    "Where several pieces speak of one workload, the greatest alone counts."
)


@dataclass(frozen=True, slots=True)
class Piece:
    """`counted` is the saving without what a greater piece of advice claims of the same workloads."""

    kind: str
    currency: str
    name: str
    owner: str
    unit: str
    held: Fraction
    used: Fraction
    low: Decimal
    high: Decimal
    counted: tuple[Decimal, Decimal]
    do: str
    runs: int
    workloads: tuple[str, ...]

    @property
    def what(self) -> str:
        return KINDS[self.kind].sentence(self.name, self.unit, self.runs)

    def cells(self) -> dict[str, Cell]:
        named = {
            name: getattr(self, name) for name in ("kind", "name", "owner", "runs", "unit", "low", "high", "do", "what")
        }
        hours = {"held": places(self.held), "used": places(self.used)}
        return named | hours | {"effort": KINDS[self.kind].effort}

    def value(self) -> dict[str, object]:
        """For programs: with its workloads, and what of it counts in the total."""
        return self.cells() | {"currency": self.currency, "counted": self.counted, "workloads": self.workloads}


def pieces(found: Sequence[Finding]) -> list[Piece]:
    """The greatest saving first."""
    groups: dict[tuple[str, ...], list[Finding]] = defaultdict(list)
    for one in found:
        for currency in one.work.amounts:
            groups[one.kind, currency, one.work.name, one.work.owner, one.work.unit].append(one)
    first = greatest(found)
    made = [piece(key, some, first) for key, some in groups.items()]
    return sorted(made, key=lambda one: (-one.high, -one.low, one.currency, one.kind, one.owner, one.name))


def greatest(found: Iterable[Finding]) -> Mapping[str, Finding]:
    """Of each workload what saves most. Shares compare as their money does, for all are of the same amount."""
    best: dict[str, Finding] = {}
    for one in found:
        other = best.setdefault(one.work.workload, one)
        if (one.high, one.low) > (other.high, other.low):
            best[one.work.workload] = one
    return best


def piece(key: tuple[str, ...], some: Sequence[Finding], first: Mapping[str, Finding]) -> Piece:
    kind, currency, name, owner, unit = key
    some = sorted(some, key=lambda one: (-one.saving(currency)[1], one.work.workload))
    works = [one.work for one in some]
    savings = [one.saving(currency) for one in some]
    counts = [saving for one, saving in zip(some, savings, strict=True) if first[one.work.workload] is one]
    return Piece(
        kind,
        currency,
        name,
        owner,
        unit,
        sum((work.hours(work.held) for work in works), Fraction(0)),
        sum((work.hours(used_in(work.stretches)) for work in works), Fraction(0)),
        *range_of(savings),
        range_of(counts),
        remedy(some[0]),
        len({work.run for work in works}),
        tuple(work.workload for work in works),
    )


def range_of(savings: Sequence[tuple[Decimal, Decimal]]) -> tuple[Decimal, Decimal]:
    return total(low for low, _ in savings), total(high for _, high in savings)


def advice(period: str, made: Sequence[Piece], record: Record, works: Sequence[Work]) -> Report:
    """The first so many pieces of each currency, and how to act on the first of them."""
    sections, sentences, notes = [], [], []
    for currency in sorted({one.currency for one in made}):
        own = [one for one in made if one.currency == currency]
        low, high = range_of([one.counted for one in own])
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
    """Those of one currency; together they are what counts."""
    rows, rest = [one.cells() for one in own[:FEW]], own[FEW:]
    whole, counts = range_of([(one.low, one.high) for one in own]), range_of([one.counted for one in own])
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
    if whole != counts:
        low, high = (less(once, often) for once, often in zip(counts, whole, strict=True))
        rows.append({"kind": TWICE, "low": low, "high": high})
    return rows


def known(works: Sequence[Work]) -> list[str]:
    """What the evidence cannot tell."""
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
    return notes
