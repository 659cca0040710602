"""What each node of a site drew on each day, what that cost and what it emitted: exact, and adding up to the site."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from math import lcm
from operator import add, sub
from typing import NamedTuple

from apportion.errors import ProjectError
from apportion.model.money import ATTO, NANO, share
from apportion.model.times import Interval, days
from apportion.sources.tco.facility.frames import refuse_gaps
from apportion.sources.tco.facility.loads import HOUR_S, chosen
from apportion.sources.tco.facility.site import Site
from apportion.sources.tco.facility.steps import Integral, Step, Steps, product
from apportion.sources.tco.facility.utility import Billed


@dataclass(frozen=True, slots=True)
class Node:
    """`service`: from when until when it was there. `watts`: what it is rated at, where that is known."""

    name: str
    service: Interval
    watts: Fraction | None = None


def one_each(nodes: Iterable[Node]) -> list[Node]:
    """Parts of one node that were there at the same time draw what the node draws, once."""
    out: list[Node] = []
    for node in sorted(nodes, key=lambda node: (node.name, node.service)):
        last = out[-1] if out else None
        if last and last.name == node.name and node.service.start_s <= last.service.end_s:
            end_s = max(last.service.end_s, node.service.end_s)
            out[-1] = replace(last, service=Interval(last.service.start_s, end_s), watts=last.watts or node.watts)
        else:
            out.append(node)
    return out


class Figures(NamedTuple):
    """`used` is what the node's own plug saw, `kwh` with what cooled it; `known` and `guessed` are grams."""

    used: Fraction
    kwh: Fraction
    money: Fraction
    known: Fraction
    guessed: Fraction


NOTHING = Figures(*(Fraction(0),) * 5)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A node without a name is the site itself: what it drew while no node was there."""

    node: str
    day: date
    span: Interval
    figures: Figures


class Rates:
    """Over a span: what a kW costs and emits from one second to another, and the PUE and prices behind that."""

    def __init__(self, site: Site, span: Interval) -> None:
        self.span = span
        one = Steps((Step(span.start_s, span.end_s, Fraction(1)),))
        self.pue = one if site.energy.whole else site.pue.steps(span)
        refuse_gaps(self.pue, span, "PUE", f"{site.where}.pue")
        self.price = site.tariff.prices(span) if site.tariff else Steps()
        known = site.carbon.known(span) if site.carbon else Steps()
        self.guessed = site.carbon.guessed(span) if site.carbon else Steps()
        self.integrals = tuple(
            Integral(function)
            for function in (
                one,
                self.pue,
                *(product(span, self.pue, rate) for rate in (self.price, known, self.guessed)),
            )
        )

    def of(self, load: Sequence[Step]) -> Figures:
        return Figures(*(integral.times(load) / HOUR_S for integral in self.integrals))


@dataclass(slots=True)
class Running:
    """Sums that hand out whole nanos: days add up to the month, each within a nano of exact."""

    exact: Figures = NOTHING

    def add(self, figures: Figures) -> Figures:
        before = rounded(self.exact)
        self.exact = Figures(*map(add, self.exact, figures))
        return Figures(*map(sub, rounded(self.exact), before))


def rounded(figures: Figures) -> Figures:
    """To whole nanos, as all of the inventory's lines are: what is finer would only lie in `_residual`."""
    return Figures(*(Fraction(round(figure * NANO), NANO) for figure in figures))


def drawn(site: Site, nodes: Sequence[Node], rates: Rates, month: Interval) -> Iterator[Drawn]:
    """By day on the site's clock: the usage of a day shares its own day's price."""
    if site.energy.whole:
        yield from shared(site, nodes, rates, month)
        return
    for node in nodes:
        span, running = node.service.clip(month), Running()
        load = site.energy.load(node.name, span)
        for day, part in days(span, site.zone):
            yield Drawn(node.name, day, part, running.add(rates.of(list(load.over(part)))))


def shared(site: Site, nodes: Sequence[Node], rates: Rates, month: Interval) -> Iterator[Drawn]:
    """What the whole site drew, over the nodes that were there on the day: by weight and time, to the last unit."""
    load, running = site.energy.load("", month), Running()
    for day, part in days(month, site.zone):
        figures = running.add(rates.of(list(load.over(part))))
        if isinstance(site.energy, Billed):
            figures = figures._replace(money=site.energy.money(part))
        if not any(figures):
            continue
        weights = weights_of(site, nodes, part)
        for name, own in over(figures, weights or {"": Fraction(1)}).items():
            yield Drawn(name, day, part, own)


def over(figures: Figures, weights: Mapping[str, Fraction]) -> dict[str, Figures]:
    names = sorted(weights)
    whole = whole_numbers([weights[name] for name in names])
    columns = [parts_of(figure, whole, names) for figure in figures]
    return {name: Figures(*(column[n] for column in columns)) for n, name in enumerate(names)}


def parts_of(amount: Fraction, weights: Sequence[int], names: Sequence[str]) -> list[Fraction]:
    """Adding up to the last digit: in nanos, unless the amount itself is finer."""
    unit = NANO if (amount * NANO).denominator == 1 else ATTO
    return [Fraction(part, unit) for part in share(round(amount * unit), weights, names)]


def whole_numbers(weights: Sequence[Fraction]) -> list[int]:
    """In the same proportions."""
    common = lcm(*(weight.denominator for weight in weights))
    return [int(weight * common) for weight in weights]


def weights_of(site: Site, nodes: Iterable[Node], part: Interval) -> dict[str, Fraction]:
    """Of those that were there: the stated weight, else the rated watts, times the seconds."""
    there = [(node, node.service.clip(part).seconds) for node in nodes]
    found: dict[str, Fraction] = {}
    for node, seconds in there:
        if seconds:
            found[node.name] = found.get(node.name, Fraction(0)) + weight_of(site, node) * seconds
    return found if any(found.values()) else {}


def weight_of(site: Site, node: Node) -> Fraction:
    if site.energy.weights is not None:
        return chosen(site.energy.weights, node.name, site.where)
    if node.watts is None:
        raise ProjectError(
            "no-weight",
            f"the energy of {site.name} is known as a whole, and nothing says which part of it is {node.name}'s",
            where=site.where,
            hint='state weights such as {"dgx-*": 10200, "cpu-*": 700} (rated watts will do)',
        )
    return node.watts
