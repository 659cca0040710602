"""The electricity of the inventory's nodes: which of them stand at which site, and what each site's month comes to."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath

from apportion.errors import Problem
from apportion.model.delivery import Scope
from apportion.model.times import Interval, Period, day_start
from apportion.sources.tco.days import month_span
from apportion.sources.tco.facility.drawn import Node
from apportion.sources.tco.facility.frames import Folder
from apportion.sources.tco.facility.month import energy_of
from apportion.sources.tco.facility.site import Ground, Site, read_sites, scopes_of, site_of
from apportion.sources.tco.fleet import GLOB, Fleet
from apportion.sources.tco.items import Item
from apportion.sources.tco.load import Loaded
from apportion.sources.tco.settings import How


@dataclass(frozen=True, slots=True)
class Powered:
    """What the sites of an inventory add to a month."""

    items: tuple[Item, ...] = ()
    problems: tuple[Problem, ...] = ()
    scopes: tuple[Scope, ...] = ()


def sites_in(loaded: Loaded, base: Path, how: How, currency: str) -> tuple[Site, ...]:
    found, written = loaded.inventory.facility, loaded.written
    if not found:
        return ()
    folder = Folder(base, str(PurePosixPath(written.file).parent))
    listed = isinstance(found, list)
    place = lambda n: written.where(("facility", n) if listed else ("facility",))  # noqa: E731
    return read_sites(found, Ground(folder, str(how.zone), currency, place))


def powered(sites: Sequence[Site], fleet: Fleet, period: Period, how: How) -> Powered:
    if not sites:
        return Powered()
    month = period.interval(how.zone)
    nodes = list(nodes_in(fleet, period, how))
    nodes += named_alone(sites, fleet, month)
    found = [energy_of(site, nodes, running(site, month)) for site in sites]
    return Powered(
        tuple(item for one in found for item in one.items),
        (*homeless(sites, nodes), *(problem for one in found for problem in one.problems)),
        tuple(scope for site in sites for scope in scopes_of(site, (month,), how.role)),
    )


def nodes_in(fleet: Fleet, period: Period, how: How) -> Iterator[Node]:
    """The nodes of the inventory, on the days that they were in service."""
    month = month_span(period)
    for name, stays in fleet.stays.items():
        for stay in stays:
            span = stay.span.clip(month)
            if span.days:
                yield Node(name, Interval(day_start(span.start, how.zone), day_start(span.end, how.zone)))


def named_alone(sites: Iterable[Site], fleet: Fleet, month: Interval) -> Iterator[Node]:
    """Nodes that a site or its readings name and the inventory does not: they were there all month."""
    for site in sites:
        names = {*(name for name in site.nodes if not GLOB & set(name)), *site.energy.names}
        for name in sorted(names - set(fleet.stays)):
            if site.has(name):
                yield Node(name, month)


def homeless(sites: Iterable[Site], nodes: Iterable[Node]) -> Iterator[Problem]:
    """Where a node stands at no site nobody pays for its electricity; one that stands at two is refused."""
    known = list(sites)
    for name in sorted({node.name for node in nodes}):
        if site_of(known, name) is None:
            yield Problem(name, "no-site", f"node {name} stands at no site: its electricity is not counted")


def running(site: Site, month: Interval) -> Interval:
    """A month that is not over counts up to where the site's tables end; one that is over must be known in full."""
    if month.end_s <= int(datetime.now(site.zone).timestamp()):
        return month
    return Interval(month.start_s, max(month.start_s, min(month.end_s, site.known_until)))
