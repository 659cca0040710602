"""Idle: measured, never hidden, and shared only as the pool's rule for its cause says."""

from collections import defaultdict
from collections.abc import Mapping

from apportion.engine.account import Account, Column, Entry, divide_up
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Slot
from apportion.engine.price import Market, Priced, system_entry
from apportion.engine.weights import Used
from apportion.engine.workloads import declared
from apportion.policy.document import Policy

Shares = dict[int, int]


def share_idle(market: Market, priced: Priced, usage: Used, policy: Policy) -> Account:
    """Idle money by cause: kept at `_idle`, or over the pool's users or teams."""
    account = Account()
    by_period = period_shares(usage, market.bearers)
    teams = even_shares(usage, market.bearers, policy)
    idle = gathered(priced, per_slot=market.pool.idle_slot != "period")
    for (column, day, cause, slot), grains in idle.items():
        rule = market.pool.idle[cause]
        shares: Mapping[int, int] = {}
        if rule == "proportional":
            shares = by_period.get(column[:2], {}) if slot is None else slot_shares(priced, slot, market.bearers)
        elif rule == "even":
            shares = teams
        if not shares:
            account.add(system_entry(column, market.name, day, cause, market.bearers), grains)
            continue
        for bearer, part in zip(shares, divide_up(grains, shares.values(), sum(shares.values())), strict=True):
            account.add(Entry(column, market.name, day, "idle", cause, bearer), part)
    return account


def gathered(priced: Priced, *, per_slot: bool) -> dict[tuple[Column, int, str, Slot | None], int]:
    """Idle over the period, day by day; kept apart by slot only where the policy shares each slot's idle on its own."""
    if per_slot:
        return dict(priced.idle)
    out: dict[tuple[Column, int, str, Slot | None], int] = defaultdict(int)
    for (column, day, cause, _), grains in priced.idle.items():
        out[column, day, cause, None] += grains
    return out


def period_shares(usage: Used, bearers: Bearers) -> dict[tuple[str, str], Shares]:
    """What each bearer's use cost over the period, per bill and component; nothing where that does not come to a positive sum."""
    sums: dict[tuple[str, str], dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for (column, _, bearer), grains in usage.items():
        sums[column[:2]][bearer] += grains
    return {key: positive(shares, bearers) for key, shares in sums.items()}


def slot_shares(priced: Priced, slot: Slot, bearers: Bearers) -> Shares:
    return positive(priced.loads.get(slot, {}), bearers)


def positive(shares: Mapping[int, int], bearers: Bearers) -> Shares:
    """In the bearers' own order; signs are turned where all money is a credit. Mixed signs count by what they add to the sum's side."""
    sign = -1 if sum(shares.values()) < 0 else 1
    kept = {bearer: sign * grains for bearer, grains in shares.items() if sign * grains > 0}
    return dict(sorted(kept.items(), key=lambda item: bearers[item[0]]))


def even_shares(usage: Used, bearers: Bearers, policy: Policy) -> Shares:
    """One share for each team that used the pool; for every declared team where none did."""
    teams = {bearers[bearer].owner.at_team() for _, _, bearer in usage if not bearers[bearer].owner.is_system}
    teams = teams or {declared(team, policy) for team in policy.teams}
    return {bearers.number(team): 1 for team in sorted(teams)}
