"""What answers must say: the figures of one head of the ledger, summed here from its entries."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

from apportion.verbs.project import Project

HEAD = "ledger head "
Sums = dict[str, Decimal]


def sums_by_head(project: Project, period: str) -> dict[str, Sums]:
    """What each team owed of a month at every head that the ledger ever had."""
    entries = project.books.entries().to_pylist()
    found: dict[str, Sums] = {}
    sums: Sums = defaultdict(Decimal)
    for run in project.books.runs():
        for row in entries:
            mine = run.seq <= row["seq"] <= run.last_seq and row["period"] == period and row["currency"] == "USD"
            if mine and row["account"].startswith("team:"):
                sums[row["team"]] += row["amount"]
        found[run.head_after] = {team: amount for team, amount in sums.items() if amount}
    return found


def head_of(page: Any) -> str:
    [note] = [note for note in page["notes"] if note.startswith(HEAD)]
    return str(note.removeprefix(HEAD))


def told_sums(page: Any) -> list[Sums]:
    """What the overview says each team owes: by its days, and in the table of teams."""
    days, owners = page["tables"]
    by_day: Sums = defaultdict(Decimal)
    for row in days["rows"]:
        for team, amount in row.items():
            if team not in ("day", "amount") and amount:
                by_day[team] += Decimal(amount)
    return [dict(by_day), {row["owner"]: Decimal(row["amount"]) for row in owners["rows"]}]
