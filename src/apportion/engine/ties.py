"""Which node of the cluster each cost line paid for.

The policy's own rules come first, then the line's id or name as it stands, then what tells machines apart: provider id, instance id,
address, host name. The first of these that some node answers to decides. Each distinct instance is asked about once; time is asked only
where several nodes answer, or where the key is an address, since those are handed on.

Where nodes of two clusters answer, the line's tags and sub account that name a cluster decide, then which of the nodes its pool counts.
A line that still fits two is tied to none of them: it is told of as `ambiguous-node`, and its money is shared as that of a line whose node
nobody knows, among all that share its pool. So is a line that names one cluster where only another has a node of its name; the ids of machines
are their own in all clusters, and tie it all the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.labels import OWN_COLUMNS, Combinations, combine, keys_of, line_columns, named_in
from apportion.engine.nodes import ADDRESS, HOST, INSTANCE, PROVIDER, Holder, Known
from apportion.engine.spellings import address_key, host_key, instance_key, provider_key
from apportion.errors import Problem
from apportion.model.money import plain
from apportion.model.rows import FOCUS_TEXT
from apportion.model.times import Interval
from apportion.policy.rules import NodeRule

OWN = ("ResourceId", "ResourceName")
TIMES = ("charge_start_s", "charge_end_s")
TAG = "tag."
KEYS = ((PROVIDER, provider_key), (INSTANCE, instance_key), (ADDRESS, address_key), (HOST, host_key))
TAGS = {  # by the last word of a tag's key, in lower case and without - and _
    "instanceid": INSTANCE,
    **dict.fromkeys(("ip", "ipaddress", "privateip", "privateipaddress", "internalip"), ADDRESS),
    **dict.fromkeys(("name", "host", "hostname", "node", "nodename"), HOST),
}
NAMES = (ADDRESS, HOST)  # two clusters may have the same; the ids of machines are their own
BY_ID, BY_NAME, BY_RULE = "id", "name", "rule"
CLUSTER = "cluster"  # what a tag tells, beside the keys of machines
OF_CLUSTERS = ("SubAccountId", "SubAccountName")  # columns that may name a cluster


@dataclass(frozen=True, slots=True)
class Tie:
    """What a line's instance is: `node` by `by`, because of `key`; "" where no node answers to it. Of several that do, `rivals` are all.

    `span` is when the node was this instance, where it was another before or after. `ruled` is the node that a rule of the policy names,
    known or not. `elsewhere` is the cluster that the line names, where all `rivals` are of others.
    """

    instance: str
    node: str = ""
    by: str = ""
    key: str = ""
    rivals: tuple[str, ...] = ()
    span: Interval | None = None
    tried: tuple[str, ...] = ()
    ruled: str = ""
    elsewhere: str = ""

    @property
    def contest(self) -> str:
        """Why it is tied to none of its rivals."""
        nodes = " and of ".join(self.rivals)
        if self.elsewhere:
            return f"{self.by} {self.key} is that of {nodes} in another cluster than {self.elsewhere}, which the line names"
        return f"{self.by} {self.key} is that of {nodes}"


NO_TIE = Tie("")


@dataclass(frozen=True, slots=True)
class Ties:
    """`found[of_row[i]]` is the tie of line i."""

    of_row: np.ndarray
    found: tuple[Tie, ...]

    def column(self, values: Sequence[object], kind: pa.DataType) -> pa.Array:
        """One value for each tie, by line."""
        return pa.array(values, kind).take(pa.array(self.of_row))


@dataclass(frozen=True, slots=True)
class Homes:
    """Nodes by what a bill may call them and, where clusters have names in common, those that each pool counts."""

    known: Known
    members: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Step:
    """Nodes that answer to a key. `elsewhere`: the cluster that the line names, where none of them is of it."""

    by: str
    key: str
    holders: tuple[Holder, ...]
    elsewhere: str = ""

    @property
    def asks_when(self) -> bool:
        return self.by == ADDRESS or len(self.holders) > 1

    def living(self, charge: Interval) -> tuple[Holder, ...]:
        return tuple(holder for holder in self.holders if holder.lived_in(charge)) if self.asks_when else self.holders


@dataclass(frozen=True, slots=True)
class Asked:
    """An instance, and who answers to it in the order in which that counts."""

    instance: str
    steps: tuple[Step, ...]
    tried: tuple[str, ...]
    ruled: str = ""

    @property
    def asks_when(self) -> bool:
        return any(step.asks_when for step in self.steps[:1])

    @property
    def edges(self) -> list[int]:
        """When the answer may change."""
        spans = [holder.span for step in self.steps for holder in step.holders if holder.span]
        return sorted({edge for span in spans for edge in (span.start_s, span.end_s)})

    def tie(self, charge: Interval) -> Tie:
        for step in self.steps:
            living = step.living(charge)
            if len(living) == 1 and not step.elsewhere:
                span = living[0].span if living[0].was_replaced else None
                return Tie(self.instance, living[0].node, step.by, step.key, span=span)
            if living or step.by != ADDRESS:  # an address that nobody had then says nothing
                rivals = tuple(holder.node for holder in living or step.holders)
                return Tie(self.instance, "", step.by, step.key, rivals, tried=self.tried, elsewhere=step.elsewhere)
        return Tie(self.instance, tried=self.tried, ruled=self.ruled)


def tie_lines(lines: pa.Table, known: Known, rules: Sequence[NodeRule]) -> Ties:
    """Every line's tie."""
    asked_for = {*OWN}.union(*(rule.when.keys | named_in([rule.node]) for rule in rules))
    asked_for |= set(OF_CLUSTERS) if known.tells_clusters else set()
    columns = sorted({*OWN, "Tags", *TIMES} | ({*FOCUS_TEXT, *OWN_COLUMNS} & asked_for))
    lines = lines.select(columns).combine_chunks()
    telling = {f"{TAG}{key}": kind for key in keys_of(lines["Tags"]) if (kind := tag_kind(key))}
    telling = {tag: kind for tag, kind in telling.items() if kind != CLUSTER or known.tells_clusters}
    found = combine(len(lines), line_columns(lines, asked_for | set(telling)))
    asked = [ask(labels, telling, known, rules) for labels in found.labels]
    return settle_times(lines, found, asked)


def tie_by_pool(lines: pa.Table, pools: pa.Array, homes: Homes, rules: Sequence[NodeRule]) -> Ties:
    """Every line's tie, in view of the nodes that its pool counts."""
    if not homes.members:
        return tie_lines(lines, homes.known, rules)
    of_row = np.zeros(len(lines), dtype=np.int64)
    found: list[Tie] = []
    for pool in sorted(pc.unique(pools).to_pylist()):
        mine = pc.equal(pools, pool)
        some = tie_lines(lines.filter(mine), replace(homes.known, members=homes.members.get(pool)), rules)
        of_row[np.asarray(mine)] = some.of_row + len(found)
        found += some.found
    return Ties(of_row, tuple(found))


def tag_kind(key: str) -> str | None:
    """What a tag tells: `node.k8s.amazonaws.com/instance_id` an instance id, `Name` a host, `aws:eks:cluster-name` a cluster."""
    last = re.split(r"[/:.]", key)[-1].casefold().replace("-", "").replace("_", "")
    return CLUSTER if last.endswith(("cluster", "clustername")) else TAGS.get(last)


def ask(labels: Mapping[str, str], telling: Mapping[str, str], known: Known, rules: Sequence[NodeRule]) -> Asked:
    own = [labels[name] for name in OWN if labels.get(name)]
    instance = own[0] if own else ""
    clusters = [
        labels[name] for name in (*OF_CLUSTERS, *(tag for tag in telling if telling[tag] == CLUSTER)) if name in labels
    ]
    ruled = next(by_rules(labels, known, rules), None)
    if ruled is not None:
        ruled = replace(ruled, holders=known.within(ruled.holders, clusters))
        return Asked(instance, (ruled,) if ruled.holders else (), (f"{ruled.by}: {ruled.key}",), ruled.key)
    same = None  # name of nodes of several clusters, or of another one
    for name, by in zip(OWN, (BY_ID, BY_NAME), strict=True):
        text = labels.get(name, "")
        own_words = [text.rpartition("/")[0]] if "/" in text.strip("/") else []
        step = named_step((by, text), known.called(text), known, [*clusters, *own_words])
        if len(step.holders) == 1 and not step.elsewhere:
            return Asked(instance, (step,), ())
        same = same or (step if step.holders else None)
    steps, tried = [], []
    for kind, key_of in KEYS:
        if kind == HOST and same:
            steps.append(same)
            break
        texts = [*own, *(part for tag, what in telling.items() if what == kind for part in split(labels.get(tag)))]
        keys = list(dict.fromkeys(filter(None, map(key_of, texts))))
        tried += [f"{kind} {key}" for key in keys]
        found = ", ".join(key for key in keys if (kind, key) in known.holders)
        step = named_step((kind, found), known.of(kind, keys), known, clusters)
        step = step if kind in NAMES else replace(step, elsewhere="")
        if step.holders and not (kind == ADDRESS and step.elsewhere):
            steps.append(step)
            if not step.asks_when:  # nothing after it is asked
                break
    return Asked(instance, tuple(steps), tuple(tried))


def named_step(key: tuple[str, str], holders: tuple[Holder, ...], known: Known, clusters: Sequence[str]) -> Step:
    """Of those who answer to a name, the nodes of the clusters that a line names."""
    return Step(*key, known.within(holders, clusters), known.elsewhere(holders, clusters))


def split(text: str | None) -> list[str]:
    return text.split(",") if text else []


def by_rules(labels: Mapping[str, str], known: Known, rules: Sequence[NodeRule]) -> Iterator[Step]:
    """Of each rule that matches and whose labels are there, the node that it names, in full or without its domain."""
    for number, rule in enumerate(rules, 1):
        name = rule.names(labels)
        if name is not None:
            holders = known.called(name) or known.of(HOST, [host_key(name)])
            yield Step(f"{BY_RULE} {number}", name, holders)


def settle_times(lines: pa.Table, found: Combinations, asked: Sequence[Asked]) -> Ties:
    """Where the answer depends on when, lines between the same edges have the same."""
    always = Interval(0, 0)
    ties = [each.tie(always) for each in asked]
    of_row = found.of_row.copy()
    start = lines["charge_start_s"].to_numpy()
    end = np.maximum(lines["charge_end_s"].to_numpy(), start + 1)
    for number, rows in rows_of(found.of_row, [number for number, each in enumerate(asked) if each.asks_when]):
        edges = np.array(asked[number].edges, dtype=np.int64)
        place = np.searchsorted(edges, start[rows], "right") * (len(edges) + 1) + np.searchsorted(
            edges, end[rows], "left"
        )
        _, firsts, which = np.unique(place, return_index=True, return_inverse=True)
        spans = [Interval(int(start[rows[n]]), int(end[rows[n]])) for n in firsts]
        of_row[rows] = which + len(ties)
        ties += [asked[number].tie(span) for span in spans]
    return Ties(of_row, tuple(ties))


def rows_of(codes: np.ndarray, wanted: Sequence[int]) -> Iterator[tuple[int, np.ndarray]]:
    """The rows of each wanted code, found by one sort."""
    if not wanted:
        return
    order = np.argsort(codes, kind="stable")
    for number in wanted:
        first, last = np.searchsorted(codes, [number, number + 1], sorter=order)
        yield number, order[first:last]


@dataclass(frozen=True, slots=True)
class Tied:
    """What lines paid for and when (`resource`, `charge_start_s`, `charge_end_s`), and which of them could not be told apart."""

    columns: Mapping[str, pa.ChunkedArray | pa.Array]
    ties: Ties


def tie_charges(lines: pa.Table, pools: pa.Array, cares: np.ndarray, homes: Homes, rules: Sequence[NodeRule]) -> Tied:
    """Of the lines whose pools care what they paid for; the others pay for nothing in particular."""
    ties = Ties(np.zeros(len(lines), dtype=np.int64), (NO_TIE,))
    if cares.any():
        mask = pa.array(cares)
        own, whose = (lines, pools) if cares.all() else (lines.filter(mask), pools.filter(mask))
        some = tie_by_pool(own, whose, homes, rules)
        ties.of_row[cares] = some.of_row + 1
        ties = Ties(ties.of_row, (NO_TIE, *some.found))
    resource = pc.if_else(pa.array(cares), resource_column(lines, ties), "")
    return Tied({"resource": resource, **charge_columns(lines, ties)}, ties)


def resource_column(lines: pa.Table, ties: Ties) -> pa.ChunkedArray:
    """The node of each line, as it is known or as a rule of the policy names it; else what the line itself calls it, unless a node of another
    cluster than the line's is called so.
    """
    texts = [tie.node or tie.ruled or ("" if tie.elsewhere else None) for tie in ties.found]
    nodes = ties.column(texts, pa.string())
    return pc.coalesce(nodes, lines["ResourceId"], lines["ResourceName"], "")


def charge_columns(lines: pa.Table, ties: Ties) -> dict[str, pa.ChunkedArray]:
    """When each line's money was spent. A machine that gave its name to another, or took it over, spent it while the name was its own."""
    start = lines["charge_start_s"]
    end = pc.max_element_wise(start, lines["charge_end_s"])
    if not any(tie.span for tie in ties.found):
        return {"charge_start_s": start, "charge_end_s": end}
    since = ties.column([tie.span.start_s if tie.span else None for tie in ties.found], pa.int64())
    until = ties.column([tie.span.end_s if tie.span else None for tie in ties.found], pa.int64())
    first, last = pc.max_element_wise(start, since), pc.min_element_wise(end, until)
    inside = pc.less(first, last)
    return {"charge_start_s": pc.if_else(inside, first, start), "charge_end_s": pc.if_else(inside, last, end)}


def rivalries(ties: Ties, amounts: pa.Array) -> Iterator[Problem]:
    """Instances that several nodes answer to, with their money."""
    contested = [number for number, tie in enumerate(ties.found) if tie.rivals]
    if not contested:
        return
    table = pa.table({"tie": pa.array(ties.of_row), "amount": amounts})
    own = table.filter(pc.is_in(table["tie"], value_set=pa.array(contested)))
    for row in own.group_by("tie").aggregate([("amount", "sum")]).sort_by("tie").to_pylist():
        tie = ties.found[row["tie"]]
        sentence = (
            f"{tie.contest}; it is tied to none of them"
            if tie.elsewhere
            else f"{tie.contest} in its time; it is tied to none of them"
        )
        yield Problem(tie.instance or "a cost line", "ambiguous-node", sentence, money=plain(row["amount_sum"]))
