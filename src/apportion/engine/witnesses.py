"""A workload that several sources saw is one workload: which of them decides how much it held, and who measured what it used.

Per workload and meter one source decides: the first that the policy's `decides` names, else the first by name; a source that states nothing
held (0) only measures. Where the one that decides did not measure, the use that another measured meanwhile is laid beside what was held.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.backend import Backend
from apportion.engine.label_sets import split_by_labels, told_by_several
from apportion.engine.labels import keys_of, label_column
from apportion.engine.laying import FLOWS, lay_beside, quantities
from apportion.engine.plan import World, locate_world
from apportion.errors import Problem
from apportion.model.rows import USAGE
from apportion.policy.document import Policy

# Ids without what tells namesakes apart: a pod's uid, a job's submission.
LOOSE = r"^(k8s/[^/]*/[^/]+/[^/]+|slurm/[^/]*/[^/@]+)$"
# Two sources see the start and the end of one life so far apart: scrapes, five-minute resolutions, clocks.
SLACK_S = 600
ATTEMPT = r"^slurm/[^/]*/[^/@]+@"
POD = ("k8s.cluster", "k8s.namespace", "k8s.pod")
LENT = pa.schema([field.with_nullable(True) for field in USAGE])  # files promise nothing about nulls


def hear(world: World, backend: Backend) -> World:
    """The world with every workload told of once, and with a workload for each set of labels that an id has."""
    return split_by_labels(hear_once(world, backend), backend)


def hear_once(world: World, backend: Backend) -> World:
    """Where no workload has two witnesses of one meter, which is the usual case, nothing is touched."""
    world = locate_world(world, backend)
    world = replace(world, capacity=offered(world.capacity, world.policy))
    known = namesakes(world.workloads)
    workloads = described(world.workloads, known)
    contested = told_twice(workloads, known)
    if not len(contested):
        return world
    usage = backend.lend(world.usage.cast(LENT)) if isinstance(world.usage, pa.Table) else world.usage
    rivals = meters_of_several(usage)
    if not rivals and not len(known):
        return world
    loose = pc.is_in(contested, value_set=known["loose"].combine_chunks())
    lent = backend.lend(pa.table({"workload": contested, "loose": loose}))
    marked = usage.left_join(lent, "workload").select(*USAGE.names, "loose")
    mine = (marked.loose & marked.loose.notnull()) | (marked.loose.notnull() & marked.meter.isin(rivals or [""]))
    ours = marked.filter(mine).select(*USAGE.names).to_pyarrow().cast(USAGE)
    heard, problems = decide_by_cluster(renamed(ours, known), world.policy)
    others = marked.filter(~mine).select(*USAGE.names)
    told = others.union(backend.lend(heard.cast(LENT)))
    return replace(world, usage=told, workloads=workloads, problems=(*world.problems, *problems))


def offered(capacity: pa.Table, policy: Policy) -> pa.Table:
    """A node that several sources describe offers what the one that decides says. The others' rows stay, with nothing offered: they have labels."""
    pairs = capacity.select(["resource", "meter", "source"]).group_by(["resource", "meter", "source"]).aggregate([])
    counts = pairs.group_by(["resource", "meter"]).aggregate([([], "count_all")])
    if not pc.any(pc.greater(counts["count_all"], 1)).as_py():
        return capacity
    told = capacity.group_by(["resource", "meter", "source"]).aggregate([("amount", "max")])
    chosen = first_of(told.rename_columns(["workload", *told.column_names[1:]]), policy, "amount_max")
    chosen = chosen.rename_columns(["resource", "meter", "decides"])
    order = capacity.append_column("place", pa.array(np.arange(len(capacity)))).select(
        ["place", "resource", "meter", "source"]
    )
    kept = order.join(chosen, ["resource", "meter"]).sort_by("place")
    amounts = pc.if_else(pc.equal(kept["source"], kept["decides"]), capacity["amount"], 0)
    return capacity.set_column(capacity.column_names.index("amount"), capacity.schema.field("amount"), amounts)


def meters_of_several(usage: Any) -> list[str]:
    """Meters of which more than one source speaks."""
    pairs = usage.select("source", "meter").distinct().to_pyarrow()
    counts = Counter(pairs["meter"].to_pylist())
    return sorted(meter for meter, count in counts.items() if count > 1)


def namesakes(workloads: pa.Table) -> pa.Table:
    """`loose`: an id that leaves something open; `workload`, `start_s`, `end_s`: each full one that it may mean."""
    ids = pc.unique(workloads["workload"].filter(pc.match_substring_regex(workloads["workload"], LOOSE)))
    full = workloads.filter(pc.invert(pc.is_in(workloads["workload"], value_set=ids))) if len(ids) else workloads[:0]
    found = [pa.table({name: pa.array([], kind) for name, kind in SAKES.items()})]
    for loose in (attempts_of(full), pods_of(full)):
        table = pa.table({"loose": loose, **{name: full[name] for name in ("workload", "start_s", "end_s")}})
        found.append(table.filter(pc.is_in(table["loose"], value_set=ids)))
    spans = pa.concat_tables(found).group_by(["loose", "workload"]).aggregate([("start_s", "min"), ("end_s", "max")])
    return spans.rename_columns(["loose", "workload", "start_s", "end_s"]).sort_by(
        [("loose", "ascending"), ("workload", "ascending")]
    )


def attempts_of(full: pa.Table) -> pa.ChunkedArray:
    """`slurm/CLUSTER/JOB` of each `slurm/CLUSTER/JOB@SUBMITTED`; null of others."""
    is_attempt = pc.match_substring_regex(full["workload"], ATTEMPT)
    return pc.if_else(is_attempt, pc.replace_substring_regex(full["workload"], "@.*$", ""), None)


def pods_of(full: pa.Table) -> pa.ChunkedArray:
    """`k8s/CLUSTER/NAMESPACE/POD` by the labels of each pod; null of others."""
    keys = keys_of(full["labels"])
    columns = [label_column(full["labels"], [key for key in keys if key == name], name) for name in POD]
    parts = [column for column in columns if column is not None]
    if len(parts) < len(POD):
        return pa.nulls(len(full), pa.string())
    return pc.binary_join_element_wise("k8s", *parts, "/")


SAKES = {"loose": pa.string(), "workload": pa.string(), "start_s": pa.int64(), "end_s": pa.int64()}


def described(workloads: pa.Table, known: pa.Table) -> pa.Table:
    """What was said under a loose id is said of each workload that it may mean, too: labels are united later."""
    if not len(known):
        return workloads
    places = workloads.append_column("place", pa.array(np.arange(len(workloads))))
    pairs = places.select(["workload", "place"]).join(
        known.select(["loose", "workload"]).rename_columns(["loose", "full"]), "workload", "loose", "inner"
    )
    pairs = pairs.sort_by([("place", "ascending"), ("full", "ascending")])
    said, full = workloads.take(pairs["place"]), pairs["full"].combine_chunks()
    runs = pc.if_else(pc.equal(said["run"], said["workload"]), full, said["run"])  # a run of its own stays one
    for name, values in (("workload", full), ("run", runs)):
        said = said.set_column(said.column_names.index(name), workloads.schema.field(name), values)
    return pa.concat_tables([workloads, said])


def told_twice(workloads: pa.Table, known: pa.Table) -> pa.Array:
    """Workloads of which more than one source speaks, and the loose ids of some."""
    return pc.unique(pa.concat_arrays([told_by_several(workloads), known["loose"].combine_chunks()]))


def renamed(rows: pa.Table, known: pa.Table) -> pa.Table:
    """Rows under a loose id go to the workloads that lived then, each from its start to that of the next; those that meet none keep their name.

    A name that two pods had one after the other is told of in one row, with the time between them.
    """
    if not len(known):
        return rows
    rows = rows.append_column("place", pa.array(np.arange(len(rows))))
    sakes = known.rename_columns(["loose", "full", "from_s", "to_s"])
    pairs = rows.select(["workload", "place", "start_s", "end_s"]).join(sakes, "workload", "loose", "inner")
    early, late = pc.subtract(pairs["from_s"], SLACK_S), pc.add(pairs["to_s"], SLACK_S)
    meets = pc.and_(pc.less(early, pairs["end_s"]), pc.greater(late, pairs["start_s"]))
    pairs = pairs.filter(meets).sort_by([("place", "ascending"), ("from_s", "ascending"), ("full", "ascending")])
    place, start, end, since = (pairs[name].to_numpy() for name in ("place", "start_s", "end_s", "from_s"))
    if not len(place):
        return rows.drop_columns(["place"])
    other = place[1:] != place[:-1]
    begin = np.where(np.append(True, other), start, np.clip(since, start, end))
    finish = np.where(np.append(other, True), end, np.append(begin[1:], end[-1:]))
    lasting = np.flatnonzero(finish > begin)
    cut = with_spans(rows.take(pa.array(place[lasting])), begin[lasting], finish[lasting])
    names = pairs["full"].combine_chunks().take(pa.array(lasting))
    cut = cut.set_column(cut.column_names.index("workload"), rows.schema.field("workload"), names)
    rest = rows.filter(pc.invert(pc.is_in(rows["place"], value_set=pa.array(place))))
    return pa.concat_tables([rest, cut]).drop_columns(["place"])


def with_spans(rows: pa.Table, begin: np.ndarray, finish: np.ndarray) -> pa.Table:
    """Rows cut to parts of themselves. A level stays what it is; of a flow each part gets what falls into it, and no unit is lost."""
    start, end = (rows[name].to_numpy() for name in ("start_s", "end_s"))
    shorter = (finish - begin < end - start) & np.asarray(pc.is_in(rows["meter"], value_set=FLOWS))
    for name in ("allocated", "used"):
        amounts = rows[name].to_pylist() if shorter.any() else []
        for at in np.flatnonzero(shorter).tolist() if amounts else ():
            whole, span, before = amounts[at], int(end[at] - start[at]), int(begin[at] - start[at])
            until = int(finish[at] - start[at])
            amounts[at] = None if whole is None else whole * until // span - whole * before // span
        if amounts:
            field = rows.schema.field(name)
            rows = rows.set_column(rows.column_names.index(name), field, pa.array(amounts, field.type))
    for name, values in (("start_s", begin), ("end_s", finish)):
        rows = rows.set_column(rows.column_names.index(name), rows.schema.field(name), pa.array(values, pa.int64()))
    return rows


def decide_by_cluster(rows: pa.Table, policy: Policy) -> tuple[pa.Table, tuple[Problem, ...]]:
    """An id that rows of several clusters have is another workload in each: their sources are no witnesses of one."""
    pairs = rows.select(["workload", "cluster"]).filter(rows["cluster"].is_valid())
    counts = pairs.group_by(["workload", "cluster"]).aggregate([]).group_by("workload").aggregate([([], "count_all")])
    several = counts.filter(pc.greater(counts["count_all"], 1))["workload"].combine_chunks()
    if not len(several):
        return decide(rows, policy)
    place, apart = rows.column_names.index("workload"), pc.is_in(rows["workload"], value_set=several)
    names = pc.binary_join_element_wise(pc.fill_null(rows["cluster"], ""), rows["workload"], "\0")
    field = rows.schema.field("workload")
    heard, problems = decide(rows.set_column(place, field, pc.if_else(apart, names, rows["workload"])), policy)
    plain = pc.replace_substring_regex(heard["workload"], "^[^\\x00]*\\x00", "")
    return heard.set_column(place, field, plain), problems


def decide(rows: pa.Table, policy: Policy) -> tuple[pa.Table, tuple[Problem, ...]]:
    """The rows that count: each workload's of the source that decides, with what another measured where it did not."""
    told = rows.group_by(["workload", "meter", "source"]).aggregate([("allocated", "max"), ("used", "max")])
    held = first_of(told, policy, "allocated_max")
    measured = first_of(unmeasured(told, held), policy, "used_max")
    rows = with_choice(with_choice(rows, held, "decides"), measured, "measures")
    deciding = pc.equal(rows["source"], rows["decides"])
    measuring = pc.and_(
        pc.and_(pc.invert(deciding), pc.equal(rows["source"], pc.fill_null(rows["measures"], ""))),
        pc.and_(pc.is_valid(rows["used"]), pc.invert(pc.is_in(rows["meter"], value_set=FLOWS))),
    )
    ours = rows.filter(deciding).select(USAGE.names).cast(USAGE)
    theirs = rows.filter(measuring).select(USAGE.names).cast(USAGE)
    laid, strays = lay_beside(ours, theirs)
    return laid, (*rivals(told, held, policy, rows), *strays)


def unmeasured(told: pa.Table, held: pa.Table) -> pa.Table:
    """Who measured the workloads of which the source that decides did not measure anything itself."""
    told = with_choice(told.filter(pc.is_valid(told["used_max"])), held, "decides")
    own = told.filter(pc.equal(told["source"], told["decides"])).select(["workload", "meter"])
    return told.join(own, ["workload", "meter"], join_type="left anti")


def first_of(told: pa.Table, policy: Policy, column: str) -> pa.Table:
    """The source that comes first for each workload and meter; one that states 0 comes after those that state something."""
    pairs = told.select(["meter", "source"]).group_by(["meter", "source"]).aggregate([])
    order = sorted(pairs.to_pylist(), key=lambda pair: (rank(policy, pair["meter"], pair["source"]), pair["source"]))
    ranked = pa.table({
        "meter": pa.array([pair["meter"] for pair in order], pa.string()),
        "source": pa.array([pair["source"] for pair in order], pa.string()),
        "rank": pa.array(range(len(order)), pa.int64()),
    })  # fmt: skip
    joined = told.join(ranked, ["meter", "source"])
    nothing = pc.equal(pc.fill_null(joined[column], 0), 0).cast(pa.int8())
    joined = joined.append_column("nothing", nothing).sort_by(
        [("workload", "ascending"), ("meter", "ascending"), ("nothing", "ascending"), ("rank", "ascending")]
    )
    return joined.group_by(["workload", "meter"], use_threads=False).aggregate([("source", "first")])


def rank(policy: Policy, meter: str, source: str) -> int:
    named = policy.decides.get(meter, ())
    return named.index(source) if source in named else len(named)


def with_choice(rows: pa.Table, chosen: pa.Table, name: str) -> pa.Table:
    return rows.join(chosen.rename_columns(["workload", "meter", name]), ["workload", "meter"])


def rivals(told: pa.Table, held: pa.Table, policy: Policy, rows: pa.Table) -> list[Problem]:
    """Two sources that both say what was held, and no rule which of them is right: one decided by its name, and somebody should know."""
    both = told.filter(pc.greater(pc.fill_null(told["allocated_max"], 0), 0))
    both = both.join(held.rename_columns(["workload", "meter", "decides"]), ["workload", "meter"])
    both = both.filter(pc.not_equal(both["source"], both["decides"]))
    own = rows.filter(pc.equal(rows["source"], rows["decides"]))
    own = own.append_column("quantity", quantities(own, "allocated"))
    sums = own.group_by(["workload", "meter"]).aggregate([("quantity", "sum")])
    both = both.join(sums, ["workload", "meter"])
    sides = both.group_by(["meter", "decides", "source"])
    counts = sides.aggregate([([], "count_all"), ("quantity_sum", "sum")]).to_pylist()
    return [
        rival(row, policy)
        for row in sorted(counts, key=lambda row: (row["meter"], row["decides"], row["source"]))
        if row["decides"] not in policy.decides.get(row["meter"], ())
    ]


def rival(row: Mapping[str, Any], policy: Policy) -> Problem:
    return Problem(
        policy.file,
        "two-sources",
        f"{row['meter']} of {row['count_all']:,} workloads is told by {row['decides']} and by {row['source']}: the first, by name, decides; "
        f"say which one should with decides: {{{row['meter']}: {row['decides']}}}",
        f"+{row['count_all']}",
        quantity=str(row["quantity_sum_sum"] or 0),
        meter=row["meter"],
    )
