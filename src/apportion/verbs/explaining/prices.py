"""What one unit of a pool cost, slot by slot, and what stood idle."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from zoneinfo import ZoneInfo

from apportion.engine.calendar import HOUR_S, Slot
from apportion.engine.demand import Scale, scale_of
from apportion.engine.hours import local_start
from apportion.engine.parts import Portion
from apportion.engine.pools import PoolResult
from apportion.engine.price import Played
from apportion.model.currencies import is_money
from apportion.model.meters import METERS
from apportion.model.money import GRAIN, for_reading
from apportion.model.times import Interval
from apportion.policy.methods import VALUES_HOURS
from apportion.policy.pools import Pool
from apportion.reports.words import price_digits, shown
from apportion.verbs.explaining.story import Node
from apportion.verbs.plan import Computed

Where = tuple[str, Interval | None]  # a currency, and the span that is asked about
DEAREST = 3


@dataclass(frozen=True, slots=True)
class Measure:
    """How whole units read: `natural` of `name` in one unit."""

    name: str
    natural: Fraction

    def amount(self, units: int | Fraction) -> str:
        return f"{float(units * self.natural):,.2f} {self.name}"


def measure_of(pool: Pool, scale: Scale | None = None) -> Measure:
    """Of units as usage rows have them, or as the market of that scale counts them."""
    flow = all(METERS[name].flow for name in pool.meter)
    unit = METERS[next(iter(pool.meter))].unit if len(pool.meter) == 1 else "weighted unit"
    natural = scale.natural if scale else scale_of(pool).natural * scale_of(pool).fine
    if pool.method == "time":
        return Measure("occupied hours", Fraction(1, HOUR_S))
    return Measure(unit if flow else f"{unit}-hours", natural if flow else natural / HOUR_S)


def price_nodes(computed: Computed, name: str, currency: str, span: Interval | None = None) -> tuple[Node, ...]:
    """In one currency, over the period or over the slots that touch a span."""
    result, pool = computed.plan.trace.pools.get(name), computed.world.policy.pools[name]
    if pool.method == "rate_card" and not is_money(currency):
        return (Node(f"{currency} has no price: it is shared by the units used", {"currency": currency}),)
    if pool.method == "rate_card":
        listed = ", ".join(f"{for_reading(price.price):f} per {price.per}" for price in pool.prices)
        return (Node(f"listed prices: {listed}", {"prices": [str(price.price) for price in pool.prices]}),)
    if result is not None and result.priced is not None and result.priced.played:
        return tuple(players_node(played) for played in result.priced.played)
    if result is not None and result.portions:
        return tuple(portion_node(computed, result, portion, (currency, span)) for portion in result.portions)
    return curve_nodes(computed, result, (currency, span))


def portion_node(computed: Computed, result: PoolResult, portion: Portion, where: Where) -> Node:
    """One of several measures: what it weighs beside the others, and its own price."""
    own = replace(result, market=portion.market, priced=portion.priced, portions=())
    text = f"by {portion.name}, which weighs {portion.weight}"
    return Node(text, {"measure": portion.name, "weight": str(portion.weight)}, curve_nodes(computed, own, where))


def curve_nodes(computed: Computed, result: PoolResult | None, where: Where) -> tuple[Node, ...]:
    if result is None or result.priced is None or result.market is None or not result.priced.curve:
        return ()
    bills = {column.bill for columns in result.market.money.values() for column in columns}
    known = {computed.plan.trace.setting.currencies[bill] for bill in bills}
    return tuple(currency_nodes(computed, result, *where)) if where[0] in known else ()


def currency_nodes(computed: Computed, result: PoolResult, currency: str, span: Interval | None) -> list[Node]:
    if result.priced is None or result.market is None:
        return []
    pool, calendar = result.market.pool, computed.plan.trace.setting.calendar
    first, last = calendar.widen(span.clip(calendar.window)) if span else (0, calendar.cells)
    bills = {bill for bill, known in computed.plan.trace.setting.currencies.items() if known == currency}
    measure = measure_of(pool, result.market.scale)
    money = {
        where: sum(sum(days.values()) for column, days in columns.items() if column.bill in bills)
        for where, columns in result.market.money.items()
    }
    steps = [
        (step, money[step.curve, step.slot])
        for step in result.priced.curve
        if step.slot[0] < last and step.slot[1] > first
    ]
    grains, units, demand = (
        sum(g for _, g in steps),
        sum(step.units for step, _ in steps),
        sum(step.demand for step, _ in steps),
    )
    if not units:
        return [Node("nobody used it and no capacity is known: there is no price", {"units": 0})]
    prices = sorted(Fraction(g, GRAIN) / (step.units * measure.natural) for step, g in steps if step.units)
    mean = Fraction(grains, GRAIN) / (units * measure.natural)
    unit = measure.name.removesuffix("s") if measure.name.endswith("hours") else measure.name
    offered = "offered" if pool.method == "capacity_rate" else "used"
    what = "price" if is_money(currency) else currency
    text = (
        f"{what} per {unit}: {price_text(mean, currency)} on average = {shown(for_reading(Fraction(grains, GRAIN)), currency)} / "
        f"{measure.amount(units)} {offered}"
    )
    least, most = price_text(prices[0], currency), price_text(prices[-1], currency)
    if least != most:
        text += f"; by {pool.slot} and curve between {least} and {most}"
    facts = {
        "mean": for_reading(mean),
        "lowest": for_reading(prices[0]),
        "highest": for_reading(prices[-1]),
        "steps": len(steps),
        "units": str(units),
    }
    idle = {
        cause: sum(step.idle.get(cause, 0) for step, _ in steps) for cause in ("held", "down", "reserved", "unsold")
    }
    found = [*hours_nodes(computed, pool, money), Node(text, facts)]
    if any(idle.values()):
        parts = ", ".join(f"{cause} {measure.amount(idle[cause])}" for cause in idle if idle[cause])
        found.append(
            Node(
                f"of these {measure.amount(demand)} were used; idle hours: {parts}",
                {cause: str(value) for cause, value in idle.items()},
            )
        )
    return found


def hours_nodes(computed: Computed, pool: Pool, money: Mapping[tuple[int, Slot], int]) -> list[Node]:
    """Which slots a method that values hours lays most of the money on."""
    if pool.method not in VALUES_HOURS:
        return []
    worth: dict[Slot, int] = defaultdict(int)
    for (_, slot), grains in money.items():
        worth[slot] += grains
    whole = sum(worth.values()) or 1
    dearest = sorted(worth, key=lambda slot: (-worth[slot], slot))[:DEAREST]
    zone, calendar = ZoneInfo(computed.world.policy.time_zone), computed.plan.trace.setting.calendar
    listed = ", ".join(
        f"{local_start(slot, calendar, zone):%Y-%m-%d %H:%M} ({float(Fraction(100 * worth[slot], whole)):.1f} %)"
        for slot in dearest
    )
    text = f"the money lies on {len(worth)} {pool.slot}s, by what each is worth; most on {listed}"
    return [Node(text, {"slots": len(worth)})]


def players_node(played: Played) -> Node:
    """What each team is worth under a method that values teams, and how that was found."""
    whole = sum(played.values.values()) or 1
    first = sorted(played.values, key=lambda team: (-played.values[team], team))
    parts = {team: Fraction(100 * played.values[team], whole) for team in first}
    text = "teams are worth: " + ", ".join(f"{team} {float(parts[team]):.1f} %" for team in first if parts[team])
    facts: dict[str, object] = {"worth": {team: str(part) for team, part in parts.items()}}
    if played.sampling:
        worst = max(played.sampling.errors.values())
        text += f"; estimated from {played.sampling.orders:,} orders drawn from the seed {played.sampling.seed!r}"
        text += f", standard error at most {worst / 10_000:.2f} % of the peak"
        facts |= {"seed": played.sampling.seed, "orders": played.sampling.orders}
    return Node(text, facts)


def price_text(price: Fraction, currency: str) -> str:
    return f"{price_digits(for_reading(price), currency)} {currency}"
