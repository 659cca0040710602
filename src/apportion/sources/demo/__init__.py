"""A believable month of a shared training cluster, made from a seed: the evidence of two schedulers and two bills to match.

The same settings give the same rows on every machine. `files.write` puts the very same month into files that a person can edit.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import ProjectError
from apportion.model.delivery import Delivery, Scope
from apportion.model.numbers import parse_fraction, parse_whole
from apportion.model.times import Interval, parse_period
from apportion.sources.demo import tables
from apportion.sources.demo.bills import Bill, make_bills
from apportion.sources.demo.calendar import Calendar
from apportion.sources.demo.flows import Flow, traffic, volumes
from apportion.sources.demo.month import Month, simulate
from apportion.sources.demo.shelved import shelved
from apportion.sources.settings import stanza

SEED, SCALE, MONTH = 7, "1", "2026-10"
LARGEST_SCALE = 4


@dataclass(frozen=True, slots=True)
class Demo:
    """Everything that happened, before it takes the form of tables or files."""

    month: Month
    flows: Mapping[str, list[Flow]]  # by meter
    bills: list[Bill]


def make_demo(*, seed: int = SEED, scale: Fraction | str = SCALE, month: str = MONTH, waste: bool = False) -> Demo:
    """`waste` plants known waste of several kinds: another month, which says look by look how boards were used."""
    calendar = Calendar(parse_period(month, "source demo"))
    happened = simulate(calendar, seed, checked(scale), waste=waste)
    flows = {"storage": volumes(calendar, seed), "network": traffic(calendar, seed)}
    if happened.planted is not None:
        stored = list(shelved(calendar, seed))
        flows["storage"] += [flow for _, days in stored for flow in days]
        kinds = {days[0].workload: kind for kind, days in stored if kind}
        happened = replace(happened, planted=replace(happened.planted, kinds={**happened.planted.kinds, **kinds}))
    return Demo(happened, flows, make_bills(happened, flows["storage"], flows["network"]))


def checked(scale: Fraction | str) -> Fraction:
    found = parse_fraction(scale, "source demo") if isinstance(scale, str) else scale
    if not 0 < found <= LARGEST_SCALE:
        raise ProjectError(
            "invalid-setting",
            f"scale must be above 0 and at most {LARGEST_SCALE}, not {found}",
            where="source demo",
            hint='1 is about 50,000 workloads, "0.02" about 1,000',
        )
    return found


def read(settings: Mapping[str, Any], base: Path, window: Interval | None) -> Iterator[Delivery]:
    """One delivery of the schedulers' evidence, and one per bill under a source name of its own, so that neither bill replaces the other."""
    del base  # nothing is read from disk
    found = stanza(settings, ("seed", "scale", "month", "waste"))
    seed = parse_whole(settings.get("seed", SEED), found.where)
    demo = make_demo(
        seed=seed, scale=str(settings.get("scale", SCALE)), month=found.text("month", MONTH), waste=found.flag("waste")
    )
    name = found.text("name")
    covered = demo.month.calendar.window if window is None else demo.month.calendar.window.clip(window)
    if covered.seconds:
        yield Delivery(name, covered, {
            "usage": inside(tables.usage_table(demo.month, demo.flows, name), covered),
            "workloads": inside(tables.workload_table(demo.month, demo.flows, name), covered),
            "capacity": inside(tables.capacity_table(demo.month, name), covered),
            "reservations": inside(tables.reservation_table(demo.month, name), covered),
        })  # fmt: skip
    for bill in demo.bills:
        if window is None or window.start_s <= bill.billing.start_s < window.end_s:
            source = f"{name}-{bill.name}"
            yield Delivery(
                source, bill.billing, {"cost_lines": tables.cost_table(bill, source)}, scopes=(scope_of(bill),)
            )


def inside(rows: pa.Table, window: Interval) -> pa.Table:
    """The rows that touch the window; the books clip them to it."""
    return rows.filter(pc.and_(pc.less(rows["start_s"], window.end_s), pc.greater(rows["end_s"], window.start_s)))


def scope_of(bill: Bill) -> Scope:
    services = tuple(sorted({line.service for line in bill.lines}))
    return Scope(bill.issuer, (bill.account,), services, (bill.billing,))
