"""Who would pay what if pools were shared by peak Shapley: the same money and demand, another method.

Only the method changes, and idle stays central: capacity that stood above the peak is idle, all below it is what the peak needed.
Overheads, lines that follow, credits and adjustments come after a pool's own sharing, so they are on neither side.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from apportion.engine.account import Account
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult, charge_pool
from apportion.engine.price import Sampling
from apportion.engine.setting import Setting
from apportion.errors import require_equal
from apportion.model.meters import METERS
from apportion.model.money import GRAINS_PER_ATTO, round_children, to_decimal
from apportion.policy.methods import METERED, PARTED, SERVICES
from apportion.policy.pool_parts import IDLE_WORDS
from apportion.policy.pools import Pool

Owned = Mapping[tuple[str, str], Decimal]  # team, reason


@dataclass(frozen=True, slots=True)
class Compared:
    """A pool's own money in one currency, as the plan shares it and as peak Shapley would; `sampling` where that was estimated."""

    pool: str
    currency: str
    planned: Owned
    instead: Owned
    sampling: tuple[Sampling, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """`apart` says of every other pool why it cannot be compared."""

    pools: tuple[Compared, ...]
    apart: Mapping[str, str]


def compare_with_peak(plan: Plan) -> Comparison:
    setting, found = plan.trace.setting, plan.trace.pools
    apart = {name: why_not(pool, found.get(name)) for name, pool in setting.policy.pools.items()}
    pools = setting.policy.pools
    other = setting.with_pools({name: by_peak(pools[name]) for name, why in apart.items() if not why})
    compared: list[Compared] = []
    for name, result in found.items():
        if not apart[name] and result.reach:
            instead = charge_pool(name, plan.trace.lines.tranches, result.reach, other)
            compared += side_by_side(name, result, instead, setting)
    return Comparison(tuple(compared), {name: why for name, why in apart.items() if why})


def why_not(pool: Pool, result: PoolResult | None) -> str:
    if pool.method in SERVICES:
        return "its money goes to other pools"
    if pool.method not in METERED:
        return f"shared by {'cost' if pool.method == 'by_cost' else pool.method}, not by metered usage"
    if pool.method == "rate_card":
        return "charged by a price list"
    flows = [name for name in pool.meter if METERS[name].flow]
    if flows:
        return f"{flows[0]} is a flow, which has no peak"
    if pool.method in PARTED:
        return "several resources side by side have no common peak"
    return "" if result and any(grains for _, grains in result.account) else "no money"


def by_peak(pool: Pool) -> Pool:
    """The same pool with another method."""
    return pool.model_copy(
        update={
            "method": "peak_shapley",
            "idle": IDLE_WORDS["central"],
            "idle_slot": "period",
            "credit": (),
            "on_zero": "unallocated",
            "slot": "hour" if pool.slot == "period" else pool.slot,
        }
    )


def side_by_side(name: str, planned: PoolResult, instead: PoolResult, setting: Setting) -> list[Compared]:
    before, after = (by_owner(result.account, setting) for result in (planned, instead))
    played = instead.priced.played if instead.priced else []
    sampling = tuple(each.sampling for each in played if each.sampling)
    for currency in sorted({*before, *after}):
        totals = [sum(side[currency].values()) for side in (before, after)]
        require_equal(f"the money of pool '{name}' by its method and by peak Shapley", *totals)
    return [
        Compared(name, currency, to_attos(before[currency]), to_attos(after[currency]), sampling)
        for currency in sorted(before)
    ]


def by_owner(account: Account, setting: Setting) -> defaultdict[str, dict[tuple[str, str], int]]:
    """Currency -> (team, reason) -> grains."""
    out: defaultdict[str, dict[tuple[str, str], int]] = defaultdict(dict)
    for entry, grains in account:
        here, key = out[setting.currencies[entry.column.bill]], (setting.bearers[entry.bearer].owner.team, entry.reason)
        here[key] = here.get(key, 0) + grains
    return out


def to_attos(grains: Mapping[tuple[str, str], int]) -> Owned:
    """To 18 places, as cost lines have: both sides then add up to the same, digit for digit."""
    keys = sorted(grains)
    exact = [grains[key] for key in keys]
    whole = round_children(sum(exact) // GRAINS_PER_ATTO, exact, GRAINS_PER_ATTO, [" ".join(key) for key in keys])
    return {key: to_decimal(attos * GRAINS_PER_ATTO) for key, attos in zip(keys, whole, strict=True)}
