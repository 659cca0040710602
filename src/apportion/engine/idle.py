"""Idle: measured, never hidden, and shared only as the pool's rule for its cause says."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from math import lcm

from apportion.engine.account import ONE, Account, Entry, divide_up, with_sign_of_sum
from apportion.engine.bearers import Bearers
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import UNITS
from apportion.engine.price import Load, Market, Priced, Used, system_entry
from apportion.engine.weights import Scales, scale_weights

Shares = dict[int, int]


def share_idle(market: Market, priced: Priced, usage: Used, weights: Mapping[Load, int]) -> Account:
    """Idle money by cause: kept at `_idle`, or over the pool's users or teams. `_idle` keeps it where nobody used the pool."""
    account = Account()
    by_period = period_shares(usage, market.bearers)
    scales = scale_weights(priced.usage, weights, market.bearers) if weights else {}
    by_span = {
        key: by_owner(*weighed(key[:2], loads, weights, scales), market.bearers) for key, loads in priced.loads.items()
    }
    by_team = {span: even_shares(users, market.bearers) for span, users in priced.users.items()}
    for (column, day, cause, span), grains in priced.idle.items():
        rule = market.pool.idle[cause]
        shares: Mapping[int, int] = {}
        if rule == "proportional":
            shares = by_period.get(column[:2], {}) if span is None else by_span.get((*column[:2], span), {})
        elif rule == "even":
            shares = by_team.get(span, {})
        if not shares:
            account.add(system_entry(column, market.name, day, cause, market.bearers), grains)
            continue
        for bearer, part in zip(shares, divide_up(grains, shares.values(), sum(shares.values())), strict=True):
            account.add(Entry(column, market.name, day, "idle", cause, bearer), part)
    return account


def weighed(
    place: tuple[str, str], loads: Mapping[Load, int], weights: Mapping[Load, int], scales: Scales
) -> tuple[Iterable[tuple[int, int]], Fraction]:
    """Charges of a bill and component as weights re-share them, and what one of their units is worth; as they are where the weighted ones come to 0."""
    factors = {
        load: weights[load] * Fraction(*found) for load in loads if (found := scales.get((*place, load))) and found[1]
    }
    below = lcm(*(factor.denominator for factor in factors.values()))
    parts = [(load[0], grains * int(factors.get(load, ONE) * below)) for load, grains in loads.items()]
    return parts, Fraction(1, below)


def period_shares(usage: Used, bearers: Bearers) -> dict[tuple[str, str], Shares]:
    """What each owner's use cost over the period, per bill and component; nothing where that comes to 0."""
    sums: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for (column, _, bearer), grains in usage.items():
        sums[column[:2]].append((bearer, grains))
    return {key: by_owner(parts, ONE, bearers) for key, parts in sums.items()}


def by_owner(parts: Iterable[tuple[int, int]], scale: Fraction, bearers: Bearers) -> Shares:
    """Sums by owner, in the owners' own order; of mixed signs, those that have the sum's."""
    sums: dict[int, int] = defaultdict(int)
    for bearer, grains in parts:
        sums[bearers.owner_of(bearer)] += grains
    return dict(sorted(with_sign_of_sum(sums, scale).items(), key=lambda item: bearers.rank(item[0])))


def note_users(market: Market, priced: Priced) -> None:
    """Who used the pool in each stretch over which idle is shared, whether money lies in that hour or not."""
    if "even" not in market.pool.idle.values():
        return
    cells = market.demand.get(WHOLE_POOL, {})
    for span in {span for *_, span in priced.idle}:
        for cell in cells if span is None else range(*span):
            priced.users[span].update(load[0] for load, amounts in cells.get(cell, {}).items() if amounts[UNITS])


def even_shares(users: set[int], bearers: Bearers) -> Shares:
    """One share for each team among the users."""
    teams = {bearers[bearer].owner.at_team() for bearer in users if not bearers[bearer].owner.is_system}
    return {bearers.number(team): 1 for team in sorted(teams)}
