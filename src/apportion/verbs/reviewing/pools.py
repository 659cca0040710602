"""The pools of a month that is computed again, as a review looks at them."""

from collections import defaultdict
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.model.kinds import summed
from apportion.model.meters import METERS
from apportion.model.rows import SYSTEM_OWNERS
from apportion.policy.document import Policy
from apportion.policy.methods import RESERVED, SHOWS_IDLE
from apportion.policy.tree import exists
from apportion.reports.capacity import PARTS, Measured, idle_by_pool
from apportion.reports.review.pool import Pool
from apportion.reports.review.profile import profile
from apportion.reports.sums import ZERO, grouped
from apportion.verbs.plan import Computed
from apportion.verbs.pools import measures_of
from apportion.verbs.reviewing.work import Month, hours


def pools_of(computed: Computed, month: Month, file: Policy) -> list[Pool]:
    """Those that somebody holds for a time, by one measure. `file`: the policy as it stands now, which an edit would change."""
    policy = computed.world.policy
    currency = main_currency(policy, month)
    posted = month.record.posted.filter(pc.equal(month.record.posted["currency"], currency))
    amounts, idle = grouped(posted, ("pool",)), idle_by_pool(posted)
    teams = teams_of(posted, month.charged.filter(pc.equal(month.charged["currency"], currency)))
    found = []
    for name in policy.pools:
        measures = measures_of(computed, name)
        if len(measures) != 1 or not measures[0].unit or (name,) not in amounts:
            continue
        own = profile(measures[0])
        if own.held:
            found.append(
                Pool(
                    name, policy.pools[name].method, own, currency, amounts[name,], teams.get(name, {}), parts_of(measures[0]),
                    idle.get(name, ZERO), idle.get(name, ZERO) != 0 or policy.pools[name].method in SHOWS_IDLE,
                    reservable(policy, name), exists(file.root, ("pools", name, "slot")),
                )
            )  # fmt: skip
    return found


def main_currency(policy: Policy, month: Month) -> str:
    """The policy's own where anything is posted in it: a pool's hours are told once."""
    known = sorted(one for one in pc.unique(month.record.posted["currency"]).to_pylist() if is_money(one))
    return policy.currency if policy.currency in known or not known else known[0]


def teams_of(posted: pa.Table, charged: pa.Table) -> dict[str, dict[str, tuple[Fraction, Decimal]]]:
    """By pool and team: hours held, and what was posted."""
    amounts = grouped(posted, ("pool", "team"))
    found: dict[str, dict[str, tuple[Fraction, Decimal]]] = defaultdict(dict)
    for row in summed(charged, ("pool", "team", "unit", "per_unit"), ("held",)).to_pylist():
        if row["team"] not in SYSTEM_OWNERS and row["unit"] is not None:
            found[row["pool"]][row["team"]] = hours(row, "held"), amounts.get((row["pool"], row["team"]), ZERO)
    return found


def parts_of(measured: Measured) -> Mapping[str, Fraction]:
    """Nothing where nobody stated how much there is."""
    return {name: measured.hours(name) for name in PARTS} if measured.is_stated else {}


def reservable(policy: Policy, name: str) -> str:
    rule = policy.pools[name]
    levels = [meter for meter in rule.meter if not METERS[meter].flow]
    return levels[0] if rule.method in RESERVED and len(rule.meter) == 1 and levels else ""
