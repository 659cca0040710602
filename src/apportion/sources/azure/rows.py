"""Rows of an actual or amortised export as FOCUS columns. Both costs are the row's one cost here; `exports` says what it counts as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.money import LARGEST
from apportion.model.rows import MONEY
from apportion.sources.azure import labels
from apportion.sources.azure.charges import charges
from apportion.sources.azure.columns import NAMES, layout
from apportion.sources.azure.dates import days, months, next_day, period_ends
from apportion.sources.azure.exports import alone, committed, lacking, signs
from apportion.sources.azure.services import service_of
from apportion.sources.azure.units import block_of, pricing_unit
from apportion.sources.bills.form import COST, CURRENCY, TIME, Form, Lines
from apportion.sources.bills.part import Fault, Part
from apportion.sources.cells.money import money
from apportion.sources.cells.text import mask_of, shown
from apportion.sources.files.flow import flowing
from apportion.sources.files.paths import InputFile

MICROSOFT = "Microsoft"
KIND = ("charge_type", "frequency", "pricing_model", "reservation", "reservation_name", "benefit", "benefit_name")
EFFECTS = ("EffectiveCost", "PricingCurrencyEffectiveCost")
TYPED = (
    "cost",
    "list_cost",
    "quantity",
    "unit_price",
    "list_price",
    "pricing_cost",
    "date",
    "billing_start",
    "billing_end",
)
WIDE = pa.decimal256(50, 18)


KINDS = {
    "cost": COST, "pricing_cost": COST, "list_cost": COST, "currency": CURRENCY, "date": TIME, "billing_start": TIME, "billing_end": TIME,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Way:
    """How rows are read: the form of dates, and as which export where it stands alone."""

    date_form: str
    dataset: str = ""
    committed: Mapping[str, int] = field(default_factory=dict)  # lines of commitments, by file

    def form_of(self, header: Sequence[str], file: InputFile) -> Form:
        known = layout(header, file)
        notes = [
            Fault(-1, "column-not-given", f"there is no column {theirs}: {instead}")
            for ours, theirs, instead in (
                ("charge_type", "ChargeType", "every row counts as usage"),
                ("pricing_model", "PricingModel", "rows that name a reservation count as committed"),
            )
            if ours not in known.columns
        ]
        notes += lacking(self.dataset, self.committed.get(file.name, 0))
        read = partial(translate, known.columns, self)
        columns = known.columns
        typed = {columns[ours]: kind for ours, kind in KINDS.items() if ours in columns}
        return Form(f"Azure cost details ({known.agreement})", tuple(columns.values()), read, tuple(notes), typed)


def looked_through(files: Sequence[InputFile]) -> tuple[dict[str, str], dict[str, int]]:
    """A file for each export of which there are signs, and the lines of commitments by file; only those columns are read."""
    shown: dict[str, str] = {}
    counts: dict[str, int] = {}
    for file in files:
        columns: dict[str, str] = {}

        def wanted(header: Sequence[str], file: InputFile = file, columns: dict[str, str] = columns) -> Sequence[str]:
            found = layout(header, file).columns
            columns |= {ours: found[ours] for ours in ("cost", *KIND) if ours in found}
            return tuple(columns.values())

        with flowing(file, wanted) as flow:
            for block in flow.blocks:
                part = Part(flow.where, block, 0, [])
                words = {ours: part.text(columns.get(ours, "")) for ours in KIND}
                lines = pa.table({**charges(words), "BilledCost": part.money(columns["cost"])})
                shown |= dict.fromkeys(signs(lines), file.name)
                counts[file.name] = counts.get(file.name, 0) + (pc.sum(committed(lines)).as_py() or 0)
    return shown, counts


def translate(columns: Mapping[str, str], way: Way, part: Part) -> Lines:
    empty = pa.nulls(part.count, pa.string())
    words = {ours: part.text(columns[ours]) if ours in columns else empty for ours in NAMES if ours not in TYPED}
    cost = part.money(columns["cost"])
    sku, words["vm"] = labels.details(words["info"])
    tags = labels.tags(words["tags"], words)
    times = periods(part, columns, way.date_form)
    untagged = part.mark(mask_of(tags.bad, part.count), "invalid-tags", lambda _: "Tags is no list of tags")
    cells = {
        **charges(words),
        **times,
        **parties(words),
        **things(words),
        "BilledCost": cost,
        "EffectiveCost": cost,
        "BillingCurrency": pc.utf8_upper(words["currency"]),
        "SkuPriceDetails": sku,
        "Tags": tags.values,
        "problem": pc.coalesce(times["problem"], untagged),
    }
    consumed = pc.and_kleene(
        pc.equal(cells["ChargeCategory"], "Usage"),
        pc.fill_null(pc.not_equal(cells["CommitmentDiscountStatus"], "Unused"), fill_value=True),
    )
    cells |= quantities(part, columns, words["unit"], consumed) | prices(part, columns, words)
    if way.dataset:
        cells |= one_cost(cells, way.dataset)
    return Lines(
        cells, names={"BilledCost": columns["cost"], "ChargeCategory": columns.get("charge_type", "ChargeType")}
    )


def one_cost(cells: Mapping[str, pa.Array], dataset: str) -> dict[str, pa.Array]:
    lines = pa.table({name: cells[name] for name in ("PricingCategory", "BilledCost", *EFFECTS)})
    told = alone(lines, dataset, committed(lines))
    return {name: told[name].combine_chunks() for name in ("BilledCost", *EFFECTS)}


def periods(part: Part, columns: Mapping[str, str], form: str) -> dict[str, pa.Array]:
    """The day of the charge; the billing period as told, else the calendar month of that day. Without a day, all of the billing period."""
    charged = days(part, columns["date"], form)
    starts, ends = months(charged)
    if "billing_start" in columns:
        told = days(part, columns["billing_start"], form)
        starts, ends = pc.coalesce(told, starts), pc.if_else(told.is_valid(), months(told)[1], ends)
        if "billing_end" in columns:
            ends = pc.coalesce(period_ends(told, days(part, columns["billing_end"], form)), ends)
    lost = pc.and_(charged.is_null(), starts.is_valid())
    date = columns["date"]
    return {
        "ChargePeriodStart": pc.coalesce(charged, starts),
        "ChargePeriodEnd": pc.coalesce(next_day(charged), ends),
        "BillingPeriodStart": starts,
        "BillingPeriodEnd": ends,
        "problem": part.mark(lost, "invalid-time", lambda row: f"{shown(date, part.cells(date), row)} is no day"),
    }


def parties(words: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Microsoft writes the invoice of its marketplace's sellers too. A billing profile is what gets an invoice, where there are any."""
    marketplace = pc.fill_null(pc.equal(pc.utf8_lower(words["publisher_type"]), "marketplace"), fill_value=False)
    microsoft = pa.repeat(pa.scalar(MICROSOFT), len(marketplace))
    subscription = pc.utf8_lower(words["subscription"])
    return {
        "InvoiceIssuerName": microsoft,
        "HostProviderName": microsoft,
        "ServiceProviderName": pc.if_else(marketplace, pc.coalesce(words["publisher"], microsoft), microsoft),
        "BillingAccountId": pc.coalesce(words["profile"], words["account"], subscription),
        "BillingAccountName": pc.coalesce(words["profile_name"], words["account_name"]),
        "SubAccountId": subscription,
        "SubAccountName": words["subscription_name"],
        "InvoiceId": words["invoice"],
        "status": pc.if_else(words["invoice"].is_valid(), "final", pa.scalar(None, pa.string())),
    }


def things(words: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """What was used, and where. Azure's resource ids have no case, so they are written in one."""
    resource = pc.utf8_lower(words["resource"])
    kind = pc.struct_field(pc.extract_regex(resource, r"providers/(?P<kind>[^/]+/[^/]+)(?:/[^/]+)*/?$"), "kind")
    last = pc.struct_field(pc.extract_regex(words["resource"], r"(?P<last>[^/]+)/?$"), "last")
    category, subcategory = services(words)
    return {
        "ResourceId": resource,
        "ResourceName": pc.coalesce(words["resource_name"], last),
        "ResourceType": kind,
        "RegionId": pc.replace_substring(pc.utf8_lower(words["location"]), " ", ""),
        "RegionName": words["location"],
        "AvailabilityZone": words["zone"],
        "ServiceName": pc.coalesce(words["category"], words["family"], words["product"]),
        "ServiceCategory": category,
        "ServiceSubcategory": subcategory,
        "SkuId": words["meter_id"],
        "SkuMeter": words["meter"],
        "SkuPriceId": pc.coalesce(words["product_id"], words["part_number"]),
        "ChargeDescription": pc.coalesce(words["order_name"], words["product"]),
    }


def services(words: Mapping[str, pa.Array]) -> tuple[pa.Array, pa.Array]:
    both = pc.binary_join_element_wise(
        pc.fill_null(words["category"], ""), pc.fill_null(words["family"], ""), "\x1f"
    ).dictionary_encode()
    pairs = [service_of(*cell.split("\x1f")) for cell in both.dictionary.to_pylist()]
    return tuple(pa.array([pair[at] for pair in pairs], pa.string()).take(both.indices) for at in (0, 1))


def quantities(part: Part, columns: Mapping[str, str], written: pa.Array, used: pa.Array) -> dict[str, pa.Array]:
    """The price is per block of units, and so is the file's quantity; what was consumed is counted in single units."""
    quantity = part.quantity(columns["quantity"]) if "quantity" in columns else pa.nulls(part.count, MONEY)
    units = written.dictionary_encode()
    blocks = [block_of(unit) for unit in units.dictionary.to_pylist()]
    sizes = pa.array([size for size, _ in blocks], pa.decimal256(20, 0)).take(units.indices)
    consumed = pc.multiply(pc.cast(pc.if_else(used, quantity, None), WIDE), sizes)
    small = pc.less(pc.abs(consumed), pa.scalar(LARGEST, WIDE))
    return {
        "PricingQuantity": quantity,
        "PricingUnit": pa.array([pricing_unit(*block) for block in blocks], pa.string()).take(units.indices),
        "ConsumedQuantity": pc.cast(pc.if_else(small, consumed, None), MONEY),
        "ConsumedUnit": pc.if_else(used, pa.array([unit for _, unit in blocks], pa.string()).take(units.indices), None),
    }


def prices(part: Part, columns: Mapping[str, str], words: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """Prices are in the pricing currency, which is the bill's own unless the row says otherwise."""
    own = pc.fill_null(pc.equal(words["pricing_currency"], words["currency"]), fill_value=True)
    cells = {ours: part.cells(columns[ours]) for ours in TYPED if ours in columns}
    empty = pa.nulls(part.count, pa.string())
    found = {"ListCost": cells.get("list_cost", empty), "PricingCurrency": words["pricing_currency"]}
    for ours, name in (("unit_price", "ContractedUnitPrice"), ("list_price", "ListUnitPrice")):
        price = part.quantity(columns[ours]) if ours in columns else pa.nulls(part.count, MONEY)
        found[name] = pc.if_else(own, price, None)
        found[f"PricingCurrency{name}"] = pc.if_else(words["pricing_currency"].is_valid(), price, None)
    found["PricingCurrencyEffectiveCost"] = money(cells.get("pricing_cost", empty)).values
    return found
