"""Items with their arithmetic in a sentence: the money of a node's day, and where carbon is asked for its kWh and grams."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from apportion.model.currencies import CARBON, ENERGY, ESTIMATED
from apportion.model.times import Interval, instant_text, local_day
from apportion.sources.tco.facility.drawn import Drawn, Rates
from apportion.sources.tco.facility.extras import Peak
from apportion.sources.tco.facility.site import Site
from apportion.sources.tco.facility.utility import Billed
from apportion.sources.tco.facility.words import figure, price, range_of
from apportion.sources.tco.items import Item

SERVICE, COMPONENT, KIND = "Electricity", "energy", "electricity"


def items_of(site: Site, one: Drawn, rates: Rates) -> Iterator[Item]:
    """All have the same service, component, resource, time and tags, so that whatever shares the money shares the rest."""
    figures, name = one.figures, one.node or site.name
    drew = told(site, one, rates)
    made = item(site, name, one.span, figures.kwh, ENERGY)
    if site.priced and (figures.kwh or figures.money):
        text = f"{SERVICE} of {name} on {one.day}: {drew}{paid(site, one, rates)}"
        yield replace(made, amount=figures.money, billed=figures.money, explanation=text)
    if site.carbon is not None and figures.kwh:
        yield counted(site, made, ENERGY, (figures.kwh, f"Energy of {name} on {one.day}: {drew}"), guessed=False)
        for grams, guessed in ((figures.known, False), (figures.guessed, True)):
            mean = f"{figure(grams / figures.kwh)} g on average{' by the fallback' if guessed else ''}"
            text = f"Carbon of {name} on {one.day}: {figure(figures.kwh)} kWh x {mean}"
            if grams:
                yield counted(site, made, CARBON, (grams, text), guessed=guessed)


def told(site: Site, one: Drawn, rates: Rates) -> str:
    """`148.8 kWh x PUE 1.35`."""
    if site.energy.whole:
        whole = f"the utility billed {site.name}" if isinstance(site.energy, Billed) else f"{site.name} drew"
        return f"{figure(one.figures.kwh)} kWh of what {whole}, by weight and time"
    word = " modelled" if site.energy.estimated else ""
    return f"{figure(one.figures.used)} kWh{word} x PUE {range_of(rates.pue.values(one.span))}"


def paid(site: Site, one: Drawn, rates: Rates) -> str:
    """` at 0.21 to 0.34 per kWh, time of use`."""
    return f" at {range_of(rates.price.values(one.span))} per kWh{site.tariff.word}" if site.tariff else ""


def item(site: Site, name: str, span: Interval, quantity: Fraction, unit: str) -> Item:
    """Without its money."""
    tags = {"site": site.name} | ({"region": site.region} if site.region else {})
    none, times = Fraction(0), (span.start_s, span.end_s)
    made = Item(SERVICE, COMPONENT, name, name, *times, none, none, "", quantity, unit, site.currency, tags)
    return replace(made, sku=site.name, kind=KIND)


def counted(site: Site, made: Item, unit: str, what: tuple[Fraction, str], *, guessed: bool) -> Item:
    """What is no money; estimates are a bill of their own."""
    amount, text = what
    estimated = guessed or site.energy.estimated
    issuer = f"{site.name} {ESTIMATED}" if estimated else site.name
    return replace(made, amount=amount, billed=amount, currency=unit, issuer=issuer, explanation=text)


def demand_item(site: Site, name: str, span: Interval, amount: Fraction, peak: Peak) -> Item:
    per_kw = price(site.tariff.demand) if site.tariff else "0"
    part = figure(100 * peak.by_node.get(name, Fraction(0)) / (sum(peak.by_node.values()) or 1))
    text = (
        f"Demand charge of {site.name} in {month_of(site, span)}: {figure(peak.kw)} kW from {instant_text(peak.start_s)} "
        f"x {per_kw} per kW; {name} drew {part} % of it"
    )
    return replace(item(site, name, span, peak.kw, "kW"), amount=amount, billed=amount, explanation=text)


def fee_item(site: Site, name: str, span: Interval, amount: Fraction) -> Item:
    fee = price(site.tariff.fee) if site.tariff else "0"
    text = f"Connection of {site.name} in {month_of(site, span)}: part of {name} in {fee}, by kWh"
    return replace(item(site, name, span, Fraction(1), "Months"), amount=amount, billed=amount, explanation=text)


def month_of(site: Site, span: Interval) -> str:
    return f"{local_day(span.start_s, site.zone):%Y-%m}"
