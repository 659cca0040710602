"""The only place where the property tests touch the engine."""

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Any

from apportion.model.money import GRAIN
from apportion.model.rows import POSTING_KEY
from apportion.model.times import parse_period
from tests.property.oracle_rounding import Key
from tests.property.worlds import World

KEY = tuple(name for name in POSTING_KEY if name != "period")
BillDay = tuple[str, str, str, date]


@dataclass(frozen=True)
class Planned:
    """A plan as plain dicts. `exact` has every amount before rounding, those posted as 0 too; `stated` those that the plan itself states."""

    digest: str
    postings: dict[Key, Decimal]
    exact: dict[Key, Fraction]
    stated: dict[Key, Fraction]
    bill_days: dict[BillDay, Decimal]
    bills: dict[str, Decimal]
    above: dict[str, Fraction]  # hours of pools that used more than their capacity
    bare: dict[str, Fraction]  # and of those that used what nobody states a capacity of
    unpaid: dict[str, Fraction]  # and of those that were used on nodes without money


@lru_cache(maxsize=1)
def backend() -> Any:
    from apportion.engine.backends.duckdb import connect_duckdb

    return connect_duckdb(threads=1)


def plan(world: World) -> Planned:
    import apportion.engine.plan as engine  # not at import: oracle tests need no engine

    tables = world.tables()
    made = engine.make_plan(
        engine.World(parse_period(world.period), world.policy, **tables, previous=dict(world.previous)),
        backend(),
    )
    backend().forget()
    account = engine.settle(made.trace.pools, made.trace.lines, made.trace.setting, dict(world.previous))
    rows = made.postings.to_pylist()
    keys = [key_of(row) for row in rows]
    return Planned(
        made.digest,
        dict(zip(keys, (row["amount"] for row in rows), strict=True)),
        exact_of(made, account),
        dict(zip(keys, (Fraction(grains, GRAIN) for grains in made.exact), strict=True)),
        {
            (row["bill"], row["currency"], row["component"], row["day"]): row["amount"]
            for row in made.bill_days.to_pylist()
        },
        {bill.id: bill.total for bill in made.bills},
        *(
            {found.pool: Fraction(found.hours) for found in made.findings if found.code == code}
            for code in ("used-above-capacity", "no-capacity", "work-without-money")
        ),
    )


def key_of(row: dict[str, Any]) -> Key:
    return tuple(row[name] for name in KEY)


def exact_of(made: Any, account: Any) -> dict[Key, Fraction]:
    from apportion.engine.rounding import leaves

    setting, currencies = made.trace.setting, {bill.id: bill.currency for bill in made.bills}
    found: dict[Key, Fraction] = {}
    for leaf, grains in leaves(account, setting.bearers, [str(day) for day in setting.calendar.days]).items():
        bill, component, pool, day, reason, cause, *owner = leaf
        key: Any = (bill, currencies[bill], component, pool, date.fromisoformat(day), reason, cause, *owner)
        found[key] = Fraction(grains, GRAIN)
    return found
