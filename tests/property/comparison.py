"""A plan against the oracle: what must hold, as sentences about what does not."""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, TypeVar

from tests.property.adapter import Planned
from tests.property.oracle import attribute
from tests.property.oracle_facts import Facts
from tests.property.oracle_findings import hours_above_capacity, hours_without_capacity, hours_without_money
from tests.property.oracle_rounding import Key, round_tree
from tests.property.oracle_time import Breakpoints
from tests.property.worlds import World

NANO = Fraction(1, 10**9)
SLACK = NANO / 10**6  # the engine's own unit is far finer than this; its exact amounts are not quite the oracle's
REASON, TEAM = 5, 9
K = TypeVar("K")


def mismatches(world: World, planned: Planned) -> list[str]:
    exact = attribute(world)
    return [
        *amounts(exact, planned),
        *whole_nanos(planned),
        *rounding(planned),
        *bills(world, exact, planned),
        *days(planned),
        *findings(world, planned),
    ]


def is_rounding(key: Key) -> bool:
    return key[REASON] == "rounding"


def amounts(exact: Mapping[Key, Fraction], planned: Planned) -> Iterator[str]:
    for key in sorted(exact.keys() | planned.exact.keys() | planned.postings.keys(), key=str):
        wanted, posted = exact.get(key, Fraction(0)), Fraction(planned.postings.get(key, 0))
        found = planned.exact.get(key, Fraction(0))
        if is_rounding(key):
            if abs(posted) >= NANO:
                yield f"rounding of a nano or more: {posted} for {key}"
        elif abs(posted - wanted) > NANO + SLACK:
            yield f"posted {show(posted)}, the oracle has {show(wanted)} for {key}"
        elif abs(found - wanted) > SLACK:
            yield f"exact {show(found)}, the oracle has {show(wanted)} for {key}"
        elif planned.stated.get(key, found) != found:
            yield f"exact {show(found)}, the plan states {show(planned.stated[key])} for {key}"


def whole_nanos(planned: Planned) -> Iterator[str]:
    for key, amount in planned.postings.items():
        if not is_rounding(key) and (Fraction(amount) / NANO).denominator != 1:
            yield f"{amount} is not whole nanos: {key}"


def rounding(planned: Planned) -> Iterator[str]:
    """The engine's own exact amounts, rounded by the oracle's tree, are its postings, to the nano and in ties."""
    for key, nanos in round_tree(planned.exact).items():
        if nanos * NANO != Fraction(planned.postings.get(key, 0)):
            yield f"posted {planned.postings.get(key, 0)}, the tree gives {nanos} nanos for {key}"


def bills(world: World, exact: Mapping[Key, Fraction], planned: Planned) -> Iterator[str]:
    """To the last digit where there are cost lines; a price list without a bill is what its charges come to."""
    facts = Facts(world, Breakpoints())
    wanted: dict[tuple[str, str, str], Fraction] = {}
    for line in facts.lines:
        add(wanted, (facts.bill(line.row), line.row["BillingCurrency"], line.component), line.amount)
    posted: dict[tuple[str, str, str], Fraction] = {}
    for key, amount in planned.postings.items():
        add(posted, key[:3], Fraction(amount))
    for root in sorted(posted.keys() | wanted.keys()):
        if root in wanted and posted.get(root, Fraction(0)) != wanted[root]:
            yield f"postings of {root} come to {show(posted.get(root, Fraction(0)))}, the lines to {show(wanted[root])}"
        if (
            root not in wanted
            and abs(posted[root] - sum((part for key, part in exact.items() if key[:3] == root), Fraction(0)))
            > NANO + SLACK
        ):
            yield f"postings of {root} come to {show(posted[root])}"
    for name, total in planned.bills.items():
        if Fraction(total) != sum((part for root, part in posted.items() if root[0] == name), Fraction(0)):
            yield f"the total of {name} is {total}, which its postings are not"


def days(planned: Planned) -> Iterator[str]:
    posted: dict[Any, Fraction] = {}
    for key, amount in planned.postings.items():
        add(posted, (key[0], key[1], key[2], key[4]), Fraction(amount))
    for day in sorted(posted.keys() | planned.bill_days.keys(), key=str):
        if posted.get(day, 0) != Fraction(planned.bill_days.get(day, 0)):
            yield f"postings of {day} come to {posted.get(day, 0)}, its expectation is {planned.bill_days.get(day, 0)}"


def findings(world: World, planned: Planned) -> Iterator[str]:
    """Use above capacity, and use without any, is told of every pool that has it, in hours to the nano."""
    told = (
        ("above the capacity", hours_above_capacity(world), planned.above),
        ("without a stated capacity", hours_without_capacity(world), planned.bare),
        ("on nodes without money", hours_without_money(world), planned.unpaid),
    )
    for what, wanted, found in told:
        for pool in sorted(wanted.keys() | found.keys()):
            hours, said = wanted.get(pool, Fraction(0)), found.get(pool, Fraction(0))
            if abs(hours - said) > NANO:
                yield f"{show(said)} hours {what} of {pool} are told, the oracle has {show(hours)}"


def add(sums: dict[K, Fraction], key: K, amount: Fraction) -> None:
    sums[key] = sums.get(key, Fraction(0)) + amount


def show(amount: Fraction) -> str:
    return f"{float(amount):.12g}"
