"""What `plan` and `check` say in a sentence beside their figures."""

from collections.abc import Iterable, Iterator

import pyarrow as pa

from apportion.engine.bursts import Burst
from apportion.engine.lines import Bill
from apportion.model.currencies import is_money
from apportion.model.money import for_reading
from apportion.model.rows import SYSTEM_OWNERS
from apportion.policy.document import Policy
from apportion.reports.sums import grouped
from apportion.reports.words import shown

IN_MONEY = ("cap", "floor", "grant", "smooth")  # of an adjustment, amounts or changes in the policy's currency


def burst_notes(bursts: Iterable[Burst]) -> list[str]:
    return [
        f"bursts: {shown(for_reading(amount), currency)} of {burst.team}'s charge in {burst.pool} pays for nodes that only other teams' bursts used"
        for burst in bursts
        for currency, amount in burst.for_others.items()
    ]


def bound_notes(policy: Policy, bills: Iterable[Bill]) -> Iterator[str]:
    """Caps, floors and the like hold for money in the policy's currency: what of them never touches a bill in another one."""
    words = [word for word in IN_MONEY if any(getattr(rule, word) is not None for rule in policy.adjustments)]
    others = sorted({bill.currency for bill in bills if is_money(bill.currency)} - {policy.currency})
    if words and others:
        yield f"adjustments: {' and '.join(words)} hold for money in {policy.currency} alone; bills in {' and '.join(others)} stay as they are without `fx`"


def undeclared_owners(policy: Policy, postings: pa.Table) -> Iterator[str]:
    """Teams that owe, and that a policy which declares teams does not name: mostly a slip of the pen in a label."""
    if not policy.teams:
        return
    sums = grouped(postings, ("team", "currency"))
    known = {*policy.teams, *SYSTEM_OWNERS}
    others = [f"{team} {shown(amount, unit)}" for (team, unit), amount in sums.items() if team not in known and amount]
    if others:
        yield f"teams that owe and are not declared: {', '.join(others)}"
