"""What a statement says in words: the rules by which money was shared, who sponsors what, and where budgets stand."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.shapes import Transfer
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.pools import Pool
from apportion.policy.quotas import Quota
from apportion.reports.statement.facts import Sponsored
from apportion.reports.statement.shape import Budget, Rule
from apportion.verbs.explaining.clauses import block
from apportion.verbs.explaining.pools import how_shared

IDLE = {
    "central": "stays visible as _idle",
    "proportional": "is shared by use",
    "even": "is shared evenly",
    "holder": "is its holder's",
}
MONTHS = {"month": 1, "quarter": 3, "year": 12}
DISPUTE = "Open a dispute on this statement, or on a workload or posting in it: apportion dispute open {owner} --period {period} --why REASON"


def rules(policy: Policy) -> dict[str, Rule]:
    """How each pool is shared, and where the policy says so."""
    return {
        name: Rule(name, sentence(pool), block(policy, "pools", name), policy.line("pools", name))
        for name, pool in policy.pools.items()
    }


def sentence(pool: Pool) -> str:
    """`Shared by capacity rate over gpu (allocated), one price per hour. Idle: unsold central, ...`"""
    how = "each line is its owner's own" if pool.method == "direct" else how_shared(pool)
    idle = (
        ", ".join(f"{cause} {IDLE[rule]}" for cause, rule in pool.idle.items())
        if pool.method == "capacity_rate"
        else ""
    )
    return f"{how[0].upper()}{how[1:]}." + (f" What was idle: {idle}." if idle else "")


def sponsored(policy: Policy) -> dict[tuple[str, str, str], Sponsored]:
    """Adjustments by their reason, credits and free amounts by pool and outcome."""
    found = {}
    capped = {rule.team for rule in policy.adjustments if rule.cap is not None}
    for rule in policy.adjustments:
        until = rule.until.isoformat() if rule.until else ""
        is_capped = rule.sponsor in capped
        found["", rule.why, ""] = Sponsored(rule.sponsor, rule.why, rule.approver, until, is_capped=is_capped)
    for name, pool in policy.pools.items():
        for credit in pool.credit:
            found[name, credit.outcome, ""] = Sponsored(credit.paid_by, f"credit for {credit.outcome}")
        if pool.free is not None:
            found[name, "free", ""] = Sponsored(pool.free.paid_by, f"free for every {pool.free.per}")
    return found


def decided(made: Iterable[Transfer]) -> dict[tuple[str, str, str], Sponsored]:
    """Credits that people gave once, and what they moved between owners, by its run."""
    return {("", "", one.run_id): Sponsored(one.other, one.why, one.approver, receiver=one.owner) for one in made}


def receivers(now: pa.Table) -> dict[tuple[str, str, str], str]:
    """Who was relieved by each transfer."""
    rows = now.filter(pc.is_in(now["reason"], pa.array(["adjustment", "credit"])))
    rows = rows.group_by(["pool", "cause", "run", "team"]).aggregate([("amount", "sum")])
    found: dict[tuple[str, str, str], set[str]] = defaultdict(set)
    for pool, cause, run, team in zip(
        *(rows[name].to_pylist() for name in ("pool", "cause", "run", "team")), strict=True
    ):
        found[pool, cause, run].add(team)
    return {key: ", ".join(sorted(teams)) for key, teams in found.items()}


def budgets(policy: Policy, period: Period, spent: Mapping[str, pa.Table]) -> dict[tuple[str, str], tuple[Budget, ...]]:
    """`spent` has the placed amounts of every month since the year began that is known, this one included."""
    found: dict[tuple[str, str], list[Budget]] = defaultdict(list)
    for quota in policy.quotas:
        whole = quota.team and not quota.user  # others have no statement of their own to stand in
        if quota.money is None or not whole or quota.per not in MONTHS or not quota.holds_on(period.first_day):
            continue
        level, owner = ("project", f"{quota.team}/{quota.project}") if quota.project else ("team", quota.team)
        amount = int(quota.money * 10 ** MINOR_DIGITS[policy.currency])
        used = sum(
            owed(table, quota, policy.currency) for month, table in spent.items() if month in window(quota, period)
        )
        found[level, owner].append(Budget(quota.per, quota.pool or "", amount, used, amount - used))
    return {key: tuple(some) for key, some in found.items()}


def window(quota: Quota, period: Period) -> set[str]:
    """The months of the budget's month, quarter or year, up to this one."""
    return set(months_until(period, MONTHS[quota.per]))


def months_until(period: Period, length: int) -> Iterator[str]:
    first = (period.first_day.month - 1) // length * length + 1
    month = period
    while month.first_day >= date(period.first_day.year, first, 1):
        yield str(month)
        month = month.previous


def owed(rows: pa.Table, quota: Quota, currency: str) -> int:
    wanted = {"currency": currency, "team": quota.team}
    wanted |= {"project": quota.project} if quota.project else {}
    wanted |= {"pool": quota.pool} if quota.pool else {}
    for name, value in wanted.items():
        rows = rows.filter(pc.equal(rows[name], value))
    return int(pc.sum(rows["amount"]).as_py() or 0)
