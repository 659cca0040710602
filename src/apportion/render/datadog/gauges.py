"""The running month as gauges: what each team owes each pool so far, what stood idle, and what a unit costs. Points are binary numbers there."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from apportion.model.rows import IDLE
from apportion.render.figures import legible
from apportion.reports.live import Estimate
from apportion.reports.sums import grouped

COST, IDLE_COST, PRICE = "apportion.month_cost", "apportion.idle_cost", "apportion.pool_price"


@dataclass(frozen=True, slots=True)
class Gauge:
    metric: str
    value: float
    tags: tuple[str, ...]


def gauges(made: Estimate, project: str) -> tuple[Gauge, ...]:
    """Each says the month that it is of, and that it is an estimate."""
    known = {"apportion_project": project, "period": str(made.period), "state": "estimated"}
    return tuple(gauge(metric, value, {**known, **tags}) for metric, value, tags in figures(made))


def figures(made: Estimate) -> Iterator[tuple[str, Decimal | Fraction, Mapping[str, str]]]:
    for (team, pool, currency), amount in grouped(made.rows, ("team", "pool", "currency")).items():
        yield COST, amount, {"team": team, "pool": pool, "currency": currency}
    keys = ("pool", "cause", "team", "currency", "reason")
    for (pool, cause, team, currency, reason), amount in grouped(made.rows, keys).items():
        if reason == "idle" or team == IDLE:
            yield (
                IDLE_COST,
                amount,
                {"pool": pool, "cause": cause, "team": team, "currency": currency, "reason": reason},
            )
    for one in made.pools:
        if one.price is not None:
            yield (
                PRICE,
                one.price,
                {"pool": one.pool, "per": one.unit, "currency": made.price_currency, "basis": one.basis},
            )


def gauge(metric: str, value: Decimal | Fraction, tags: Mapping[str, str]) -> Gauge:
    return Gauge(metric, float(value), tuple(f"{name}:{legible(said)}" for name, said in sorted(tags.items()) if said))
