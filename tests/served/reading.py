"""What answers must say: the figures of one head of the ledger, summed here from its entries."""

from collections import defaultdict
from decimal import Decimal
from typing import Any

import pyarrow.compute as pc

from apportion.books.minor import minor_of
from apportion.model.rows import MINOR_KEY
from apportion.verbs.project import Project

HEAD = "ledger head "
Sums = dict[str, Decimal]


def sums_by_head(project: Project, period: str) -> dict[str, Sums]:
    """What each team owed of a month at every head that the ledger ever had, in whole cents."""
    entries = project.books.entries(period=period, currency="USD")
    owners = entries.filter(pc.starts_with(entries["account"], "team:"))
    found: dict[str, Sums] = {}
    for run in project.books.runs():
        posted = owners.filter(pc.less_equal(owners["seq"], run.last_seq)).select([*MINOR_KEY, "amount"])
        sums: Sums = defaultdict(Decimal)
        for row in minor_of(project.books.names, posted).to_pylist():
            sums[row["team"]] += Decimal(row["amount"]) / 100
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
    owed = {row["owner"]: Decimal(row["amount"]) for row in owners["rows"]}
    near = {team: owed[team] for team in owed if abs(by_day[team] - owed[team]) < Decimal("0.01")}  # days are exact
    return [dict(by_day) | near, owed]
