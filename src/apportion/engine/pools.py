"""One pool from beginning to end: its money, the usage that shares it, and the account that its method makes of both."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.engine.account import Account, Column, divide_up
from apportion.engine.boards import find_boards, problems_of
from apportion.engine.calendar import HOUR_S
from apportion.engine.cards import free_amounts, price_card, recovery
from apportion.engine.claims import Reach, component_of, rates_of, reads_once
from apportion.engine.hours import price_hours
from apportion.engine.idle import share_idle
from apportion.engine.lines import Tranches
from apportion.engine.lookup import can_look_up, price_by_look_up
from apportion.engine.markets import Demands, market_of, money_of
from apportion.engine.occupancy import price_time
from apportion.engine.parts import Portion, price_parts
from apportion.engine.players import price_players
from apportion.engine.price import Load, Market, Priced, Used, price_market, settle_account
from apportion.engine.reserved import price_reserved
from apportion.engine.setting import Setting
from apportion.engine.supply import NO_LEVELS, Levels, read_levels
from apportion.engine.transfers import give_credits
from apportion.engine.weights import factors, load_weights, reshare, scaled, unweighted
from apportion.engine.workloads import declared
from apportion.errors import PolicyError, Problem
from apportion.model.currencies import is_money
from apportion.policy.methods import PARTED, RESERVED, VALUES_HOURS, VALUES_TEAMS
from apportion.policy.pools import Pool


@dataclass(slots=True)
class PoolResult:
    """A pool's account, the transfers that wait for the overheads (credits, free amounts), and what `explain` reads."""

    account: Account
    later: Account = field(default_factory=Account)
    problems: list[Problem] = field(default_factory=list)
    market: Market | None = None
    priced: Priced | None = None
    weights: dict[Load, int] = field(default_factory=dict)
    usage: Used = field(default_factory=dict)
    reach: Reach | None = None
    card: Column | None = None
    portions: tuple[Portion, ...] = ()


def charge_pool(name: str, tranches: Tranches, reach: Reach, setting: Setting) -> PoolResult:
    """A pool that is shared by usage."""
    pool = setting.policy.pools[name]
    if pool.method in PARTED:
        return charge_parts(name, tranches, reach, setting)
    named = tranches.resources_of(name)
    levels = read_levels(name, reach, named, setting) if pool.method in RESERVED else NO_LEVELS
    boards = find_boards(name, reach, setting)
    crowded = problems_of(name, boards, setting)
    if can_look_up(pool, levels) and (not boards or each_by_itself(pool, (reach, levels), named, setting)):
        looked = price_by_look_up(name, tranches, (reach, levels), setting)
        charged = charge_priced_pool(looked.market, looked.priced, looked.rates, setting)
        return replace(charged, reach=reach, problems=crowded)
    usage = setting.encoded.fresh if reads_once(pool, setting) and not boards else None
    money = money_of(name, tranches, reach, setting)
    market, found = market_of(name, money, (reach, levels, boards), setting, usage)
    if pool.method == "rate_card":
        charged = charge_card_pool(market, found, setting)
        return replace(charged, reach=reach, problems=[*charged.problems, *crowded])
    market, priced, problems = price(market, found, setting)
    charged = charge_priced_pool(market, priced, found.rates, setting)
    return replace(charged, reach=reach, problems=[*problems, *crowded])


def each_by_itself(pool: Pool, place: tuple[Reach, Levels], named: set[str], setting: Setting) -> bool:
    """Whether each cell of each board is shared by itself: then it makes no difference that all who ask for it count less, in proportion."""
    reach, levels = place
    own = {setting.encoded.resources[n] for n in reach.resources}
    alone = pool.slot == "hour" and setting.calendar.cell_s == HOUR_S
    return alone and len(pool.meter) == 1 and not levels.promised and named <= own


def charge_parts(name: str, tranches: Tranches, reach: Reach, setting: Setting) -> PoolResult:
    """A pool whose money is shared by several measures side by side."""
    market, priced, portions = price_parts(name, tranches, reach, setting)
    rates = rates_of(market.pool, setting.resources)[1]
    crowded = problems_of(name, market.boards, setting)
    charged = charge_priced_pool(market, priced, rates, setting)
    return replace(charged, reach=reach, portions=portions, problems=crowded)


def price(market: Market, found: Demands, setting: Setting) -> tuple[Market, Priced, list[Problem]]:
    """By the pool's method; some lay the money anew."""
    if market.pool.method in VALUES_HOURS:
        return *price_hours(market, ZoneInfo(setting.policy.time_zone)), []
    if market.pool.method in VALUES_TEAMS:
        return market, price_players(market, f"{setting.period} {setting.policy.version} {market.name}"), []
    if market.pool.method == "two_part":
        same = (bill for bill, currency in setting.currencies.items() if currency == setting.policy.currency)
        own = set() if setting.late else set(same)  # bursts were paid at their price when they ran
        return market, *price_reserved(market, own)
    return market, price_time(market, found.own) if market.pool.method == "time" else price_market(market), []


def charge_priced_pool(market: Market, priced: Priced, rates: tuple[Fraction, ...], setting: Setting) -> PoolResult:
    """Weights, idle and credits, once prices are known."""
    weighed = weigh(market, priced, rates, setting)
    usage, weights = weighed.usage, weighed.weights
    account = settle_account(market, priced, usage, weighed.burst)
    refuse_or_share_nowhere(market, priced, account, setting)
    account.merge(share_idle(market, priced, usage, weights, setting.policy))
    later = give_credits(market.name, weighed.credited, setting)
    return PoolResult(account, later, market=market, priced=priced, weights=weights, usage=usage)


@dataclass(frozen=True, slots=True)
class Weighed:
    """Usage, what of it is burst, and what credits give back, after weights."""

    usage: Used
    burst: Used
    credited: list[Used]
    weights: dict[Load, int]


def weigh(market: Market, priced: Priced, rates: tuple[Fraction, ...], setting: Setting) -> Weighed:
    parts = (priced.burst, *priced.credited)
    if not market.pool.weights:
        burst, *credited = map(unweighted, parts)
        return Weighed(unweighted(priced.usage), burst, credited, {})
    of_resource = {key for key in market.pool.weights if setting.resources.carries(key)}
    loads = {load for part in (priced.usage, *parts) for _, _, load in part}
    weights = load_weights(market.pool, loads, setting.bearers, rates, of_resource)
    scale = factors(priced.usage, weights)
    burst, *credited = (scaled(part, weights, scale) for part in parts)
    return Weighed(reshare(priced.usage, weights, scale, setting.bearers), burst, credited, weights)


def refuse_or_share_nowhere(market: Market, priced: Priced, account: Account, setting: Setting) -> None:
    """What the policy says about money in a slot that nobody used: kept apart (already done), shared evenly, or refused."""
    if not priced.nowhere or market.pool.on_zero == "unallocated":
        return
    policy = setting.policy
    if market.pool.on_zero == "error":
        days = ", ".join(sorted({str(market.calendar.days[day]) for _, day in priced.nowhere})[:3])
        raise PolicyError(
            "no-demand",
            f"pool '{market.name}' has money on {days} and nobody used it",
            where=f"{policy.file}:{policy.line('pools', market.name, 'on_zero')}",
            hint="set on_zero: unallocated or even, or mend the usage",
        )
    teams = [setting.bearers.number(declared(team, policy)) for team in sorted(policy.teams)]
    for entry, grains in [item for item in account if item[0].cause == "no demand"]:
        if teams:
            account.add(entry, -grains)
            for team, part in zip(teams, divide_up(grains, [1] * len(teams), len(teams)), strict=True):
                account.add(entry._replace(cause="", bearer=team), part)


def charge_card_pool(market: Market, found: Demands, setting: Setting) -> PoolResult:
    """A price list beside a bill, or instead of one. What is late on a bill is recovered by nobody: the list was charged when the use was."""
    policy = setting.policy
    billed = {
        column for columns in market.money.values() for column in columns if is_money(setting.currency_of(column))
    }
    own = (
        None
        if billed or setting.late
        else Column(f"rate card {market.name} {setting.period} {policy.currency}", component_of(market.pool))
    )
    span = (
        (0, setting.calendar.cells)
        if setting.late
        else setting.calendar.widen(setting.period.interval(ZoneInfo(policy.time_zone)))
    )
    priced, problems = price_card(market, span, own, setting)
    weighed = weigh(market, priced, found.rates, setting)
    usage, weights = weighed.usage, weighed.weights
    account = settle_account(market, priced, usage, weighed.burst)
    if own is None:
        account.merge(recovery(market, usage, setting))
    later = give_credits(market.name, weighed.credited, setting)
    if market.pool.free:
        paid = {key: grains for key, grains in usage.items() if is_money(setting.currency_of(key[0]))}
        later.merge(
            free_amounts(market, span, paid, setting.bearers.number(declared(market.pool.free.paid_by, policy)))
        )
    return PoolResult(account, later, problems, market=market, weights=weights, usage=usage, card=own)
