"""The electricity of a site in one month: items, and what was not measured."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from apportion.errors import Problem
from apportion.model.times import Interval
from apportion.sources.tco.facility.drawn import Drawn, Node, Rates, drawn, one_each
from apportion.sources.tco.facility.extras import kwh_of, peak_of, shares_of
from apportion.sources.tco.facility.loads import HOUR_S
from apportion.sources.tco.facility.site import Site
from apportion.sources.tco.facility.telling import demand_item, fee_item, items_of
from apportion.sources.tco.facility.words import figure, range_of
from apportion.sources.tco.items import Item


@dataclass(frozen=True, slots=True)
class Month:
    items: tuple[Item, ...]
    problems: tuple[Problem, ...]


def energy_of(site: Site, nodes: Sequence[Node], month: Interval) -> Month:
    """`nodes` may be those of all sites; a site takes its own."""
    own = one_each(node for node in nodes if site.has(node.name) and node.service.clip(month).seconds)
    span = asked(site, own, month)
    if not span.seconds:
        return Month((), ())
    rates = Rates(site, span)
    found = list(drawn(site, own, rates, span))
    items = [item for one in found for item in items_of(site, one, rates)]
    return Month((*items, *extras(site, own, rates, found)), tuple(problems_of(site, own, rates)))


def asked(site: Site, nodes: Iterable[Node], month: Interval) -> Interval:
    """From the first to the last second for which anything is to be priced."""
    whole = site.energy.load("", month).parts if site.energy.whole else ()
    spans = [Interval(step.start_s, step.end_s) for step in whole] or [
        node.service.clip(month) for node in nodes if not site.energy.whole
    ]
    if not spans:
        return Interval(month.start_s, month.start_s)
    return Interval(min(span.start_s for span in spans), max(span.end_s for span in spans))


def extras(site: Site, nodes: Sequence[Node], rates: Rates, found: Sequence[Drawn]) -> Iterator[Item]:
    """Charges of the month as a whole, over the nodes that caused them."""
    if site.tariff and site.tariff.demand and nodes:
        peak = peak_of(site, nodes, rates)
        for name, amount in shares_of(site.tariff.demand * peak.kw, peak.by_node, nodes).items():
            yield demand_item(site, name, rates.span, amount, peak)
    if site.tariff and site.tariff.fee and nodes:
        for name, amount in shares_of(site.tariff.fee, kwh_of(found), nodes).items():
            yield fee_item(site, name, rates.span, amount)


def problems_of(site: Site, nodes: Iterable[Node], rates: Rates) -> Iterator[Problem]:
    yield from site.energy.problems
    if site.energy.whole:
        yield from site.energy.doubts(site.name, rates.span)
    else:
        for node in nodes:
            yield from site.energy.doubts(node.name, node.service.clip(rates.span))
    hours = Fraction(sum(step.end_s - step.start_s for step in rates.guessed.parts), HOUR_S)
    if hours:
        values = range_of(rates.guessed.values(rates.span))
        message = f"no carbon intensity for {figure(hours)} h; the fallback of {values} g per kWh is taken for them"
        yield Problem(site.where, "estimated", message)
