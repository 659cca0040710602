"""Advice on waste with its price: gathers what the books know of the month's runs, and hands it to the rules."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.facets import faceted
from apportion.engine.labels import keys_of, label_column
from apportion.engine.plan import World
from apportion.engine.workloads import unite
from apportion.errors import ProjectError
from apportion.model.currencies import is_money
from apportion.model.meters import GPU, METERS
from apportion.model.times import Interval, Period
from apportion.reports.advice.kinds import KINDS, findings
from apportion.reports.advice.pieces import advice, pieces
from apportion.reports.advice.work import HOUR_S, Stretch, Work
from apportion.reports.report import Record, Report
from apportion.reports.sums import total
from apportion.verbs.engines import backend_of
from apportion.verbs.ground import ground_of
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.report import only, read_filters, read_record
from apportion.verbs.settings import nearest
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import build_world, parts_of

ACCELERATORS = {meter.unit: meter.name for meter in METERS.values() if meter.base == GPU}
METERED = sorted(ACCELERATORS.values())
LEAST_HOURS = 1  # of a unit, in the month: nobody acts on less
OWNER = ("team", "project", "user")
KEYS = ("workload", "bill", "pool", *OWNER, "unit")
SUMS = ("amount", "held")
MODEL = "gpu.model"
Row = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Charged:
    """What one workload was charged for accelerators in the month."""

    owner: tuple[str, str, str]
    unit: str
    amounts: Mapping[str, Decimal]


def advise(
    project: Project,
    period: Period | str,
    where: Sequence[str] = (),
    kinds: Sequence[str] = (),
    step: Step = silent,
) -> Report:
    """`where` as in other reports, `kinds` of advice: all unless given."""
    period = as_period(period)
    record = only(with_charges(project, read_record(project, [period]), period), read_filters(where), "held")
    wanted = known_kinds(kinds)
    works, zone = gathered(project, period, record, step)
    step("looking for waste", 0, 0)
    return advice(str(period), pieces(findings(works, zone, wanted)), record, works)


def known_kinds(kinds: Sequence[str]) -> Sequence[str]:
    for kind in kinds:
        if kind not in KINDS:
            raise ProjectError(
                "unknown-advice", f"there is no advice of the kind {kind!r}", hint=nearest(kind, KINDS, "kinds")
            )
    return kinds or tuple(KINDS)


def gathered(project: Project, period: Period, record: Record, step: Step = silent) -> tuple[list[Work], ZoneInfo]:
    """The workloads that the record was charged for, and the zone of its nights."""
    charged = charged_in(record)
    step(f"reading the evidence of {period}", 0, 0)
    ground, backend = ground_of(project, period), backend_of(project)
    own = parts_of(project, period, ground.policy, ground.pins)[""]
    world = build_world(project, period, own, ground.pins, backend)
    return works_of(world, charged), ZoneInfo(ground.policy.time_zone)


def with_charges(project: Project, record: Record, period: Period) -> Record:
    """The charges of the owners in a record, with their workloads."""
    where = (pc.field("period") == str(period)) & pc.field("team").isin(pc.unique(record.posted["team"]))
    return replace(
        record, charges=project.books.scan("charges", columns=["period", *KEYS, "per_unit", *SUMS], where=where)
    )


def charged_in(record: Record) -> dict[str, Charged]:
    """Workloads that held enough to speak of, with the money of the pools in which they held it."""
    if record.charges is None or not len(record.charges):
        return {}
    summed = record.charges.group_by([*KEYS, "per_unit"]).aggregate([(name, "sum") for name in SUMS])
    rows = summed.rename_columns([name.removesuffix("_sum") for name in summed.column_names]).to_pylist()
    currencies = dict(zip(*(record.posted[name].to_pylist() for name in ("bill", "currency")), strict=True))
    units = {row["pool"]: row["unit"] for row in rows if row["unit"] in ACCELERATORS}
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        if row["pool"] in units:
            groups[row["workload"]].append(row)
    found = {workload: charged(some, currencies, units) for workload, some in groups.items() if held_enough(some)}
    return {workload: one for workload, one in found.items() if one.amounts}


def held_enough(rows: Iterable[Row]) -> bool:
    return any((row["held"] or 0) >= LEAST_HOURS * HOUR_S * row["per_unit"] for row in rows if row["per_unit"])


def charged(rows: Sequence[Row], currencies: Mapping[str, str], units: Mapping[str, str]) -> Charged:
    """In money, where there is some to save; whoever paid most can act."""
    amounts: dict[str, list[Decimal]] = defaultdict(list)
    for row in rows:
        amounts[currencies[row["bill"]]].append(row["amount"])
    most = max(rows, key=lambda row: (row["amount"], *(row[name] for name in OWNER)))
    sums = {currency: total(some) for currency, some in sorted(amounts.items()) if is_money(currency)}
    team, project, user = (most[name] for name in OWNER)
    return Charged(
        (team, project, user), units[most["pool"]], {name: amount for name, amount in sums.items() if amount > 0}
    )


def works_of(world: World, charged: Mapping[str, Charged]) -> list[Work]:
    """Each charged workload as the engine took it, cut to the month."""
    month = world.period.interval(ZoneInfo(world.policy.time_zone))
    ids = pa.array(sorted(charged), pa.string())
    rows = usage_of(world, ids)
    workloads = world.workloads.filter(pc.is_in(world.workloads["workload"], ids))
    phases = phases_of(workloads, world, month)
    models = models_of(world.capacity)
    spans = spans_of(workloads)
    found = []
    for row in unite(workloads).to_pylist():
        name = row["workload"]
        own = charged[name]
        some = [one for one in rows.get(name, ()) if one["meter"] == ACCELERATORS[own.unit]]
        stretches = tuple(sweep(some, month))
        if not stretches:
            continue
        boards = sorted({models[one["resource"]] for one in some if models.get(one["resource"])})
        team, project, user = own.owner
        found.append(
            Work(name, row["run"] or name, row["name"] or "", team, project, user, row["outcome"], *spans[name], own.unit, GPU,
                 stretches, own.amounts, phases.get(name, ""), boards[0] if boards else "", dict(row["labels"] or ()))
        )  # fmt: skip
    return found


def usage_of(world: World, ids: pa.Array) -> Mapping[str, list[Row]]:
    """Rows of accelerators, by workload."""
    rows = (
        world.usage
        if isinstance(world.usage, pa.Table)
        else world.usage.filter(world.usage.meter.isin(METERED)).to_pyarrow()
    )
    rows = rows.filter(pc.is_in(rows["meter"], pa.array(METERED)))
    found: dict[str, list[Row]] = defaultdict(list)
    for row in rows.filter(pc.is_in(rows["workload"], ids)).drop_columns("source").to_pylist():
        found[row["workload"]].append(row)
    return found


def sweep(rows: Sequence[Row], month: Interval) -> Iterator[Stretch]:
    """What was held and used together, from change to change; measured only where all of it was."""
    changes: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        within = Interval(row["start_s"], row["end_s"]).clip(month)
        if within.seconds and row["allocated"]:
            for at, sign in ((within.start_s, 1), (within.end_s, -1)):
                parts = (row["allocated"], row["used"] or 0, row["used"] is None)
                changes[at] = [was + sign * part for was, part in zip(changes[at], parts, strict=True)]
    held = used = unmeasured = since = 0
    for at, (more_held, more_used, more_unmeasured) in sorted(changes.items()):
        if held:
            yield Stretch(since, at, held, None if unmeasured else used)
        held, used, unmeasured, since = held + more_held, used + more_used, unmeasured + more_unmeasured, at


def phases_of(workloads: pa.Table, world: World, month: Interval) -> Mapping[str, str]:
    known = faceted(workloads, world.policy, month)
    if "phase" not in known.column_names:
        return {}
    return dict(zip(known["workload"].to_pylist(), known["phase"].to_pylist(), strict=True))


def spans_of(workloads: pa.Table) -> Mapping[str, tuple[int, int]]:
    """From when the first source saw it until the last did."""
    spans = workloads.group_by("workload").aggregate([("start_s", "min"), ("end_s", "max")])
    return {row["workload"]: (row["start_s_min"], row["end_s_max"]) for row in spans.to_pylist()}


def models_of(capacity: pa.Table) -> Mapping[str, str]:
    """What boards a node has, where its labels say so."""
    known = keys_of(capacity["labels"])
    if MODEL not in known:
        return {}
    told = pa.table({"resource": capacity["resource"], "model": label_column(capacity["labels"], known, MODEL)})
    found = told.group_by("resource").aggregate([("model", "max")]).to_pylist()
    return {row["resource"]: row["model_max"] or "" for row in found}
