"""Who owes what: the posted amounts by owner, or by another dimension. Every row counts once, so the rows add up to the bill."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import pyarrow as pa

from apportion.model.currencies import is_money
from apportion.model.rows import REASONS
from apportion.reports.bridge import bridge_notes, bridges
from apportion.reports.groups import DIMENSIONS, OWNERS, first_column, name_of, system_rank
from apportion.reports.held import beside
from apportion.reports.report import Cell, Column, Record, Report
from apportion.reports.sums import ZERO, by_currency, grouped, section, share_of, side_of, summed, total, whole_below
from apportion.reports.words import counted, of_bill, percent, shown

if TYPE_CHECKING:
    from decimal import Decimal


def showback(record: Record, by: str = "team", carried_by: Mapping[str, str] | None = None) -> Report:
    """`carried_by` is who ends up with a system owner's balance: their statements come to more than the rows of teams say."""
    columns = _columns(by)
    sections = tuple(
        whole_below(section(currency, summed(posted), columns, _rows(posted, by)), columns, posted)
        for currency, posted in by_currency(record.posted)
    )
    return Report(
        "showback",
        _title(record),
        record.period,
        columns,
        sections,
        record.head,
        record.policies,
        notes=bridge_notes(bridges(record.posted, carried_by or {})) if by == "team" else (),
        more={"by": by},
        beside=beside(record, by),
    )


def _columns(by: str) -> tuple[Column, ...]:
    quiet = (
        tuple(Column(name, name.replace("_", " "), quiet=True) for name in ("department", "cost_centre"))
        if by == "team"
        else ()
    )
    reasons = () if by == "reason" else tuple(Column(reason, reason, "money", quiet=True) for reason in REASONS)
    return (first_column(by), *quiet, *reasons, Column("amount", "amount", "money"), Column("share", "share", "share"))


def _rows(posted: pa.Table, by: str) -> list[dict[str, Cell]]:
    """Owners by falling amount, then the system's own in their fixed order."""
    keys = DIMENSIONS[by]
    rows: dict[str, dict[str, Cell]] = {}
    amounts: dict[str, list[Decimal]] = {}
    parts: dict[tuple[str, str], list[Decimal]] = {}
    reason_at = keys.index("reason") if "reason" in keys else len(keys)
    for key, amount in grouped(posted, keys if "reason" in keys else (*keys, "reason")).items():
        labels = dict(zip(keys, key, strict=False))
        name = name_of(by, labels)
        rows.setdefault(name, {"owner" if by in OWNERS else by: name, **_beside(by, labels)})
        amounts.setdefault(name, []).append(amount)
        parts.setdefault((name, key[reason_at]), []).append(amount)
    bill = total(amount for some in amounts.values() for amount in some)
    for name, row in rows.items():
        row.update({reason: total(parts.get((name, reason), [])) for reason in REASONS if by != "reason"})
        row["amount"] = total(amounts[name])
        row["share"] = share_of(total(amounts[name]), bill)
    sums = {name: total(some) for name, some in amounts.items()}
    return [rows[name] for name in sorted(rows, key=lambda name: (system_rank(name), -sums[name], name))]


def _beside(by: str, labels: Mapping[str, str]) -> dict[str, Cell]:
    return {"department": labels["department"], "cost_centre": labels["cost_centre"]} if by == "team" else {}


def _title(record: Record) -> str:
    """`8 teams owe 812,000.00 USD of the bill of 901,234.56 USD for 2026-10; 9.1 % stays with _idle.`"""
    sentences = []
    for currency, posted in by_currency(record.posted):
        sides = dict.fromkeys(("owners", "idle"), ZERO)
        teams = 0
        for (team,), amount in grouped(posted, ("team",)).items():
            sides[side_of(team)] = total([sides.get(side_of(team), ZERO), amount])
            teams += side_of(team) == "owners"
        bill = summed(posted)
        many = "s" if teams == 1 else ""
        owe = f"owe{many}" if is_money(currency) else f"stand{many} for"
        idle = f"; {percent(share_of(sides['idle'], bill))} stays with _idle" if sides["idle"] else ""
        sentences.append(
            f"{counted(teams, 'team')} {owe} {shown(sides['owners'], currency)} of {of_bill(bill, currency)} for {record.period}{idle}."
        )
    return " ".join(sentences) or f"Nothing is posted for {record.period}."
