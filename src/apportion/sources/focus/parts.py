"""The parts of one bill have the same columns. Where they do not, the vendor changed something on the way, and which lines that touches cannot be told."""

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.times import instant_text

KEY = ["InvoiceIssuerName", "BillingAccountId", "billing_start_s"]
Bill = tuple[object, ...]  # an issuer's, for an account, from a time on


class Parts:
    """Which file was the first of each bill, and which columns it has."""

    def __init__(self) -> None:
        self.first: dict[Bill, tuple[str, frozenset[str]]] = {}

    def see(self, name: str, columns: frozenset[str], lines: pa.Table) -> None:
        """Bills of different months, accounts or vendors may differ."""
        found = lines.select(KEY).group_by(KEY).aggregate([]).to_pylist()
        for bill in sorted((tuple(row[key] for key in KEY) for row in found), key=str):
            other, its = self.first.setdefault(bill, (name, columns))
            if its != columns:
                raise changed({other: its, name: columns}, bill)


def changed(files: dict[str, frozenset[str]], bill: Bill) -> InputError:
    (one, its), (two, others) = files.items()
    column = min(its ^ others)
    has, lacks = (one, two) if column in its else (two, one)
    issuer, account, start = bill
    since = f" from {instant_text(start)}" if isinstance(start, int) else ""
    return InputError(
        "changed-columns",
        f"{lacks} has no column {column}, {has} has it: both are parts of {issuer}'s bill for {account}{since}",
        where=f"{one} and {two}",
        hint="fetch the whole bill again; if they are two bills, give each a source of its own",
    )
