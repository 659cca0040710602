"""How far the posted shares of a month lie from peak Shapley: the plan is made again as it was posted, and its pools once more by another method."""

from dataclasses import replace
from decimal import Decimal

from apportion.engine.fairness import Compared, Comparison, compare_with_peak
from apportion.errors import InvariantError
from apportion.model.times import Period
from apportion.reports.changes import changes, tally
from apportion.reports.fairness import Drawn, Stake
from apportion.reports.fairness import fairness as make_report
from apportion.reports.report import Report
from apportion.reports.sums import total
from apportion.verbs.agreement import basis_of
from apportion.verbs.asked import posted_month
from apportion.verbs.ground import ground_of
from apportion.verbs.plan import compute
from apportion.verbs.project import Project
from apportion.verbs.report import declared, read_record
from apportion.verbs.steps import Step, silent

MILLION = 10**6


def fairness(project: Project, period: Period | str | None = None, by: str = "team", step: Step = silent) -> Report:
    """How much would move if peak Shapley shared the same pools.

    `by`: a row for each team, or for each team in each pool. Raises InvariantError where the record is not what its inputs say.
    """
    period = posted_month(project, period)
    record = read_record(project, [period])
    ground = ground_of(project, period)
    record = record if ground.posted is None else replace(record, posted=ground.posted)
    made = compute(project, period, ground.policy, ground.pins, step).plan
    moved = changes(record.posted, made.postings)
    if any(change.sign != " " for change in moved):
        raise InvariantError(
            f"{period}: the record is not what its cost lines and usage say",
            tally((), str(period)),
            tally(moved, str(period)),
        )
    step("sharing by peak Shapley", 0, 0)
    found = compare_with_peak(made.own)
    stakes = [stake for pool in found.pools for stake in stakes_of(pool)]
    return declared(make_report(record, stakes, drawn(found), found.apart, by), basis_of(ground.policy))


def stakes_of(found: Compared) -> list[Stake]:
    """Whoever pays something on one of the two sides."""
    owners = sorted({team for team, _ in (*found.planned, *found.instead)})
    return [
        Stake(
            found.pool,
            found.currency,
            owner,
            reasons={reason: amount for (team, reason), amount in found.planned.items() if team == owner},
            instead=total(amount for (team, _), amount in found.instead.items() if team == owner),
            error=max(
                (Decimal(each.errors[owner]) / MILLION for each in found.sampling if owner in each.errors), default=None
            ),
        )
        for owner in owners
    ]


def drawn(found: Comparison) -> dict[str, Drawn]:
    return {
        pool.pool: Drawn(tuple(each.seed for each in pool.sampling), pool.sampling[0].orders)
        for pool in found.pools
        if pool.sampling
    }
