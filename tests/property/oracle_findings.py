"""What a plan has to tell beside its figures, by definition."""

from fractions import Fraction

from apportion.model.meters import METERS
from apportion.model.times import parse_period
from apportion.policy.pools import Pool
from tests.property.oracle_boards import cells_of
from tests.property.oracle_facts import Claim, Facts
from tests.property.oracle_identity import Resource
from tests.property.oracle_methods import ZERO, Sharing
from tests.property.oracle_parts import Parted
from tests.property.oracle_time import Breakpoints, Span, cut
from tests.property.worlds import World


def hours_above_capacity(world: World) -> dict[str, Fraction]:
    """By pool: unit-hours (units, of a flow) that were asked for beyond what capacity states, in slots that carry money.

    Asked for: by the pool's driver, before shared boards cut it down. Where no capacity is stated there is nothing to be above. Under
    `scope: resource` each node is seen by itself, and lines that name none on the whole pool. A pool of several meters counts each.
    """
    facts = Facts(world, Breakpoints())
    found = {name: pool_hours(facts, name, pool) for name, pool in world.policy.pools.items() if pool.meter}
    return {name: hours for name, hours in found.items() if hours}


def pool_hours(facts: Facts, name: str, pool: Pool) -> Fraction:
    total = ZERO
    for meter, weight in pool.meter.items():
        part = Parted(facts, name, pool.model_copy(update={"meter": {meter: Fraction(1)}, "method": "proportional"}))
        rows = [row for row in facts.world.usage if row["meter"] == meter and row["end_s"] > row["start_s"]]
        asked = facts.claimed(name, part.pool, rows)
        for slot, node in places(part) if weight else ():
            there = part.usage(slot, node).capacity
            wanted = sum((units_in(facts, claim, slot) for claim in asked if node in (None, claim.resource)), ZERO)
            if there:
                total += max(ZERO, wanted - there) / (1 if METERS[meter].flow else 3600)
    return total


def units_in(facts: Facts, claim: Claim, slot: Span) -> Fraction:
    return claim.rate * facts.clock.common(claim.span, slot)


def places(sharing: Sharing) -> set[tuple[Span, Resource | None]]:
    """Where the pool's money lies: slots, and the node that it is tied to."""
    mine = [line for line in sharing.facts.lines if line.name == sharing.name and line.amount]
    return {(slot, sharing.scope_of(line)) for line in mine for slot in sharing.slots(line)}


def hours_without_capacity(world: World) -> dict[str, Fraction]:
    """By pool of `capacity_rate` that has lines: unit-hours of levels that were asked for in cells of which nobody states a capacity.

    Under `scope: resource` a node's cells are its own, else they are the whole pool's. Where nothing is stated at all these are all hours.
    """
    facts = Facts(world, Breakpoints())
    rated = {name: pool for name, pool in world.policy.pools.items() if pool.method == "capacity_rate"}
    rated = {name: pool for name, pool in rated.items() if any(line.name == name for line in facts.lines)}
    found = {name: bare_hours(facts, name, pool) for name, pool in rated.items()}
    return {name: hours for name, hours in found.items() if hours}


def bare_hours(facts: Facts, name: str, pool: Pool) -> Fraction:
    total = ZERO
    for meter in (meter for meter, weight in pool.meter.items() if weight and not METERS[meter].flow):
        part = Parted(facts, name, pool.model_copy(update={"meter": {meter: Fraction(1)}, "method": "proportional"}))
        rows = [row for row in facts.world.usage if row["meter"] == meter and row["end_s"] > row["start_s"]]
        by_node = pool.scope == "resource"
        stated = {
            (offer.resource if by_node else None, cell)
            for offer in part.offers
            if offer.rate
            for cell in cells_of(cut(offer.span, facts.window), facts.zone)
        }
        for claim in facts.claimed(name, part.pool, rows):
            span, node = cut(claim.span, facts.window), claim.resource if by_node else None
            bare = [cell for cell in cells_of(span, facts.zone) if (node, cell) not in stated]
            total += claim.rate * sum(facts.clock.common(span, cell) for cell in bare) / 3600
    return total


def hours_without_money(world: World) -> dict[str, Fraction]:
    """By pool whose nodes have each their own money: unit-hours of levels in the month on nodes that no money names, where all money names some."""
    facts = Facts(world, Breakpoints())
    priced = {name: pool for name, pool in world.policy.pools.items() if pool.meter and pool.scope == "resource"}
    found = {name: unpaid_hours(facts, name, pool) for name, pool in priced.items() if pool.method != "rate_card"}
    return {name: hours for name, hours in found.items() if hours}


def unpaid_hours(facts: Facts, name: str, pool: Pool) -> Fraction:
    whole = Parted(facts, name, pool)
    paid = {whole.scope_of(line) for line in facts.lines if line.name == name and line.amount}
    if not paid or None in paid:
        return ZERO
    month = parse_period(facts.world.period).interval(facts.zone)
    total = ZERO
    for meter in (meter for meter, weight in pool.meter.items() if weight and not METERS[meter].flow):
        part = pool.model_copy(update={"meter": {meter: Fraction(1)}, "method": "proportional"})
        rows = [row for row in facts.world.usage if row["meter"] == meter and row["end_s"] > row["start_s"]]
        for claim in facts.claimed(name, part, rows):
            if claim.resource not in paid:
                total += claim.rate * facts.clock.common(claim.span, (month.start_s, month.end_s)) / 3600
    return total
