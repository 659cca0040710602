"""Findings in one form and one wording, for every face: a sentence, the rows of a table, and values for programs."""

from collections.abc import Iterable
from decimal import ROUND_HALF_EVEN, Decimal

from apportion.model.findings import FLOWS, Acceptance, Finding, JudgedFinding
from apportion.model.money import plain
from apportion.reports.report import Cell, Column
from apportion.reports.words import counted, percent, shown

HEADING = "Findings: what could not be taken as it is, or was taken on a guess"
COLUMNS = (
    Column("code", "finding"),
    Column("rows", "rows", "count"),
    Column("amount", "hours or money"),
    Column("share", "of it", "share"),
    Column("pool", "pool"),
    Column("source", "source"),
    Column("state", "state"),
    Column("message", "the first", quiet=True, long=True),
    Column("remedy", "to mend it", quiet=True, long=True),
)


def share_text(share: Decimal) -> str:
    """`4.2 %`; what is less than the usual bound is said to be less."""
    return "under 0.1 %" if 0 < share < Decimal("0.001") else percent(share)


def hours_text(hours: Decimal, unit: str) -> str:
    """`12.0 GPU hours`, `3.2 kWh`: one digit is enough to read; what is smaller shows its first ones."""
    places = Decimal("0.1") if abs(hours) >= Decimal("0.05") else Decimal("0.0001")
    amount = f"{hours.quantize(places, ROUND_HALF_EVEN):,f}"
    return f"{amount} {unit}" if unit in FLOWS.values() else f"{amount} {unit} hours"


def amount_text(finding: Finding) -> str:
    """What it touches: hours, money, or rows alone where neither is known."""
    money = (
        [shown(finding.money, finding.currency) if finding.currency else plain(finding.money)] if finding.money else []
    )
    hours = [hours_text(finding.hours, finding.unit)] if finding.hours else []
    return " and ".join((*hours, *money))


def place_text(finding: Finding) -> str:
    return " ".join(
        (
            *([f"of pool {finding.pool}"] if finding.pool else []),
            *([f"of source {finding.source}"] if finding.source else []),
        )
    )


def finding_text(finding: Finding) -> str:
    """`possible-repeats: 12 rows, 12.0 GPU hours of source slurm (4.2 %)`."""
    amount = amount_text(finding)
    rows = [counted(finding.rows, "row")] if finding.rows or not amount else []
    parts = ", ".join((*rows, *([amount] if amount else [])))
    return (
        f"{finding.code}: {parts} {place_text(finding)}".rstrip()
        + f" ({share_text(finding.share)}{', lost' if finding.lost else ''})"
    )


def accepted_text(held: Acceptance) -> str:
    """As a statement has it: `possible-repeats, 12.0 GPU hours of source slurm; accepted by NAME: WHY`."""
    finding = held.finding
    amount = amount_text(finding) or counted(finding.rows, "row")
    return f"{finding.code}, {amount} {place_text(finding)}".rstrip() + f"; accepted by {held.who}: {held.why}"


def state_text(judged: JudgedFinding) -> str:
    if judged.acceptance is not None:
        return f"accepted by {judged.acceptance.who}: {judged.acceptance.why}"
    return "stops apply" if judged.above else "within the bound"


def finding_rows(judged: Iterable[JudgedFinding]) -> tuple[tuple[Cell, ...], ...]:
    """In the order of COLUMNS."""
    return tuple(
        (
            one.finding.code,
            one.finding.rows,
            amount_text(one.finding),
            one.finding.share,
            one.finding.pool,
            one.finding.source,
            state_text(one),
            one.finding.message,
            one.finding.remedy,
        )
        for one in judged
    )


def findings_value(judged: Iterable[JudgedFinding]) -> list[dict[str, object]]:
    """For programs: amounts as decimal text with every digit."""
    return [
        {
            "code": one.finding.code,
            "rows": one.finding.rows,
            "hours": plain(one.finding.hours),
            "unit": one.finding.unit,
            "money": plain(one.finding.money),
            "currency": one.finding.currency,
            "share": plain(one.finding.share),
            "lost": one.finding.lost,
            "pool": one.finding.pool,
            "source": one.finding.source,
            "stops": one.stops,
            "accepted_by": one.acceptance.who if one.acceptance else "",
            "why": one.acceptance.why if one.acceptance else "",
            "message": one.finding.message,
            "remedy": one.finding.remedy,
        }
        for one in judged
    ]


def lost_sentences(judged: Iterable[JudgedFinding]) -> tuple[str, ...]:
    """What coverage is without."""
    lost = [one.finding for one in judged if one.finding.lost]
    return tuple(
        f"Not in it: {finding_text(one)}; shares rest on the {percent(Decimal(1) - one.share)} that is left."
        for one in lost
    )
