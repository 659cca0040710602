"""Money that names a resource, where each has a price of its own: a node keeps its money, used or not; other money is spread over the pool, and told."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.resources import Resources
from apportion.engine.spellings import instance_key
from apportion.engine.ties import Ties
from apportion.model.currencies import is_money
from apportion.model.findings import ZERO, Finding, list_few
from apportion.policy.match import Selector
from apportion.policy.pools import Pool

BY_NAME = {"node", "resource", "cluster"}
KEYS = ["pool", "resource", "bill"]


@dataclass(frozen=True, slots=True)
class NamedMoney:
    """The lines of pools with a price for each resource: `rows` and `amount` by pool, resource and bill. `ruled` are the nodes that rules of
    the policy name, `rivals` what nodes of several names or clusters answer to.
    """

    sums: tuple[Mapping[str, object], ...] = ()
    ruled: frozenset[str] = frozenset()
    rivals: frozenset[str] = frozenset()

    def resources_of(self, pool: str) -> set[str]:
        return {str(row["resource"]) for row in self.sums if row["pool"] == pool} - {""}


@dataclass(frozen=True, slots=True)
class NodeNames:
    """What is a node: what usage or capacity of the period name, what is known of other months, and what rules of the policy name."""

    resources: Resources
    elsewhere: frozenset[str]
    named: NamedMoney
    clusters: frozenset[str] = frozenset()

    def keeps(self, name: str, pool: Pool) -> bool:
        """Whether money of this name stays with it in a pool. What several nodes answer to is none of them."""
        if name in self.resources.labels or name in self.named.ruled:
            return True
        known = name in self.elsewhere or instance_key(name) in self.elsewhere
        return name not in self.named.rivals and (known or asks_for(pool.usage, name, self.clusters))


def asks_for(usage: Selector | None, name: str, clusters: Iterable[str]) -> bool:
    """Whether a pool's `usage` selects nodes by their name, in some cluster or other, and this is such a name."""
    if usage is None or not usage.keys or not usage.keys <= BY_NAME:
        return False
    where = [{}, *({"cluster": cluster} for cluster in clusters)]
    return any(usage.matches({"node": name, "resource": name, **cluster}) for cluster in where)


def sum_named(columns: Mapping[str, pa.Array | pa.ChunkedArray], ties: Ties, pools: Mapping[str, Pool]) -> NamedMoney:
    """Of the lines as they are placed and tied."""
    own = pa.array([name for name, pool in pools.items() if pool.scope == "resource"], pa.string())
    if not len(own):
        return NamedMoney()
    table = pa.table({name: columns[name] for name in (*KEYS, "amount")})
    table = table.filter(pc.is_in(table["pool"], value_set=own))
    sums = table.group_by(KEYS).aggregate([("amount", "count"), ("amount", "sum")])
    rows = sums.rename_columns([*KEYS, "rows", "amount"]).sort_by([(key, "ascending") for key in KEYS]).to_pylist()
    rivals = frozenset(tie.instance for tie in ties.found if tie.rivals)
    return NamedMoney(tuple(rows), frozenset(tie.ruled for tie in ties.found if tie.ruled), rivals)


def find_nodes(named: NamedMoney, names: NodeNames, pools: Mapping[str, Pool]) -> dict[str, frozenset[str]]:
    """By pool, the nodes that keep the money of its lines."""
    return {
        name: frozenset(node for node in named.resources_of(name) if names.keeps(node, pool))
        for name, pool in pools.items()
        if pool.scope == "resource"
    }


def find_untied(
    name: str, named: NamedMoney, nodes: frozenset[str], currencies: Mapping[str, str], currency: str
) -> tuple[Finding, ...]:
    """Lines of a pool that name a resource which is no node, and of which no problem tells already.

    Their money is that in the currency of which they are the largest part; what is no money counts where there is none.
    """
    mine = [row for row in named.sums if row["pool"] == name]
    untied = [row for row in mine if row["resource"] and row["resource"] not in nodes | named.rivals]
    if not untied:
        return ()
    own = {currencies[str(row["bill"])] for row in untied}
    shares = {unit: part_of(untied, mine, currencies, unit) for unit in own}
    unit = max(own, key=lambda known: (is_money(known), shares[known], known == currency, known))
    money = amount_of(untied, currencies, unit)
    ids = sorted({str(row["resource"]) for row in untied})
    shown = list_few(ids)
    return (
        Finding(
            "untied-resource",
            f"lines of pool '{name}' name {shown}, which no source, rule or selector knows as a node: the whole pool shares their money",
            "name the node in `nodes`, let `usage` match it, or share the pool with `scope: pool`",
            pool=name,
            rows=sum(int(str(row["rows"])) for row in untied),
            money=money,
            currency=unit,
            share=shares[unit],
        ),
    )


def part_of(
    some: Iterable[Mapping[str, object]],
    every: Iterable[Mapping[str, object]],
    currencies: Mapping[str, str],
    unit: str,
) -> Decimal:
    """Of the amounts of one currency, without their signs."""
    touched, whole = (sum(map(abs, amounts_of(rows, currencies, unit)), ZERO) for rows in (some, every))
    return touched / whole if whole else ZERO


def amounts_of(rows: Iterable[Mapping[str, object]], currencies: Mapping[str, str], unit: str) -> list[Decimal]:
    return [Decimal(str(row["amount"])) for row in rows if currencies[str(row["bill"])] == unit]


def amount_of(rows: Iterable[Mapping[str, object]], currencies: Mapping[str, str], unit: str) -> Decimal:
    return sum(amounts_of(rows, currencies, unit), ZERO)
