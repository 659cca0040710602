"""How evenly a policy treats those who share a pool: what each pays for an hour of a unit, and whether who holds or uses more pays more.

Over all owners that held something of a pool in all months; nobody's idle and work without an owner are left out. An owner's unit price is all that
it pays in the pool, for use and for idle, over the hours that it held.

    gini       of the unit prices: 0 where all pay the same, near 1 where one pays nearly all
    pearson    of what owners pay with the hours that they held, or used: 1 on a straight line
    spearman   the same of their ranks: 1 where who has more always pays more; those alike share a rank

A correlation needs three owners; of `used`, those of whom all was measured.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction

import pyarrow as pa

from apportion.model.money import to_grains
from apportion.reports.held import HOUR_S, QUANTITIES, places
from apportion.reports.sums import side_of

FEWEST = 3  # two points always lie on a line
Leaf = tuple[str, str, str]  # currency, owner, pool


@dataclass(frozen=True, slots=True)
class Had:
    """What an owner had of a pool: hours of its unit. `used` says nothing of what is `unmeasured`."""

    unit: str
    held: Fraction = Fraction(0)
    used: Fraction = Fraction(0)
    unmeasured: Fraction = Fraction(0)

    def __add__(self, other: "Had") -> "Had":
        sums = (getattr(self, name) + getattr(other, name) for name in QUANTITIES)
        return Had(self.unit or other.unit, *sums)


@dataclass(frozen=True, slots=True)
class Evenness:
    """Of one pool in one currency. `owners` held something of it; `measured` of them are known to have used so and so much."""

    currency: str
    pool: str
    unit: str
    owners: int
    gini: Decimal | None
    held_pearson: Decimal | None
    held_spearman: Decimal | None
    measured: int
    used_pearson: Decimal | None
    used_spearman: Decimal | None


def had_of(charges: Iterable[pa.Table | pa.RecordBatch], currencies: Mapping[str, str]) -> dict[Leaf, Had]:
    """Of charges with their bills; `currencies` says what each bill is in."""
    found: dict[Leaf, Had] = {}
    for some in charges:
        rows = pa.Table.from_batches([some]) if isinstance(some, pa.RecordBatch) else some
        keys = ["bill", "team", "pool", "unit", "per_unit"]
        sums = rows.group_by(keys).aggregate([(name, "sum") for name in QUANTITIES])
        for row in sums.to_pylist():
            if row["bill"] in currencies and row["unit"] is not None and side_of(row["team"]) == "owners":
                leaf = (currencies[row["bill"]], row["team"], row["pool"])
                hours = (Fraction(int(row[f"{name}_sum"] or 0), int(row["per_unit"]) * HOUR_S) for name in QUANTITIES)
                found[leaf] = found.get(leaf, Had("")) + Had(row["unit"], *hours)
    return found


def evenness(owed: Mapping[Leaf, Decimal], had: Mapping[Leaf, Had]) -> tuple[Evenness, ...]:
    """Of what each owner owes in each pool, and what it had there."""
    groups: dict[tuple[str, str], list[tuple[Fraction, Had]]] = defaultdict(list)
    for leaf, one in sorted(had.items()):
        if one.held > 0:
            groups[leaf[0], leaf[-1]].append((Fraction(to_grains(owed.get(leaf, Decimal(0)))), one))
    return tuple(measured(*key, own) for key, own in sorted(groups.items()))


def measured(currency: str, pool: str, own: Sequence[tuple[Fraction, Had]]) -> Evenness:
    known = [(paid, one) for paid, one in own if not one.unmeasured]
    held = [paid for paid, _ in own], [one.held for _, one in own]
    used = [paid for paid, _ in known], [one.used for _, one in known]
    return Evenness(
        currency,
        pool,
        own[0][1].unit,
        len(own),
        gini([paid / one.held for paid, one in own]),
        pearson(*held),
        spearman(*held),
        len(known),
        pearson(*used),
        spearman(*used),
    )


def gini(prices: Sequence[Fraction]) -> Decimal | None:
    """Half the mean difference of any two, over the mean."""
    whole, many = sum(prices, Fraction(0)), len(prices)
    if many < 2 or whole <= 0 or min(prices) < 0:  # one has nobody beside it
        return None
    ranked = sum((2 * rank - many - 1) * price for rank, price in enumerate(sorted(prices), start=1))
    return places(Fraction(ranked) / (many * whole))


def pearson(left: Sequence[Fraction], right: Sequence[Fraction]) -> Decimal | None:
    """None where one side does not vary."""
    many = len(left)
    if many < FEWEST:
        return None
    middles = sum(left, Fraction(0)) / many, sum(right, Fraction(0)) / many
    one, two = ([value - middle for value in side] for side, middle in zip((left, right), middles, strict=True))
    both = sum((a * b for a, b in zip(one, two, strict=True)), Fraction(0))
    spread = sum(a * a for a in one) * sum(b * b for b in two)
    if not spread:
        return None
    root = places(square_root(both * both / spread))
    return root.copy_negate() if root and both < 0 else root


def square_root(number: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 40
        return Fraction((Decimal(number.numerator) / Decimal(number.denominator)).sqrt())


def spearman(left: Sequence[Fraction], right: Sequence[Fraction]) -> Decimal | None:
    return pearson(ranks(left), ranks(right))


def ranks(values: Sequence[Fraction]) -> list[Fraction]:
    """Those alike have the mean of their ranks."""
    order = sorted(values)
    return [Fraction(order.index(value) + len(order) - 1 - order[::-1].index(value), 2) for value in values]
