"""What a utility asks for beside energy: the month's highest load, and a fee."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from apportion.model.money import NANO
from apportion.model.times import Interval
from apportion.sources.tco.facility.drawn import Drawn, Node, Rates, parts_of, weights_of, whole_numbers
from apportion.sources.tco.facility.site import Site
from apportion.sources.tco.facility.steps import Integral, Steps, product, total

MINUTE_S = 60


@dataclass(frozen=True, slots=True)
class Peak:
    """The window of a month with the highest mean load, in kW with what cools it, and each node's part of it."""

    start_s: int
    kw: Fraction
    by_node: Mapping[str, Fraction]


def peak_of(site: Site, nodes: Sequence[Node], rates: Rates) -> Peak:
    """Windows are counted from the month's start; of equals the first."""
    span = rates.span
    loads = {} if site.energy.whole else loads_of(site, nodes, span)
    whole = site.energy.load("", span) if site.energy.whole else total(loads.values())
    energy = Integral(product(span, whole, rates.pue))
    window = min(span.seconds, site.tariff.minutes * MINUTE_S) if site.tariff else span.seconds
    starts = range(span.start_s, span.end_s - window + 1, window)
    start_s = max(starts, key=lambda second: (energy.over(second, second + window), -second))
    here = Interval(start_s, start_s + window)
    parts = (
        weights_of(site, nodes, here)
        if site.energy.whole
        else {name: Integral(product(here, load, rates.pue)).until(here.end_s) for name, load in loads.items()}
    )
    return Peak(start_s, energy.over(here.start_s, here.end_s) / window, parts)


def loads_of(site: Site, nodes: Iterable[Node], span: Interval) -> dict[str, Steps]:
    """A node that came back has several stretches."""
    found: dict[str, list[Steps]] = {}
    for node in nodes:
        found.setdefault(node.name, []).append(site.energy.load(node.name, node.service.clip(span)))
    return {name: total(parts) for name, parts in found.items()}


def shares_of(amount: Fraction, parts: Mapping[str, Fraction], nodes: Iterable[Node]) -> dict[str, Fraction]:
    """An amount over nodes by their parts, evenly where there are none; whole nanos that add up."""
    names = sorted(name for name, part in parts.items() if part) or sorted({node.name for node in nodes})
    weights = whole_numbers([parts.get(name, Fraction(0)) for name in names])
    weights = weights if any(weights) else [1] * len(names)
    whole = Fraction(round(amount * NANO), NANO)
    return dict(zip(names, parts_of(whole, weights, names), strict=True))


def kwh_of(found: Iterable[Drawn]) -> dict[str, Fraction]:
    sums: dict[str, Fraction] = {}
    for one in found:
        if one.node:
            sums[one.node] = sums.get(one.node, Fraction(0)) + one.figures.kwh
    return sums
