"""What teams and projects mean to spend a month. Rows are only added: of those that begin in the same month the last one holds."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import Connection, Engine, func, insert, select

from apportion.books import record
from apportion.books.audit import note, user
from apportion.books.chain import rows_digest
from apportion.books.database import reading, writing
from apportion.books.failures import spoken
from apportion.books.shapes import Damage
from apportion.model.money import plain
from apportion.model.result import Result

DEED = "budget"
TOLD = ("seq", "team", "project", "since", "currency", "amount", "why", "who", "at_s")


@dataclass(frozen=True, slots=True, repr=False)
class Budget(Result):
    """`amount` a month, from the month `since` on until another one begins; 0 ends it. Without `project` it is the team's as a whole."""

    team: str
    project: str
    since: str
    currency: str
    amount: Decimal
    why: str = ""
    who: str = ""
    at_s: int = 0

    @property
    def owner(self) -> str:
        return f"{self.team}/{self.project}" if self.project else self.team


class Budgets:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def set(self, budget: Budget) -> Budget:
        """As it was kept: with who set it and when."""
        table = record.budgets
        with spoken(), writing(self.engine) as connection:
            row: dict[str, Any] = {
                **{name: getattr(budget, name) for name in TOLD if name != "seq"},
                "seq": (connection.scalar(select(func.max(table.c.seq))) or 0) + 1,
                "who": user(),
                "at_s": int(time.time()),
            }
            connection.execute(insert(table).values(**row))
            note(connection, DEED, told(row), budget.why)
        return budget_of(row)

    def all(self) -> list[Budget]:
        """In the order in which they were set."""
        with spoken(), reading(self.engine) as connection:
            return [budget_of(row) for row in stored(connection)]

    def holding(self, period: str) -> list[Budget]:
        """Those of a month, by team and project."""
        found: dict[tuple[str, str], Budget] = {}
        for one in sorted(self.all(), key=lambda one: one.since):  # stable: of one month the last set stays last
            if one.since <= period:
                found[one.team, one.project] = one
        return [one for _, one in sorted(found.items()) if one.amount]


def stored(connection: Connection) -> list[Mapping[str, Any]]:
    table = record.budgets
    return [{**row} for row in connection.execute(select(table).order_by(table.c.seq)).mappings()]


def budget_of(row: Mapping[str, Any]) -> Budget:
    return Budget(**{name: row[name] for name in TOLD if name != "seq"})


def told(row: Mapping[str, Any]) -> str:
    """For the audit log: readable, and sealed with every field."""
    project = f"/{row['project']}" if row["project"] else ""
    seal = rows_digest([[row[name] if name != "amount" else plain(row[name]) for name in TOLD]])
    return f"{row['seq']}, {row['team']}{project}: {plain(row['amount'])} {row['currency']} a month since {row['since']} ({seal[:16]})"


def check_budgets(connection: Connection) -> Iterator[Damage]:
    """Every budget is as the audit log has it, and none that it has is gone."""
    audit = record.audit
    noted = set(connection.scalars(select(audit.c.detail).where(audit.c.what == DEED)))
    for row in stored(connection):
        if told(row) not in noted:
            yield Damage("budget-changed", f"budget {row['seq']}", "it is not what was noted when it was set")
        noted.discard(told(row))
    for detail in sorted(noted):
        yield Damage("budget-changed", f"budget {detail.partition(',')[0]}", "it is noted and not there as it was")
