"""What a policy rewards: would a team have owed less, had it asked for more, split a job or run it at another time? And who would have paid for it?"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.sums import ZERO, less, total
from apportion.reports.words import rounded

PAYS, COSTS, FREE = "pays", "costs", "no difference"
Leaf = tuple[str, ...]  # currency, owner, pool


@dataclass(frozen=True, slots=True)
class Incentive:
    """One deed of one team under one policy; `pool` is "" over all of them, and `job` what it is about there. `change`: what it would owe more or less.

    `bearer`: who else would owe most of it in turn, and `borne` how much more, or less.
    """

    policy: str
    month: str
    currency: str
    team: str
    deed: str
    pool: str
    job: str
    owed: Decimal
    change: Decimal
    verdict: str
    bearer: str
    borne: Decimal


@dataclass(frozen=True, slots=True)
class Done:
    """A deed and the plan as it was and would have been, by currency, owner and pool."""

    policy: str
    month: str
    team: str
    deed: str
    jobs: Mapping[str, str]  # by pool
    before: Mapping[Leaf, Decimal]
    after: Mapping[Leaf, Decimal]


def incentives(done: Iterable[Done]) -> tuple[Incentive, ...]:
    """For each deed the team's sum, then every pool in which it changes something."""
    return tuple(row for one in done for row in judged(one))


def judged(one: Done) -> list[Incentive]:
    moves = {leaf: less(one.after.get(leaf, ZERO), one.before.get(leaf, ZERO)) for leaf in {*one.before, *one.after}}
    found = []
    for currency in sorted({currency for currency, owner, _ in moves if owner == one.team}):
        pools = sorted(
            {
                leaf[-1]
                for leaf, change in moves.items()
                if leaf[:2] == (currency, one.team) and rounded(change, currency)
            }
        )
        for pool in ("", *pools):
            own = {leaf: change for leaf, change in moves.items() if leaf[0] == currency and pool in ("", leaf[-1])}
            owed = total(
                amount
                for leaf, amount in one.before.items()
                if leaf[:2] == (currency, one.team) and pool in ("", leaf[-1])
            )
            found.append(row_of(one, (currency, pool), owed, own))
    return found


def row_of(one: Done, place: tuple[str, str], owed: Decimal, moves: Mapping[Leaf, Decimal]) -> Incentive:
    currency, pool = place
    sums = {owner: total(change for leaf, change in moves.items() if leaf[1] == owner) for _, owner, _ in moves}
    change = sums.pop(one.team, ZERO)
    against = {owner: amount for owner, amount in sums.items() if amount and (amount > 0) != (change > 0)}
    bearer = max(against, key=lambda owner: (abs(against[owner]), owner not in SYSTEM_OWNERS, owner), default="")
    seen = rounded(change, currency)
    verdict = FREE if not seen else PAYS if change < 0 else COSTS
    borne = against.get(bearer, ZERO) if seen else ZERO
    return Incentive(
        one.policy, one.month, currency, one.team, one.deed, pool, one.jobs.get(pool, ""), owed, change, verdict,
        bearer if seen else "", borne,
    )  # fmt: skip
