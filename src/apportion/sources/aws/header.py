"""Which of AWS's reports a file is, and under which names it has the columns that are read.

The names used here are those of CUR 2.0. The older report has the same ones in Parquet, and `lineItem/UnblendedCost` for
`line_item_unblended_cost` in CSV: a low line before each capital letter, as AWS itself converts them.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from apportion.errors import InputError
from apportion.sources.bills.form import COST, CURRENCY, TIME
from apportion.sources.bills.vendors import refuse_others
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import missing_columns

REQUIRED = (
    "bill_billing_period_start_date", "bill_billing_period_end_date", "bill_payer_account_id",
    "line_item_usage_account_id", "line_item_line_item_type", "line_item_product_code",
    "line_item_usage_start_date", "line_item_usage_end_date", "line_item_currency_code", "line_item_unblended_cost",
)  # fmt: skip
KINDS = {
    "line_item_unblended_cost": COST,
    "line_item_currency_code": CURRENCY,
    "line_item_usage_start_date": TIME,
    "line_item_usage_end_date": TIME,
    "bill_billing_period_start_date": TIME,
    "bill_billing_period_end_date": TIME,
}
MEASURES = (  # times and numbers: these differ from row to row, the rest says the same over and over
    "bill_billing_period_start_date", "bill_billing_period_end_date", "line_item_usage_start_date", "line_item_usage_end_date",
    "line_item_unblended_cost", "line_item_net_unblended_cost", "line_item_usage_amount", "line_item_unblended_rate",
    "pricing_public_on_demand_cost", "pricing_public_on_demand_rate",
    "reservation_effective_cost", "reservation_net_effective_cost",
    "reservation_unused_amortized_upfront_fee_for_billing_period", "reservation_net_unused_amortized_upfront_fee_for_billing_period",
    "reservation_unused_recurring_fee", "reservation_net_unused_recurring_fee",
    "savings_plan_savings_plan_effective_cost", "savings_plan_net_savings_plan_effective_cost",
    "savings_plan_total_commitment_to_date", "savings_plan_used_commitment",
    "split_line_item_split_usage", "split_line_item_split_cost", "split_line_item_unused_cost",
    "split_line_item_net_split_cost", "split_line_item_net_unused_cost",
    "split_line_item_public_on_demand_split_cost", "split_line_item_public_on_demand_unused_cost",
)  # fmt: skip
WORDS = (
    "bill_payer_account_id", "line_item_usage_account_id", "line_item_line_item_type", "line_item_product_code", "line_item_currency_code",
    "bill_invoice_id", "bill_invoicing_entity", "bill_billing_entity", "bill_payer_account_name",
    "line_item_usage_account_name", "line_item_usage_type", "line_item_operation", "line_item_resource_id", "line_item_availability_zone",
    "line_item_line_item_description", "line_item_legal_entity", "pricing_unit", "pricing_term", "pricing_rate_code",
    "product_product_name", "product_servicename", "product_product_family", "product_sku", "product_region_code", "product_region",
    "product_instance_type", "product_vcpu", "product_memory", "product_gpu", "product", "resource_tags", "cost_category",
    "reservation_reservation_a_r_n", "savings_plan_savings_plan_a_r_n", "split_line_item_parent_resource_id",
    "capacity_reservation_capacity_reservation_arn", "capacity_reservation_capacity_reservation_status",
)  # fmt: skip
READ = frozenset((*MEASURES, *WORDS))
ALIASES = {"savings_plan_savings_plan_arn": "savings_plan_savings_plan_a_r_n"}
TAG_COLUMNS = ("resourceTags/", "resource_tags_")
CATEGORY_COLUMNS = ("costCategory/", "cost_category_")


@dataclass(frozen=True, slots=True)
class Header:
    """`columns` names the file's column for each that is read; `tags` and `categories` those that hold one tag or cost category each."""

    name: str
    columns: Mapping[str, str]
    tags: Mapping[str, str]
    categories: Mapping[str, str]

    @property
    def read(self) -> tuple[str, ...]:
        return (*self.columns.values(), *self.tags.values(), *self.categories.values())

    @property
    def typed(self) -> dict[str, str]:
        """What the file's columns hold, of those without which there is no line."""
        return {self.columns[name]: kind for name, kind in KINDS.items()}

    @property
    def words(self) -> "Header":
        return replace(self, columns={name: own for name, own in self.columns.items() if name not in MEASURES})

    def has(self, *names: str) -> bool:
        return all(name in self.columns for name in names)


def header_of(names: Sequence[str], file: InputFile) -> Header:
    """Refuses a file that is none of AWS's reports or lacks what a line cannot do without."""
    found: dict[str, str] = {}
    for name in names:
        known = snake(name)
        known = ALIASES.get(known, known)
        if known in READ and found.setdefault(known, name) != name:
            raise InputError(
                "duplicate-column",
                f"{file.name} has both {found[known]} and {name}, which are one column",
                where=file.name,
                hint="rename or remove one of them",
            )
    missing = [name for name in REQUIRED if name not in found]
    if missing:
        refuse_others(names, file, "aws")
        raise missing_columns(missing, [snake(name) for name in names], file, hint(found))
    tags = {name.removeprefix(prefix): name for prefix in TAG_COLUMNS for name in names if name.startswith(prefix)}
    categories = {
        name.removeprefix(prefix): name for prefix in CATEGORY_COLUMNS for name in names if name.startswith(prefix)
    }
    older = "lineItem/UnblendedCost" in names or bool(tags or categories) or "product_product_name" in names
    return Header("AWS Cost and Usage Report" if older else "AWS CUR 2.0", found, tags, categories)


def snake(name: str) -> str:
    """`lineItem/UnblendedCost` as AWS writes it where a slash is no part of a name: `line_item_unblended_cost`."""
    group, slash, rest = name.partition("/")
    if not slash:
        return name
    return lowered(group) + "_" + lowered(rest)


def lowered(word: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", word).lower()


def hint(found: Mapping[str, str]) -> str:
    if not found:
        return "none of its columns is one of a Cost and Usage Report: does it have a header, separated by commas?"
    return "an export that selects columns must keep these: add them to its query, or read all columns"
