"""Groups of nodes by what their labels say, and the cost lines that pay for each: the pools of a proposal."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fnmatch import fnmatchcase
from fractions import Fraction

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.meters import METERS
from apportion.reports.sums import total

GROUP_WORDS = (
    "nodegroup",
    "node-group",
    "node_group",
    "nodepool",
    "gke-nodepool",
    "agentpool",
    "pool",
    "instance-group",
)
TYPE_WORDS = ("instance-type", "instance_type", "machine-type")
MODEL_WORDS = ("gpu.product", "gpu.model", "gke-accelerator", "gpu_model")
CLUSTER_WORDS = ("cluster",)
COLUMNS = (
    "ResourceId",
    "ResourceName",
    "SkuId",
    "SkuMeter",
    "SkuPriceId",
    "ResourceType",
    "ChargeDescription",
    "ServiceName",
)
COMPUTE = ("Compute", "AI and Machine Learning")
ACCELERATED = ("gpu", "tpu", "neuron", "gaudi", "accelerator")
MOST_GROUPS = 30
SHORTEST = 3  # letters of a value that is looked for inside others


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes with the same value of `key`; `units` are their base-unit seconds by meter."""

    key: str
    value: str
    nodes: tuple[str, ...]
    units: Mapping[str, int]
    model: str = ""

    @property
    def meter(self) -> str:
        return next((meter for meter in (*ACCELERATED, "cpu", "node") if self.units.get(meter)), next(iter(self.units)))


@dataclass(frozen=True, slots=True)
class Claim:
    """Which lines pay for a group: a column and its globs, and not those of other claims that they would also match."""

    group: Group
    column: str
    globs: tuple[str, ...]
    money: Decimal
    unless: tuple["Claim", ...] = ()


def groups_of(capacity: pa.Table) -> list[Group]:
    """By the label that names node groups, else instance types, else models, else several clusters; what has none of them is one group.

    Volumes are no nodes.
    """
    capacity = capacity.filter(pc.is_in(capacity["meter"], pa.array([*ACCELERATED, "cpu", "memory", "node"])))
    nodes: dict[str, dict[str, str]] = {}
    units: dict[str, Counter[str]] = defaultdict(Counter)
    seconds = pc.subtract(capacity["end_s"], capacity["start_s"]).to_pylist()
    for row, span in zip(capacity.select(["resource", "meter", "amount", "labels"]).to_pylist(), seconds, strict=True):
        nodes.setdefault(row["resource"], {}).update(row["labels"] or ())
        units[row["resource"]][row["meter"]] += row["amount"] * span
    key = telling_key(nodes)
    by_value: dict[str, list[str]] = defaultdict(list)
    for node, labels in nodes.items():
        by_value[labels.get(key, "")].append(node)
    made = []
    for value, some in sorted(by_value.items()):
        together: Counter[str] = Counter()
        for node in some:
            together.update(units[node])
        made.append(Group(key if value else "", value, tuple(sorted(some)), together, model_of(nodes[some[0]])))
    return made


def telling_key(nodes: Mapping[str, Mapping[str, str]]) -> str:
    """The label that cuts the nodes into groups, if there is one: most nodes have it, and it is no name of a node."""
    counts = Counter(key for labels in nodes.values() for key in labels)
    for words in (GROUP_WORDS, TYPE_WORDS, MODEL_WORDS):
        for key, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
            values = {labels[key] for labels in nodes.values() if key in labels}
            if ends_in(key, words) and len(values) <= MOST_GROUPS and 2 * count >= len(nodes):
                return key
    return cluster_key(nodes)


def cluster_key(nodes: Mapping[str, Mapping[str, str]]) -> str:
    """The label that tells clusters apart, where there are several."""
    keys = sorted({key for labels in nodes.values() for key in labels if ends_in(key, CLUSTER_WORDS)})
    return next((key for key in keys if 1 < len({own.get(key) for own in nodes.values()}) <= MOST_GROUPS), "")


def ends_in(key: str, words: Iterable[str]) -> bool:
    lower = key.lower()
    return any(lower == word or lower.endswith((f".{word}", f"/{word}", f"-{word}", f"_{word}")) for word in words)


def model_of(labels: Mapping[str, str]) -> str:
    return next((labels[key] for key in sorted(labels) if ends_in(key, MODEL_WORDS)), "")


@dataclass(frozen=True, slots=True)
class Line:
    """Cost lines that are alike in what could tell whose they are."""

    cells: Mapping[str, str]
    money: Decimal


def claims_of(groups: Sequence[Group], lines: Sequence[Line]) -> list[Claim]:
    """For each group the column or tag in which most money names it; the longest names first, since a short one may be part of a long one."""
    made: list[Claim] = []
    for group in sorted(groups, key=lambda one: (-len(one.value), one.value)):
        taken = {n for n, line in enumerate(lines) if any(matches(claim, line) for claim in made)}
        strangers = [node for other in groups if other is not group for node in other.nodes]
        claim = best(group, [line for n, line in enumerate(lines) if n not in taken], strangers)
        if claim:
            others = tuple(
                one for one in made if any(matches(claim, lines[n]) and matches(one, lines[n]) for n in taken)
            )
            made.append(replace(claim, unless=others))
    return sorted(made, key=lambda claim: claim.group.value)


def matches(claim: Claim, line: Line) -> bool:
    return is_among(line, claim.column, claim.globs)


def is_among(line: Line, column: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(line.cells.get(column, ""), glob) for glob in globs)


def compute_lines(lines: pa.Table, currency: str) -> list[Line]:
    """Of one currency, those alike together."""
    own = pc.and_(pc.is_in(lines["ServiceCategory"], pa.array(COMPUTE)), pc.equal(lines["BillingCurrency"], currency))
    compute = lines.filter(own)
    tags = pa.array([str(sorted(cell or ())) for cell in compute["Tags"].to_pylist()], pa.string())
    keyed = compute.select([*COLUMNS, "EffectiveCost"]).append_column("tags", tags)
    alike = keyed.append_column("at", pa.array(range(len(keyed)), pa.int64())).group_by([*COLUMNS, "tags"])
    return [
        Line(dict(texts(row, compute["Tags"][row["at_min"]].as_py() or ())), row["EffectiveCost_sum"] or Decimal(0))
        for row in alike.aggregate([("EffectiveCost", "sum"), ("at", "min")]).to_pylist()
    ]


def texts(row: Mapping[str, str | None], tags: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    for name in COLUMNS:
        if value := row[name]:
            yield name, value
    yield from ((f"tag.{key}", value) for key, value in tags)


def best(group: Group, lines: Sequence[Line], strangers: Sequence[str]) -> Claim | None:
    """The column with the most money; one where the name stands alone before one that only contains it."""
    if not group.value:
        return None
    globs = [(escaped(group.value), 2), *([(f"*{escaped(group.value)}*", 1)] if len(group.value) >= SHORTEST else [])]
    columns = sorted({column for line in lines for column in line.cells})
    tries: list[tuple[int, str, tuple[str, ...]]] = [
        (rank, column, (glob,)) for column in columns for glob, rank in globs
    ]
    tries.append((2, "ResourceId", node_globs(group.nodes, strangers)))
    found = []
    for rank, column, some in tries:
        own = [line.money for line in lines if is_among(line, column, some)]
        if own:
            found.append((total(own), rank, column, some))
    if not found:
        return None
    money, _, column, some = max(found)
    return Claim(group, column, some, money)


def escaped(value: str) -> str:
    return re.sub(r"([*?[])", r"[\1]", value)


def node_globs(nodes: Sequence[str], strangers: Sequence[str]) -> tuple[str, ...]:
    """What the names of nodes have in common, so that nodes that come later are among them; one by one where others would be, too."""
    common = escaped("".join(common_letters(nodes)))
    shared = len(nodes) == 1 or len(common) < SHORTEST or any(fnmatchcase(node, f"{common}*") for node in strangers)
    return tuple(escaped(node) for node in nodes) if shared else (f"{common}*",)


def common_letters(names: Sequence[str]) -> Iterator[str]:
    """The letters with which all of them begin."""
    for letters in zip(*names, strict=False):
        if len(set(letters)) > 1:
            return
        yield letters[0]


def amount_text(group: Group, window_s: int) -> str:
    """`16 GPU on 2 nodes`, on average over the window."""
    meter = METERS[group.meter]
    held = Fraction(group.units[group.meter], meter.base * max(window_s, 1))
    nodes = len(group.nodes)
    return f"{float(round(held, 1)):g} {meter.unit} on {nodes} node{'' if nodes == 1 else 's'}"
