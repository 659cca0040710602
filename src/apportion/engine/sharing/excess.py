"""What a problem says was used above the capacity that it states: told beside the shares, which stay."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from apportion.engine.sharing.capacity import blended_drivers, larger_drivers
from apportion.engine.sharing.given import Given, Shares
from apportion.engine.sharing.method import Method
from apportion.engine.sharing.peaks import slot_totals
from apportion.model.findings import Finding
from apportion.model.money import for_reading

ZERO = Fraction(0)
DRIVERS = {"max_request_usage": larger_drivers, "blend": blended_drivers}


def find_excess(given: Given, method: Method) -> tuple[Finding, ...]:
    """One finding, with the units above the capacity; over slots, in unit-slots."""
    if "capacity" not in method.reads or not given.has("capacity"):
        return ()
    pairs = [(asked, there) for asked, there in compared(given, method) if there]
    above = sum((max(ZERO, asked - there) for asked, there in pairs), ZERO)
    if not above:
        return ()
    share = max((asked - there) / asked for asked, there in pairs if asked)
    return (
        Finding(
            "used-above-capacity",
            "more was used than the capacity states: the price is the bill over what was used, and nobody pays twice",
            "see whether the capacity is whole, and whether usage is counted twice",
            hours=for_reading(above),
            share=for_reading(share),
        ),
    )


def compared(given: Given, method: Method) -> Iterator[tuple[Fraction, Fraction]]:
    """What was asked for beside what there is: of each resource, in each slot, or at all."""
    if isinstance(given.find("capacity"), Mapping):
        capacity = given.amounts("capacity", "negative_amount")
        used = list(given.table("usage").values())
        yield from ((sum((row.get(name, ZERO) for row in used), ZERO), there) for name, there in capacity.items())
        return
    there = given.amount("capacity")
    if "series" in method.reads and given.has("series"):
        yield from ((total, there) for total in slot_totals(given.series()))
    elif "usage" in method.reads:
        drivers: Shares = DRIVERS.get(method.name, used_amounts)(given)
        yield sum(drivers.values(), ZERO), there


def used_amounts(given: Given) -> Shares:
    return given.amounts("usage")
