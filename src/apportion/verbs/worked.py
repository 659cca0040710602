"""Gathers work with its money: the charges of some months, and what is known of the workloads that were charged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.facets import known_facets
from apportion.engine.label_sets import plain_ids, rows_named
from apportion.engine.sizes import ACCELERATORS, most_held, size_of
from apportion.engine.witnesses import described, namesakes
from apportion.engine.workloads import unite
from apportion.errors import ProjectError
from apportion.model.currencies import is_money
from apportion.model.facets import KNOWN, SIZE, Fact
from apportion.model.times import Interval, Period
from apportion.policy.document import Policy
from apportion.reports.groups import where_text
from apportion.reports.report import Record
from apportion.reports.sums import by_currency, summed
from apportion.reports.worked import MEASURES, Charge, Job, Worked, money
from apportion.verbs.agreement import policy_for, short
from apportion.verbs.job_clusters import cluster_names
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, only, read_filters
from apportion.verbs.world import touches

KEYS = ("period", "bill", "component", "pool", "day", "reason", "team", "project", "user", "workload")
NOTHING = Fraction(0)
OWNER = ("team", "project", "user")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is looked at: the record of some months, the facets that must hold, and notes on both."""

    record: Record
    months: Sequence[Period]
    facets: Mapping[str, Sequence[str]]
    policies: Mapping[str, Policy]

    @property
    def notes(self) -> tuple[str, ...]:
        names = dict.fromkeys(short(policy) for policy in self.policies.values())
        only = (f"Only {where_text(self.facets)}: what is of no workload is left out.",) if self.facets else ()
        return (*only, f"Facets are by the rules of {', '.join(names)}.")


def ask(project: Project, months: Sequence[Period], where: Sequence[str], read: Reading) -> Asked:
    """`where` as in other reports, and by facets: `phase=training`."""
    by_facet = [one for one in where if one.partition("=")[0] in KNOWN]
    facets: dict[str, list[str]] = {}
    for one in by_facet:
        name, _, value = one.partition("=")
        facets.setdefault(name, []).append(value)
    filters = read_filters([one for one in where if one not in by_facet])
    record = only(with_charges(project, read(project, list(months), None), months), filters, "worked")
    if record.charges is None:
        raise ProjectError(
            "invalid-filter",
            f"work is not told apart by {where_text(filters)}",
            hint="filter by owners, pools, components, bills, days or facets",
        )
    return Asked(record, months, facets, {str(month): policy_for(project, month) for month in months})


def with_charges(project: Project, record: Record, months: Sequence[Period]) -> Record:
    """The charges of the owners in a record, with their workloads."""
    teams = pc.unique(record.posted["team"])
    where = pc.field("period").isin([str(month) for month in months]) & pc.field("team").isin(teams)
    return replace(record, charges=project.books.scan("charges", columns=[*KEYS, "amount"], where=where))


def worked(project: Project, asked: Asked) -> list[Worked]:
    """Currency by currency, of money alone."""
    record = asked.record
    charges = record.charges if record.charges is not None else pa.table({})
    charges = charges.filter(pc.not_equal(charges["workload"], ""))
    jobs = {str(month): jobs_of(project, month, charges, asked) for month in asked.months}
    found = []
    for currency, posted in by_currency(record.posted):
        if not is_money(currency):
            continue
        own = charges.filter(pc.is_in(charges["bill"], pc.unique(posted["bill"])))
        some = tuple(one for one in charged(own, jobs) if holds(one.job, asked.facets))
        found.append(Worked(currency, money(some) if asked.facets else summed(posted), some))
    return [one for one in found if one.posted or one.charges]


def charged(charges: pa.Table, jobs: Mapping[str, Mapping[str, Job]]) -> list[Charge]:
    sums = charges.group_by(["period", "workload", *OWNER]).aggregate([("amount", "sum")])
    rows = zip(*(sums[name].to_pylist() for name in ("period", "workload", *OWNER, "amount_sum")), strict=True)
    made = [Charge(jobs[row[0]][row[1]], (row[2], row[3], row[4]), row[5]) for row in rows]
    return sorted(made, key=lambda one: (one.job.workload, one.owner))


def holds(job: Job, facets: Mapping[str, Sequence[str]]) -> bool:
    return all(job.value(name) in wanted for name, wanted in facets.items())


def jobs_of(project: Project, month: Period, charges: pa.Table, asked: Asked) -> dict[str, Job]:
    """All that was charged in a month, by workload; what no source describes is known by its number alone."""
    mine = charges.filter(pc.equal(charges["period"], str(month)))["workload"]
    ids = pc.unique(mine)
    policy = asked.policies[str(month)]
    zone = ZoneInfo(policy.time_zone)
    told = told_of(project, ids, month.interval(zone))
    united = unite(told)
    sizes = sizes_of(project, ids, month.interval(zone), policy)
    span = Interval(asked.months[0].interval(zone).start_s, asked.months[-1].interval(zone).end_s)
    inside, said = lying_in(told, span), said_of(told)
    kinds = known_facets(united, policy, month.interval(zone))
    names = cluster_names(project, month)
    made = {name: Job(name, name, facets={SIZE: sizes[name]} if name in sizes else {}) for name in ids.to_pylist()}
    for row, facts in zip(united.drop_columns("labels").to_pylist(), kinds, strict=True):
        name = row["workload"]
        facets = {**facts, **made[name].facets}
        outcome = facets["outcome"].value if "outcome" in facets else row["outcome"]
        whole = name in inside and outcome != "running"
        made[name] = Job(
            name, names.get(name, row["run"] or name), row["name"] or "", outcome, whole, facets, said.get(name, {})
        )
    return made


def told_of(project: Project, ids: pa.Array, month: Interval) -> pa.Table:
    """What sources say of some workloads, also under ids that leave something open; what a late bill charged lies in another month."""
    scan = project.books.scan
    found = scan("workloads", where=touches(month))
    wanted = plain_ids(ids.to_pylist())
    late = wanted.filter(pc.invert(pc.is_in(wanted, pc.unique(found["workload"]))))
    if len(late):
        found = pa.concat_tables([found, scan("workloads", where=pc.field("workload").isin(late))])
    return rows_named(described(found, namesakes(found)), ids)


def sizes_of(project: Project, ids: pa.Array, month: Interval, policy: Policy) -> dict[str, Fact]:
    """By the most that was held at once in the month; work that held none has a size, too."""
    columns = ["source", "workload", "meter", "start_s", "end_s", "allocated", "used", "label_set"]
    where = touches(month) & pc.field("meter").isin(list(ACCELERATORS))
    usage = project.books.scan("usage", columns=columns, where=where)
    held = most_held(rows_named(usage, ids))
    sizes = {most: size_of(most, policy.sizes) for most in {NOTHING, *held.values()}}
    named = {name: sizes[held.get(name, NOTHING)] for name in ids.to_pylist()}
    return {name: Fact(size, "stated") for name, size in named.items() if size}


def lying_in(told: pa.Table, span: Interval) -> set[str]:
    """Workloads of which everything that is told lies within."""
    times = told.group_by("workload").aggregate([("start_s", "min"), ("end_s", "max")])
    inside = pc.and_(
        pc.greater_equal(times["start_s_min"], span.start_s), pc.less_equal(times["end_s_max"], span.end_s)
    )
    return set(times["workload"].filter(inside).to_pylist())


def said_of(told: pa.Table) -> dict[str, dict[str, dict[str, int]]]:
    """By workload, what each of its tracker's runs counted; a run that was asked twice counts what it said last, which is more."""
    tracked = told.filter(pc.is_valid(pc.map_lookup(told["labels"], "ml.tracker", "first")))
    found: dict[str, dict[str, dict[str, int]]] = {}
    for row in tracked.select(["workload", "labels"]).to_pylist():
        labels = dict(row["labels"])
        runs = [name for name in labels.get("ml.run", "").split(",") if name]
        own = found.setdefault(row["workload"], {})
        for name, counts in zip(runs, counts_of(labels, len(runs)), strict=True):
            known = own.setdefault(name, {})
            known |= {measure: max(count, known.get(measure, 0)) for measure, count in counts.items()}
    return found


def counts_of(labels: Mapping[str, str], runs: int) -> list[dict[str, int]]:
    """Numbers in the order of the runs; a list of another length says nothing."""
    said = {measure: labels.get(f"ml.{measure}", "").split(",") for measure in MEASURES}
    told = {measure: numbers for measure, numbers in said.items() if len(numbers) == runs}
    return [
        {measure: int(numbers[place]) for measure, numbers in told.items() if numbers[place].isdecimal()}
        for place in range(runs)
    ]
