"""The ledger's months, as it has them now or had them at some second, with their owners' places."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa

from apportion.books.shapes import PLAN, StoredRun
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.reports.statement.drivers import Side
from apportion.reports.statement.facts import OWNER, WORK
from apportion.verbs.agreement import policy_for, policy_of_version
from apportion.verbs.held import Holding, held_in
from apportion.verbs.project import Project
from apportion.verbs.run_rows import other_rows
from apportion.verbs.stating.late import late_part, within
from apportion.verbs.stating.placing import placed
from apportion.verbs.stating.working import with_places

UNITS = pa.schema([WORK.field(name) for name in ("currency", *OWNER, "pool", "unit_seconds")])


@dataclass(frozen=True, slots=True)
class Month:
    """What one month comes to, with its owners' places."""

    period: Period
    policy: Policy
    minor: pa.Table
    placed: pa.Table
    late: pa.Table  # what of it is for days of other months


@dataclass(frozen=True, slots=True)
class Shelf:
    """The ledger's runs until some second, which is None for now."""

    project: Project
    runs: Mapping[str, StoredRun]
    until_s: int | None = None
    holding: Holding = held_in

    def policy(self, period: Period) -> Policy:
        """That of the period's last plan; a month that holds nothing but corrections has the one in force."""
        versions = [run.policy_version for run in self.runs.values() if run.period == str(period) and run.kind == PLAN]
        return policy_of_version(self.project, versions[-1]) if versions else policy_for(self.project, period)

    def month(self, period: Period) -> Month | None:
        """None where nothing is posted. A closed month is what it was closed with."""
        if not any(run.period == str(period) for run in self.runs.values()):
            return None
        books = self.project.books
        minor = books.minor(str(period), self.until_s)
        policy = self.policy(period)
        placed_rows = placed(policy, period, minor, self.others(period), self.runs)
        planned = books.posted(str(period), kinds=[PLAN], as_of_s=self.until_s)
        return Month(period, policy, minor, placed_rows, late_part(policy, period, planned))

    def others(self, period: Period) -> pa.Table:
        """What runs that are no plans posted in a period."""
        return other_rows(self.project, period, self.runs.values())

    @property
    def charges(self) -> int | None:
        """The snapshot of the charges that stood then; None for that of now."""
        return None if self.until_s is None else self.project.books.charges_then(self.until_s)


def shelf_of(project: Project, until_s: int | None = None, holding: Holding = held_in) -> Shelf:
    runs = (run for run in project.books.runs() if until_s is None or run.posted_s <= until_s)
    return Shelf(project, {run.run_id: run for run in runs}, until_s, holding)


def side(shelf: Shelf, month: Month) -> Side:
    rows = within(month.policy, month.period, shelf.holding(shelf.project, [str(month.period)], shelf.charges))
    return Side(month.placed, month.late, with_places(rows, month.policy, month.minor, UNITS))
