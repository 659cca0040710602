"""What was answered for one window, and how the stanza wants it read."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from apportion.errors import InputError, Problem, ProjectError
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.delivery import FileDigest
from apportion.model.times import Interval, instant_text
from apportion.sources.opencost.rows import Allocation, Asset, CloudCost
from apportion.sources.outside.web import WEB_SETTINGS
from apportion.sources.settings import Stanza

NOT_TOLD = "cluster"  # stands in pods' ids where neither the answers nor the stanza name the cluster
SETTINGS = (*WEB_SETTINGS, "flavour", "report", "role", "issuer", "account", "currency", "cluster", "capacity")
FLAVOURS = {"opencost": "OpenCost", "kubecost": "Kubecost"}
REPORTS = ("allocation", "cloudCost")
ROLES = ("reference", "bill")
LISTED = 1000  # of each code; the rest is one Problem with their number


@dataclass(frozen=True, slots=True)
class Reading:
    source: str
    role: str
    issuer: str  # empty: whoever the answers name, else the flavour
    account: str  # of assets that name none
    currency: str
    cluster: str
    report: str
    flavour: str
    capacity: bool  # else another source says what nodes have


def reading_of(found: Stanza) -> Reading:
    """Their cost is a reference. As a bill somebody must say so, and who sends it: two bills of one issuer are found out by its name."""
    role = found.word("role", ROLES, "reference")
    if role == "bill" and "issuer" not in found.settings:
        raise ProjectError(
            "missing-setting",
            "the setting issuer is missing: a bill needs to say who sends it",
            where=found.where,
            hint='write issuer as your other bills do, such as "Amazon Web Services, Inc."; or leave role out',
        )
    return Reading(
        source=found.text("name"),
        role=role,
        issuer=found.text("issuer", ""),
        account=found.text("account", ""),
        currency=found.word("currency", MINOR_DIGITS, "USD"),
        cluster=found.text("cluster", ""),
        report=found.word("report", REPORTS, "allocation"),
        flavour=found.word("flavour", FLAVOURS, "") if "flavour" in found.settings else "",
        capacity=found.flag("capacity", default=True),
    )


@dataclass(slots=True)
class Day:
    """`where` is the file or the server, for problems."""

    window: Interval
    where: str
    allocations: list[Allocation] = field(default_factory=list)
    assets: list[Asset] = field(default_factory=list)
    cloud: list[CloudCost] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    files: list[FileDigest] = field(default_factory=list)

    def take(self, rows: Iterable[Any]) -> None:
        kept: dict[type, list[Any]] = {Allocation: self.allocations, Asset: self.assets, CloudCost: self.cloud}
        for row in rows:
            kept[type(row)].append(row)


def check_windows(day: Day) -> None:
    """Money of another window would be booked on the wrong day."""
    rows: list[Allocation | Asset | CloudCost] = [*day.allocations, *day.assets, *day.cloud]
    for row in rows:
        if row.window.start_s < day.window.start_s or row.window.end_s > day.window.end_s:
            asked, told = (
                f"{instant_text(span.start_s)} to {instant_text(span.end_s)}" for span in (day.window, row.window)
            )
            raise InputError(
                "wrong-window",
                f"asked for {asked}, the server answered for {told}",
                where=day.where,
                hint="its days must be those of UTC: set UTC_OFFSET (Kubecost: utcOffset) to +00:00",
            )


def stated(cluster: str) -> str | None:
    """What rows of usage and capacity say; nothing where nobody told it."""
    return None if cluster == NOT_TOLD else cluster


def named(day: Day, cluster: str, where: str) -> Day:
    """With the cluster's name that the stanza gives, where one cluster answers; what names none needs it."""
    rows: list[Allocation | Asset] = [*day.allocations, *day.assets]
    theirs = {row.cluster for row in rows if row.cluster}
    if cluster and len(theirs) > 1:
        raise ProjectError(
            "invalid-setting",
            f"cluster cannot be {cluster!r}: {len(theirs)} clusters answer ({', '.join(sorted(theirs))[:80]})",
            where=where,
            hint="leave it out: they name themselves",
        )
    ours = cluster or next(iter(theirs), NOT_TOLD)
    day.allocations = [
        replace(row, cluster=ours if cluster or not row.cluster else row.cluster) for row in day.allocations
    ]
    day.assets = [replace(row, cluster=ours if cluster or not row.cluster else row.cluster) for row in day.assets]
    return day
