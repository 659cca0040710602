"""What people decided of an owner's month: credits and re-attributions, with who pays, why, who approved it and which dispute it settled."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from apportion.books.shapes import RECLASS, TRANSFERS, StoredRun, Transfer
from apportion.model.currencies import is_money
from apportion.model.rows import POSTINGS
from apportion.model.times import Period
from apportion.reports.sums import grouped
from apportion.reports.words import shown
from apportion.verbs.explaining.amounts import priced
from apportion.verbs.explaining.story import Node
from apportion.verbs.explaining.target import entries_named
from apportion.verbs.minor_units import round_change
from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True)
class DecidedPart:
    """What a decision moves of one team, in one currency."""

    run: StoredRun
    made: Transfer
    currency: str
    amount: Decimal


def transfer_parts(project: Project, team: str, period: Period) -> list[DecidedPart]:
    """Those booked in the month, whatever month they are about, and those about it that were booked later."""
    return [part for run, made in decided(project, str(period)) for part in team_parts(project, team, run, made)]


def transfer_nodes(parts: Sequence[DecidedPart], period: str) -> tuple[Node, ...]:
    """Those that are booked in the month, and those that were booked since."""
    kinds = {"decided by people, beside what was computed": True, "decided by people since": False}
    found = {text: [part for part in parts if (part.run.period == period) is now] for text, now in kinds.items()}
    return tuple(priced(text, tuple(map(transfer_node, some)), {}) for text, some in found.items() if some)


def transfer_node(part: DecidedPart) -> Node:
    return decided_node(part.run, part.made, part.amount, part.currency)


def decided_node(run: StoredRun, made: Transfer, amount: Decimal, currency: str) -> Node:
    return Node(sentence(run, made, amount, currency), facts(run, made, amount, currency))


def sums_decided(parts: Iterable[DecidedPart]) -> list[dict[str, Decimal]]:
    """By currency, part by part."""
    return [{part.currency: part.amount} for part in parts]


def decided(project: Project, period: str) -> Iterator[tuple[StoredRun, Transfer]]:
    runs = {
        run.run_id: run for run in project.books.runs() if run.kind in TRANSFERS and period in (run.period, run.about)
    }
    yield from ((runs[made.run_id], made) for made in project.books.transfers() if made.run_id in runs)


def team_parts(project: Project, team: str, run: StoredRun, made: Transfer) -> Iterator[DecidedPart]:
    """Nothing where the team has no part in it."""
    entries = project.books.entries(run_id=run.run_id, account=f"team:{team}")
    rows = round_change(entries.select(POSTINGS.names).cast(POSTINGS), run.period)
    for (currency,), amount in grouped(rows, ("currency",)).items():
        if amount and is_money(currency):
            yield DecidedPart(run, made, currency, amount)


def sentence(run: StoredRun, made: Transfer, amount: Decimal, currency: str) -> str:
    how = "re-attributed from {} to {}" if run.kind == RECLASS else "credited to {}, paid by {}"
    about = f" of {run.about}" if run.about else ""
    settles = f", dispute {made.dispute}" if made.dispute else ""
    approved = f", approved by {made.approver}" if made.approver else ""
    said = how.format(made.owner, made.other)
    return (
        f"{shown(amount, currency)}{about} booked in {run.period}: {said}, because of {made.why!r}{approved}{settles}"
    )


def facts(run: StoredRun, made: Transfer, amount: Decimal, currency: str) -> dict[str, object]:
    return {
        "run": run.run_id, "kind": run.kind, "booked": run.period, "about": run.about, "amount": amount,
        "currency": currency, "owner": made.owner, "other": made.other, "why": made.why, "approver": made.approver, "dispute": made.dispute,
    }  # fmt: skip


def of_posting(project: Project, name: str, period: Period) -> tuple[dict[str, Any], StoredRun, Transfer] | None:
    """An entry and what people decided, where it is of such a run: nothing can be computed again then."""
    runs = [*decided(project, str(period))]
    for entry in entries_named(project, name, period) if runs else ():
        for run, made in runs:
            if run.seq <= entry["seq"] <= run.last_seq:
                return entry, run, made
    return None
