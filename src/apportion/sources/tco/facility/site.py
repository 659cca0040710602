"""A site: where its nodes stand, what cools them, what its electricity costs, and what it emits."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any
from zoneinfo import ZoneInfo

from apportion.errors import ProjectError
from apportion.model.currencies import ESTIMATED
from apportion.model.delivery import FileDigest, Scope, electricity_of
from apportion.model.times import Interval, zone_named
from apportion.sources.tco.facility.frames import Folder
from apportion.sources.tco.facility.intensity import CARBON, Intensity, read_intensity
from apportion.sources.tco.facility.loads import MEASURED, MODELLED, Measured, Modelled, read_measured, read_modelled
from apportion.sources.tco.facility.schedule import Schedule, read_schedule
from apportion.sources.tco.facility.sections import Section, section
from apportion.sources.tco.facility.tariff import Tariff, read_tariff
from apportion.sources.tco.facility.utility import BILL, Billed, read_billed

SITE = ("name", "time_zone", "region", "nodes", "pue", "tariff", "energy", "carbon")
FOREVER = 2**62
FORMS = {"measured": MEASURED, "modelled": MODELLED, "bill": BILL}


@dataclass(frozen=True, slots=True)
class Site:
    name: str
    zone: ZoneInfo
    region: str
    nodes: tuple[str, ...]
    pue: Schedule
    tariff: Tariff | None
    energy: Measured | Modelled | Billed
    carbon: Intensity | None
    currency: str
    where: str

    @property
    def priced(self) -> bool:
        """Whether it speaks for the money of the site's electricity; one without a tariff only counts what was drawn and emitted."""
        return self.tariff is not None or isinstance(self.energy, Billed)

    @property
    def issuer(self) -> str:
        """For whose electricity it speaks, so that no second source does."""
        return electricity_of(self.name)

    @property
    def files(self) -> tuple[FileDigest, ...]:
        parts = (self.energy, self.tariff, self.carbon)
        return tuple({file.name: file for part in parts if part for file in part.files}.values())

    @property
    def known_until(self) -> int:
        """Up to when the tables that have an end speak."""
        needed = [self.tariff, self.carbon if self.carbon and self.carbon.fallback is None else None]
        ends = [self.energy.known_until, *(part.table.end_s or None for part in needed if part)]
        return min((end for end in ends if end is not None), default=FOREVER)

    def has(self, node: str) -> bool:
        return any(fnmatchcase(node, glob) for glob in self.nodes or ("*",))


@dataclass(frozen=True, slots=True)
class Ground:
    """What a document says for all of its sites: where its files are, its clock and its currency; `place` says where each site stands."""

    folder: Folder
    time_zone: str
    currency: str
    place: Callable[[int], str]


def read_sites(found: Any, ground: Ground) -> tuple[Site, ...]:
    """The section `facility` of a document: one site, or a list of them."""
    parts = found if isinstance(found, list) else [found]
    sites = [read_site(section(part, SITE, ground.place(n)), ground) for n, part in enumerate(parts)]
    names = [site.name for site in sites]
    for n, name in enumerate(names):
        if name in names[:n]:
            raise ProjectError("invalid-setting", f"two sites are called {name}", where=sites[n].where)
    return tuple(sites)


def read_site(found: Section, ground: Ground) -> Site:
    name, folder = found.text("name"), ground.folder
    part = Section(found.cells, f"{found.where} {name}")
    clock = zone_named(part.text("time_zone", ground.time_zone), part.where)
    energy = read_energy(part, folder, clock, name)
    tariff = (
        read_tariff(part.cells["tariff"], folder, clock, f"{part.where}.tariff") if "tariff" in part.cells else None
    )
    if tariff and isinstance(energy, Billed):
        raise twice("a utility bill and a tariff", part.where)
    pue = read_schedule(part.cells.get("pue", 1), clock, f"{part.where}.pue", word="value", least=1)
    region = part.text("region", "")
    carbon = read_intensity(part.inside("carbon", CARBON), folder, clock, region) if "carbon" in part.cells else None
    return Site(name, clock, region, part.names("nodes"), pue, tariff, energy, carbon, ground.currency, part.where)


def read_energy(part: Section, folder: Folder, zone: ZoneInfo, site: str) -> Measured | Modelled | Billed:
    """Exactly one of what can be known of it."""
    found = part.inside("energy", FORMS)
    if len(found.cells) > 1:
        raise twice(" and ".join(sorted(found.cells)), found.where)
    if not found.cells:
        raise ProjectError(
            "missing-setting", "energy is missing", where=part.where, hint="state one of measured, modelled or bill"
        )
    form = next(iter(found.cells))
    inner = found.inside(form, FORMS[form])
    if form == "measured":
        return read_measured(inner, folder, zone, site)
    return read_modelled(inner, folder, zone) if form == "modelled" else read_billed(inner, folder, zone)


def twice(what: str, where: str) -> ProjectError:
    return ProjectError(
        "energy-priced-twice",
        f"{what} would price the same energy twice",
        where=where,
        hint='keep one of measured, modelled or bill; a bill is its own price. To compare, read the other as a source with role = "reference"',
    )


def site_of(sites: Iterable[Site], node: str) -> Site | None:
    """Where a node stands; a node at two sites would pay for both."""
    found = [site for site in sites if site.has(node)]
    if len(found) > 1:
        raise ProjectError(
            "node-at-two-sites",
            f"node {node} is at {found[0].name} and at {found[1].name}",
            where=found[1].where,
            hint="narrow the `nodes` of one of them",
        )
    return found[0] if found else None


def scopes_of(site: Site, billing: tuple[Interval, ...], role: str) -> Iterator[Scope]:
    """What a site speaks for: its electricity where it prices it, and what it drew and emitted where it counts that."""
    if site.priced:
        yield Scope(site.issuer, (), (), billing, role=role)
    if site.carbon:
        yield from (Scope(issuer, (), (), billing, role=role) for issuer in (site.name, f"{site.name} {ESTIMATED}"))
