"""An independent, naive engine: exact fractions, plain loops, nothing of apportion.engine.

Readings of the specification, where it leaves a choice:
READINGS_GO_HERE
"""

from fractions import Fraction

from tests.property.oracle_facts import Facts
from tests.property.oracle_methods import Entry, Sharing, spread
from tests.property.oracle_rounding import Key, rest_of, round_tree
from tests.property.oracle_settle import adjust, by_cost, credits_of, follow, free, reweigh, share_idle
from tests.property.oracle_time import Breakpoints, Clock, EverySecond
from tests.property.worlds import World

__all__ = ["Breakpoints", "EverySecond", "Key", "attribute", "rest_of", "round_tree"]


def attribute(world: World, clock: Clock | None = None) -> dict[Key, Fraction]:
    """Exact amounts per posting key, before rounding; keys that come to 0 are left out."""
    facts = Facts(world, clock or Breakpoints())
    exact: dict[Key, Fraction] = {}
    for entry in ledger_of(facts):
        key: Key = (
            entry.bill, entry.currency, entry.component, entry.pool, entry.day, entry.reason, entry.cause, *entry.who,
        )  # fmt: skip
        exact[key] = exact.get(key, Fraction(0)) + entry.amount
    return {key: amount for key, amount in exact.items() if amount}


def ledger_of(facts: Facts) -> list[Entry]:
    ledger = nobodys(facts)
    sharings = [Sharing(facts, name, pool) for name, pool in facts.policy.pools.items() if pool.method != "by_cost"]
    for sharing in sharings:
        sharing.run()
        reweigh(sharing)
        if sharing.pool.method == "rate_card":
            sharing.recover()
        ledger += sharing.entries + share_idle(sharing)
    for name, pool in facts.policy.pools.items():
        if pool.method == "by_cost":
            ledger += by_cost(facts, name, pool, ledger)
    settled = list(ledger)
    for line in facts.lines:
        if line.follower and line.amount:
            ledger += follow(facts, line, settled)
    for sharing in sharings:
        ledger += free(sharing) + credits_of(sharing)
    adjust(facts, ledger)
    return ledger


def nobodys(facts: Facts) -> list[Entry]:
    """Lines with a problem and lines of no pool."""
    found = []
    for line in facts.lines:
        if line.pool is None and not line.follower and line.amount:
            cause = "problem" if line.row["problem"] else "no pool"
            found += [blank_day(part, cause) for part in spread(facts, line, line.span)]
    return found


def blank_day(part: Entry, cause: str) -> Entry:
    return Entry(
        part.bill, part.currency, part.component, "", part.day, "usage", cause, part.who, part.amount, part.group
    )  # fmt: skip
