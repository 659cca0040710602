"""Rate cards: a price list per unit, with the difference to the bill shown as recovery. Without a bill the list is the bill."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import date
from fractions import Fraction

from apportion.engine.account import Account, Column, Entry, cumulative, divide_up
from apportion.engine.bearers import Bearer
from apportion.engine.demand import UNITS, scale_of
from apportion.engine.price import Load, Market
from apportion.engine.weights import Used
from apportion.errors import Problem
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, GRAINS_PER_ATTO
from apportion.model.owner import Owner, system_owner
from apportion.model.rows import RESIDUAL
from apportion.policy.pools import Pool, Price

HOUR_S = 3600


def price_for(pool: Pool, bearer: Bearer, day: date) -> Price | None:
    """The first price in force that matches."""
    for price in pool.prices:
        if (price.from_ and day < price.from_) or (price.until and day > price.until):
            continue
        if price.when is None or price.when.matches(bearer.named):
            return price
    return None


def quantity(units: int, pool: Pool, price: Price) -> Fraction:
    """Natural units (of a flow), or natural units times the price's span (of a level)."""
    natural = units * scale_of(pool).natural
    flow = all(METERS[name].flow for name in pool.meter)
    return natural if flow or price.per == "unit" else natural / HOUR_S


def list_prices(market: Market, loads: Mapping[tuple[int, Load], list[int]]) -> tuple[dict[tuple[int, int], int], list[Problem]]:
    """(day, bearer) -> grains by the price list."""
    out: dict[tuple[int, int], int] = defaultdict(int)
    problems = []
    for (day, load), amounts in loads.items():
        bearer = market.bearers[load[0]]
        price = price_for(market.pool, bearer, market.calendar.days[day])
        if price is None:
            problems.append(Problem(f"pool {market.name}", "no-price", "no price of the card matches; charged 0", str(bearer.named)))
            continue
        exact = quantity(amounts[UNITS], market.pool, price) * price.price * GRAIN
        whole = exact.numerator // (exact.denominator * GRAINS_PER_ATTO)  # a list without a bill is a bill: 18 places
        out[day, load[0]] += whole * GRAINS_PER_ATTO
    return out, list(dict.fromkeys(problems))


def charge_cards(
    market: Market, listed: Mapping[tuple[int, int], int], own: Column | None, currencies: Mapping[str, str], currency: str
) -> tuple[Used, Account]:
    """List prices over the bills that the pool's lines belong to, and what they recover too little or too much, per day.

    Bills in another currency than the prices recover nothing. Without any bill, `own` is the list's.
    """
    usage: Used = defaultdict(int)
    account = Account()
    money = daily_money(market)
    totals: dict[Column, int] = defaultdict(int)
    for (column, _), grains in money.items():
        totals[column] += grains
    columns = [own] if own else sorted(column for column in totals if currencies[column.bill] == currency)
    positive = [max(0, totals[column]) for column in columns]
    weights = positive if any(positive) else [1, *(0 for _ in columns[1:])]
    charged: dict[tuple[Column, int], int] = defaultdict(int)
    for (day, bearer), grains in listed.items():
        for column, part in zip(columns, divide_up(grains, weights, sum(weights)), strict=False):
            usage[column, day, bearer] += part
            charged[column, day] += part
    residual = market.bearers.number(system_owner(RESIDUAL))
    for column, day in sorted(set(money) | set(charged)) if not own else ():
        account.add(Entry(column, market.name, day, "recovery", "", residual), money.get((column, day), 0) - charged[column, day])
    return usage, account


def free_amounts(
    market: Market, loads: Mapping[tuple[int, Load], list[int]], usage: Used, payer: Owner
) -> Account:
    """The first so many unit-hours of each user, project or team, paid by somebody else."""
    account = Account()
    free = market.pool.free
    if free is None:
        return account
    totals: dict[Owner, int] = defaultdict(int)
    for (_, load), amounts in loads.items():
        totals[share_of(market.bearers[load[0]].owner, free.per)] += amounts[UNITS]
    natural = scale_of(market.pool).natural
    span = 1 if all(METERS[name].flow for name in market.pool.meter) else HOUR_S
    payer_number = market.bearers.number(payer)
    for (column, day, bearer), grains in usage.items():
        total = totals[share_of(market.bearers[bearer].owner, free.per)] * natural / span
        part = min(Fraction(1), free.amount / total) if total else Fraction(0)
        given = grains * part.numerator // part.denominator
        account.add(Entry(column, market.name, day, "adjustment", "free", bearer), -given)
        account.add(Entry(column, market.name, day, "subsidy", "free", payer_number), given)
    return account


def share_of(owner: Owner, per: str) -> Owner:
    if per == "team":
        return owner.at_team()
    return Owner(owner.cost_centre, owner.department, owner.team, owner.project) if per == "project" else owner


def daily_money(market: Market) -> dict[tuple[Column, int], int]:
    """The pool's money by day, as its slots date it."""
    out: dict[tuple[Column, int], int] = defaultdict(int)
    for (_, slot), columns in market.money.items():
        days = market.calendar.seconds_by_day(slot)
        for column, grains in columns.items():
            for (day, _), part in zip(days, cumulative(grains, [cells for _, cells in days]), strict=True):
                out[column, day] += part
    return out
