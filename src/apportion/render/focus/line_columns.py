"""A block of vendors' lines and their parts, in FOCUS's columns. A line says what its vendor said; what FOCUS wants and it did not say is filled."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.nanos import share_nanos
from apportion.engine.wide import Whole, starts_of, zeros
from apportion.model.kinds import kinds
from apportion.model.times import instant_text
from apportion.render.focus.charges import USAGE, Issue, Split, with_categories
from apportion.render.focus.columns import COST, COSTS, EXACT, NUMBERS, ORIGIN, QUANTITY, SCHEMA
from apportion.render.focus.numbers import COST_UNIT, attos, decimals, rounded
from apportion.render.focus.owners import NULL, allocated_columns, filled

Columns = dict[str, pa.Array]
TIMES = {
    "BillingPeriodStart": "billing_start_s", "BillingPeriodEnd": "billing_end_s",
    "ChargePeriodStart": "charge_start_s", "ChargePeriodEnd": "charge_end_s",
}  # fmt: skip
QUANTITY_UNIT = 10**3  # attos in the last place of a quantity
BILLED_AS_EFFECTIVE = pa.array(["Tax", "Credit"])
ALIKE = ("pool", "reason", "cause", "cost_centre", "department", "team", "project", "user")


def in_effect(lines: pa.Table, said: Columns) -> Columns:
    """A late line, or one without length, takes effect over the month that it is billed in."""
    early = pc.less(lines["charge_start_s"], lines["billing_start_s"])
    late = pc.or_(early, pc.less_equal(lines["charge_end_s"], lines["charge_start_s"])).combine_chunks()
    return {
        "ChargePeriodStart": pc.if_else(late, said["BillingPeriodStart"], said["ChargePeriodStart"]),
        "ChargePeriodEnd": pc.if_else(late, said["BillingPeriodEnd"], said["ChargePeriodEnd"]),
    }


@dataclass(frozen=True, slots=True)
class Cells:
    """Which line pays how much of which posting; they stand by line."""

    line: np.ndarray
    posting: np.ndarray
    amount: Whole


def line_split(lines: pa.Table, owed: pa.Table, cells: Cells, issue: Issue) -> Split:
    """Lines that came to nothing are nobody's, in one row each."""
    lines, owed = lines.combine_chunks(), with_categories(owed).combine_chunks()
    lost = np.setdiff1d(np.arange(len(lines)), cells.line)
    order = np.argsort(np.concatenate([cells.line, lost]), kind="stable")
    line = np.concatenate([cells.line, lost])[order]
    posting = np.concatenate([cells.posting, np.full(len(lost), -1)])[order]
    amounts = np.concatenate([cells.amount, zeros(len(lost))])[order]
    first = starts_of(line)
    dimensions = dimension_columns(lines, issue)
    exact = decimals(attos(lines["amount"]), EXACT)
    origins: Columns = {**dimensions, "EffectiveCost": exact, "PricingCurrencyEffectiveCost": exact}
    own: Columns = {name: column.take(pa.array(line)) for name, column in dimensions.items()}
    part = decimals(amounts, EXACT)
    own |= {"EffectiveCost": part, "PricingCurrencyEffectiveCost": part}
    for name in (*COSTS, "PricingQuantity", "ConsumedQuantity"):
        origins[name], own[name] = shared(lines, name, (amounts, first, line))
    for made in (origins, own):
        same = pc.is_in(made["ChargeCategory"], BILLED_AS_EFFECTIVE)
        made["BilledCost"] = pc.if_else(same, made["EffectiveCost"], made["BilledCost"].cast(EXACT))
    own |= owners_of(owed, posting, amounts, (first, line), issue.methods)
    empty = {name: pa.nulls(len(lines), SCHEMA.field(name).type) for name in SCHEMA.names if name not in origins}
    return Split(table(origins | empty), table(own))


def table(made: Mapping[str, pa.Array]) -> pa.Table:
    return pa.table([made[name] for name in SCHEMA.names], schema=SCHEMA)


def shared(lines: pa.Table, name: str, cells: tuple[Whole, np.ndarray, np.ndarray]) -> tuple[pa.Array, pa.Array]:
    """A cost or quantity of the lines with the places that it may have, and its parts, in proportion to the cells. Null stays null."""
    amounts, first, line = cells
    is_cost = name in COSTS
    said = pc.coalesce(lines[name], lines["amount"]) if is_cost else lines[name]
    missing = pc.is_null(said).to_numpy(zero_copy_only=False)
    kind, unit = (COST, COST_UNIT) if is_cost else (QUANTITY, QUANTITY_UNIT)
    whole = rounded(attos(pc.fill_null(said, 0)), unit)
    parts = decimals(share_nanos(whole, amounts, first), kind)
    nothing = pa.scalar(None, kind)
    return pc.if_else(missing, nothing, decimals(whole, kind)), pc.if_else(missing[line], nothing, parts)


def owners_of(
    owed: pa.Table,
    posting: np.ndarray,
    amounts: Whole,
    groups: tuple[np.ndarray, np.ndarray],
    methods: Mapping[str, str],
) -> Columns:
    """Whose each part is; what came to nothing is of nobody."""
    at = pa.array(posting, mask=posting < 0)
    rows = owed.select([*ALIKE, "category"]).take(at)
    rows = pa.table(
        {name: pc.fill_null(rows[name], "_unallocated" if name == "team" else "") for name in rows.column_names}
    )
    made = allocated_columns(rows, amounts, groups, methods)
    return made | {"x_PoolName": filled(rows["pool"])}


def dimension_columns(lines: pa.Table, issue: Issue) -> Columns:
    """What each line says in words and prices."""
    made: Columns = {name: pa.nulls(len(lines), SCHEMA.field(name).type) for name in SCHEMA.names}
    for name in lines.column_names:
        if name in made and not name.startswith("Allocated") and lines[name].type != lines.schema.field("Tags").type:
            made[name] = lines[name].combine_chunks().cast(NUMBERS.get(name, pa.string()), safe=False)
    made |= {name: moments(lines[column]) for name, column in TIMES.items()}
    made |= in_effect(lines, made)
    made["Tags"] = tags(lines["Tags"])
    made["BillingCurrency"] = lines["posted_currency"].combine_chunks()
    made |= {
        "x_BillName": lines["bill"].combine_chunks(),
        "x_ComponentName": lines["posted_component"].combine_chunks(),
    }
    made |= dict.fromkeys((ORIGIN, "x_SourceLineId"), lines["line_id"].combine_chunks())
    said = dict(made)
    category = pc.coalesce(said["ChargeCategory"], USAGE)
    issuer = pc.coalesce(said["InvoiceIssuerName"], issue.issuer)
    provider = pc.coalesce(said["ServiceProviderName"], issuer)
    service = pc.coalesce(said["ServiceCategory"], "Other")
    return made | {
        "BillingAccountId": pc.coalesce(said["BillingAccountId"], issue.account),
        "BillingAccountType": pc.coalesce(said["BillingAccountType"], "Account"),
        "ChargeCategory": category,
        "ChargeFrequency": pc.coalesce(
            said["ChargeFrequency"], pc.if_else(pc.equal(category, USAGE), "Usage-Based", "One-Time")
        ),
        "HostProviderName": pc.coalesce(said["HostProviderName"], provider),
        "InvoiceIssuerName": issuer,
        "PricingCurrency": made["BillingCurrency"],
        "PricingCurrencyContractedUnitPrice": said["ContractedUnitPrice"],
        "PricingCurrencyListUnitPrice": said["ListUnitPrice"],
        "ResourceType": beside(said["ResourceId"], pc.coalesce(said["ResourceType"], "Resource")),
        "ServiceCategory": service,
        "ServiceName": pc.coalesce(said["ServiceName"], "unnamed"),
        "ServiceProviderName": provider,
        "ServiceSubcategory": pc.coalesce(
            said["ServiceSubcategory"], pc.binary_join_element_wise("Other (", service, ")", "")
        ),
        "SubAccountType": beside(said["SubAccountId"], pc.coalesce(said["SubAccountType"], "Account")),
        **dict.fromkeys(("ProviderName", "PublisherName"), provider),
    }


def beside(column: pa.Array, said: pa.Array) -> pa.Array:
    """Only where the other says something."""
    return pc.if_else(pc.is_valid(column), said, NULL)


def moments(seconds: pa.ChunkedArray) -> pa.Array:
    """Times as text, each once."""
    coded = seconds.combine_chunks().dictionary_encode()
    return pa.array([instant_text(one) for one in coded.dictionary.to_pylist()], pa.string()).take(coded.indices)


def tags(column: pa.ChunkedArray) -> pa.Array:
    found = kinds([column], len(column))
    told = column.take(pa.array(found.first)).to_pylist()
    text = [json.dumps(dict(one), ensure_ascii=False, sort_keys=True, separators=(",", ":")) for one in told]
    return pa.array(text, pa.string()).take(pa.array(found.of))
