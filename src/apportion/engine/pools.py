"""One pool from beginning to end: its money, the usage that shares it, and the account that its method makes of both."""

from dataclasses import dataclass, field, replace
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.engine.account import Account, Column, divide_up
from apportion.engine.boards import find_boards, problems_of
from apportion.engine.calendar import HOUR_S
from apportion.engine.cards import free_amounts, price_card, recovery
from apportion.engine.claims import Reach, component_of, rates_of, reads_once
from apportion.engine.clashes import find_clashes
from apportion.engine.excess import (
    count_market,
    count_meters,
    count_tally,
    counts_alone,
    find_excess,
    find_no_capacity,
    places_due,
    places_of,
)
from apportion.engine.findings import pool_findings
from apportion.engine.hours import price_hours
from apportion.engine.idle import note_users, share_idle
from apportion.engine.lines import Tranches
from apportion.engine.lookup import Looked, can_look_up, price_by_look_up
from apportion.engine.markets import Demands, market_of, money_of
from apportion.engine.occupancy import price_time
from apportion.engine.overlaps import find_overlaps
from apportion.engine.parts import Portion, price_parts
from apportion.engine.players import price_players
from apportion.engine.price import Load, Market, Priced, Used, price_market, settle_account
from apportion.engine.reserved import price_reserved
from apportion.engine.setting import Setting
from apportion.engine.supply import NO_LEVELS, Levels, read_levels
from apportion.engine.transfers import give_credits
from apportion.engine.unpaid import find_unpaid
from apportion.engine.weights import find_cancelled, load_weights, reshare, scale_weights, scaled, unweighted
from apportion.engine.workloads import declared
from apportion.errors import PolicyError, Problem
from apportion.model.currencies import is_money
from apportion.model.findings import Finding
from apportion.policy.methods import PARTED, RESERVED, VALUES_HOURS, VALUES_TEAMS


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
    findings: tuple[Finding, ...] = ()


def charge_pool(name: str, tranches: Tranches, reach: Reach, setting: Setting) -> PoolResult:
    """A pool that is shared by usage."""
    pool = setting.policy.pools[name]
    charged = charge_by_method(name, tranches, reach, setting)
    found = (
        *find_clashes(name, pool, reach, setting),
        *find_overlaps(name, pool, reach, setting),
        *find_unpaid(name, tranches, reach, setting),
    )
    return replace(charged, findings=(*charged.findings, *found))


def charge_by_method(name: str, tranches: Tranches, reach: Reach, setting: Setting) -> PoolResult:
    pool = setting.policy.pools[name]
    if pool.method in PARTED:
        return charge_parts(name, tranches, reach, setting)
    named = tranches.resources_of(name)
    levels = read_levels(name, reach, named, setting) if pool.method in RESERVED else NO_LEVELS
    boards = find_boards(name, reach, setting)
    crowded = problems_of(name, boards, setting)
    if can_look_up(pool, levels) and (not boards or each_by_itself(name, (reach, levels), named, setting)):
        looked = price_by_look_up(name, tranches, (reach, levels), setting)
        charged = charge_priced_pool(looked.market, looked.priced, looked.rates, setting)
        findings = findings_by_look_up(name, looked, (reach, levels), tranches, setting)
        told = pool_findings(crowded, looked.market, boards, reach, setting)
        return replace(charged, reach=reach, problems=crowded, findings=(*charged.findings, *findings, *told))
    usage = setting.encoded.fresh if reads_once(pool, setting) and not boards else None
    money = money_of(name, tranches, reach, setting)
    market, demands = market_of(name, money, (reach, levels, boards), setting, usage)
    findings = findings_of(name, market, reach, tranches, setting)
    if pool.method == "rate_card":
        charged = charge_card_pool(market, demands, setting)
        problems = charged.problems
    else:
        market, priced, problems = price(market, demands, setting)
        charged = charge_priced_pool(market, priced, demands.rates, setting)
    problems = [*problems, *crowded]
    told = pool_findings(problems, market, boards, reach, setting)
    return replace(charged, reach=reach, problems=problems, findings=(*charged.findings, *findings, *told))


def each_by_itself(name: str, place: tuple[Reach, Levels], named: set[str], setting: Setting) -> bool:
    """Whether each cell of each board is shared by itself: then it makes no difference that all who ask for it count less, in proportion."""
    pool, (reach, levels) = setting.policy.pools[name], place
    own = set(setting.curves_of(name, set(reach.resources)))
    alone = pool.slot == "hour" and setting.calendar.cell_s == HOUR_S
    return alone and len(pool.meter) == 1 and not levels.promised and named <= own


def charge_parts(name: str, tranches: Tranches, reach: Reach, setting: Setting) -> PoolResult:
    """A pool whose money is shared by several measures side by side."""
    market, priced, portions = price_parts(name, tranches, reach, setting)
    rates = rates_of(market.pool, setting.resources)[1]
    crowded = problems_of(name, market.boards, setting)
    charged = charge_priced_pool(market, priced, rates, setting)
    findings = findings_of(name, market, reach, tranches, setting)
    told = pool_findings(crowded, market, market.boards, reach, setting)
    return replace(
        charged, reach=reach, portions=portions, problems=crowded, findings=(*charged.findings, *findings, *told)
    )


def findings_by_look_up(
    name: str, looked: Looked, place: tuple[Reach, Levels], tranches: Tranches, setting: Setting
) -> tuple[Finding, ...]:
    """Where use and capacity do not fit, and each resource has its own price."""
    reach, levels = place
    pool = setting.policy.pools[name]
    if len(pool.meter) > 1:
        counted = count_meters(name, reach, setting)
    elif levels.offered or pool.method == "capacity_rate":
        counted = [count_tally(looked.tally, looked.dues.curves, levels, pool, setting)]
    else:
        return ()
    none = find_no_capacity(name, tranches, counted, setting)
    return none + find_excess(name, counted, places_due(looked.dues))


def findings_of(name: str, market: Market, reach: Reach, tranches: Tranches, setting: Setting) -> tuple[Finding, ...]:
    """Where use and capacity do not fit."""
    alone = counts_alone(market.pool, market.boards)
    counted = [count_market(market)] if alone else count_meters(name, reach, setting)
    none = find_no_capacity(name, tranches, counted, setting)
    if not any(each.stated.any() for each in counted):
        return none
    return none + find_excess(name, counted, places_of(name, market.money, tranches, reach, setting))


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
    if not priced.users:
        note_users(market, priced)
    account.merge(share_idle(market, priced, usage, weights))
    later = give_credits(market.name, weighed.credited, setting)
    return PoolResult(
        account, later, market=market, priced=priced, weights=weights, usage=usage, findings=weighed.findings
    )


@dataclass(frozen=True, slots=True)
class Weighed:
    """Usage, what of it is burst, and what credits give back, after weights."""

    usage: Used
    burst: Used
    credited: list[Used]
    weights: dict[Load, int]
    findings: tuple[Finding, ...] = ()


def weigh(market: Market, priced: Priced, rates: tuple[Fraction, ...], setting: Setting) -> Weighed:
    parts = (priced.burst, *priced.credited)
    if not market.pool.weights:
        burst, *credited = map(unweighted, parts)
        return Weighed(unweighted(priced.usage), burst, credited, {})
    of_resource = {key for key in market.pool.weights if setting.resources.carries(key)}
    loads = {load for part in (priced.usage, *parts) for _, _, load in part}
    weights = load_weights(market.pool, loads, setting.bearers, rates, of_resource)
    scales = scale_weights(priced.usage, weights, setting.bearers)
    burst, *credited = (scaled(part, weights, scales) for part in parts)
    told = find_cancelled(market.name, priced.usage, scales, setting.currencies, setting.policy.currency)
    return Weighed(reshare(priced.usage, weights, scales, setting.bearers), burst, credited, weights, told)


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
    return PoolResult(
        account, later, problems, market=market, weights=weights, usage=usage, card=own, findings=weighed.findings
    )
