"""What the evidence says of charged workloads: what they held and used, look by look, and what their labels tell."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.facets import faceted
from apportion.engine.labels import keys_of, label_column
from apportion.engine.plan import World
from apportion.engine.workloads import unite
from apportion.model.meters import METERS
from apportion.model.times import Interval
from apportion.policy.document import Policy
from apportion.policy.match import find_label
from apportion.reports.advice.work import HOSTS, Offer, Side, Stretch, Told, Work
from apportion.verbs.advising.charged import COUNTED, Charged, Key, Row
from apportion.verbs.advising.tariffs import Tariff
from apportion.verbs.estimating.ways import wish

MODEL = "gpu.model"
CONFIG, EXPERIMENT, MEMORY = "config", "experiment", "gpu_memory_gib"  # labels by their last word
READ, KEEP, NEEDED = "last_read", "keep_until", "needed_by"
PUT_OUT = ("preempt", "spot", "scaveng", "interrupt", "standby", "besteffort")  # in the name of a class of work
LONGEST = 20  # of a number that somebody wrote
Rows = Mapping[tuple[str, str], Sequence[Row]]


def works_of(world: World, charged: Mapping[Key, Charged], tariffs: Mapping[str, Tariff]) -> list[Work]:
    """Each charged workload as the engine took it, cut to the month. `tariffs`: of pools whose hours have prices of their own."""
    month = world.period.interval(ZoneInfo(world.policy.time_zone))
    ids = pa.array(sorted({workload for workload, _ in charged}), pa.string())
    rows = usage_of(world, charged)
    workloads = world.workloads.filter(pc.is_in(world.workloads["workload"], ids))
    phases = phases_of(workloads, world, month)
    models = models_of(world.capacity)
    spans = spans_of(workloads)
    said = {row["workload"]: row for row in unite(workloads).to_pylist()}
    found = []
    for (name, sort), own in sorted(charged.items()):
        row, some = said.get(name), rows.get((name, own.meter), ())
        stretches = tuple(sweep(some, month))
        if row is None or not stretches:
            continue
        boards = sorted({models[one["resource"]] for one in some if models.get(one["resource"])})
        labels = dict(row["labels"] or ())
        meter = METERS[own.meter]
        found.append(
            Work(name, row["run"] or name, row["name"] or "", *own.owner, row["outcome"], *spans[name], meter.unit, meter.base, stretches,
                 own.amounts, phases.get(name, ""), boards[0] if boards else "", labels, sort, sides_of(name, own, rows, month),
                 told_by(labels, own, world.policy, month), tariffs.get(own.pool, ()))
        )  # fmt: skip
    return found


def usage_of(world: World, charged: Mapping[Key, Charged]) -> Rows:
    """By workload and meter, of what each is charged for."""
    wanted: dict[str, set[str]] = defaultdict(set)
    for (workload, _), own in charged.items():
        for meter in own.meters:
            wanted[meter].add(workload)
    meters = sorted(wanted)
    rows = (
        world.usage
        if isinstance(world.usage, pa.Table)
        else world.usage.filter(world.usage.meter.isin(meters)).to_pyarrow()
    )
    found: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for meter in meters:
        own = rows.filter(pc.equal(rows["meter"], meter))
        own = own.filter(pc.is_in(own["workload"], pa.array(sorted(wanted[meter]), pa.string())))
        for row in own.drop_columns("source").to_pylist():
            found[row["workload"], meter].append(row)
    return found


def sides_of(name: str, own: Charged, rows: Rows, month: Interval) -> dict[str, Side]:
    if own.meter not in COUNTED[HOSTS]:
        return {}
    return {
        meter: Side(stretches, weight, METERS[meter].base)
        for meter, weight in own.meters.items()
        if (stretches := tuple(sweep(rows.get((name, meter), ()), month)))
    }


def sweep(rows: Sequence[Row], month: Interval) -> Iterator[Stretch]:
    """What was held and used together, from change to change; measured only where all of it was."""
    changes: dict[int, list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in rows:
        within = Interval(row["start_s"], row["end_s"]).clip(month)
        units = row["allocated"] if row["allocated"] is not None else row["used"]
        if within.seconds and units:
            for at, sign in ((within.start_s, 1), (within.end_s, -1)):
                parts = (units, row["used"] or 0, row["used"] is None)
                changes[at] = [was + sign * part for was, part in zip(changes[at], parts, strict=True)]
    held = used = unmeasured = since = 0
    for at, (more_held, more_used, more_unmeasured) in sorted(changes.items()):
        if held:
            yield Stretch(since, at, held, None if unmeasured else used)
        held, used, unmeasured, since = held + more_held, used + more_used, unmeasured + more_unmeasured, at


def told_by(labels: Mapping[str, str], own: Charged, policy: Policy, month: Interval) -> Told:
    memory = find_label(labels, MEMORY) or ""
    return Told(
        find_label(labels, CONFIG) or "",
        find_label(labels, EXPERIMENT) or "",
        int(Fraction(memory) * 2**30) if is_number(memory) else None,
        moment(find_label(labels, READ) or ""),
        (moment(find_label(labels, KEEP) or "") or 0) >= month.end_s,
        moment(find_label(labels, NEEDED) or ""),
        offer_of(labels, own, policy, month),
    )


def is_number(text: str) -> bool:
    return len(text) <= LONGEST and text.isascii() and text.replace(".", "", 1).isdigit()


def moment(text: str) -> int | None:
    """Of a day or an instant in UTC; None where it is neither."""
    with suppress(ValueError):
        found = datetime.fromisoformat(text)
        return int((found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp())
    return None


def offer_of(labels: Mapping[str, str], own: Charged, policy: Policy, month: Interval) -> Offer | None:
    """The greatest discount that the policy gives to work that may be put out, where this work has none of them and its scheduler knows such classes."""
    zone = ZoneInfo(policy.time_zone)
    last = datetime.fromtimestamp(month.end_s - 1, zone).date()
    team = own.owner[0]
    offers = []
    for rule in policy.adjustments:
        if rule.percent is None or rule.percent >= 0 or rule.when is None or not rule.holds_on(last):
            continue
        put_out = any(word in value.lower() for value in wanted_by(rule.when) for word in PUT_OUT)
        if not put_out or rule.team not in (None, team) or rule.pool not in (None, own.pool):
            continue
        if rule.when.matches(labels):
            return None
        wanted = wish(rule.when, labels)
        if wanted and all(find_label(labels, key) is not None for key in wanted):
            offers.append(Offer(wanted, Fraction(-rule.percent) / 100))
    return max(offers, key=lambda one: one.part, default=None)


def wanted_by(selector: object) -> Iterator[str]:
    for condition in getattr(selector, "conditions", ()):
        yield from (glob.text for glob in condition.globs)


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
