"""The journal of a closed period: one balanced entry per bill, in whole minor units.

What owners owe is debited where it is booked, and the bill's clearing account is credited with the whole. It is sums of the period's minor
units and of nothing else, so that it adds up to the statements and to the bill. Where a charge is booked is handed in.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.chain import rows_digest
from apportion.books.shapes import PLAN
from apportion.errors import require_equal
from apportion.model.currencies import MINOR_DIGITS, grains_per_minor, is_money
from apportion.model.money import half_even, to_grains

CHARGE = ("cost_centre", "department", "team", "pool", "component", "reason")  # what decides where it is booked
BILL = ("bill", "currency")
DEBIT, CREDIT = "debit", "credit"
ID_DIGITS = 16


@dataclass(frozen=True, slots=True)
class Kind:
    """Which runs a figure is of: `plan`, or a correction, credit or reclass with what it corrects and why."""

    kind: str = PLAN
    corrects: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class Booking:
    """Where it is booked: `team` bears it (empty: nobody, or the bill's own side), `owner` is whose charge it is."""

    account: str
    cost_centre: str = ""
    team: str = ""
    owner: str = ""
    component: str = ""
    reason: str = ""
    kind: Kind = Kind(kind="")
    document: str = ""

    @property
    def is_clearing(self) -> bool:
        return not self.kind.kind


@dataclass(frozen=True, slots=True)
class Line:
    """`amount` is minor units on `side`."""

    id: str
    booking: Booking
    side: str
    amount: int


@dataclass(frozen=True, slots=True)
class Entry:
    """Its id is a digest of what it says, so that whoever is sent it twice can tell."""

    id: str
    bill: str
    currency: str
    lines: tuple[Line, ...]

    def total(self, side: str) -> int:
        return sum(line.amount for line in self.lines if line.side == side)

    @property
    def digits(self) -> int:
        return MINOR_DIGITS[self.currency]


@dataclass(frozen=True, slots=True)
class Places:
    """What the policy says: where a charge (its `CHARGE` values) in a currency is booked, a bill's clearing account, what becomes of negatives."""

    charge: Callable[[tuple[str, ...], str], Booking]
    clearing: Callable[[str], str]
    turned: bool


Kinds = Mapping[str, Kind]  # of runs that are no plans, by their ids


def journal(period: str, rows: pa.Table, kinds: Kinds, places: Places) -> tuple[Entry, ...]:
    """Of a period's minor units with the run that each is of, empty for a plan. Money alone: grams and kWh are booked nowhere."""
    entries = []
    for (bill, currency), charges in groupby(summed(rows), key=itemgetter(0)):
        sums: dict[Booking, int] = {}
        for _, charge, run, amount in charges:
            booking = replace(places.charge(charge, currency), kind=kinds.get(run, Kind()))
            sums[booking] = sums.get(booking, 0) + amount
        sides = [(DEBIT, booking, amount) for booking, amount in sorted(sums.items(), key=order) if amount]
        whole = sum(amount for _, _, amount in sides)
        sides += [(CREDIT, Booking(places.clearing(bill)), whole)] if whole else []
        if sides:
            entries.append(
                entry(period, (bill, currency), [turned(*side) if places.turned else side for side in sides])
            )
    return tuple(entries)


Row = tuple[tuple[str, str], tuple[str, ...], str, int]


def summed(rows: pa.Table) -> list[Row]:
    """Bill, charge, run and amount, in order: sums over users, projects and causes."""
    money = pa.array([one for one in pc.unique(rows["currency"]).to_pylist() if is_money(one)], pa.string())
    rows = rows.filter(pc.is_in(rows["currency"], money))
    sums = rows.group_by([*BILL, *CHARGE, "run"]).aggregate([("amount", "sum")])
    columns = [sums[name].to_pylist() for name in (*BILL, *CHARGE, "run", "amount_sum")]
    ends = len(BILL), len(BILL) + len(CHARGE)
    return [((row[0], row[1]), row[slice(*ends)], *row[ends[1] :]) for row in sorted(zip(*columns, strict=True))]


def order(item: tuple[Booking, int]) -> tuple[str, ...]:
    """Charges of the month before corrections; then as a reader looks for them."""
    one = item[0]
    return (
        "" if one.kind.kind == PLAN else one.kind.kind, one.kind.corrects, one.kind.why, one.cost_centre, one.team, one.account, one.owner,
        one.component, one.reason,
    )  # fmt: skip


def turned(side: str, booking: Booking, amount: int) -> tuple[str, Booking, int]:
    """A negative amount on one side is a positive one on the other."""
    return (side, booking, amount) if amount > 0 else (CREDIT if side == DEBIT else DEBIT, booking, -amount)


def entry(period: str, bill: tuple[str, str], sides: Sequence[tuple[str, Booking, int]]) -> Entry:
    """The number of a document is not part of the id: the same figures are the same entry."""
    said = [(number, side, *plain(one), amount) for number, (side, one, amount) in enumerate(sides)]
    digest = rows_digest([(period, *bill), *said])[:ID_DIGITS]
    lines = tuple(Line(f"{digest}-{number}", one, side, amount) for number, (side, one, amount) in enumerate(sides, 1))
    return Entry(digest, *bill, lines)


def plain(booking: Booking) -> tuple[str, ...]:
    *said, kind, _ = astuple(booking)
    return (*said, *kind)


def check(entries: Iterable[Entry], posted: pa.Table) -> None:
    """Debits are credits, and what is cleared is the bill rounded once; asked of the postings, not of the minor units."""
    sums = posted.group_by(list(BILL)).aggregate([("amount", "sum")]).to_pylist()
    exact = {(row["bill"], row["currency"]): to_grains(row["amount_sum"]) for row in sums if is_money(row["currency"])}
    bills = {key: half_even(grains, grains_per_minor(key[1])) for key, grains in exact.items()}
    found = {}
    for one in entries:
        require_equal(f"debits and credits of {one.bill}", one.total(DEBIT), one.total(CREDIT))
        cleared = [line for line in one.lines if line.booking.is_clearing]
        found[one.bill, one.currency] = sum(line.amount if line.side == CREDIT else -line.amount for line in cleared)
    for key in sorted({*bills, *found}):
        require_equal(f"what is cleared of {' '.join(key)}", bills.get(key, 0), found.get(key, 0))
