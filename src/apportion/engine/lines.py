"""Which pool each cost line belongs to, and for how much.

Lines are met in bulk: the pools' selectors are matched once per distinct combination of the columns they name, and lines that the
rules cannot tell apart become one `Tranche` of money.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.labels import Combinations, combine, keys_of, label_column, named_in
from apportion.engine.resources import Resources
from apportion.errors import PolicyError, Problem
from apportion.model.money import to_grains
from apportion.model.rows import FOCUS_TEXT
from apportion.model.times import Interval, Period
from apportion.policy.document import Policy
from apportion.policy.pools import Pool

BASIS = {"effective": "EffectiveCost", "billed": "BilledCost", "list": "ListCost"}
KIND_COLUMNS = ("ChargeCategory", "CommitmentDiscountStatus")
OWN_COLUMNS = ("component", "source")
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
    id: str
    issuer: str
    currency: str
    total: Decimal
    lines: int


@dataclass(frozen=True, slots=True)
class Ledgered:
    """All lines of the period, placed. `pool_of[i]` is where line i went, for those who ask why."""

    bills: tuple[Bill, ...]
    tranches: tuple[Tranche, ...]
    pool_of: pa.Array
    bill_of: pa.Array
    amounts: pa.Array
    components: pa.Array
    problems: tuple[Problem, ...]


def line_columns(lines: pa.Table, keys: set[str]) -> dict[str, pa.ChunkedArray | None]:
    """The columns behind selector keys: FOCUS columns by name, tags as `tag.KEY`, or the ending of either."""
    tags = keys_of(lines["Tags"])
    plain = (*FOCUS_TEXT, *OWN_COLUMNS)
    out: dict[str, pa.ChunkedArray | None] = {}
    for key in sorted(keys):
        if key in plain:
            out[key] = lines[key]
        elif key.startswith("tag."):
            out[key] = label_column(lines["Tags"], tags, key[4:])
        else:
            out[key] = label_column(lines["Tags"], tags, key)
    return out


def is_usage(labels: Mapping[str, str]) -> bool:
    """Only these form prices; the others follow them unless a pool claims them by kind."""
    return labels.get("ChargeCategory") == "Usage" and labels.get("CommitmentDiscountStatus") != "Unused"


def place(labels: Mapping[str, str], policy: Policy, where: str) -> str:
    """The one pool that claims a line with these labels."""
    usage = is_usage(labels)
    claims = [
        name
        for name, pool in policy.pools.items()
        if pool.costs is not None and (usage or pool.costs.keys & set(KIND_COLUMNS)) and pool.costs.matches(labels)
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
    if not usage:
        return FOLLOWER
    return next((name for name, pool in policy.pools.items() if pool.otherwise), NO_POOL)


def describe(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in sorted(labels.items()))


def amounts_of(lines: pa.Table, pools: list[str], policy: Policy) -> tuple[pa.Array, list[Problem]]:
    """Each line's amount by its pool's basis. A line without that cost is read by what it has, and listed."""

    def column(basis: str) -> pa.ChunkedArray:
        return pc.coalesce(
            lines[BASIS[basis]],
            lines["EffectiveCost"],
            lines["BilledCost"],
            pa.scalar(Decimal(0), lines["BilledCost"].type),
        )

    amounts = column(policy.basis).combine_chunks()
    names = pa.array(pools, pa.string())
    for name, pool in policy.pools.items():
        if pool.basis and pool.basis != policy.basis:
            amounts = pc.if_else(pc.equal(names, name), column(pool.basis).combine_chunks(), amounts)
    missing = pc.sum(pc.is_null(lines[BASIS[policy.basis]])).as_py() or 0
    where = f"{BASIS[policy.basis]} of cost lines"
    problems = [
        Problem(
            where,
            "cost-missing",
            f"{missing} lines have no {BASIS[policy.basis]}; their effective or billed cost counts instead",
        )
    ]
    return amounts, problems if missing else []


def read_lines(lines: pa.Table, policy: Policy, period: Period, resources: Resources) -> Ledgered:
    """Place every line of the period's bills."""
    lines = lines.combine_chunks()
    keys = set(KIND_COLUMNS)
    for pool in policy.pools.values():
        keys |= pool.costs.keys if pool.costs else set()
    if any(pool.method == "direct" for pool in policy.pools.values()):
        for rule in policy.owners:
            keys |= rule.when.keys | named_in([rule.team, rule.project, rule.user])
    found = combine(len(lines), line_columns(lines, keys))
    pools = place_all(lines, found.labels, found.of_row, policy)
    amounts, problems = amounts_of(lines, pools, policy)
    bill_of = bill_column(lines, period)
    placed = Ledgered(
        bills=read_bills(lines, bill_of, amounts),
        tranches=(),
        pool_of=pa.array(pools, pa.string()),
        bill_of=bill_of,
        amounts=amounts,
        components=component_column(lines, pools, policy.pools),
        problems=tuple(problems),
    )
    of_line = resource_column(lines, pools, policy.pools, resources)
    return replace(placed, tranches=gather(lines, placed, found, of_line, policy))


def place_all(lines: pa.Table, labels: tuple[Mapping[str, str], ...], of_row: np.ndarray, policy: Policy) -> list[str]:
    ids = lines["line_id"]
    first = {int(combination): row for row, combination in reversed(list(enumerate(of_row)))} if len(of_row) else {}
    placed = [place(labels[n], policy, ids[first[n]].as_py() if n in first else "") for n in range(len(labels))]
    wrong = pc.is_valid(lines["problem"]).to_pylist()
    return [PROBLEM if bad else placed[n] for bad, n in zip(wrong, of_row.tolist(), strict=True)]


def bill_column(lines: pa.Table, period: Period) -> pa.Array:
    """A bill is what one issuer asks for one period in one currency."""
    issuer = pc.coalesce(lines["InvoiceIssuerName"], NO_ISSUER)
    currency = pc.coalesce(lines["BillingCurrency"], NO_CURRENCY)
    column = pc.binary_join_element_wise(issuer, str(period), currency, " ")
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def read_bills(lines: pa.Table, bill_of: pa.Array, amounts: pa.Array) -> tuple[Bill, ...]:
    table = pa.table(
        {"id": bill_of, "issuer": lines["InvoiceIssuerName"], "currency": lines["BillingCurrency"], "amount": amounts}
    )
    sums = table.group_by(["id", "issuer", "currency"]).aggregate([("amount", "sum"), ("amount", "count")])
    return tuple(
        sorted(
            (
                Bill(
                    row["id"],
                    row["issuer"] or NO_ISSUER,
                    row["currency"] or NO_CURRENCY,
                    row["amount_sum"],
                    row["amount_count"],
                )
                for row in sums.to_pylist()
            ),
            key=lambda bill: bill.id,
        )
    )


def families(lines: pa.Table, pools: list[str], bill_of: pa.Array) -> np.ndarray:
    """Numbers the (bill, account, service) of lines that some other line follows; -1 for the rest."""
    columns = {"bill": bill_of} | {key: lines[key] for key in ("BillingAccountId", "SubAccountId", "ServiceName")}
    found = combine(len(lines), columns)
    followed = {int(found.of_row[row]) for row, pool in enumerate(pools) if pool == FOLLOWER}
    keep = np.array(sorted(followed), dtype=np.int64)
    return np.where(np.isin(found.of_row, keep), found.of_row, -1)


def gather(
    lines: pa.Table, placed: Ledgered, found: Combinations, resources: pa.Array, policy: Policy
) -> tuple[Tranche, ...]:
    """Sum the lines that no rule tells apart."""
    pools, labels = placed.pool_of.to_pylist(), found.labels
    by_owner = {name for name, pool in policy.pools.items() if pool.method == "direct"}
    table = pa.table({
        "pool": placed.pool_of,
        "bill": placed.bill_of,
        "component": placed.components,
        "family": pa.array(families(lines, pools, placed.bill_of)),
        "resource": resources,
        **{name: lines[name] for name in ("charge_start_s", "charge_end_s", "billing_start_s", "billing_end_s")},
        "labels": pa.array([n if pool in by_owner else -1 for n, pool in zip(found.of_row.tolist(), pools, strict=True)], pa.int64()),
        "amount": placed.amounts,
    })  # fmt: skip
    sums = table.group_by(table.column_names[:-1]).aggregate([("amount", "sum")])
    return tuple(
        sorted(
            Tranche(
                row["pool"], row["bill"], row["component"], row["family"], row["resource"] or "",
                Interval(row["charge_start_s"], max(row["charge_start_s"], row["charge_end_s"])),
                Interval(row["billing_start_s"], row["billing_end_s"]),
                tuple(sorted(labels[row["labels"]].items())) if row["labels"] >= 0 else (),
                to_grains(row["amount_sum"]),
            )
            for row in sums.to_pylist()
        )
    )  # fmt: skip


def component_column(lines: pa.Table, pools: list[str], declared: Mapping[str, Pool]) -> pa.Array:
    """A pool may say which component its money is; else the line's own."""
    stated = [declared[name].component if name in declared else None for name in pools]
    column = pc.coalesce(pa.array(stated, pa.string()), lines["component"])
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column


def resource_column(lines: pa.Table, pools: list[str], declared: Mapping[str, Pool], resources: Resources) -> pa.Array:
    """What the line paid for, where its pool cares: whichever of its id and its name some usage or capacity knows."""
    cares = pa.array(
        [name in declared and (declared[name].scope == "resource" or declared[name].usage is None) for name in pools],
        pa.bool_(),
    )
    known = pa.array(list(resources.labels), pa.string())

    def if_known(column: str) -> pa.ChunkedArray:
        return pc.if_else(pc.is_in(lines[column], value_set=known), lines[column], pa.scalar(None, pa.string()))

    named = pc.coalesce(
        if_known("ResourceId"), if_known("ResourceName"), lines["ResourceId"], lines["ResourceName"], ""
    )
    column = pc.if_else(cares, named, "")
    return column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
