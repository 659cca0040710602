"""Open XDMoD's own regression figures, by day, over the accounting of two of its five clusters (the logs of the others are not at hand).

xdmod.json has its figures as facts. Of queues, users, QOS and groups it has those whose every resource, as Open XDMoD counts resources, is one of the two.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path

import pyarrow as pa

from apportion.engine.charges import charges_of
from apportion.engine.plan import World, make_plan
from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.model.rows import TABLES
from apportion.model.times import Period
from apportion.policy.load import load_policy
from apportion.sources.slurm import read
from tests.checked import world
from tests.checked.tally import Outcome
from tests.slurm.making import found
from tests.slurm.test_recorded import XDMOD as FIELDS

FOLDER = Path(__file__).parents[2] / ".." / "shared" / "data" / "traces" / "xdmod_slurm"
FACTS = Path(__file__).parent / "xdmod.json"
CLUSTERS = ("phillips", "pozidriv")
PLACES = Decimal("0.0001")  # that it states
MONTHS = (Period(2016, 12), Period(2017, 1))
LABELS = {
    "resource": "slurm.cluster",
    "queue": "slurm.partition",
    "user": "slurm.user",
    "QOS": "slurm.qos",
    "group": "slurm.group",
}
METERS = {"CPU hours": "cpu", "GPU hours": "gpu"}
ONE_PER_HOUR = {"method": "rate_card", "prices": [{"price": 1}], "usage": {"node": "*"}}
WAITING = "not a feature: when a job was submitted is kept in its id alone, and no report tells of waiting"
Series = dict[tuple[str, str, str], Decimal]  # of what, whose, on which day
Whose = Callable[[str], str]


def told() -> list[Delivery]:
    stanza = {"name": "slurm", "kind": "slurm", "fields": FIELDS}
    return [found(read(stanza | {"path": f"{cluster}.log.gz"}, FOLDER, None)) for cluster in CLUSTERS]


def whole(name: str, deliveries: list[Delivery]) -> pa.Table:
    return pa.concat_tables([one.tables[name] for one in deliveries])


def hours(deliveries: list[Delivery]) -> Series:
    """At a price of one an hour what a workload is charged is its hours: by meter, workload and day."""
    pools = {meter: ONE_PER_HOUR | {"meter": meter, "component": meter} for meter in METERS.values()}
    owners = [{"when": {"slurm.cluster": "*"}, "team": "all"}]
    policy = load_policy(json.dumps(world.policy("2016-12", ("all",), pools, owners=owners)), "policy.yaml")
    bare = {name: TABLES[name].empty_table() for name in ("cost_lines", "capacity", "reservations")}
    work = {name: whole(name, deliveries) for name in ("usage", "workloads")}
    sums: Series = defaultdict(Decimal)
    for month in MONTHS:
        for batch in charges_of(make_plan(World(month, policy, **bare, **work), world.connected())):
            for row in batch.to_pylist():
                sums[row["pool"], row["workload"], row["day"].isoformat()] += row["amount"]
    return sums


def ended(deliveries: list[Delivery]) -> Series:
    sums: Series = defaultdict(Decimal)
    for row in whole("workloads", deliveries).to_pylist():
        sums["jobs", row["workload"], datetime.fromtimestamp(row["end_s"], UTC).date().isoformat()] += 1
    return sums


def whose(deliveries: list[Delivery]) -> Mapping[str, Whose]:
    labels = {row["workload"]: dict(row["labels"]) for row in whole("workloads", deliveries).to_pylist()}
    gpus: dict[str, int] = defaultdict(int)
    for row in whole("usage", deliveries).to_pylist():
        gpus[row["workload"]] += row["allocated"] // GPU if row["meter"] == "gpu" else 0
    by_label = {name: (lambda workload, key=key: labels[workload][key]) for name, key in LABELS.items()}
    return by_label | {"GPU count": lambda workload: str(gpus[workload])}


def grouped(own: Series, name: Whose) -> Series:
    sums: Series = defaultdict(Decimal)
    for (what, workload, day), amount in own.items():
        sums[what, name(workload), day] += amount
    return sums


def outcomes() -> Iterator[Outcome]:
    facts = json.loads(FACTS.read_text(encoding="utf-8"))
    deliveries = told()
    own = {**hours(deliveries), **ended(deliveries)}
    names = whose(deliveries)
    for what, dimensions in facts.items():
        if what == "days":
            continue
        for dimension, series in dimensions.items():
            yield outcome(f"{what} by {dimension}", series, facts["days"], what, grouped(own, names[dimension]))


def outcome(case: str, series: Mapping[str, list[str]], days: list[str], what: str, own: Series) -> Outcome:
    about = f"{', '.join(series)}; on {len(days)} days each."
    compared = sum(map(len, series.values()))
    if what == "waiting hours":
        return Outcome(case, about, compared, 0, WAITING)
    kind = METERS.get(what, "jobs")
    equal = sum(
        own[kind, name, day].quantize(PLACES, ROUND_HALF_UP) == Decimal(stated)
        for name, stated_by_day in series.items()
        for day, stated in zip(days, stated_by_day, strict=True)
    )
    return Outcome(case, about, compared, equal)
