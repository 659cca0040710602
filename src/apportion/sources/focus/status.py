"""Whether a bill may still change. FOCUS says it in two ways; the first that speaks counts:

Billing Period dataset   BillingPeriodStatus Open: estimated, Closed: final
InvoiceId                every payable line (BilledCost other than 0) of an issuer's billing period has one: final, else estimated
neither                  nobody says
"""

from collections.abc import Mapping, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.sources.bills.part import UTC
from apportion.sources.cells.instants import instants
from apportion.sources.cells.text import text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import missing_columns

ESTIMATED, FINAL = "estimated", "final"
WORDS = {"open": ESTIMATED, "closed": FINAL}
KEY = ("InvoiceIssuerName", "billing_start_s")
COLUMNS = ("InvoiceIssuerName", "BillingPeriodStart", "BillingPeriodStatus")

Key = tuple[str, int | None]  # issuer and start of the billing period


def stated(files: Sequence[InputFile]) -> dict[Key, str]:
    """What Billing Period files say."""
    found: dict[Key, str] = {}
    for file in files:
        sheet = read_sheet(file, partial(needed, file))
        issuers, starts, words = (sheet.table[name].combine_chunks() for name in COLUMNS)
        rows = zip(
            text(issuers).to_pylist(), instants(starts, UTC).values.to_pylist(), text(words).to_pylist(), strict=True
        )
        for number, (issuer, start, word) in enumerate(rows):
            if issuer is None or start is None or (word or "").casefold() not in WORDS:
                raise InputError(
                    "invalid-billing-period",
                    f"the row says neither Open nor Closed of an issuer's billing period: {issuer}, {starts[number]}, {word}",
                    where=sheet.where(number),
                    hint="correct the file, or remove it: then the invoice numbers tell which bills are final",
                )
            found[issuer, start] = WORDS[word.casefold()]
    return found


def needed(file: InputFile, header: Sequence[str]) -> Sequence[str]:
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise missing_columns(missing, header, file)
    return COLUMNS


class Invoiced:
    """What invoice numbers tell, line by line: of each bill, whether anything is to be paid, and whether some of that has no invoice yet."""

    def __init__(self) -> None:
        self.payable: set[Key] = set()
        self.open: set[Key] = set()
        self.bills: set[Key] = set()

    def see(self, lines: pa.Table) -> None:
        """Lines of a file that has InvoiceId at all."""
        payable = pc.fill_null(pc.not_equal(lines["BilledCost"], 0), fill_value=False)
        waits = pc.and_(payable, lines["InvoiceId"].is_null())
        seen = lines.select(list(KEY)).append_column("payable", payable).append_column("waits", waits)
        for row in seen.group_by(list(KEY)).aggregate([("payable", "any"), ("waits", "any")]).to_pylist():
            key = row[KEY[0]], row[KEY[1]]
            self.bills.add(key)
            self.payable.update([key] if row["payable_any"] else [])
            self.open.update([key] if row["waits_any"] else [])

    def told(self) -> dict[Key, str]:
        return {key: FINAL if key in self.payable - self.open else ESTIMATED for key in self.bills}


def marked(lines: pa.Table, told: Mapping[Key, str]) -> pa.Table:
    """Lines with the status of their bill; null where nobody says."""
    bills = lines.select(list(KEY)).group_by(list(KEY)).aggregate([]).to_pylist()
    words = pa.nulls(len(lines), pa.string())
    for issuer, start in ((row[KEY[0]], row[KEY[1]]) for row in bills):
        if (issuer, start) in told:
            mine = pc.and_(pc.equal(lines[KEY[0]], issuer), pc.equal(lines[KEY[1]], start))
            words = pc.if_else(pc.fill_null(mine, fill_value=False), told[issuer, start], words)
    return lines.set_column(lines.column_names.index("status"), "status", words)
