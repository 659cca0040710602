"""What stood idle, why, and who carries it: per pool and cause, with its money."""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import is_money
from apportion.model.rows import IDLE
from apportion.reports.held import beside
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import by_currency, grouped, section, share_of, summed, total
from apportion.reports.words import of_bill, percent, shown

COLUMNS = (
    Column("pool", "pool"),
    Column("cause", "cause"),
    Column("owner", "posted to"),
    Column("carried_by", "carried by", quiet=True),
    Column("amount", "amount", "money"),
    Column("share", "share of pool", "share"),
)


def idle(record: Record, carried_by: Mapping[str, str] | None = None) -> Report:
    """Idle is everything with reason `idle`, whether it stays with `_idle` or a rule gave it to teams, and whatever else sits on `_idle`.

    `carried_by` is who ends up with a system owner's balance, as the policy says.
    """
    sections, sentences = [], []
    for currency, posted in by_currency(record.posted):
        rows = _rows(posted, carried_by or {})
        amount = total(row["amount"] for row in rows if isinstance(row["amount"], Decimal))
        made = section(currency, amount, COLUMNS, rows)
        sections.append(replace(made, totals=(*made.totals[:-1], None)))
        bill = summed(posted)
        paid = "paid" if is_money(currency) else "stands"
        sentences.append(
            f"{shown(amount, currency)} of {of_bill(bill, currency)} for {record.period} {paid} for idle capacity ({percent(share_of(amount, bill))})."
        )
    title = " ".join(sentences) or f"Nothing is posted for {record.period}."
    return Report(
        "idle",
        title,
        record.period,
        COLUMNS,
        tuple(sections),
        record.head,
        record.policies,
        beside=beside(record, "pool"),
    )


def _rows(posted: pa.Table, carried_by: Mapping[str, str]) -> list[dict[str, Cell]]:
    pools = {pool: amount for (pool,), amount in grouped(posted, ("pool",)).items()}
    mask = pc.or_(pc.equal(posted["reason"], "idle"), pc.equal(posted["team"], IDLE))
    return [
        {
            "pool": pool,
            "cause": cause,
            "owner": team,
            "carried_by": carried_by.get(team, ""),
            "amount": amount,
            "share": share_of(amount, pools[pool]),
        }
        for (pool, cause, team), amount in grouped(posted.filter(mask), ("pool", "cause", "team")).items()
    ]
