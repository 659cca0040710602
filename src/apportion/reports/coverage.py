"""How much of the bill has an owner, in money: owners, idle, unallocated and residual, each by cause."""

from typing import TYPE_CHECKING

import pyarrow as pa

from apportion.model.rows import RESIDUAL
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import SIDES, by_currency, grouped, section, share_of, side_of, summed, total
from apportion.reports.words import of_bill, percent, shown

if TYPE_CHECKING:
    from decimal import Decimal

COLUMNS = (
    Column("side", "who"),
    Column("cause", "cause"),
    Column("pool", "pool"),
    Column("amount", "amount", "money"),
    Column("share", "share", "share"),
)


def coverage(record: Record) -> Report:
    sections, sentences = [], []
    for currency, posted in by_currency(record.posted):
        bill = summed(posted)
        sections.append(section(currency, bill, COLUMNS, _rows(posted)))
        sums = {
            side: total(amount for (team,), amount in grouped(posted, ("team",)).items() if side_of(team) == side)
            for side in SIDES
        }
        parts = {side: percent(share_of(amount, bill)) for side, amount in sums.items()}
        sentences.append(
            f"{parts['owners']} of {of_bill(bill, currency)} for {record.period} has an owner ({shown(sums['owners'], currency)}); "
            f"{parts['idle']} stays with _idle, {parts['unallocated']} with _unallocated."
        )
    title = " ".join(sentences) or f"Nothing is posted for {record.period}."
    return Report("coverage", title, record.period, COLUMNS, tuple(sections), record.head, record.policies)


def _rows(posted: pa.Table) -> list[dict[str, Cell]]:
    """Owners as one line; each system owner by cause and pool (`_residual` by reason: rounding and recovery are shown apart)."""
    bill = summed(posted)
    sums: dict[tuple[int, str, str], list[Decimal]] = {}
    for (team, cause, reason, pool), amount in grouped(posted, ("team", "cause", "reason", "pool")).items():
        side = side_of(team)
        why = "" if side == "owners" else (reason if team == RESIDUAL else cause)
        sums.setdefault((SIDES.index(side), why, "" if side == "owners" else pool), []).append(amount)
    return [
        {
            "side": SIDES[side],
            "cause": why,
            "pool": pool,
            "amount": total(amounts),
            "share": share_of(total(amounts), bill),
        }
        for (side, why, pool), amounts in sorted(sums.items())
    ]
