"""Weights (task complexity) re-share the used part of a pool. Used and idle money stay what they were; only who pays the used part moves."""

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from math import lcm

from apportion.engine.bearers import Bearers, known_labels
from apportion.engine.price import Load, Part, Used
from apportion.policy.pools import Pool


def load_weights(
    pool: Pool, loads: set[Load], bearers: Bearers, rates: tuple[Fraction, ...], of_resource: set[str]
) -> dict[Load, int]:
    """Whole weights over one common denominator."""
    keys = set(pool.weights) - of_resource
    exact = {load: pool.weight(known_labels(bearers[load[0]].named, keys)) * rates[load[1]] for load in loads}
    below = lcm(*(weight.denominator for weight in exact.values()))
    return {load: int(weight * below) for load, weight in exact.items()}


def factors(usage: Mapping[Part, int], weights: Mapping[Load, int]) -> dict[tuple[str, str], tuple[int, int]]:
    """(sum of charges, sum of weighted charges) of each bill and component over the period; equal parts where weights cancel out."""
    plain: dict[tuple[str, str], int] = defaultdict(int)
    weighted: dict[tuple[str, str], int] = defaultdict(int)
    for (column, _, load), grains in usage.items():
        plain[column[:2]] += grains
        weighted[column[:2]] += grains * weights[load]
    return {key: (plain[key], weighted[key]) for key in plain}


def reshare(
    usage: Mapping[Part, int],
    weights: Mapping[Load, int],
    scale: Mapping[tuple[str, str], tuple[int, int]],
    bearers: Bearers,
) -> Used:
    """Each charge times its weight, scaled so that every bill and component keeps its total."""
    out: Used = defaultdict(int)
    left: dict[tuple[str, str], int] = defaultdict(int)
    for (column, day, load), grains in usage.items():
        above, below = scale[column[:2]]
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


def scaled(
    part: Mapping[Part, int], weights: Mapping[Load, int], scale: Mapping[tuple[str, str], tuple[int, int]]
) -> Used:
    """A part of the charges (what credits give back, what is burst), scaled as they are."""
    out: Used = defaultdict(int)
    for (column, day, load), grains in part.items():
        above, below = scale.get(column[:2], (0, 0))
        out[column, day, load[0]] += grains * weights[load] * above // below if below else grains
    return out


def unweighted(usage: Mapping[Part, int]) -> Used:
    out: Used = defaultdict(int)
    for (column, day, load), grains in usage.items():
        out[column, day, load[0]] += grains
    return out
