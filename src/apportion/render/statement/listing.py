"""Many statements as one list: what each owner owes, and what of it is booked."""

from collections.abc import Sequence
from decimal import Decimal

from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.reports.statement.shape import Statement, money
from apportion.reports.statement.told import told
from apportion.reports.sums import total
from apportion.reports.words import counted, shown


def statement_list(found: Sequence[Statement]) -> Sheet:
    beside = any(made.preview for made in found)
    columns = (
        Column("owner", made_of(found)),
        Column("mode", "mode"),
        Column("number", "number", quiet=True),
        Column("owed", "owed", "money"),
        Column("before", "month before", "money", quiet=True),
        Column("charged", "booked", "money"),
        *((Column("coming", "by rules to come", "money"), Column("change", "difference", "money")) if beside else ()),
    )
    tables, sums = [], []
    for currency in dict.fromkeys(made.currency for made in found):
        own = [made for made in found if made.currency == currency]
        rows = tuple(
            (
                made.owner, made.mode, made.number or None, money(made.owed, made.digits),
                None if made.before is None else money(made.before, made.digits), money(made.charged, made.digits),
                *(to_come(made) if beside else ()),
            )
            for made in own
        )  # fmt: skip
        owed, charged = (total(money(getattr(made, name), made.digits) for made in own) for name in ("owed", "charged"))
        more = tuple(
            total(cell for cell in cells if cell is not None) for cells in zip(*map(to_come, own), strict=True)
        )
        tables.append(
            Table(columns, rows, (None, None, None, owed, None, charged, *(more if beside else ())), currency)
        )
        sums.append(f"{shown(owed, currency)}, of which {shown(charged, currency)} is booked")
    first = found[0]
    title = f"{counted(len(found), 'statement')} for {first.period}{', drafts' if first.is_draft else ''}: {'; '.join(sums)}."
    rules = tuple(dict.fromkeys(f"rules to come: {made.preview.policy}" for made in found if made.preview))
    return Sheet(
        title, tuple(tables), {"statements": [told(made) for made in found]}, (f"ledger head {first.head}", *rules)
    )


def to_come(made: Statement) -> tuple[Decimal | None, Decimal | None]:
    """What would be owed by rules to come, and the difference."""
    if made.preview is None or made.preview.owed is None:
        return None, None
    return money(made.preview.owed, made.digits), money(made.preview.owed - made.owed, made.digits)


def made_of(found: Sequence[Statement]) -> str:
    return found[0].level.replace("_", " ")
