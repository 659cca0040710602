"""Why an owner owes another amount than the period before, pool by pool: in whole minor units that add up to the difference.

Of what is charged for use, with the pool's average price of a unit before and now (P0, P1) and the owner's units (U0, U1):

    volume   (U1 - U0) x P0          the owner used more or less
    price    U1 x (P1 - P0)          a unit of the pool costs another amount
    mix      the rest                other hours, weights or classes than the average of the pool

Money of other months stands apart from the month's own: `late` is what the vendor billed late for days of other months, `corrections` are our
own. Both have their units there, so they enter no price. What people moved between owners is `reclasses`.

Where nobody counts units, the bills of the owner's own things changed: `direct`. What the policy changed is this period under its rules
less this period under those of the period before. Every driver is a sum over owners, so that children add up to their parents.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

import pyarrow as pa

from apportion.model.rows import IDLE
from apportion.reports.statement.facts import CHANGES, OWNER

LEAF = ("currency", *OWNER, "pool")
USE = ("usage", "burst")
OF_REASON = {
    "idle": "idle",
    "overhead": "overhead",
    "credit": "adjustments",
    "adjustment": "adjustments",
    "subsidy": "adjustments",
}
OF_KIND = {"correction": "corrections", "credit": "adjustments", "reclass": "reclasses"}
LATE = "late"
Leaf = tuple[str, ...]
Sums = Mapping[tuple[Leaf, str], int]


@dataclass(frozen=True, slots=True)
class Side:
    """One of two that are compared: every amount (`placed`), what of it is `late`, and the units of the month's own days."""

    placed: pa.Table
    late: pa.Table
    units: pa.Table


def changes(now: Side, before: Side, same_policy: tuple[pa.Table, pa.Table] | None) -> pa.Table:
    """`same_policy` is this period under the policy of the period before, if the policy changed: all amounts, and the late ones among them."""
    present, past = by_driver(now.placed, now.late), by_driver(before.placed, before.late)
    fair = present if same_policy is None else by_driver(*same_policy)
    counted = (by_leaf(before.units), by_leaf(now.units))
    prices = average_prices(past, counted[0]), average_prices(fair, counted[1])
    rows = []
    for leaf in sorted({leaf for sums in (present, past, fair) for leaf, _ in sums}):
        moved: dict[str, int] = defaultdict(int)
        for driver in {name for sums in (present, past, fair) for name in DRIVEN if (leaf, name) in sums}:
            change = fair.get((leaf, driver), 0) - past.get((leaf, driver), 0)
            moved["policy"] += present.get((leaf, driver), 0) - fair.get((leaf, driver), 0)
            for name, amount in (used(leaf, change, counted, prices) if driver == "use" else {driver: change}).items():
                moved[name] += amount
        rows += [(*leaf, driver, amount) for driver, amount in sorted(moved.items()) if amount]
    return table_of_changes(rows)


def changes_by_rules(before: Side, after: Side) -> pa.Table:
    """Why other rules (`after`) come to another amount for the same period.

    Where units are not counted on both sides: `price` as far as the pool comes to another amount, and for the rest `policy`, another part of it.
    """
    past, then = by_driver(before.placed, before.late), by_driver(after.placed, after.late)
    counted = (by_leaf(before.units), by_leaf(after.units))
    prices = (average_prices(past, counted[0]), average_prices(then, counted[1]))
    grown = growth(past, then)
    rows = []
    for leaf in sorted({leaf for leaf, _ in (*past, *then)}):
        old, pool = past.get((leaf, "use"), 0), (leaf[0], leaf[-1])
        change = then.get((leaf, "use"), 0) - old
        moved: dict[str, int] = defaultdict(int)
        moved |= {name: then.get((leaf, name), 0) - past.get((leaf, name), 0) for name in DRIVEN if name != "use"}
        same_units = all(pool in known for known in prices)
        price = {"price": old * grown.get(pool, Fraction(0))}
        for name, amount in (
            used(leaf, change, counted, prices) if same_units else with_rest(change, price, "policy")
        ).items():
            moved[name] += amount
        rows += [(*leaf, driver, amount) for driver, amount in sorted(moved.items()) if amount]
    return table_of_changes(rows)


def growth(past: Sums, then: Sums) -> dict[tuple[str, str], Fraction]:
    """By which part what is charged for use of each pool is more or less."""
    sums = (defaultdict[tuple[str, str], int](int), defaultdict[tuple[str, str], int](int))
    for side, known in zip(sums, (past, then), strict=True):
        for (leaf, driver), amount in known.items():
            if driver == "use":
                side[leaf[0], leaf[-1]] += amount
    return {pool: Fraction(sums[1][pool], amount) - 1 for pool, amount in sums[0].items() if amount}


def table_of_changes(rows: Sequence[tuple[object, ...]]) -> pa.Table:
    columns = list(zip(*rows, strict=True)) if rows else [()] * len(CHANGES.names)
    return pa.table(
        [pa.array(column, field.type) for column, field in zip(columns, CHANGES, strict=True)], schema=CHANGES
    )


DRIVEN = ("use", "idle", "overhead", "adjustments", LATE, "corrections", "reclasses", "other")


def by_driver(placed: pa.Table, late: pa.Table) -> dict[tuple[Leaf, str], int]:
    """What is late is taken out of the driver that it would be, into one of its own."""
    sums: dict[tuple[Leaf, str], int] = defaultdict(int)
    for leaf, driver, amount in driven(placed):
        sums[leaf, driver] += amount
    for leaf, driver, amount in driven(late):
        sums[leaf, driver] -= amount
        sums[leaf, LATE] += amount
    return sums


def driven(placed: pa.Table) -> Iterator[tuple[Leaf, str, int]]:
    names = [*LEAF, "reason", "of", "kind"]
    rows = placed.group_by(names).aggregate([("amount", "sum")])
    for *leaf, reason, of, kind, amount in zip(
        *(rows[name].to_pylist() for name in [*names, "amount_sum"]), strict=True
    ):
        yield tuple(leaf), driver_of(reason, of, kind), amount


def driver_of(reason: str, of: str, kind: str) -> str:
    if kind in OF_KIND:
        return OF_KIND[kind]
    if of:
        return "idle" if of == IDLE else "other"
    return "use" if reason in USE else OF_REASON.get(reason, "other")


def by_leaf(work: pa.Table) -> dict[Leaf, int]:
    rows = work.group_by(list(LEAF)).aggregate([("unit_seconds", "sum")])
    leaves = zip(*(rows[name].to_pylist() for name in LEAF), strict=True)
    return {leaf: int(units or 0) for leaf, units in zip(leaves, rows["unit_seconds_sum"].to_pylist(), strict=True)}


def average_prices(sums: Sums, units: Mapping[Leaf, int]) -> dict[tuple[str, str], Fraction]:
    """What a unit of each pool cost, of those that were counted, by currency."""
    money, counted = defaultdict[tuple[str, str], int](int), defaultdict[tuple[str, str], int](int)
    for leaf, amount in units.items():
        counted[leaf[0], leaf[-1]] += amount
        money[leaf[0], leaf[-1]] += sums.get((leaf, "use"), 0)
    return {pool: Fraction(money[pool], amount) for pool, amount in counted.items() if amount}


def used(
    leaf: Leaf,
    change: int,
    units: tuple[Mapping[Leaf, int], Mapping[Leaf, int]],
    prices: tuple[Mapping[tuple[str, str], Fraction], ...],
) -> dict[str, int]:
    pool = (leaf[0], leaf[-1])
    price = [known[pool] for known in prices if pool in known]
    past, now = (known.get(leaf, 0) for known in units)
    if not price or not (past or now):
        return {"direct": change}
    exact = {"volume": (now - past) * price[0], "price": now * (price[-1] - price[0])}
    return with_rest(change, exact, "mix")


def with_rest(total: int, exact: Mapping[str, Fraction], rest: str) -> dict[str, int]:
    """Whole amounts that add up. Where nothing but rounding is left, the largest takes it."""
    whole = {name: round(amount) for name, amount in exact.items()}
    left = total - sum(whole.values())
    if total - sum(exact.values()) == 0 and any(exact.values()):
        return added(whole, max(exact, key=lambda name: (abs(exact[name]), name)), left)
    return added(whole, rest, left)


def added(whole: dict[str, int], name: str, amount: int) -> dict[str, int]:
    return {**whole, name: whole.get(name, 0) + amount}
