"""Which pool each cost line belongs to, and for how much.

Lines are met in bulk: the pools' selectors are matched once per distinct combination of the columns they name, and lines that the
rules cannot tell apart become one tranche of money.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.conversion import Conversion, convert_lines, convert_total
from apportion.engine.exchange import Exchange
from apportion.engine.labels import Combinations, combine, first_of_each, line_columns, named_in
from apportion.engine.node_money import NamedMoney, sum_named
from apportion.engine.resources import Resources
from apportion.engine.services import hand_on
from apportion.engine.ties import Homes, rivalries, tie_charges
from apportion.engine.wide import LARGEST_INT
from apportion.errors import PolicyError, Problem
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.money import plain, to_grains, total_of
from apportion.model.times import Interval, Period
from apportion.policy.document import Policy
from apportion.policy.methods import SERVICES
from apportion.policy.pools import Pool

BASIS = {"effective": "EffectiveCost", "billed": "BilledCost", "list": "ListCost", "net": "NetCost"}
KIND_COLUMNS = ("ChargeCategory", "CommitmentDiscountStatus")
SPLIT = "AllocatedMethodId"  # of a line that its vendor made for one recipient: it says whose it is, whatever kind of line it is
NO_POOL, PROBLEM, FOLLOWER = "", "!problem", "!follower"
NO_ISSUER, NO_CURRENCY = "unknown issuer", "XXX"  # ISO 4217 keeps XXX for "no currency"


@dataclass(frozen=True, order=True, slots=True)
class Tranche:
    """The money of lines that no rule tells apart. `family` numbers their account and service where another line follows those."""

    pool: str
    bill: str
    component: str
    family: int
    resource: str
    charge: Interval
    billing: Interval
    labels: tuple[tuple[str, str], ...]
    grains: int


@dataclass(frozen=True, slots=True)
class Bill:
    """`currency` is what it is posted in; where that is not what it was issued in, `conversion` says how it came about."""

    id: str
    issuer: str
    currency: str
    total: Decimal
    lines: int
    conversion: Conversion | None = None


@dataclass(frozen=True, slots=True)
class Placed:
    """Where each line went: `names[codes[i]]` is the pool of line i, or one of the words for none."""

    names: tuple[str, ...]
    codes: np.ndarray

    def column(self, values: Mapping[str, object], otherwise: object, kind: pa.DataType) -> pa.Array:
        """What each line's pool says."""
        said = pa.array([values.get(name, otherwise) for name in self.names], kind)
        return said.take(pa.array(self.codes))

    def inside(self, names: Collection[str]) -> np.ndarray:
        return np.isin(self.codes, [n for n, name in enumerate(self.names) if name in names])


@dataclass(frozen=True, slots=True)
class Tranches:
    """All tranches as columns, since a bill may have a million of them; those who want few ask for them by pool."""

    table: pa.Table
    labels: tuple[Mapping[str, str], ...]

    def table_of(self, pool: str) -> pa.Table:
        mine = pc.equal(self.table["pool"], pool)
        return self.table if pc.all(mine).as_py() else self.table.filter(mine)

    def resources_of(self, pool: str) -> set[str]:
        return set(pc.unique(self.table["resource"].filter(pc.equal(self.table["pool"], pool))).to_pylist())

    def of(self, pool: str) -> list[Tranche]:
        """In an order that does not depend on that of the lines."""
        return sorted(
            Tranche(
                row["pool"], row["bill"], row["component"], row["family"], row["resource"],
                Interval(row["charge_start_s"], row["charge_end_s"]),
                Interval(row["billing_start_s"], row["billing_end_s"]),
                tuple(sorted(self.labels[row["labels"]].items())) if row["labels"] >= 0 else (),
                to_grains(row["amount"]),
            )
            for row in self.table_of(pool).to_pylist()
        )  # fmt: skip

    def all_money(self) -> int:
        """In grains, whatever its sign: no share of anything is more."""
        return to_grains(pc.sum(pc.abs(self.table["amount"])).as_py() or Decimal(0))


@dataclass(frozen=True, slots=True)
class Ledgered:
    """All lines of the period, placed. `pool_of[i]` is where line i went, for those who ask why."""

    bills: tuple[Bill, ...]
    tranches: Tranches
    pool_of: pa.Array
    bill_of: pa.Array
    amounts: pa.Array
    components: pa.Array
    problems: tuple[Problem, ...]
    named: NamedMoney

    def currencies(self) -> pa.Array:
        """What each line's amount is in: the policy's currency, where its bill was converted."""
        known, coded = {bill.id: bill.currency for bill in self.bills}, self.bill_of.dictionary_encode()
        return pa.array([known[bill] for bill in coded.dictionary.to_pylist()], pa.string()).take(coded.indices)


def is_usage(labels: Mapping[str, str]) -> bool:
    """Only these form prices; the others follow them unless a pool claims them by kind."""
    return labels.get("ChargeCategory") == "Usage" and labels.get("CommitmentDiscountStatus") != "Unused"


def place(labels: Mapping[str, str], policy: Policy, where: str) -> str:
    """The one pool that claims a line with these labels."""
    claims = [
        name
        for name, pool in policy.pools.items()
        if pool.costs is not None and may_claim(pool, pool.costs.keys, labels) and pool.costs.matches(labels)
    ]
    if len(claims) > 1:
        first, second = claims[:2]
        places = " and ".join(f"{policy.file}:{policy.line('pools', name)}" for name in (first, second))
        raise PolicyError(
            "pool-overlap",
            f"pools '{first}' and '{second}' both claim cost line {where} ({describe(labels)})",
            where=places,
            hint="give one of them a narrower `costs`, for example with `not`",
        )
    if claims:
        return claims[0]
    others = [name for name, pool in policy.pools.items() if pool.otherwise and may_claim(pool, (), labels)]
    return next(iter(others), NO_POOL if is_usage(labels) else FOLLOWER)


def may_claim(pool: Pool, keys: Collection[str], labels: Mapping[str, str]) -> bool:
    """Usage may go to every pool; other lines to one whose selector names their kind, and those of one recipient to one that asks whose a line is."""
    named = bool(set(keys) & set(KIND_COLUMNS))
    return is_usage(labels) or named or (pool.method == "direct" and bool(labels.get(SPLIT)))


def describe(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(labels.items()))


def amounts_of(lines: pa.Table, placed: Placed, policy: Policy) -> tuple[pa.Array, list[Problem]]:
    """Each line's amount by its pool's basis. A line without that cost is read by what it has, and listed."""

    def column(basis: str) -> pa.ChunkedArray:
        return pc.coalesce(
            lines[BASIS[basis]],
            lines["EffectiveCost"],
            lines["BilledCost"],
            pa.scalar(Decimal(0), lines["BilledCost"].type),
        )

    amounts = column(policy.basis).combine_chunks()
    for name, pool in policy.pools.items():
        if pool.basis and pool.basis != policy.basis:
            amounts = pc.if_else(pa.array(placed.inside([name])), column(pool.basis).combine_chunks(), amounts)
    empty = pc.is_null(lines[BASIS[policy.basis]])
    missing = pc.sum(empty).as_py() or 0
    if not missing:
        return amounts, []
    where = f"{BASIS[policy.basis]} of cost lines"
    problems = [
        Problem(
            where,
            "cost-missing",
            f"{missing} lines have no {BASIS[policy.basis]}; their effective or billed cost counts instead",
            f"+{missing}",
            plain(total_of(map(abs, amounts.filter(empty.combine_chunks()).to_pylist()))),
        )
    ]
    return amounts, problems


def line_amounts(lines: pa.Table, policy: Policy) -> pa.Array:
    """What each line counts for under a policy: the cost that its pool's basis names."""
    lines = lines.combine_chunks()
    return amounts_of(lines, place_all(lines, labelled(lines, policy), policy), policy)[0]


def labelled(lines: pa.Table, policy: Policy) -> Combinations:
    """The distinct combinations of what the pools, and the owner rules of direct ones, look at."""
    keys = set(KIND_COLUMNS)
    for pool in policy.pools.values():
        keys |= pool.costs.keys if pool.costs else set()
    if any(pool.method == "direct" for pool in policy.pools.values()):
        keys.add(SPLIT)
        for rule in policy.owners:
            keys |= rule.when.keys | named_in([rule.team, rule.project, rule.user])
    return combine(len(lines), line_columns(lines, keys))


def read_lines(
    lines: pa.Table, policy: Policy, period: Period, resources: Resources, exchange: Exchange | None = None
) -> Ledgered:
    """Place every line of the period's bills; with an `exchange`, all of them in the policy's currency."""
    lines = lines.combine_chunks()
    found = labelled(lines, policy)
    placed = place_all(lines, found, policy)
    amounts, problems = amounts_of(lines, placed, policy)
    bill_of = bill_column(lines, period)
    bills, amounts = bills_of(lines, bill_of, amounts, exchange)
    pools = placed.column({name: name for name in placed.names}, None, pa.string())
    homes = Homes(resources.known, resources.members(policy.pools))
    tied = tie_charges(lines, pools, placed.inside(sharing_by_node(policy.pools)), homes, policy.nodes)
    columns = {
        "pool": pools,
        "bill": bill_of,
        "component": component_column(lines, placed, policy.pools),
        "family": pa.array(families(lines, placed, bill_of)),
        **tied.columns,
        "billing_start_s": lines["billing_start_s"],
        "billing_end_s": lines["billing_end_s"],
        "labels": pa.array(np.where(placed.inside(by_owner(policy)), found.of_row, -1)),
        "amount": amounts,
    }
    return Ledgered(
        bills=bills,
        tranches=Tranches(hand_on(sum_coded(pa.table(columns)), policy), found.labels),
        pool_of=columns["pool"],
        bill_of=bill_of,
        amounts=amounts,
        components=columns["component"],
        problems=(*problems, *rivalries(tied.ties, amounts)),
        named=sum_named(columns, tied.ties, policy.pools),
    )


def place_all(lines: pa.Table, found: Combinations, policy: Policy) -> Placed:
    """Each combination of labels is placed once."""
    ids = lines["line_id"]
    first = first_of_each(found.of_row).tolist()
    pools = [place(labels, policy, ids[row].as_py()) for row, labels in zip(first, found.labels, strict=True)]
    names = tuple(sorted({*pools, PROBLEM}))
    of_combination = np.array([names.index(pool) for pool in pools], dtype=np.int64)
    wrong = pc.is_valid(lines["problem"]).to_numpy()
    codes = of_combination[found.of_row] if pools else np.zeros(len(lines), dtype=np.int64)
    return Placed(names, np.where(wrong, names.index(PROBLEM), codes))


def by_owner(policy: Policy) -> list[str]:
    """The pools whose lines' own labels say whose they are."""
    return [name for name, pool in policy.pools.items() if pool.method == "direct"]


def bill_column(lines: pa.Table, period: Period) -> pa.Array:
    """A bill is what one issuer asks for one period in one currency."""
    issuer = pc.coalesce(lines["InvoiceIssuerName"], NO_ISSUER)
    currency = pc.coalesce(lines["BillingCurrency"], NO_CURRENCY)
    column = pc.binary_join_element_wise(issuer, str(period), currency, " ")
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def read_bills(lines: pa.Table, bill_of: pa.Array, amounts: pa.Array) -> tuple[Bill, ...]:
    names = {"id": bill_of, "issuer": lines["InvoiceIssuerName"], "currency": lines["BillingCurrency"]}
    counts = {row["values"]: row["counts"] for row in pc.value_counts(bill_of).to_pylist()}
    found = (
        Bill(row["id"], row["issuer"] or NO_ISSUER, row["currency"] or NO_CURRENCY, row["amount"], counts[row["id"]])
        for row in sum_coded(pa.table(names | {"amount": amounts})).to_pylist()
    )
    return tuple(sorted(found, key=lambda bill: bill.id))


def bills_of(
    lines: pa.Table, bill_of: pa.Array, amounts: pa.Array, exchange: Exchange | None
) -> tuple[tuple[Bill, ...], pa.Array]:
    """The bills and their lines' amounts, in the policy's currency where there is an exchange.

    What has no currency, or a unit that is no money, stays as it is.
    """
    found = []
    for bill in read_bills(lines, bill_of, amounts):
        if exchange is None or bill.currency == exchange.policy.currency or bill.currency not in MINOR_DIGITS:
            found.append(bill)
            continue
        mine = pc.equal(bill_of, bill.id)
        rate = exchange.rate(bill.currency, pc.max(lines["billing_end_s"].filter(mine)).as_py())
        ids = lines["line_id"].filter(mine).combine_chunks()
        amounts = pc.replace_with_mask(amounts, mine, convert_lines(amounts.filter(mine), ids, rate.rate))
        how = Conversion(bill.currency, bill.total, rate.rate, exchange.rule, exchange.table, rate.days)
        total = convert_total(bill.total, rate.rate)
        found.append(replace(bill, currency=exchange.policy.currency, total=total, conversion=how))
    return tuple(found), amounts


def families(lines: pa.Table, placed: Placed, bill_of: pa.Array) -> np.ndarray:
    """Numbers the (bill, account, service) of lines that some other line follows; -1 for the rest."""
    following = placed.inside([FOLLOWER])
    if not following.any():
        return np.full(len(lines), -1, dtype=np.int64)
    columns = {"bill": bill_of} | {key: lines[key] for key in ("BillingAccountId", "SubAccountId", "ServiceName")}
    found = combine(len(lines), columns)
    return np.where(np.isin(found.of_row, found.of_row[following]), found.of_row, -1)


def sum_coded(table: pa.Table) -> pa.Table:
    """Sums of the last column by all others, in order of appearance. Numbers group faster than texts, and what never changes need not be grouped."""
    *keys, last = table.column_names
    texts = {name: pc.dictionary_encode(table[name]).combine_chunks() for name in keys if table[name].type == "string"}
    coded = pa.table({name: texts[name].indices if name in texts else table[name] for name in table.column_names})
    ends = {name: pc.min_max(coded[name]).as_py() for name in keys}
    vary = [name for name in keys if ends[name]["min"] != ends[name]["max"] or coded[name].null_count] or keys[:1]
    if all_differ([coded[name] for name in vary]):
        return table
    sums = coded.group_by(vary, use_threads=False).aggregate([(last, "sum")])

    def column(name: str) -> pa.ChunkedArray:
        same = pa.scalar(ends[name]["min"], coded[name].type)
        found = sums[name] if name in vary else pa.repeat(same, len(sums))
        return texts[name].dictionary.take(found) if name in texts else found

    return pa.table({**{name: column(name) for name in keys}, last: sums[f"{last}_sum"]})


def all_differ(columns: list[pa.ChunkedArray]) -> bool:
    """Whether no two rows are the same, found by one sort. False also where that many numbers do not fit into one."""
    key, room = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        if column.null_count or not len(column):
            return False
        numbers = column.to_numpy()
        least, size = int(numbers.min()), int(numbers.max()) - int(numbers.min()) + 1
        key, room = key * size + (numbers - least), room * size
        if room >= LARGEST_INT:
            return False
    return bool(np.all(key[1:] > key[:-1]) or len(np.unique(key)) == len(key))


def component_column(lines: pa.Table, placed: Placed, declared: Mapping[str, Pool]) -> pa.Array:
    """A pool may say which component its money is; else the line's own."""
    stated = placed.column({name: pool.component for name, pool in declared.items()}, None, pa.string())
    column = pc.coalesce(stated, lines["component"])
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def sharing_by_node(declared: Mapping[str, Pool]) -> set[str]:
    """The pools that care what a line paid for."""
    own = {name: pool for name, pool in declared.items() if pool.method not in SERVICES}
    return {name for name, pool in own.items() if pool.scope == "resource" or pool.usage is None}
