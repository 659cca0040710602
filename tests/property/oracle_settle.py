"""From charges to what is posted: weights, idle, overheads, followers, free amounts, credits, adjustments."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase
from fractions import Fraction
from typing import Any, TypeVar

from apportion.model.meters import METERS
from apportion.model.times import parse_period
from apportion.policy.pools import Pool
from apportion.policy.rules import Adjustment
from tests.property.oracle_facts import Claim, Facts, Line, Who, in_force
from tests.property.oracle_methods import ZERO, Entry, Idle, Sharing, blank, spread
from tests.property.oracle_time import Span, day_span

SETTLED = ("usage", "burst", "idle", "overhead")
CURRENT = ("usage", "burst", "idle", "overhead", "credit", "adjustment")
SMALLEST = Fraction(618, 10**21)
K = TypeVar("K")


def sums(entries: Iterable[Entry], key: Callable[[Entry], K]) -> dict[K, Fraction]:
    found: dict[K, Fraction] = {}
    for entry in entries:
        found[key(entry)] = found.get(key(entry), ZERO) + entry.amount
    return found


def same_sign(weights: dict[K, Fraction]) -> dict[K, Fraction]:
    """Shares in proportion to weights; of mixed signs only those with the sign of the sum count; {} where the sum is as good as 0."""
    total = sum(weights.values(), ZERO)
    counted = {key: weight for key, weight in weights.items() if weight * total > 0 and abs(total) >= SMALLEST}
    whole = sum(counted.values(), ZERO)
    return {key: weight / whole for key, weight in counted.items()}


# weights


def weight_of(pool: Pool, claim: Claim) -> Fraction:
    factor = Fraction(1)
    for key, values in pool.weights.items():
        value = claim.weight_labels.get(key)
        globs = [glob for glob in values if value is not None and fnmatchcase(value, glob)]
        factor *= values[value if value in globs else globs[0]] if globs else 1
    return factor


def reweigh(sharing: Sharing) -> None:
    charges = [entry for entry in sharing.entries if entry.claim]
    whose = sums(charges, lambda entry: (entry.bill, entry.component, entry.who, heaviness(sharing, entry)))

    def side(entry: Entry) -> tuple[str, str, bool]:
        return entry.bill, entry.component, whose[entry.bill, entry.component, entry.who, heaviness(sharing, entry)] < 0

    weighed = [replace(entry, amount=entry.amount * heaviness(sharing, entry)) for entry in charges]
    before, after = sums(charges, side), sums(weighed, side)
    kept = [entry for entry in sharing.entries if not entry.claim]
    for entry in charges:
        whole = after[side(entry)]
        factor = heaviness(sharing, entry) * before[side(entry)] / whole if whole else Fraction(1)
        kept.append(replace(entry, amount=entry.amount * factor))
    sharing.entries = kept


def heaviness(sharing: Sharing, entry: Entry) -> Fraction:
    return weight_of(sharing.pool, entry.claim) if entry.claim else Fraction(1)


# idle


def idle_span(pool: Pool, entry: Entry) -> Span | date | None:
    """Entries and idle with the same span share: the period, or the larger of `slot` and `idle_slot`."""
    if pool.idle_slot == "period":
        return None
    if pool.idle_slot == "day" and pool.slot in ("hour", "day"):
        return entry.day
    return entry.slot


def share_idle(sharing: Sharing) -> list[Entry]:
    charges = [entry for entry in sharing.entries if entry.claim]
    found: list[Entry] = []
    cache: dict[Any, dict[Who, Fraction]] = {}
    for idle in sharing.idles:
        key = (
            idle.entry.bill,
            idle.entry.component,
            idle_span(sharing.pool, idle.entry),
            rule_of(sharing.pool, idle),
        )
        if key not in cache:
            cache[key] = idle_shares(sharing, charges, idle)
        shares = holder_shares(idle) if key[3] == "holder" else cache[key]
        central = {sharing.facts.team("_idle"): Fraction(1)}
        found += [
            replace(idle.entry, who=who, amount=idle.entry.amount * part) for who, part in (shares or central).items()
        ]
    return found


def rule_of(pool: Pool, idle: Idle) -> str:
    return {str(cause): rule for cause, rule in pool.idle.items()}[idle.entry.cause]


def holder_shares(idle: Idle) -> dict[Who, Fraction]:
    whole = sum(idle.holders.values(), ZERO)
    return {who: units / whole for who, units in idle.holders.items()} if whole else {}


def idle_shares(sharing: Sharing, charges: list[Entry], idle: Idle) -> dict[Who, Fraction]:
    rule = rule_of(sharing.pool, idle)
    span = idle_span(sharing.pool, idle.entry)
    near = [entry for entry in charges if idle_span(sharing.pool, entry) == span]
    if rule == "proportional":
        mine = [entry for entry in near if (entry.bill, entry.component) == (idle.entry.bill, idle.entry.component)]
        return same_sign(sums(mine, lambda entry: entry.who))
    if rule == "even":
        teams = users_of(sharing, stretch(sharing, idle.entry))
        return {sharing.facts.team(team): Fraction(1, len(teams)) for team in teams}
    return {}


def stretch(sharing: Sharing, entry: Entry) -> Span:
    """The time in which a team must have used the pool to share an idle amount evenly."""
    span = idle_span(sharing.pool, entry)
    if span is None:
        return sharing.facts.window
    return day_span(span, sharing.facts.zone) if isinstance(span, date) else span


def users_of(sharing: Sharing, span: Span) -> list[str]:
    """The teams with units in the pool, by its driver, at some time of `span`, whether that time carries money or not."""
    common = sharing.facts.clock.common
    return sorted(
        {
            claim.who.team
            for claim in sharing.claims
            if claim.rate and not claim.who.is_system and common(claim.span, span)
        }
    )


# overheads


def by_cost(facts: Facts, name: str, pool: Pool, ledger: list[Entry]) -> list[Entry]:
    counted = [
        entry
        for entry in ledger
        if counts_as_cost(entry) and not entry.who.is_system and entry.who.team != pool.from_owner
    ]
    if pool.over != "all" and pool.over:
        counted = [entry for entry in counted if entry.who.team in pool.over]
    totals = sums(counted, lambda entry: (entry.currency, entry.who))
    found: list[Entry] = []
    for line in facts.lines:
        if line.name == name and line.amount:
            for part in spread(facts, line, line.span):
                money = replace(part, pool=name, reason="overhead")
                nobody = replace(money, who=facts.team("_unallocated"), cause="no demand")
                found += over_totals(money, totals) or [nobody]
    for entry in ledger if pool.from_owner else ():
        if counts_as_cost(entry) and entry.who.team == pool.from_owner:
            money = replace(entry, pool=name, reason="overhead", cause="", claim=None)
            shares = over_totals(money, totals)
            found += [*shares, replace(money, amount=-money.amount)] if shares else []
    return found


def counts_as_cost(entry: Entry) -> bool:
    return entry.reason in SETTLED or (entry.reason, entry.cause) == ("credit", "lent")


def over_totals(money: Entry, totals: dict[tuple[str, Who], Fraction]) -> list[Entry]:
    """[] where the totals in that currency come to 0."""
    weights = {
        who: total for (currency, who), total in totals.items() if currency == money.currency and abs(total) >= SMALLEST
    }
    return [replace(money, who=who, amount=money.amount * part) for who, part in same_sign(weights).items()]


# followers


def follow(facts: Facts, line: Line, ledger: list[Entry]) -> list[Entry]:
    def key(entry: Entry) -> tuple[str, date, str, str, Who]:
        """What was lent is taken off what its holder pays for reserving it."""
        reason, cause = ("idle", "reserved") if entry.reason == "credit" else (entry.reason, entry.cause)
        return entry.pool, entry.day, reason, cause, entry.who

    money = blank(facts, line, line.amount)
    bill = [entry for entry in ledger if entry.bill == money.bill and counts_as_cost(entry)]
    shares = same_sign(sums((entry for entry in bill if entry.group == line.group), key)) or same_sign(sums(bill, key))
    if not shares:
        return [replace(part, cause="no demand") for part in spread(facts, line, line.span)]
    return [
        replace(money, pool=pool, day=day, reason=reason, cause=cause, who=who, amount=money.amount * part)
        for (pool, day, reason, cause, who), part in shares.items()
    ]


# transfers


def transfer(entry: Entry, part: Fraction, reason: str, cause: str, sponsor: Who) -> list[Entry]:
    """`part` of an amount leaves (or reaches, when negative) its owner; the sponsor pays it."""
    moved = entry.amount * part
    return [
        replace(entry, reason=reason, cause=cause, amount=-moved),
        replace(entry, reason="subsidy", cause=cause, who=sponsor, amount=moved, claim=None),
    ]


def free(sharing: Sharing) -> list[Entry]:
    terms = sharing.pool.free
    if terms is None:
        return []
    facts = sharing.facts
    month = parse_period(facts.world.period).interval(facts.zone)

    def entity(who: Who) -> tuple[str, ...]:
        if who.is_system:
            return ()
        key = {"team": (who.team,), "project": (who.team, who.project), "user": (who.user,)}[terms.per]
        return key if key[-1] else ()

    hours: dict[tuple[str, ...], Fraction] = {}
    flow = all(METERS[meter].flow for meter in sharing.pool.meter)
    for claim in sharing.claims:
        seconds = facts.clock.common(claim.span, (month.start_s, month.end_s))
        hours[entity(claim.who)] = hours.get(entity(claim.who), ZERO) + claim.rate * seconds / (1 if flow else 3600)
    found = []
    for entry in sharing.entries:
        if entry.claim and entity(entry.who) and hours[entity(entry.who)]:
            part = min(Fraction(1), terms.amount / hours[entity(entry.who)])
            found += transfer(entry, part, "adjustment", "free", facts.team(terms.paid_by))
    return found


def credits_of(sharing: Sharing) -> list[Entry]:
    found = []
    for credit in sharing.pool.credit:
        for entry in sharing.entries:
            if not entry.claim or entry.claim.outcome != credit.outcome:
                continue
            part = Fraction(1)
            if credit.max_hours is not None:
                end = entry.claim.whole[1]
                tail = end - credit.max_hours * 3600
                part = max(ZERO, entry.span[1] - max(Fraction(entry.span[0]), tail)) / (entry.span[1] - entry.span[0])
            payer = sharing.facts.team(credit.paid_by)
            found += transfer(entry, part * credit.percent / 100, "credit", credit.outcome, payer)
    return [entry for entry in found if entry.amount]


def in_reach(rule: Adjustment, ledger: list[Entry]) -> list[Entry]:
    return [
        entry
        for entry in ledger
        if entry.reason in CURRENT
        and not entry.who.is_system
        and (rule.team is None or entry.who.team == rule.team)
        and (rule.pool is None or entry.pool == rule.pool)
        and in_force(rule, entry.day)
        and (rule.when is None or (entry.claim is not None and rule.when.matches(entry.claim.labels)))
    ]


def adjust(facts: Facts, ledger: list[Entry]) -> None:
    """Percentages as listed, then bounds as listed; each sees what the ones before it did."""
    for rule in facts.policy.adjustments:
        if rule.percent is not None:
            ledger += [
                new
                for entry in in_reach(rule, ledger)
                for new in transfer(entry, -rule.percent / 100, "adjustment", rule.why, facts.team(rule.sponsor))
            ]
    for rule in facts.policy.adjustments:
        if rule.percent is None:
            ledger += bound(facts, rule, ledger)


def bound(facts: Facts, rule: Adjustment, ledger: list[Entry]) -> list[Entry]:
    mine = [entry for entry in in_reach(rule, ledger) if entry.currency == facts.policy.currency]
    total = sum((entry.amount for entry in mine), ZERO)
    low, high = bounds(facts, rule)
    wanted = max(total - rule.grant, min(total, ZERO)) if rule.grant is not None else total
    if high is not None:
        wanted = min(wanted, high)
    if low is not None:
        wanted = max(wanted, low)
    if wanted == total:
        return []
    owed = sums(mine, lambda entry: (entry.bill, entry.currency, entry.component, entry.pool, entry.day, entry.who))
    sizes = large_enough(owed) or large_enough(uncharged(facts, rule, ledger))
    whole = sum(sizes.values(), ZERO)
    found: list[Entry] = []
    for (bill, currency, component, pool, day, who), size in sizes.items():
        change = Entry(
            bill, currency, component, pool, day, "adjustment", rule.why, who, (wanted - total) * size / whole
        )
        found += [change, replace(change, reason="subsidy", who=facts.team(rule.sponsor), amount=-change.amount)]
    return found


Place = tuple[str, str, str, str, date, Who]


def large_enough(owed: dict[Place, Fraction]) -> dict[Place, Fraction]:
    return {key: abs(amount) for key, amount in owed.items() if abs(amount) >= SMALLEST}


def uncharged(facts: Facts, rule: Adjustment, ledger: list[Entry]) -> dict[Place, Fraction]:
    """Where the bound of a team without charges is posted: on the bills' days, by what all that lies there comes to."""
    there = [entry for entry in ledger if entry.currency == facts.policy.currency and in_force(rule, entry.day)]
    who = facts.team(rule.team or "")
    return sums(there, lambda entry: (entry.bill, entry.currency, entry.component, "", entry.day, who))


def bounds(facts: Facts, rule: Adjustment) -> tuple[Fraction | None, Fraction | None]:
    if rule.smooth is None:
        return rule.floor, rule.cap
    before = facts.world.previous.get(rule.team or "")
    if before is None:
        return None, None
    slack = abs(Fraction(before)) * rule.smooth / 100
    return Fraction(before) - slack, Fraction(before) + slack
