"""Corrections that wait: closed months of which something was delivered since they were last computed."""

from collections.abc import Iterator
from dataclasses import dataclass

from apportion.books.shapes import CLOSE
from apportion.model.times import parse_period
from apportion.verbs.agreement import policy_for
from apportion.verbs.correct import delivered_since, open_after
from apportion.verbs.corrections import runs_of
from apportion.verbs.plan import Planned, beside_record, compute
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import pins_of


@dataclass(frozen=True, slots=True)
class Waiting:
    """`what` was delivered since; `booked` is the month that would hold the correction."""

    period: str
    booked: str
    what: str
    planned: Planned

    @property
    def text(self) -> str:
        return f"{self.period} is closed, and a correction of it waits ({self.what}): {self.planned.tally}"

    def fix(self, flag: str = "") -> str:
        command = f"apportion {flag}"
        return f"{command}plan --period {self.period}, then {command}apply --period {self.period}: it is booked in {self.booked}"


def waiting(project: Project, step: Step = silent) -> Iterator[Waiting]:
    """Only months that something was delivered for are computed again; what changes no figure waits for nothing."""
    runs, pins = project.books.runs(), pins_of(project)
    for closed in [run.period for run in runs if run.kind == CLOSE]:
        what = delivered_since(project, closed, pins.snapshots, runs_of(runs, closed)[-1])
        if not what:
            continue
        period = parse_period(closed)
        policy = policy_for(project, period)
        made = compute(project, period, policy, pins, step).plan
        planned = beside_record(project, policy, made, project.books.head())
        if planned.pending:
            yield Waiting(closed, str(open_after(project, period)), ", ".join(what), planned)
