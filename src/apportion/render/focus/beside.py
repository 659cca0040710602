"""What stands beside the charges: the billing period, and what the files are."""

from collections.abc import Mapping

import pyarrow as pa

from apportion.model.times import instant_text
from apportion.render.focus.charges import Issue
from apportion.render.focus.columns import PERIODS

WHAT = "The attributed cost of one month. An internal dataset: it says again, by owner, what vendors bill, and is never added to their data."
ORIGINS = "The charges that CostAndUsage is split from. One or the other is counted, never both."
METHOD = "docs/reference/focus.md of Apportion says how each AllocatedMethodId shares, and how each column is filled."


def billing_period(issue: Issue, posted_s: list[int], *, closed: bool) -> pa.Table:
    """`posted_s` is when something was booked in the month, its close included."""
    row = {
        "BillingPeriodCreated": instant_text(min(posted_s)),
        "BillingPeriodLastUpdated": instant_text(max(posted_s)),
        "BillingPeriodStart": instant_text(issue.billing.start_s),
        "BillingPeriodEnd": instant_text(issue.billing.end_s),
        "BillingPeriodStatus": "Closed" if closed else "Open",
        "InvoiceIssuerName": issue.issuer,
    }
    return pa.Table.from_pylist([row], schema=PERIODS)


def metadata(issue: Issue, version: str, head: str, files: Mapping[str, Mapping[str, object]]) -> dict[str, object]:
    """FOCUS wants its metadata beside the data. Nothing in it depends on when it was written."""
    return {
        "FocusVersion": version,
        "DataGenerator": "Apportion",
        "InvoiceIssuerName": issue.issuer,
        "BillingPeriod": str(issue.period),
        "LedgerHead": head,
        "Description": WHAT,
        "OriginCharges": ORIGINS,
        "AllocationMethods": METHOD,
        "CorrectionStyle": "Delta: what corrects a closed month is booked in a later one, with ChargeClass Correction.",
        "Files": {name: dict(told) for name, told in files.items()},
    }
