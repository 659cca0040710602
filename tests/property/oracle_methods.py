"""One pool's lines over its usage, before weights and idle rules. Linear in the lines, so each is shared by itself."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from fractions import Fraction
from typing import Any

from apportion.model.meters import METERS
from apportion.model.times import parse_period
from apportion.policy.pools import Pool
from tests.property.oracle_facts import NOT_UP, Claim, Facts, Group, Line, Offer, Who, in_force
from tests.property.oracle_identity import DEFAULT, Resource
from tests.property.oracle_time import Span, cut, day_span, hours_touched, whole_cells

ZERO = Fraction(0)
NO_SLOT = (0, 0)
NO_BURST = ("time", "rate_card", "noncoincident_peak", "peak_shapley", "dominant_share", "energy_two_part")


@dataclass(frozen=True)
class Entry:
    """A signed amount for one owner. `claim` and `span` say which usage it is for, `group` which lines it is part of."""

    bill: str
    currency: str
    component: str
    pool: str
    day: date
    reason: str
    cause: str
    who: Who
    amount: Fraction
    group: Group | None = None
    claim: Claim | None = None
    span: Span = NO_SLOT
    slot: Span = NO_SLOT


@dataclass(frozen=True)
class Idle:
    """Idle money of one line, slot, day and cause, and who held it."""

    entry: Entry
    holders: dict[Who, Fraction]


@dataclass
class Usage:
    """What a pool's usage looks like in a slot, on one resource or on all."""

    claims: list[tuple[Claim, Span, Fraction]]
    demand: Fraction
    capacity: Fraction
    not_up: Fraction
    held: dict[Who, Fraction]
    unused: dict[str, Fraction]

    @property
    def causes(self) -> dict[str, Fraction]:
        """Idle units by cause, each from what the causes before it have left."""
        found, rest = {}, max(ZERO, self.capacity - self.demand)
        for cause, most in (
            ("held", sum(self.held.values(), ZERO)),
            ("down", self.not_up),
            ("reserved", sum(self.unused.values(), ZERO)),
            ("unsold", rest),
        ):
            found[cause] = min(rest, most)
            rest -= found[cause]
        return found


@dataclass
class Sharing:
    """One pool at work."""

    facts: Facts
    name: str
    pool: Pool
    entries: list[Entry] = field(default_factory=list)
    idles: list[Idle] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.claims = self.facts.claims(self.name, self.pool) if self.pool.meter else []
        self.offers = self.facts.capacity(self.name, self.pool) if self.pool.meter else []
        self.reserved = self.facts.reservations(self.name, self.pool) if self.pool.meter else []
        self.resources = self.facts.own_resources(self.name, self.pool) if self.pool.scope == "resource" else set()
        self.seen: dict[tuple[Span, Resource | None], Usage] = {}

    def run(self) -> None:
        mine = [line for line in self.facts.lines if line.name == self.name and line.amount]
        if self.pool.method == "rate_card":
            self.rate_card(mine)
            return
        ways = self.ways()
        tables = {"direct": self.direct, "even": self.even, "fixed": self.fixed}
        for line in mine:
            if self.pool.method in tables:
                for part in self.money_by_day(line, line.span):
                    tables[self.pool.method](part, line)
                continue
            for slot in self.slots(line):
                money = line.amount * self.facts.clock.common(slot, line.span) / (line.span[1] - line.span[0])
                if money:
                    ways[self.pool.method](replace(blank(self.facts, line, money), slot=slot), line, slot)

    def ways(self) -> dict[str, Callable[[Entry, Line, Span], None]]:
        return {"proportional": self.proportional, "capacity_rate": self.capacity_rate, "time": self.time}

    # money in time

    def slots(self, line: Line) -> list[Span]:
        zone = self.facts.zone
        if self.pool.slot == "hour":
            return hours_touched(line.span, zone)
        if self.pool.slot == "day":
            return [day_span(day, zone) for day, _ in self.facts.clock.by_day(line.span, zone)]
        return [self.billing_of(line)]

    def billing_of(self, line: Line) -> Span:
        billing = (line.row["billing_start_s"], line.row["billing_end_s"])
        inside = billing[0] <= line.span[0] and line.span[1] <= billing[1]
        return billing if inside else whole_cells(line.span, self.facts.zone)

    def money_by_day(self, line: Line, slot: Span, amount: Fraction | None = None) -> Iterator[Entry]:
        """`amount` (the line's money in the slot unless told) over the days of the line's own seconds in the slot."""
        yield from spread(self.facts, line, slot, amount)

    # usage in time

    def usage(self, slot: Span, resource: Resource | None) -> Usage:
        if (slot, resource) not in self.seen:
            self.seen[slot, resource] = self.look(slot, resource)
        return self.seen[slot, resource]

    def look(self, slot: Span, resource: Resource | None) -> Usage:
        common = self.facts.clock.common
        claims: list[tuple[Claim, Span, Fraction]] = []
        held: dict[Who, Fraction] = {}
        allocated: dict[str, Fraction] = {}
        for claim in self.claims:
            seconds = common(claim.span, slot)
            if not seconds or resource not in (None, claim.resource):
                continue
            claims.append((claim, cut(claim.span, slot), claim.rate * seconds))
            held[claim.who] = held.get(claim.who, ZERO) + claim.held * seconds
            allocated[claim.who.team] = allocated.get(claim.who.team, ZERO) + claim.allocated * seconds
        mine = [offer for offer in self.offers if resource in (None, offer.resource)]
        unused: dict[str, Fraction] = {}
        if resource is None:
            for offer in self.reserved:
                unused[offer.what] = unused.get(offer.what, ZERO) + offer.rate * common(offer.span, slot)
            unused = {team: max(ZERO, units - allocated.get(team, ZERO)) for team, units in unused.items()}
        return Usage(
            claims,
            sum((units for _, _, units in claims), ZERO),
            total_of(mine, slot, common),
            total_of([offer for offer in mine if offer.what in NOT_UP], slot, common),
            held if self.pool.driver.kind in ("used", "blend") else {},
            unused,
        )

    def scope_of(self, line: Line) -> Resource | None:
        """The one node a line counts on, one of the pool's own if it can be, used or not; None: the whole pool."""
        if self.pool.scope != "resource":
            return None
        named = [str(line.row[column]) for column in ("ResourceId", "ResourceName") if line.row[column]]
        own = [[node for node in self.facts.known.called(name) if node in self.resources] for name in named]
        elsewhere = [self.facts.known.called(name)[:1] for name in named]
        asked = [[(DEFAULT, name)] for name in named if self.asks_for(name)]
        nodes = next((nodes for nodes in (*own, *elsewhere, *asked) if nodes), [])
        return nodes[0] if len(nodes) == 1 else None

    def asks_for(self, name: str) -> bool:
        """Whether the pool's `usage` selects nodes by name, in some cluster or other, and this is such a name."""
        selector = self.pool.usage
        if selector is None or not selector.keys or not selector.keys <= {"node", "resource", "cluster"}:
            return False
        where = [{}, *({"cluster": cluster} for cluster in self.facts.known.every_cluster())]
        return any(selector.matches({"node": name, "resource": name, **cluster}) for cluster in where)

    def charge(self, money: Entry, claim: Claim, span: Span, amount: Fraction) -> None:
        above = self.burst(claim.who.team, money.slot)
        for reason, part in (("usage", 1 - above), ("burst", above)):
            if part:
                self.put(money, claim, span, (reason, amount * part))

    def put(self, money: Entry, claim: Claim, span: Span, what: tuple[str, Fraction]) -> None:
        own = replace(money, pool=self.name, day=claim.day, cause=claim.who.cause, who=claim.who)
        self.entries.append(replace(own, reason=what[0], amount=what[1], claim=claim, span=span))

    def burst(self, team: str, slot: Span) -> Fraction:
        """The part of a holder's use in a slot that is above its reservation."""
        if self.pool.method in NO_BURST or team not in {offer.what for offer in self.reserved}:
            return ZERO
        used = sum((units for claim, _, units in self.usage(slot, None).claims if claim.who.team == team), ZERO)
        promised = total_of([offer for offer in self.reserved if offer.what == team], slot, self.facts.clock.common)
        return max(ZERO, used - promised) / used if used else ZERO

    # methods

    def proportional(self, money: Entry, line: Line, slot: Span) -> None:
        usage = self.usage(slot, self.scope_of(line))
        if not usage.demand:
            self.nobody(money, line, slot)
            return
        for claim, span, units in usage.claims:
            if units:
                self.charge(money, claim, span, money.amount * units / usage.demand)

    def nobody(self, money: Entry, line: Line, slot: Span) -> None:
        if self.pool.on_zero == "error":
            raise ZeroDivisionError(self.name)
        for part in self.money_by_day(line, slot, money.amount):
            entry = replace(part, pool=self.name, slot=slot)
            if self.pool.on_zero == "even" and self.facts.policy.teams:
                self.evenly(entry, list(self.facts.policy.teams))
            else:
                self.entries.append(replace(entry, cause="no demand"))

    def time(self, money: Entry, line: Line, slot: Span) -> None:
        usage = self.usage(slot, self.scope_of(line))
        spans: dict[tuple[str, date], dict[Resource, list[Span]]] = {}
        own: dict[tuple[str, date], int] = {}
        for claim, span, _ in usage.claims:
            key = (claim.who.team, claim.day)
            spans.setdefault(key, {}).setdefault(claim.resource, []).append(span)
            own[key] = own.get(key, 0) + span[1] - span[0]
        held = {key: sum(self.facts.clock.union(parts) for parts in on.values()) for key, on in spans.items()}
        if not sum(held.values()):
            self.nobody(money, line, slot)
            return
        for claim, span, _ in usage.claims:
            key = (claim.who.team, claim.day)
            share = Fraction(held[key], sum(held.values())) * Fraction(span[1] - span[0], own[key])
            self.charge(money, claim, span, money.amount * share)

    def capacity_rate(self, money: Entry, line: Line, slot: Span) -> None:
        usage = self.usage(slot, self.scope_of(line))
        whole = max(usage.capacity, usage.demand)
        if not whole:
            self.idle(money, line, "unsold", money.amount, {})
            return
        price = money.amount / whole
        for claim, span, units in usage.claims:
            if units:
                self.charge(money, claim, span, price * units)
        whole_pool = self.usage(slot, None)
        holders = {
            "held": usage.held,
            "reserved": {self.facts.team(team): units for team, units in whole_pool.unused.items() if units},
        }
        for cause, units in self.causes(usage, whole_pool).items():
            if units > 0:
                self.idle(money, line, cause, price * units, holders.get(cause, {}))

    def causes(self, usage: Usage, whole_pool: Usage) -> dict[str, Fraction]:
        """One resource's part of the pool's reserved idle is its part of what the pool could have reserved."""
        found = usage.causes
        if usage is not whole_pool:
            rest, pool = found["reserved"] + found["unsold"], whole_pool.causes
            pool_rest = pool["reserved"] + pool["unsold"]
            found["reserved"] = rest * pool["reserved"] / pool_rest if pool_rest else ZERO
            found["unsold"] = rest - found["reserved"]
        return found

    def idle(self, money: Entry, line: Line, cause: str, amount: Fraction, holders: dict[Who, Fraction]) -> None:
        for part in self.money_by_day(line, money.slot, amount):
            self.idles.append(Idle(replace(part, pool=self.name, slot=money.slot, reason="idle", cause=cause), holders))

    def direct(self, part: Entry, line: Line) -> None:
        who = self.facts.owner(self.facts.line_labels(line.row), part.day)
        self.entries.append(replace(part, pool=self.name, who=who, cause=who.cause))

    def even(self, part: Entry, line: Line) -> None:
        self.evenly(replace(part, pool=self.name), list(self.pool.members or self.facts.policy.teams))

    def evenly(self, part: Entry, teams: list[str]) -> None:
        for team in teams:
            self.entries.append(replace(part, who=self.facts.team(team), amount=part.amount / len(teams)))

    def fixed(self, part: Entry, line: Line) -> None:
        rest = part.amount
        for team, percent in self.pool.shares.items():
            amount = part.amount * percent / 100
            rest -= amount
            self.entries.append(replace(part, pool=self.name, who=self.facts.team(team), amount=amount))
        self.entries.append(replace(part, pool=self.name, cause="no owner", amount=rest))

    # price lists

    def rate_card(self, mine: list[Line]) -> None:
        month = parse_period(self.facts.world.period).interval(self.facts.zone)
        charges = []
        for claim in self.claims:
            span = cut(claim.span, (month.start_s, month.end_s))
            price = self.price(claim)
            if span[1] > span[0] and claim.rate and price:
                quantity = claim.rate * self.facts.clock.common(claim.span, span)
                flow = all(METERS[meter].flow for meter in self.pool.meter)
                charges.append((claim, span, quantity * price / (1 if flow else 3600)))
        for bill, share in self.card_bills(mine):
            for claim, span, amount in charges:
                self.charge(bill, claim, span, amount * share)

    def price(self, claim: Claim) -> Fraction | None:
        for price in self.pool.prices:
            if in_force(price, claim.day) and (price.when is None or price.when.matches(claim.labels)):
                return price.price
        return None

    def card_bills(self, mine: list[Line]) -> list[tuple[Entry, Fraction]]:
        """The bills (with component and group) that the price list is set against, each with its part of the charges: by money.

        A bill in another currency recovers nothing: all of it is left for `_residual`.
        """
        money: dict[tuple[str, str, str, Group | None], Fraction] = {}
        for line in mine:
            entry = blank(self.facts, line, line.amount)
            if entry.currency != self.facts.policy.currency:
                continue
            key = (entry.bill, entry.currency, entry.component, entry.group)
            money[key] = money.get(key, ZERO) + line.amount
        if not mine:
            currency = self.facts.policy.currency
            component = self.pool.component or METERS[next(iter(self.pool.meter))].component
            money[f"rate card {self.name} {self.facts.world.period} {currency}", currency, component, None] = Fraction(
                1
            )
        nobody = self.facts.team("_unallocated")
        bills: dict[tuple[str, str, str], Fraction] = {}
        for key, part in money.items():
            bills[key[:3]] = bills.get(key[:3], ZERO) + part
        return [
            (
                Entry(*key[:3], self.name, date.min, "usage", "", nobody, ZERO, key[3]),
                size(bills, key[:3]) * size({other: money[other] for other in money if other[:3] == key[:3]}, key),
            )
            for key in money
        ]

    def recover(self) -> None:
        """After weights, since they move charges between days."""
        mine = [line for line in self.facts.lines if line.name == self.name and line.amount]
        rest: dict[tuple[str, str, str, date], Fraction] = {}
        for line in mine:
            for part in self.money_by_day(line, line.span):
                key = (part.bill, part.currency, part.component, part.day)
                rest[key] = rest.get(key, ZERO) + part.amount
        for entry in self.entries if mine else ():
            key = (entry.bill, entry.currency, entry.component, entry.day)
            rest[key] = rest.get(key, ZERO) - entry.amount
        residual = self.facts.team("_residual")
        for (bill, currency, component, day), amount in rest.items():
            self.entries.append(Entry(bill, currency, component, self.name, day, "recovery", "", residual, amount))


def size(totals: Mapping[Any, Fraction], key: Any) -> Fraction:
    """Its part of all, by size; equal parts where all are 0."""
    whole = sum((abs(total) for total in totals.values()), ZERO)
    return abs(totals[key]) / whole if whole else Fraction(1, len(totals))


def blank(facts: Facts, line: Line, amount: Fraction) -> Entry:
    """A line's money before anyone has it."""
    nobody = facts.team("_unallocated")
    row = line.row
    return Entry(
        facts.bill(row), row["BillingCurrency"], line.component, "", date.min, "usage", "", nobody, amount, line.group
    )


def spread(facts: Facts, line: Line, slot: Span, amount: Fraction | None = None) -> Iterator[Entry]:
    inside = cut(line.span, slot)
    seconds = inside[1] - inside[0]
    whole = line.amount * seconds / (line.span[1] - line.span[0]) if amount is None else amount
    for day, part in facts.clock.by_day(inside, facts.zone):
        yield replace(blank(facts, line, whole * (part[1] - part[0]) / seconds), day=day)


def total_of(offers: list[Offer], slot: Span, common: Callable[[Span, Span], int]) -> Fraction:
    return sum((offer.rate * common(offer.span, slot) for offer in offers), ZERO)
