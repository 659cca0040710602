"""The work behind the figures: what each workload held, used and was charged, what of it was waste, and what kind of work it was."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.facets import faceted
from apportion.engine.label_sets import plain_ids, rows_named
from apportion.model.currencies import grains_per_minor
from apportion.model.kinds import summed
from apportion.model.minor import table_of
from apportion.model.money import half_even, to_grains
from apportion.model.rows import SYSTEM_OWNERS
from apportion.model.times import Period
from apportion.model.tree import descend
from apportion.policy.document import Policy
from apportion.reports.statement.facts import FACETED, OWNER, WASTE, WORK
from apportion.verbs.project import Project
from apportion.verbs.stating.placing import place_of
from apportion.verbs.world import UTC_ZONE

READ = (
    "bill",
    "pool",
    "team",
    "project",
    "user",
    "workload",
    "unit",
    "per_unit",
    "unit_seconds",
    "held",
    "used",
    "unmeasured",
    "amount",
    "waste",
)
ROOT = 1  # the currency
Exact = Iterable[tuple[tuple[str, ...], int]]


def work(project: Project, policy: Policy, period: Period, minor: pa.Table, snapshot: int | None = None) -> pa.Table:
    """The charges of a period with their owners' places, as the ledger has them; without the days."""
    charges = project.books.scan("charges", snapshot, columns=READ, where=pc.field("period") == str(period))
    keys = [name for name in READ if name not in ("unit_seconds", "held", "used", "unmeasured", "amount", "waste")]
    sums = summed(charges, keys, [name for name in READ if name not in keys])
    return with_places(sums, policy, minor, WORK)


def with_places(sums: pa.Table, policy: Policy, minor: pa.Table, schema: pa.Schema) -> pa.Table:
    """Of bills that are posted, with their currencies and the owners' places."""
    bills = dict(zip(minor["bill"].to_pylist(), minor["currency"].to_pylist(), strict=True))
    sums = sums.filter(pc.is_in(sums["bill"], pa.array(sorted(bills), pa.string())))
    owners = owner_columns(sums, policy, minor)
    columns = {**{name: sums[name] for name in sums.column_names}, **owners, "currency": mapped(sums["bill"], bills)}
    return pa.table([columns[name] for name in schema.names], names=schema.names).cast(schema)


def owner_columns(rows: pa.Table, policy: Policy, minor: pa.Table) -> dict[str, pa.ChunkedArray]:
    """A team's department and cost centre are those of its postings; what is carried belongs to the carrier."""
    known: dict[str, tuple[str, ...]] = {
        team: (centre, department, team)
        for centre, department, team in zip(*(minor[name].to_pylist() for name in OWNER[:3]), strict=True)
    }
    carriers = {of: policy.carried_by[of] for of in SYSTEM_OWNERS if of in policy.carried_by}
    known |= {of: place_of(policy, team)[:3] for of, team in carriers.items()}
    places = {name: {team: place[n] for team, place in known.items()} for n, name in enumerate(OWNER[:3])}
    theirs = pc.is_in(rows["team"], pa.array(list(carriers), pa.string()))
    return {
        name: mapped(rows["team"], places[name], rows["team"] if name == "team" else None) for name in OWNER[:3]
    } | {name: pc.if_else(theirs, "", rows[name]) for name in OWNER[3:]}


def mapped(column: pa.ChunkedArray, to: Mapping[str, str], otherwise: pa.ChunkedArray | None = None) -> pa.ChunkedArray:
    places = pc.index_in(column, pa.array(list(to), pa.string()))
    found = pa.array(list(to.values()), pa.string()).take(places.combine_chunks())
    return pc.coalesce(found, "" if otherwise is None else otherwise.combine_chunks())


def waste(rows: pa.Table) -> pa.Table:
    """Whole minor units by owner and pool, such that children add up; pools where nothing was measured have no row."""
    keys = ["currency", *OWNER, "pool"]
    some = rows.filter(pc.is_valid(rows["waste"]))
    sums = some.group_by(keys).aggregate([("waste", "sum")])
    exact = zip(
        zip(*(sums[name].to_pylist() for name in keys), strict=True),
        map(to_grains, sums["waste_sum"].to_pylist()),
        strict=True,
    )
    return table_of(WASTE, [(*leaf, amount) for leaf, amount in whole_units(exact)])


def whole_units(exact: Exact) -> list[tuple[tuple[str, ...], int]]:
    """Down the tree, each currency rounded once."""
    trees: dict[str, list[tuple[tuple[str, ...], int]]] = defaultdict(list)
    for leaf, grains in exact:
        trees[leaf[0]].append((leaf, grains))
    given: dict[tuple[str, ...], int] = {}
    for currency, items in trees.items():
        items.sort(key=lambda item: [part.encode() for part in item[0]])
        unit = grains_per_minor(currency)
        descend(items, ROOT, half_even(sum(grains for _, grains in items), unit), unit, given)
    return sorted(given.items())


@dataclass(frozen=True, slots=True)
class Described:
    names: Mapping[str, str]
    faceted: pa.Table


def described(project: Project, policy: Policy, period: Period, rows: pa.Table, snapshot: int) -> Described:
    """The names of workloads, and what is owed for work of each kind."""
    ids = pc.unique(rows["workload"])
    found = project.books.scan("workloads", snapshot, where=pc.field("workload").isin(plain_ids(ids.to_pylist())))
    found = rows_named(found, ids)
    kinds = faceted(found, policy, period.interval(UTC_ZONE))
    names = {
        workload: name
        for workload, name in zip(*(kinds[name].to_pylist() for name in ("workload", "name")), strict=True)
        if name
    }
    facets = [name for name in kinds.column_names if name not in ("workload", "name")]
    joined = rows.select(["currency", *OWNER, "workload", "amount"]).join(kinds.drop_columns("name"), "workload")
    made = [row for facet in facets for row in of_facet(joined, facet)]
    return Described(names, table_of(FACETED, made))


def of_facet(rows: pa.Table, facet: str) -> list[tuple[object, ...]]:
    keys = ["currency", *OWNER, facet]
    sums = rows.group_by(keys).aggregate([("amount", "sum")])
    leaves = zip(*(pc.fill_null(sums[name], "").to_pylist() for name in keys), strict=True)
    exact = zip(leaves, map(to_grains, sums["amount_sum"].to_pylist()), strict=True)
    return [(*leaf[:-1], facet, leaf[-1], amount) for leaf, amount in whole_units(exact)]
