"""Rate cards: a price list per unit, with the difference to the bill shown as recovery. Without a bill the list is the bill."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import date
from fractions import Fraction
from itertools import groupby

from apportion.engine.account import Account, Column, Entry, divide_up
from apportion.engine.bearers import Bearer
from apportion.engine.calendar import HOUR_S, Slot
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.demand import UNITS
from apportion.engine.price import Load, Market, Priced, Used, sum_cells
from apportion.engine.setting import Setting
from apportion.errors import Problem
from apportion.model.currencies import is_money
from apportion.model.meters import METERS
from apportion.model.money import GRAIN
from apportion.model.owner import Owner, system_owner
from apportion.model.rows import RESIDUAL
from apportion.policy.pool_parts import Price
from apportion.policy.pools import Pool


def price_for(pool: Pool, bearer: Bearer, day: date) -> Price | None:
    """The first price in force that matches."""
    for price in pool.prices:
        if (price.from_ and day < price.from_) or (price.until and day > price.until):
            continue
        if price.when is None or price.when.matches(bearer.named):
            return price
    return None


def quantity(units: int, market: Market, price: Price) -> Fraction:
    """Natural units (of a flow), or natural units times the price's span (of a level)."""
    natural = units * market.scale.natural
    flow = all(METERS[name].flow for name in market.pool.meter)
    return natural if flow or price.per == "unit" else natural / HOUR_S


def list_prices(
    market: Market, loads: Mapping[tuple[int, Load], list[int]], problems: list[Problem]
) -> dict[tuple[int, Load], int]:
    """(day, load) -> grains by the price list."""
    out: dict[tuple[int, Load], int] = {}
    for (day, load), amounts in loads.items():
        bearer = market.bearers[load[0]]
        price = price_for(market.pool, bearer, market.calendar.days[day])
        if price is None:
            problems.append(
                Problem(f"pool {market.name}", "no-price", "no price of the card matches; charged 0", str(bearer.named))
            )
            continue
        exact = quantity(amounts[UNITS], market, price) * price.price * GRAIN
        out[day, load] = exact.numerator // exact.denominator
    return out


def price_card(market: Market, span: Slot, own: Column | None, setting: Setting) -> tuple[Priced, list[Problem]]:
    """List prices, over the bills that the pool's lines belong to. Bills in another currency than the prices recover nothing.

    Without any bill, `own` is the list's. What is no money has no price: it is shared by the units.
    """
    priced = Priced(credited=[defaultdict(int) for _ in market.credited])
    problems: list[Problem] = []
    totals: dict[Column, int] = defaultdict(int)
    for columns in market.money.values():
        for column, days in columns.items():
            totals[column] += sum(days.values())
    currency = setting.policy.currency
    chosen = [own] if own else sorted(column for column in totals if setting.currency_of(column) == currency)
    listed = (0, 0) if setting.late else span
    counted = sorted(column for column in totals if not is_money(setting.currency_of(column)))
    for curves, parts in zip((market.demand, *market.credited), (priced.usage, *priced.credited), strict=True):
        loads = sum_cells(curves.get(WHOLE_POOL, {}), listed, market.calendar)
        for (day, load), grains in list_prices(market, loads, problems).items():
            for column, part in over_bills(grains, chosen, totals):
                parts[column, day, load] += part
    share_quantities(market, span, counted, priced)
    if not chosen:
        where = f"pool {market.name}"
        problems.append(
            Problem(
                where,
                "card-currency",
                f"none of its bills is in {currency}, the currency of its prices; nobody is charged",
            )
        )
    return priced, list(dict.fromkeys(problems))


def share_quantities(market: Market, span: Slot, columns: list[Column], priced: Priced) -> None:
    """Carbon and energy over the units that were used; where there were none, over nobody."""
    loads = sum_cells(market.demand.get(WHOLE_POOL, {}), span, market.calendar)
    order = sorted(loads, key=lambda key: (key[0], market.bearers.rank(key[1][0]), key[1][1]))
    units = [loads[key][UNITS] for key in order]
    for column in columns:
        days = [found[column] for found in market.money.values() if column in found]
        if not sum(units):
            for day, grains in (item for part in days for item in part.items()):
                priced.nowhere[column, day] += grains
            continue
        grains = sum(sum(part.values()) for part in days)
        for (day, load), part in zip(order, divide_up(grains, units, sum(units)), strict=True):
            priced.usage[column, day, load] += part


def over_bills(grains: int, columns: list[Column], totals: Mapping[Column, int]) -> Iterator[tuple[Column, int]]:
    """By the sizes of the bills' totals, evenly where all are 0; and inside a bill and component by those of its accounts and services."""
    bills = [list(found) for _, found in groupby(columns, key=lambda column: column[:2])]
    sizes = [abs(sum(totals[column] for column in bill)) for bill in bills]
    for bill, part in zip(bills, divide_up(grains, *some(sizes)), strict=True):
        yield from zip(bill, divide_up(part, *some([abs(totals[column]) for column in bill])), strict=True)


def some(sizes: list[int]) -> tuple[list[int], int]:
    """Weights and their sum; equal ones where there is no size at all."""
    weights = sizes if any(sizes) else [1] * len(sizes)
    return weights, sum(weights)


def recovery(market: Market, usage: Used, setting: Setting) -> Account:
    """What the list recovers too little or too much of each bill, per day."""
    left: dict[tuple[Column, int], int] = defaultdict(int)
    for columns in market.money.values():
        for column, days in columns.items():
            for day, grains in days.items():
                left[column, day] += grains
    for (column, day, _), grains in usage.items():
        left[column, day] -= grains
    account = Account()
    residual = market.bearers.number(system_owner(RESIDUAL))
    for (column, day), grains in left.items():
        if is_money(setting.currency_of(column)):
            account.add(Entry(column, market.name, day, "recovery", "", residual), grains)
    return account


def free_amounts(market: Market, span: Slot, usage: Used, payer: int) -> Account:
    """The first so many unit-hours of each user, project or team, paid by somebody else."""
    account = Account()
    free = market.pool.free
    if free is None:
        return account
    totals: dict[tuple[str, ...], int] = defaultdict(int)
    for (_, load), amounts in sum_cells(market.demand.get(WHOLE_POOL, {}), span, market.calendar).items():
        totals[entitled(market.bearers[load[0]].owner, free.per)] += amounts[UNITS]
    hours = market.scale.natural / (1 if all(METERS[name].flow for name in market.pool.meter) else HOUR_S)
    for (column, day, bearer), grains in usage.items():
        who = entitled(market.bearers[bearer].owner, free.per)
        if who and totals[who]:
            part = min(Fraction(1), free.amount / (totals[who] * hours))
            given = grains * part.numerator // part.denominator
            account.add(Entry(column, market.name, day, "adjustment", "free", bearer), -given)
            account.add(Entry(column, market.name, day, "subsidy", "free", payer), given)
    return account


def entitled(owner: Owner, per: str) -> tuple[str, ...]:
    """Who has the free amount: a user in whatever team, a team's project, a team; nobody where that is not known."""
    if owner.is_system:
        return ()
    key = {"team": (owner.team,), "project": (owner.team, owner.project), "user": (owner.user,)}[per]
    return key if key[-1] else ()
