"""What is reserved for jobs and lent between teams."""

from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from fractions import Fraction

from apportion.books.pledges import ENDS, EXPIRE, LEND, Pledge
from apportion.model.times import instant_text
from apportion.reports.held import places
from apportion.reports.quotas import window_name
from apportion.reports.report import Cell, Column, Report, Section
from apportion.reports.sums import total
from apportion.reports.words import counted

COLUMNS = (
    Column("number", "number"),
    Column("kind", "what"),
    Column("owner", "owner"),
    Column("other", "to", quiet=True),
    Column("of", "of what"),
    Column("unit", "unit"),
    Column("amount", "amount", "money"),
    Column("job", "for", quiet=True),
    Column("in", "in", quiet=True),
    Column("until", "until", quiet=True),
    Column("status", "status"),
    Column("came_to", "came to", "money", quiet=True),
    Column("who", "by"),
    Column("approver", "approved by", quiet=True),
    Column("why", "why", quiet=True),
)


def pledge_report(found: Sequence[Pledge], title: str, head: str, now_s: int = 0) -> Report:
    """A section for each unit. What is over its time reads `expired` from that second on."""
    sections = []
    for unit in dict.fromkeys(one.begun.unit for one in found):
        own = [cells(one, now_s) for one in found if one.begun.unit == unit]
        rows = tuple(tuple(row.get(column.name) for column in COLUMNS) for row in own)
        amounts = [row["amount"] for row in own if isinstance(row["amount"], Decimal)]
        sections.append(Section(unit, total(amounts), rows, ()))
    return Report("pledges", title or f"{counted(len(found), 'pledge')}.", "", COLUMNS, tuple(sections), head)


def cells(one: Pledge, now_s: int) -> dict[str, Cell]:
    begun = one.begun
    return {
        "number": str(one.number),
        "kind": begun.kind,
        "owner": begun.owner,
        "other": begun.other or None,
        "of": f"{begun.what} of {begun.pool}" if begun.pool else begun.what,
        "unit": begun.unit,
        "amount": places(Fraction(begun.amount)),
        "job": begun.job or None,
        "in": window_of(one) if begun.kind == LEND else None,
        "until": instant_text(begun.until_s) if begun.until_s else None,
        "status": ENDS[EXPIRE] if one.is_expired(now_s) else one.status,
        "came_to": places(Fraction(one.ended)) if one.ended else None,
        "who": one.who,
        "approver": begun.approver or None,
        "why": begun.why or one.end_why or None,
    }


def window_of(one: Pledge) -> str:
    return window_name(one.begun.per, date.fromisoformat(one.begun.first))
