"""A policy on history: what each owner owes month by month, what it would owe instead, why, and how much both swing.

All figures are sums of parts: one owner in one pool in one month. What a part changes by is split into causes that add up to it, exactly.
Of what is charged for use, with the units that were counted for the owner and the pool's average price of one, before (U0, P0) and instead (U1, P1):

    volume   (U1 - U0) x P0          other use counts as the owner's: another owner rule, another driver
    price    U1 x (P1 - P0)          a unit of the pool costs another amount
    mix      the rest                other hours, weights or classes than the average of the pool; mere rounding goes to the larger of the two

as on statements (`statement/drivers`). The rest is `weight` where the policies give units of the pool other weights, and `rule` where they share
it by another rule. Where units are not counted on both sides, with the owner's amount (A0) and the pool's (M0, M1):

    price    A0 x (M1 - M0) / M0     the pool comes to another amount
    rule     the rest                the owner has another part of it

Idle, overhead and adjustments are posted apart: each is a cause of its own. Departments have their teams' causes; a team that belongs to another
one takes all that it owes along: `move`.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import pyarrow as pa

from apportion.model.money import GRAINS_PER_ATTO, to_decimal, to_grains
from apportion.model.result import Result
from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.evenness import Evenness
from apportion.reports.groups import name_of
from apportion.reports.held import places
from apportion.reports.incentives import Incentive
from apportion.reports.statement.drivers import Leaf, average_prices, driver_of, used, with_rest
from apportion.reports.sums import ZERO, grouped, less, total
from apportion.reports.words import shown

CAUSES = ("price", "volume", "weight", "mix", "rule", "idle", "overhead", "adjustments", "other", "move")
USE = "use"  # what `driver_of` calls it before it is split
DUST = 10**12  # attos: a millionth of a unit of the currency
LEAF = ("currency", "team", "pool")
BY = {
    "owner": ("currency", "owner"),
    "month": ("currency", "month", "owner"),
    "pool": ("currency", "pool", "owner"),
    "department": ("currency", "owner"),
}
Units = Mapping[Leaf, int]
Attos = dict[tuple[Leaf, str], int]


@dataclass(frozen=True, slots=True)
class Side:
    """The postings of a month, and the unit seconds that were counted for each owner in each pool."""

    postings: pa.Table
    units: Units = field(default_factory=dict)

    @property
    def departments(self) -> dict[str, str]:
        """Of each owner; of several the first by name."""
        pairs = self.postings.group_by(["team", "department"]).aggregate([]).to_pylist()
        names = sorted((row["team"], name_of("department", row)) for row in pairs)
        return dict(reversed(names))


@dataclass(frozen=True, slots=True)
class Row:
    """What is posted and what would be instead; `causes` add up to the change. `month` and `pool` are "" over all of them.

    `why`: the pool and cause that move most, of rows by owner.
    """

    currency: str
    owner: str
    month: str
    pool: str
    posted: Decimal
    instead: Decimal
    change: Decimal
    causes: Mapping[str, Decimal]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Swing:
    """How much an owner's bill changes from one month to the next, on average, as a part of its average month; None where there is no such."""

    currency: str
    owner: str
    posted: Decimal | None
    instead: Decimal | None


@dataclass(frozen=True, slots=True)
class Moved:
    """What would move if the pools that have a peak were shared by peak Shapley, of what they come to over all months."""

    currency: str
    moved: Decimal
    compared: Decimal
    share: Decimal | None


@dataclass(frozen=True, slots=True)
class Variant:
    """What one policy would have come to: over all months, month by month, pool by pool, and by department."""

    name: str
    policy: str
    title: str
    owners: tuple[Row, ...]
    months: tuple[Row, ...]
    pools: tuple[Row, ...]
    swings: tuple[Swing, ...]
    clauses: tuple[str, ...]
    bills: tuple[str, ...]
    fairness: tuple[Moved, ...]
    departments: tuple[Row, ...] = ()
    evenness: tuple[Evenness, ...] = ()


@dataclass(frozen=True, slots=True, repr=False)
class Backtest(Result):
    """`fairness` and `evenness` are those of what is posted; `notes` are what to know of the months."""

    period: str
    title: str
    months: tuple[str, ...]
    variants: tuple[Variant, ...]
    fairness: tuple[Moved, ...]
    notes: tuple[str, ...]
    evenness: tuple[Evenness, ...] = ()
    incentives: tuple[Incentive, ...] = ()


def parts(month: str, before: Side, after: Side, rests: Mapping[str, str] | None = None) -> list[Row]:
    """Every owner in every pool, also where nothing moves. `rests`: what the rest is called in a pool, if not `mix`."""
    past, then = by_cause(before.postings), by_cause(after.postings)
    use = used_by(past, then, (before.units, after.units), rests or {})
    made = []
    for leaf in sorted({leaf for leaf, _ in (*past, *then)}):
        apart = {name: then.get((leaf, name), 0) - past.get((leaf, name), 0) for name in CAUSES}
        causes = {name: amount + use[leaf].get(name, 0) for name, amount in apart.items()}
        made.append(row_of(month, leaf, (summed(past, leaf), summed(then, leaf)), causes))
    return made


def used_by(
    past: Attos, then: Attos, units: tuple[Units, Units], rests: Mapping[str, str]
) -> dict[Leaf, Mapping[str, int]]:
    """The causes of what each owner is charged for its use of each pool; none in a pool where everybody is charged the same."""
    prices = (average_prices(past, units[0]), average_prices(then, units[1]))
    sums = (by_pool(past), by_pool(then))
    leaves = {leaf for leaf, _ in (*past, *then)}
    change = {leaf: then.get((leaf, USE), 0) - past.get((leaf, USE), 0) for leaf in leaves}
    moved = {(leaf[0], leaf[-1]) for leaf, amount in change.items() if amount}
    found: dict[Leaf, Mapping[str, int]] = {}
    for leaf in leaves:
        pool = (leaf[0], leaf[-1])
        if pool not in moved:
            found[leaf] = {}
        elif all(pool in known for known in prices) and any(leaf in known for known in units):
            split = without_dust(used(leaf, change[leaf], units, prices))
            found[leaf] = {rests.get(leaf[-1], name) if name == "mix" else name: part for name, part in split.items()}
        else:
            grown = Fraction(sums[1].get(pool, 0), sums[0][pool]) - 1 if sums[0].get(pool) else Fraction(0)
            exact = {"price": past.get((leaf, USE), 0) * grown}
            found[leaf] = without_dust(with_rest(change[leaf], exact, "rule"), "rule")
    return found


def by_pool(sums: Attos) -> dict[tuple[str, str], int]:
    """What is charged for use, by currency and pool."""
    found: dict[tuple[str, str], int] = defaultdict(int)
    for (leaf, name), amount in sums.items():
        if name == USE:
            found[leaf[0], leaf[-1]] += amount
    return found


def without_dust(causes: Mapping[str, int], rest: str = "mix") -> Mapping[str, int]:
    """Postings are rounded to nanos: a rest of no more than that makes is no cause, and the larger of the others takes it."""
    left, others = causes.get(rest, 0), {name: amount for name, amount in causes.items() if name != rest}
    if not left or abs(left) >= DUST or not any(others.values()):
        return causes
    largest = max(others, key=lambda name: (abs(others[name]), name))
    return {**others, largest: others[largest] + left}


def by_department(rows: Iterable[Row], before: Side, after: Side) -> list[Row]:
    """Parts of owners as parts of their departments. Who belongs to another one is taken from one and given to the other."""
    old, new = before.departments, after.departments
    found = []
    for row in rows:
        first, last = (known.get(row.owner, old.get(row.owner, new.get(row.owner, ""))) for known in (old, new))
        if first == last:
            found.append(replace(row, owner=first))
            continue
        gone, come = less(ZERO, row.posted), row.instead
        found.append(replace(row, owner=first, instead=ZERO, change=gone, causes={"move": gone} if gone else {}))
        found.append(replace(row, owner=last, posted=ZERO, change=come, causes={"move": come} if come else {}))
    return found


def row_of(month: str, leaf: Leaf, sums: tuple[int, int], causes: Mapping[str, int]) -> Row:
    currency, owner, pool = leaf
    posted, instead = map(decimal, sums)
    said = {cause: decimal(causes[cause]) for cause in CAUSES if causes.get(cause)}
    return Row(currency, owner, month, pool, posted, instead, less(instead, posted), said)


def by_cause(postings: pa.Table) -> Attos:
    sums: Attos = defaultdict(int)
    for (*leaf, reason), amount in grouped(postings, (*LEAF, "reason")).items():
        sums[tuple(leaf), driver_of(reason, "", "")] += to_grains(amount) // GRAINS_PER_ATTO
    return dict(sums)


def summed(sums: Attos, leaf: Leaf) -> int:
    return sum(sums.get((leaf, name), 0) for name in (USE, *CAUSES))


def decimal(attos: int) -> Decimal:
    return to_decimal(attos * GRAINS_PER_ATTO)


def units_of(charges: Iterable[pa.Table | pa.RecordBatch], currencies: Mapping[str, str]) -> Units:
    """Of charges with their bills; `currencies` says what each bill is in. A bill that is not posted counts nowhere."""
    found: dict[Leaf, int] = defaultdict(int)
    for some in charges:
        rows = pa.Table.from_batches([some]) if isinstance(some, pa.RecordBatch) else some
        sums = rows.group_by(["bill", "team", "pool"]).aggregate([("unit_seconds", "sum")])
        for bill, team, pool, units in zip(
            *(sums[name].to_pylist() for name in ("bill", "team", "pool", "unit_seconds_sum")), strict=True
        ):
            if bill in currencies:
                found[currencies[bill], team, pool] += int(units or 0)
    return dict(found)


def currencies_of(*postings: pa.Table) -> dict[str, str]:
    pairs = [table.group_by(["bill", "currency"]).aggregate([]) for table in postings]
    return {row["bill"]: row["currency"] for table in pairs for row in table.to_pylist()}


def rows_by(found: Iterable[Row], by: str) -> tuple[Row, ...]:
    """Parts put together `by` owner, month or pool: in order, and in each by falling size of change, the system's own owners last."""
    keys = BY[by]
    groups: dict[tuple[str, ...], list[Row]] = defaultdict(list)
    for row in found:
        groups[tuple(getattr(row, name) for name in keys)].append(row)
    made = [together(own, keys) for own in groups.values()]
    first = keys[1:-1]
    return tuple(sorted(made, key=lambda row: (row.currency, *(getattr(row, name) for name in first), *order(row))))


def order(row: Row) -> tuple[bool, Decimal, str]:
    return row.owner in SYSTEM_OWNERS, -abs(row.change), row.owner


def together(own: Sequence[Row], keys: Sequence[str]) -> Row:
    causes = {cause: total(row.causes.get(cause, ZERO) for row in own) for cause in CAUSES}
    posted, instead = total(row.posted for row in own), total(row.instead for row in own)
    return Row(
        own[0].currency,
        own[0].owner,
        own[0].month if "month" in keys else "",
        own[0].pool if "pool" in keys else "",
        posted,
        instead,
        less(instead, posted),
        {cause: amount for cause, amount in causes.items() if amount},
    )


def swings(monthly: Sequence[Row], months: Sequence[str]) -> tuple[Swing, ...]:
    """Of rows by month; an owner that has none in a month owed nothing then."""
    found: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in monthly:
        found[row.currency, row.owner][row.month] = row
    return tuple(
        Swing(
            *key,
            swing([own[month].posted if month in own else ZERO for month in months]),
            swing([own[month].instead if month in own else ZERO for month in months]),
        )
        for key, own in sorted(found.items())
    )


def swing(bills: Sequence[Decimal]) -> Decimal | None:
    """The average step between neighbours over the average of all."""
    exact = [to_grains(bill) for bill in bills]
    if len(exact) < 2 or sum(exact) <= 0:  # one month has no neighbour
        return None
    steps = sum(abs(later - earlier) for earlier, later in pairwise(exact))
    return places(Fraction(steps, len(exact) - 1) / Fraction(sum(exact), len(exact)))


def mostly(found: Iterable[Row], owner: str, currency: str) -> str:
    """`h100 idle +4,350.14 USD`: the pool and cause that move most for an owner."""
    sums: dict[tuple[str, str], list[Decimal]] = defaultdict(list)
    for row in found:
        if (row.owner, row.currency) == (owner, currency):
            for cause, amount in row.causes.items():
                sums[row.pool, cause].append(amount)
    moves = {part: total(amounts) for part, amounts in sums.items()}
    if not any(moves.values()):
        return ""
    (pool, cause), amount = max(moves.items(), key=lambda move: (abs(move[1]), move[0]))
    return f"{pool or 'no pool'} {cause} {'+' if amount > 0 else ''}{shown(amount, currency)}"
