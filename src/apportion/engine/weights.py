"""Weights (task complexity) re-share the used part of a pool. Used and idle money stay what they were; only who pays the used part moves."""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from apportion.engine.bearers import Bearers, known_labels
from apportion.engine.price import Load, Part, Used
from apportion.model.findings import Finding, share_of
from apportion.model.money import to_decimal
from apportion.policy.pools import Pool

Scales = dict[tuple[str, str, Load], tuple[int, int]]  # by bill, component and load


def load_weights(
    pool: Pool, loads: set[Load], bearers: Bearers, rates: tuple[Fraction, ...], of_resource: set[str]
) -> dict[Load, int]:
    """Whole weights over one common denominator."""
    keys = set(pool.weights) - of_resource
    exact = {load: pool.weight(known_labels(bearers[load[0]].named, keys)) * rates[load[1]] for load in loads}
    below = lcm(*(weight.denominator for weight in exact.values()))
    return {load: int(weight * below) for load, weight in exact.items()}


def scale_weights(usage: Mapping[Part, int], weights: Mapping[Load, int], bearers: Bearers) -> Scales:
    """(sum of charges, sum of weighted charges) over the period that a load's charges are scaled by, per bill and component.

    Whoever is charged and whoever is refunded are re-shared apart: scaled by their difference, which may be as good as 0, either could come to any amount.
    """
    whose = {load: (bearers[load[0]].owner, weight) for load, weight in weights.items()}
    nets: dict[tuple[str, str, object, int], int] = defaultdict(int)
    for (column, _, load), grains in usage.items():
        nets[(*column[:2], *whose[load])] += grains
    plain: dict[tuple[str, str, bool], int] = defaultdict(int)
    weighted: dict[tuple[str, str, bool], int] = defaultdict(int)
    for (bill, component, _, weight), grains in nets.items():
        plain[bill, component, grains < 0] += grains
        weighted[bill, component, grains < 0] += grains * weight
    found: Scales = {}
    for bill, component, load in {(*column[:2], load) for column, _, load in usage}:
        side = (bill, component, nets[(bill, component, *whose[load])] < 0)
        found[bill, component, load] = plain[side], weighted[side]
    return found


def reshare(usage: Mapping[Part, int], weights: Mapping[Load, int], scales: Scales, bearers: Bearers) -> Used:
    """Each charge times its weight, scaled so that every bill and component keeps its total; equal parts where weights cancel out."""
    out: Used = defaultdict(int)
    left: dict[tuple[str, str], int] = defaultdict(int)
    for (column, day, load), grains in usage.items():
        above, below = scales[(*column[:2], load)]
        share = grains * weights[load] * above // below if below else grains
        out[column, day, load[0]] += share
        left[column[:2]] += grains - share
    for key, grains in sorted(left.items()):
        if grains:  # the few grains that flooring left
            first = min(
                (part for part in out if part[0][:2] == key), key=lambda part: (part[0], part[1], bearers.rank(part[2]))
            )
            out[first] += grains
    return out


def scaled(part: Mapping[Part, int], weights: Mapping[Load, int], scales: Scales) -> Used:
    """A part of the charges (what credits give back, what is burst), scaled as they are."""
    out: Used = defaultdict(int)
    for (column, day, load), grains in part.items():
        above, below = scales.get((*column[:2], load), (0, 0))
        out[column, day, load[0]] += grains * weights[load] * above // below if below else grains
    return out


def unweighted(usage: Mapping[Part, int]) -> Used:
    out: Used = defaultdict(int)
    for (column, day, load), grains in usage.items():
        out[column, day, load[0]] += grains
    return out


def find_cancelled(
    pool: str, usage: Mapping[Part, int], scales: Scales, currencies: Mapping[str, str], own: str
) -> tuple[Finding, ...]:
    """Where all who are charged weigh 0, weights say nothing of who pays more: the money stays as it was without them, and is told."""
    whole: dict[str, int] = defaultdict(int)
    plain: dict[str, int] = defaultdict(int)
    for (column, _, load), grains in usage.items():
        currency = currencies.get(column.bill, own)
        whole[currency] += abs(grains)
        plain[currency] += 0 if scales[(*column[:2], load)][1] else abs(grains)
    touched = {currency: grains for currency, grains in plain.items() if grains}
    if not touched:
        return ()
    currency = max(touched, key=lambda name: (name == own, Fraction(touched[name], whole[name]), name))
    return (
        Finding(
            "weights-cancel",
            f"all who are charged in pool '{pool}' weigh 0, so that its money is shared without weights",
            "give one of those who used the pool a weight above 0, or remove `weights`",
            pool=pool,
            money=to_decimal(touched[currency]),
            currency=currency,
            share=share_of(touched[currency], whole[currency], lost=False),
        ),
    )
