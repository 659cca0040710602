"""What became of advice: what the same owner's runs of the same name waste in a later month, and how much of the saving that leaves.

Both months are read from the record, so that the answer is the same whenever it is asked. What was saved is never more than was advised.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from apportion.model.money import to_decimal, to_grains
from apportion.reports.advice.broken import CUT
from apportion.reports.advice.kinds import KINDS
from apportion.reports.advice.pieces import Piece, range_of
from apportion.reports.advice.requests import peak_of as host_peak
from apportion.reports.advice.slices import peak_of
from apportion.reports.advice.work import STORES, Saving, Work, mean
from apportion.reports.held import places
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import section
from apportion.reports.words import counted, shown

REALISED, PARTLY, NOT_YET, GONE, UNTOLD = "realised", "partly", "not yet", "gone", "cannot tell"
STATES = (REALISED, PARTLY, NOT_YET, GONE, UNTOLD)
MOST, LEAST = Fraction(9, 10), Fraction(1, 10)  # of what was to be expected: above it is realised, below it is not yet
SEEN = Fraction(1, 2)  # of the later hours, at least, must tell
Pattern = tuple[str, str, str, str]
COLUMNS = (
    Column("kind", "advice"),
    Column("name", "name"),
    Column("owner", "who can act"),
    Column("state", "state"),
    Column("then", "held then h", "quantity"),
    Column("now", "held now h", "quantity"),
    Column("advised_low", "advised from", "money"),
    Column("advised", "to", "money"),
    Column("low", "realised from", "money"),
    Column("high", "to", "money"),
    Column("id", "id", quiet=True),
)
NOTE = (
    "Realised: what the runs of that name would have wasted as before for each useful hour, less what they waste now, at the prices of the advice. "
    "Work that stopped saves nothing here; growth counts no more than was advised."
)


@dataclass(frozen=True, slots=True)
class Month:
    """All works of a month and what was found in them, by owner, name, unit and sort."""

    works: Mapping[Pattern, Sequence[Work]]
    found: Mapping[Pattern, Sequence[Saving]]


def month_of(works: Iterable[Work], found: Iterable[Saving]) -> Month:
    own: dict[Pattern, list[Work]] = {}
    wasted: dict[Pattern, list[Saving]] = {}
    for work in works:
        own.setdefault(pattern(work), []).append(work)
    for one in found:
        wasted.setdefault(pattern(one.work), []).append(one)
    return Month(own, wasted)


def pattern(work: Work) -> Pattern:
    return work.owner, work.name, work.unit, work.sort


@dataclass(frozen=True, slots=True)
class Outcome:
    """One piece of advice and what became of it; `low` and `high` are what was realised."""

    piece: Piece
    state: str
    then: Fraction
    now: Fraction
    low: Decimal
    high: Decimal

    def cells(self) -> dict[str, Cell]:
        own = {name: getattr(self.piece, name) for name in ("kind", "name", "owner", "id")}
        hours = {"then": places(self.then), "now": places(self.now)}
        advised = {"advised_low": self.piece.low, "advised": self.piece.high}
        return own | hours | advised | {"state": self.state, "low": self.low, "high": self.high}


def outcomes(given: Sequence[Piece], then: Month, now: Month) -> list[Outcome]:
    return [outcome(one, then, now) for one in given]


def outcome(piece: Piece, then: Month, now: Month) -> Outcome:
    key = (piece.owner, piece.name, piece.unit, KINDS[piece.kind].sort)
    before, after = then.works[key], now.works.get(key, ())
    was, held = hours_of(before), hours_of(after)
    wasted, wastes = (wasted_in(month, key, piece.kind) for month in (then, now))
    saved, expected = saving(was, wasted, held, wastes)
    if not held:
        state = REALISED if key[3] == STORES else GONE
        saved = wasted if state == REALISED else Fraction(0)
    elif not TELLS[piece.kind](after):
        state, saved = UNTOLD, Fraction(0)
    else:
        state = state_of(saved, expected, wastes)
    part = saved / wasted
    low, high = (scaled(amount, part) for amount in (piece.low, piece.high))
    return Outcome(piece, state, was, held, low, high)


def saving(was: Fraction, wasted: Fraction, held: Fraction, wastes: Fraction) -> tuple[Fraction, Fraction]:
    """Hours saved, and hours that would have been wasted as before: as many for each useful hour, and no more than then."""
    useful, useful_now = was - wasted, held - wastes
    expected = wasted * min(Fraction(1), useful_now / useful) if useful else wasted if useful_now else Fraction(0)
    return max(Fraction(0), expected - wastes), expected


def state_of(saved: Fraction, expected: Fraction, wastes: Fraction) -> str:
    if not wastes or saved >= MOST * expected > 0:
        return REALISED
    return PARTLY if saved >= LEAST * expected > 0 else NOT_YET


def hours_of(works: Iterable[Work]) -> Fraction:
    return sum((work.hours(work.held) for work in works), Fraction(0))


def wasted_in(month: Month, key: Pattern, kind: str) -> Fraction:
    """Hours, as much of each as could have been saved. Of discounts that are offered: whatever does not take them."""
    if kind == "preemptible":
        works = (work for work in month.works.get(key, ()) if work.told.offer)
        return sum((work.hours(work.held) * work.told.offer.part for work in works if work.told.offer), Fraction(0))
    found = (one for one in month.found.get(key, ()) if one.kind == kind)
    return sum((one.work.hours(one.work.held) * one.high for one in found), Fraction(0))


def scaled(amount: Decimal, part: Fraction) -> Decimal:
    return to_decimal(to_grains(amount) * part.numerator // part.denominator)


def mostly(tells: Callable[[Work], bool]) -> Callable[[Sequence[Work]], bool]:
    """Whether enough of the hours would show such waste, if there were any."""
    return lambda works: hours_of(work for work in works if tells(work)) >= SEEN * hours_of(works)


def always(works: Sequence[Work]) -> bool:
    return bool(works)


USE = mostly(lambda work: mean(work.stretches) is not None)
LOOKS = mostly(lambda work: peak_of(work) is not None)
MEMORY = mostly(lambda work: peak_of(work) is not None and work.told.memory is not None)
TELLS: Mapping[str, Callable[[Sequence[Work]], bool]] = {
    "retries": always,
    "checkpoint": lambda works: any(work.outcome in CUT for work in works),
    "duplicate": mostly(lambda work: bool(work.told.config)),
    "idle": USE,
    "hung": LOOKS,
    "overnight": LOOKS,
    "slice": LOOKS,
    "model": MEMORY,
    "batch": MEMORY,
    "preemptible": always,
    "night": mostly(lambda work: bool(work.hourly) and work.told.needed_s is not None),
    "requests": mostly(lambda work: any(host_peak(side, work) is not None for side in work.sides.values())),
    "abandoned": mostly(lambda work: work.told.read_s is not None),
}


def report(since: str, period: str, made: Sequence[Outcome], record: Record) -> Report:
    sections, sentences = [], []
    for currency in sorted({one.piece.currency for one in made}):
        own = [one for one in made if one.piece.currency == currency]
        own.sort(key=lambda one: (STATES.index(one.state), -one.high, -one.piece.high, one.piece.id))
        low, high = range_of([(one.low, one.high) for one in own])
        _, advised = range_of([(one.piece.low, one.piece.high) for one in own])
        sections.append(section(currency, high, COLUMNS, [one.cells() for one in own]))
        sentences.append(f"{shown(low, currency)} to {shown(high, currency)} of {shown(advised, currency)}")
    states = ", ".join(f"{sum(one.state == state for one in made)} {state}" for state in STATES)
    title = (
        f"Of {counted(len(made), 'piece')} of advice for {since}, {' and '.join(sentences)} is realised in {period}."
        if made
        else f"There was no advice for {since}."
    )
    notes = (f"{states}.", NOTE) if made else ()
    more = {"since": since, "realised": [one.cells() | {"currency": one.piece.currency} for one in made]}
    return Report("realised", title, period, COLUMNS, tuple(sections), record.head, record.policies, notes, more)
