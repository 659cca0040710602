"""What holds after every step, whatever the steps were."""

from dataclasses import dataclass, field
from decimal import Decimal

import pyarrow as pa

from apportion.books.open import Books
from apportion.books.shapes import Closed
from tests.sequences.hands import month_of
from tests.sequences.model import EXACT, Model

CENTS = 2


@dataclass
class Judge:
    """Remembers what was closed as it was then."""

    books: Books
    closes: dict[str, Closed] = field(default_factory=dict)
    frozen: dict[str, pa.Table] = field(default_factory=dict)

    def look(self, model: Model) -> None:
        assert self.books.closed_periods() == sorted(model.closed)
        balanced(self.books)
        for month in model.booked:
            holds(self.books, model, month)
        for month in model.closed:
            self.stays(model, month)

    def stays(self, model: Model, month: str) -> None:
        """What is closed never moves: its minor units, its link, its rows."""
        closed, rows = self.books.closed(month), self.books.entries(period=month)
        assert closed is not None
        if month not in self.closes:
            self.closes[month], self.frozen[month] = closed, rows
            assert in_minor(closed.minor) == model.minor(month, CENTS)
            near(closed.minor, model, month)
        assert closed == self.closes[month]
        assert rows.equals(self.frozen[month])

    def verify(self) -> None:
        assert self.books.verify(self.books.head()) == []
        for closed in self.closes.values():
            assert closed.head in {run.head_after for run in self.books.runs()}


def balanced(books: Books) -> None:
    """Both sides of every run come to nothing, and what its owners owe is what its bills gave."""
    sides: dict[tuple[str, str, str], list[Decimal]] = {}
    for row in books.entries().to_pylist():
        bill = row["bill"] if not row["account"].startswith("bill:") else row["account"].removeprefix("bill:")
        side = sides.setdefault((row["run_id"], bill, row["currency"]), [Decimal(0), Decimal(0)])
        place = row["account"].startswith("bill:")
        side[place] = EXACT.add(side[place], row["amount"])
    assert all(owners == -contra for owners, contra in sides.values())


def holds(books: Books, model: Model, month: str) -> None:
    """Every team owes of every bill what the model says; the month is its bill and the corrections booked in it."""
    found: dict[tuple[str, str], Decimal] = {}
    for row in books.posted(month).to_pylist():
        key = month_of(row["bill"]), row["team"]
        found[key] = EXACT.add(found.get(key, Decimal(0)), row["amount"])
    assert {key: amount for key, amount in found.items() if amount} == model.owed(month)
    total = Decimal(0)
    for amount in found.values():
        total = EXACT.add(total, amount)
    assert total == EXACT.add(model.planned[month], model.corrected[month])


def in_minor(minor: pa.Table) -> dict[str, int]:
    found: dict[str, int] = {}
    for row in minor.to_pylist():
        month = month_of(row["bill"])
        found[month] = found.get(month, 0) + row["amount"]
    return {month: amount for month, amount in found.items() if amount}


def near(minor: pa.Table, model: Model, month: str) -> None:
    """No team is further than a minor unit from what it owes of a bill."""
    units: dict[tuple[str, str], int] = {}
    for row in minor.to_pylist():
        key = month_of(row["bill"]), row["team"]
        units[key] = units.get(key, 0) + row["amount"]
    exact = model.owed(month)
    for key in {*units, *exact}:
        apart = EXACT.subtract(Decimal(units.get(key, 0)), EXACT.scaleb(exact.get(key, Decimal(0)), CENTS))
        assert abs(apart) < 1, (key, apart)
