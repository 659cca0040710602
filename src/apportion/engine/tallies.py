"""How many unit seconds were counted for each team in each pool: what its charges come to, without a look at single workloads."""

from collections import defaultdict
from collections.abc import Iterable, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.charges import Desk, desk_of, keys_of, pool_charges
from apportion.engine.demand import UNITS
from apportion.engine.held import span_of
from apportion.engine.plan import Plan
from apportion.engine.pools import PoolResult
from apportion.engine.price import Market
from apportion.model.owner import Owner
from apportion.policy.methods import PARTED

USE = ("usage", "burst")
OWNED = ("cost_centre", "department", "team", "project", "user")
Units = dict[tuple[str, ...], int]  # currency, team, pool
Place = tuple[str, str, str]  # pool, bill, component
Days = Mapping[Place, set[tuple[int, Owner]]]


def units_in(plan: Plan) -> Units:
    """By currency, team and pool. A bill that is not posted counts nowhere."""
    sums: Units = defaultdict(int)
    for part in plan.parts or (plan,):
        currencies = currencies_in(part)
        for bill, team, pool, units in units_of_part(part):
            if bill in currencies:
                sums[currencies[bill], team, pool] += units
    return dict(sums)


def currencies_in(plan: Plan) -> dict[str, str]:
    pairs = plan.postings.group_by(["bill", "currency"]).aggregate([])
    return dict(zip(pairs["bill"].to_pylist(), pairs["currency"].to_pylist(), strict=True))


def units_of_part(plan: Plan) -> Iterable[tuple[str, str, str, int]]:
    """Demand is by bearer and cell already, but for occupied time, several measures and prices that are looked up.

    Flows and shared boards are counted finer than in whole units.
    """
    posted, desk = days_posted(plan), None
    for name, result in plan.trace.pools.items():
        market = result.market
        if market is None or result.reach is None or not result.reach.resources:
            continue
        if (
            market.demand
            and not market.boards
            and market.scale.fine == 1
            and market.pool.method not in (*PARTED, "time")
        ):
            yield from by_demand(name, result, market, posted, plan)
        else:
            desk = desk or desk_of(plan)
            yield from by_charges(name, result, market, desk)


def days_posted(plan: Plan) -> Days:
    """On which days each owner's use is posted, by pool, bill and component."""
    rows = plan.postings
    used = pc.and_(pc.is_in(rows["reason"], pa.array(USE)), pc.is_in(rows["cause"], pa.array(["", "no owner"])))
    names = ["pool", "bill", "component", "day", *OWNED]
    found = rows.filter(used).select(names).group_by(names).aggregate([])
    days = {day: n for n, day in enumerate(plan.trace.setting.calendar.days)}
    out: dict[Place, set[tuple[int, Owner]]] = defaultdict(set)
    for pool, bill, component, day, *owned in zip(*(found[name].to_pylist() for name in names), strict=True):
        out[pool, bill, component].add((days[day], Owner(*owned)))
    return out


def by_demand(
    name: str, result: PoolResult, market: Market, posted: Days, plan: Plan
) -> Iterable[tuple[str, str, str, int]]:
    """Under the first bill and component of a currency all that was asked for in the pool's billing period; else what is posted."""
    setting = plan.trace.setting
    first, last = span_of(name, plan)
    inside, asked = asked_for(market, (first, last))
    seen: set[str] = set()
    for bill, component in keys_of(result):
        currency = setting.currencies.get(bill, setting.policy.currency)
        days = posted.get((name, bill, component), set())
        sums: dict[str, int] = defaultdict(int)
        for key, units in asked.items():
            if key in days or (currency not in seen and key in inside):
                sums[key[1].team] += units
        seen.add(currency)
        yield from ((bill, team, name, units) for team, units in sums.items())


def asked_for(market: Market, span: tuple[int, int]) -> tuple[set[tuple[int, Owner]], Mapping[tuple[int, Owner], int]]:
    """Unit seconds by day and owner, and which of them lie in a span. Of curves by resource the whole pool's is the sum."""
    by_bearer: dict[tuple[int, int], int] = defaultdict(int)
    inside: set[tuple[int, int]] = set()
    for cell, loads in market.demand.get(0, {}).items():
        day = market.calendar.day_of[cell]
        for (bearer, _), amounts in loads.items():
            by_bearer[day, bearer] += amounts[UNITS]
            if span[0] <= cell < span[1]:
                inside.add((day, bearer))
    sums: dict[tuple[int, Owner], int] = defaultdict(int)
    for (day, bearer), units in by_bearer.items():
        sums[day, market.bearers[bearer].owner] += units
    return {(day, market.bearers[bearer].owner) for day, bearer in inside}, sums


def by_charges(name: str, result: PoolResult, market: Market, desk: Desk) -> Iterable[tuple[str, str, str, int]]:
    for batch in pool_charges(name, result, market, desk):
        rows = pa.Table.from_batches([batch]).group_by(["bill", "team"]).aggregate([("unit_seconds", "sum")])
        found = (rows[key].to_pylist() for key in ("bill", "team", "unit_seconds_sum"))
        for bill, team, units in zip(*found, strict=True):
            yield bill, team, name, int(units or 0)
