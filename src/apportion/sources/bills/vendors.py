"""Whose file it is, told by its header: so that a bill given to the wrong kind of source is sent to the right one."""

from collections.abc import Sequence

from apportion.errors import InputError
from apportion.sources.files.paths import InputFile

WHOSE = (  # (what it is, the kind that reads it, columns of which it has all); letters of either case
    ("a Cost and Usage Report of AWS", "aws", ("lineItem/UnblendedCost",)),
    ("a Cost and Usage Report of AWS", "aws", ("line_item_unblended_cost",)),
    ("a cost report of Oracle Cloud", "oracle", ("lineItem/intervalUsageStart", "cost/currencyCode")),
    ("a cost report of Oracle Cloud", "oracle", ("lineItem/referenceNo", "cost/myCost")),
    ("a cost export of Azure", "azure", ("CostInBillingCurrency",)),
    ("a cost export of Azure", "azure", ("MeterId", "ChargeType", "UnitOfMeasure")),
    ("a billing export of Google Cloud", "google", ("billing_account_id", "usage_start_time", "cost")),
    ("a bill in FOCUS columns", "focus", ("ChargePeriodStart", "ChargeCategory", "BilledCost")),
)


def refuse_others(header: Sequence[str], file: InputFile, kind: str) -> None:
    """A file that plainly is another vendor's; what is nobody's is left to the rules of the kind."""
    names = {name.casefold() for name in header}
    for what, whose, columns in WHOSE:
        if all(column.casefold() in names for column in columns):
            if whose == kind:
                return
            raise InputError(
                "another-vendors-file",
                f"{file.name} is {what}, which a source of kind {kind!r} does not read",
                where=file.name,
                hint=f"give it to a source of its own: kind = {whose!r}",
            )
