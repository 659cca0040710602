"""Idle: measured, never hidden, and shared only as the pool's rule for its cause says."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

from apportion.engine.account import Account, Entry, divide_up, with_sign_of_sum
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Slot
from apportion.engine.price import Load, Market, Priced, Used, system_entry
from apportion.engine.weights import factors
from apportion.engine.workloads import declared
from apportion.policy.document import Policy

Shares = dict[int, int]


def share_idle(market: Market, priced: Priced, usage: Used, weights: Mapping[Load, int], policy: Policy) -> Account:
    """Idle money by cause: kept at `_idle`, or over the pool's users or teams."""
    account = Account()
    by_period = period_shares(usage, market.bearers)
    moot = weightless(priced, weights)
    by_span = {
        key: by_owner(weighed(loads, {} if key[:2] in moot else weights), market.bearers)
        for key, loads in priced.loads.items()
    }
    teams = even_shares({bearer for _, _, bearer in usage}, market.bearers, policy)
    by_team = span_teams(priced, market.bearers, policy)
    for (column, day, cause, span), grains in priced.idle.items():
        rule = market.pool.idle[cause]
        shares: Mapping[int, int] = {}
        if rule == "proportional":
            shares = by_period.get(column[:2], {}) if span is None else by_span.get((*column[:2], span), {})
        elif rule == "even":
            shares = teams if span is None else by_team[span]
        if not shares:
            account.add(system_entry(column, market.name, day, cause, market.bearers), grains)
            continue
        for bearer, part in zip(shares, divide_up(grains, shares.values(), sum(shares.values())), strict=True):
            account.add(Entry(column, market.name, day, "idle", cause, bearer), part)
    return account


def weightless(priced: Priced, weights: Mapping[Load, int]) -> set[tuple[str, str]]:
    """The bills and components whose weighted charges come to nothing: their charges stay as they were."""
    return {key for key, (_, below) in factors(priced.usage, weights).items() if not below} if weights else set()


def weighed(loads: Mapping[Load, int], weights: Mapping[Load, int]) -> Iterable[tuple[int, int]]:
    """Charges after weights; only their proportions count."""
    return [(load[0], grains * weights.get(load, 1)) for load, grains in loads.items()]


def period_shares(usage: Used, bearers: Bearers) -> dict[tuple[str, str], Shares]:
    """What each owner's use cost over the period, per bill and component; nothing where that comes to 0."""
    sums: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for (column, _, bearer), grains in usage.items():
        sums[column[:2]].append((bearer, grains))
    return {key: by_owner(parts, bearers) for key, parts in sums.items()}


def by_owner(parts: Iterable[tuple[int, int]], bearers: Bearers) -> Shares:
    """Sums by owner, in the owners' own order; of mixed signs, those that have the sum's."""
    sums: dict[int, int] = defaultdict(int)
    for bearer, grains in parts:
        sums[bearers.owner_of(bearer)] += grains
    return dict(sorted(with_sign_of_sum(sums).items(), key=lambda item: bearers.rank(item[0])))


def span_teams(priced: Priced, bearers: Bearers, policy: Policy) -> defaultdict[Slot | None, Shares]:
    """The teams that used the pool in each stretch over which idle is shared."""
    ran: dict[Slot | None, set[int]] = defaultdict(set)
    for (_, _, span), loads in priced.loads.items():
        ran[span].update(bearer for bearer, _ in loads)
    return defaultdict(
        lambda: even_shares(set(), bearers, policy),
        {span: even_shares(who, bearers, policy) for span, who in ran.items()},
    )


def even_shares(users: set[int], bearers: Bearers, policy: Policy) -> Shares:
    """One share for each team that used the pool; for every declared team where none did."""
    teams = {bearers[bearer].owner.at_team() for bearer in users if not bearers[bearer].owner.is_system}
    teams = teams or {declared(team, policy) for team in policy.teams}
    return {bearers.number(team): 1 for team in sorted(teams)}
