"""What kind of charge a row is, in FOCUS words: category, class, frequency, how it is priced, and the commitment behind it.

    ChargeType              ChargeCategory   and
    Usage                   Usage            covered by a commitment: CommitmentDiscountStatus Used
    UnusedReservation,
    UnusedSavingsPlan       Usage            CommitmentDiscountStatus Unused
    Purchase                Purchase
    Refund                  Purchase         ChargeClass Correction
    RoundingAdjustment      Adjustment
    Tax, Credit             as they are

Rules as in Microsoft's guide to converting cost details to FOCUS.
"""

import re
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

CATEGORIES = {
    "usage": "Usage",
    "unusedreservation": "Usage",
    "unusedsavingsplan": "Usage",
    "purchase": "Purchase",
    "refund": "Purchase",
    "roundingadjustment": "Adjustment",
    "adjustment": "Adjustment",
    "tax": "Tax",
    "credit": "Credit",
}
FREQUENCIES = {"onetime": "One-Time", "recurring": "Recurring", "usagebased": "Usage-Based"}
PRICING = {"ondemand": "Standard", "spot": "Dynamic", "reservation": "Committed", "savingsplan": "Committed"}
COMMITMENTS = {"reservation": ("Usage", "Reservation"), "savingsplan": ("Spend", "Savings Plan")}
COMMITTED, STANDARD = "Committed", "Standard"
NONE = pa.scalar(None, pa.string())


def charges(words: Mapping[str, pa.Array]) -> dict[str, pa.Array]:
    """`words` are the columns of a block by our names, as text."""
    kind = folded(words["charge_type"])
    category = pc.coalesce(mapped(kind, CATEGORIES), words["charge_type"], pa.scalar("Usage"))
    unused = pc.fill_null(pc.starts_with(kind, "unused"), fill_value=False)
    commitment = pc.coalesce(words["benefit"], words["reservation"])
    model = pc.coalesce(
        known(folded(words["pricing_model"])), known(pc.replace_substring(kind, "unused", "")), kept(commitment)
    )
    committed = pc.fill_null(pc.equal(mapped(model, PRICING), COMMITTED), fill_value=False)
    used = pc.and_(committed, pc.fill_null(pc.equal(kind, "usage"), fill_value=False))
    return {
        "ChargeCategory": category,
        "ChargeClass": pc.if_else(pc.fill_null(pc.equal(kind, "refund"), fill_value=False), "Correction", NONE),
        "ChargeFrequency": pc.coalesce(mapped(folded(words["frequency"]), FREQUENCIES), words["frequency"]),
        "PricingCategory": pc.coalesce(mapped(model, PRICING), pc.if_else(words["pricing_model"].is_valid(), "Other", NONE)),
        "CommitmentDiscountId": pc.if_else(committed, commitment, NONE),
        "CommitmentDiscountName": pc.if_else(
            committed, pc.coalesce(words["benefit_name"], words["reservation_name"]), NONE
        ),
        "CommitmentDiscountCategory": mapped(model, {word: pair[0] for word, pair in COMMITMENTS.items()}),
        "CommitmentDiscountType": mapped(model, {word: pair[1] for word, pair in COMMITMENTS.items()}),
        "CommitmentDiscountStatus": pc.if_else(unused, "Unused", pc.if_else(used, "Used", NONE)),
        "line_type": words["charge_type"],
    }  # fmt: skip


def known(model: pa.Array) -> pa.Array:
    return pc.if_else(pc.is_in(model, pa.array(list(PRICING))), model, NONE)


def kept(commitment: pa.Array) -> pa.Array:
    """Older files name a reservation and say nothing of a pricing model."""
    plan = pc.match_substring(commitment, "savingsplan", ignore_case=True)
    return pc.if_else(plan, "savingsplan", pc.if_else(commitment.is_valid(), "reservation", NONE))


def folded(column: pa.Array) -> pa.Array:
    """`Usage Based`, `usage-based` and `UsageBased` are one word."""
    encoded = column.dictionary_encode()
    words = [re.sub(r"[^a-z]", "", (word or "").casefold()) for word in encoded.dictionary.to_pylist()]
    return pa.array(words, pa.string()).take(encoded.indices)


def mapped(column: pa.Array, words: Mapping[str, str]) -> pa.Array:
    """Null for a word that is not among them."""
    found = pc.index_in(column, pa.array(list(words)))
    return pa.array(list(words.values()), pa.string()).take(found)
