"""Shares that the policy states or that lines carry in their own labels: direct, even, fixed. They have no workload."""

from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

from apportion.engine.account import Account, Column, Entry, divide_up
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Calendar
from apportion.engine.lines import Tranche
from apportion.engine.price import spread, system_entry
from apportion.engine.workloads import declared, owner_of
from apportion.errors import Problem
from apportion.model.owner import Owner
from apportion.model.times import Interval
from apportion.policy.document import Policy

WHOLE = 100


def charge_stated(
    name: str, tranches: Iterable[Tranche], policy: Policy, calendar: Calendar, bearers: Bearers
) -> tuple[Account, list[Problem]]:
    """Each day's money of a pool to the owners that are named."""
    pool = policy.pools[name]
    account = Account()
    problems: list[Problem] = []
    for tranche in tranches:
        column = Column(tranche.bill, tranche.component, tranche.family)
        for slot, day, grains in spread(tranche, "day", calendar):
            if pool.method == "direct":
                midnight = calendar.interval(slot).start_s
                shares = {
                    owner_of(dict(tranche.labels), policy, Interval(midnight, midnight + 1), problems): Fraction(1)
                }
            else:
                shares = even(pool.members, policy) if pool.method == "even" else fixed(pool.shares, policy)
            post(account, system_entry(column, name, day, "no owner", bearers), grains, shares, bearers)
    return account, list(dict.fromkeys(problems))


def even(members: Iterable[str], policy: Policy) -> dict[Owner, Fraction]:
    teams = [declared(team, policy) for team in sorted(members or policy.teams)]
    return {team: Fraction(1, len(teams)) for team in teams}


def fixed(shares: Mapping[str, Fraction], policy: Policy) -> dict[Owner, Fraction]:
    return {declared(team, policy): percent / WHOLE for team, percent in sorted(shares.items())}


def post(account: Account, nobody: Entry, grains: int, shares: Mapping[Owner, Fraction], bearers: Bearers) -> None:
    """What the shares leave of the whole is `_unallocated`: nobody owns it."""
    entries = [
        nobody if owner.is_system else nobody._replace(cause="", bearer=bearers.number(owner)) for owner in shares
    ]
    parts = [*shares.values(), Fraction(1) - sum(shares.values())]
    below = lcm(*(part.denominator for part in parts))
    weights = [int(part * below) for part in parts]
    if not weights[-1]:
        weights.pop()
    for entry, part in zip([*entries, nobody], divide_up(grains, weights, below), strict=False):
        account.add(entry, part)
