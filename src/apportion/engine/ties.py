"""Which node of the cluster each cost line paid for.

The policy's own rules come first, then the line's id or name as it stands, then what tells machines apart: provider id, instance id,
address, host name. The first of these that some node answers to decides. Each distinct instance is asked about once; time is asked only
where several nodes answer, or where the key is an address, since those are handed on.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

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
BY_ID, BY_NAME, BY_RULE = "id", "name", "rule"


@dataclass(frozen=True, slots=True)
class Tie:
    """What a line's instance is: `node` by `by`, because of `key`; "" where no node answers to it. Of several that do, `rivals` are all.

    `span` is when the node was this instance, where it was another before or after.
    """

    instance: str
    node: str = ""
    by: str = ""
    key: str = ""
    rivals: tuple[str, ...] = ()
    span: Interval | None = None
    tried: tuple[str, ...] = ()


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
class Step:
    """Nodes that answer to a key."""

    by: str
    key: str
    holders: tuple[Holder, ...]

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
            if len(living) == 1:
                span = living[0].span if living[0].was_replaced else None
                return Tie(self.instance, living[0].node, step.by, step.key, span=span)
            if living or step.by != ADDRESS:  # an address that nobody had then says nothing
                rivals = tuple(holder.node for holder in living or step.holders)
                return Tie(self.instance, "", step.by, step.key, rivals, tried=self.tried)
        return Tie(self.instance, tried=self.tried)


def tie_lines(lines: pa.Table, known: Known, rules: Sequence[NodeRule]) -> Ties:
    """Every line's tie."""
    asked_for = {*OWN}.union(*(rule.when.keys | named_in([rule.node]) for rule in rules))
    columns = sorted({*OWN, "Tags", *TIMES} | ({*FOCUS_TEXT, *OWN_COLUMNS} & asked_for))
    lines = lines.select(columns).combine_chunks()
    telling = {f"{TAG}{key}": kind for key in keys_of(lines["Tags"]) if (kind := tag_kind(key))}
    found = combine(len(lines), line_columns(lines, asked_for | set(telling)))
    asked = [ask(labels, telling, known, rules) for labels in found.labels]
    return settle_times(lines, found, asked)


def tag_kind(key: str) -> str | None:
    """What a tag tells: `node.k8s.amazonaws.com/instance_id` an instance id, `Name` a host."""
    last = re.split(r"[/:.]", key)[-1]
    return TAGS.get(last.casefold().replace("-", "").replace("_", ""))


def ask(labels: Mapping[str, str], telling: Mapping[str, str], known: Known, rules: Sequence[NodeRule]) -> Asked:
    own = [labels[name] for name in OWN if labels.get(name)]
    instance = own[0] if own else ""
    ruled = next(by_rules(labels, known, rules), None)
    if ruled is not None:
        return Asked(instance, (ruled,) if ruled.holders else (), (f"{ruled.by}: {ruled.key}",))
    for name, by in zip(OWN, (BY_ID, BY_NAME), strict=True):
        if labels.get(name) in known.names:
            return Asked(instance, (Step(by, labels[name], (Holder(labels[name]),)),), ())
    steps, tried = [], []
    for kind, key_of in KEYS:
        texts = [*own, *(part for tag, what in telling.items() if what == kind for part in split(labels.get(tag)))]
        keys = list(dict.fromkeys(filter(None, map(key_of, texts))))
        tried += [f"{kind} {key}" for key in keys]
        if holders := known.of(kind, keys):
            same = [key for key in keys if (kind, key) in known.holders]
            steps.append(Step(kind, ", ".join(same), holders))
            if not steps[-1].asks_when:  # nothing after it is asked
                break
    return Asked(instance, tuple(steps), tuple(tried))


def split(text: str | None) -> list[str]:
    return text.split(",") if text else []


def by_rules(labels: Mapping[str, str], known: Known, rules: Sequence[NodeRule]) -> Iterator[Step]:
    """Of each rule that matches and whose labels are there, the node that it names, in full or without its domain."""
    for number, rule in enumerate(rules, 1):
        name = rule.names(labels)
        if name is not None:
            holders = (Holder(name),) if name in known.names else known.of(HOST, [host_key(name)])
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


def tie_charges(lines: pa.Table, cares: np.ndarray, known: Known, rules: Sequence[NodeRule]) -> Tied:
    """Of the lines whose pools care what they paid for; the others pay for nothing in particular."""
    ties = Ties(np.zeros(len(lines), dtype=np.int64), (NO_TIE,))
    if cares.any():
        some = tie_lines(lines if cares.all() else lines.filter(pa.array(cares)), known, rules)
        ties.of_row[cares] = some.of_row + 1
        ties = Ties(ties.of_row, (NO_TIE, *some.found))
    resource = pc.if_else(pa.array(cares), resource_column(lines, ties), "")
    return Tied({"resource": resource, **charge_columns(lines, ties)}, ties)


def resource_column(lines: pa.Table, ties: Ties) -> pa.ChunkedArray:
    """The node of each line; where none is known, what the line itself calls it."""
    nodes = ties.column([tie.node or None for tie in ties.found], pa.string())
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
            f"{tie.by} {tie.key} is that of {' and of '.join(tie.rivals)} in its time; it is tied to none of them"
        )
        yield Problem(tie.instance or "a cost line", "ambiguous-node", sentence, money=plain(row["amount_sum"]))
