"""What a finding is: a sentence, the figures behind it, what is drawn of them, and what of the policy could be another."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

from apportion.reports.report import Cell, Column

Drawing = Literal["bars", "moves", "week", "days"]
Number = Fraction | Decimal
Drawn = tuple[Number, ...]
NO_FACET = "(none)"


@dataclass(frozen=True, slots=True)
class Edit:
    """A change of the policy's text: values at some places, or an owner rule as label, pattern and team ("": somebody must say it)."""

    settings: tuple[tuple[tuple[str, ...], str], ...] = ()
    owner: tuple[str, str, str] | None = None


@dataclass(frozen=True, slots=True)
class Pattern:
    """`drawn` are the numbers of each row, `ticks` what each of them is. `where`: filters of the postings that `amount` is the sum of.

    `do` is said where no edit of the policy is safe, or beside one.
    """

    kind: str
    about: tuple[str, ...]
    sentence: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    drawing: Drawing
    drawn: tuple[Drawn, ...]
    ticks: tuple[str, ...] = ()
    unit: str = ""
    currency: str = ""
    amount: Decimal | None = None
    where: tuple[str, ...] = ()
    do: str = ""
    edit: Edit | None = None

    @property
    def key(self) -> str:
        """By which it is asked for."""
        return ":".join((self.kind, *self.about))


def part(some: Number, whole: Number) -> Fraction:
    return Fraction(some) / Fraction(whole) if whole else Fraction(0)


def said_percent(share: Fraction) -> str:
    return f"{float(100 * share):.1f} %"


def said_number(amount: Number) -> str:
    """`1,234`, `12.3`, `0.42`: three digits that count."""
    size = abs(float(amount))
    places = 0 if size >= 100 or size == int(size) else 1 if size >= 10 else 2
    return f"{float(amount):,.{places}f}"


def unit_word(unit: str) -> str:
    """What a sentence counts: several meters that are added up have no name of their own."""
    return "units" if " " in unit else unit


def hours_word(unit: str) -> str:
    return "unit-hours" if " " in unit else f"{unit}-hours"


def together(words: Sequence[str], most: int = 3) -> str:
    """`a, b and c`; of many the first, and how many more."""
    some = list(words[:most]) + ([f"{len(words) - most:,} more"] if len(words) > most else [])
    return " and ".join([", ".join(some[:-1]), some[-1]]) if len(some) > 1 else "".join(some)
