"""A believable month of a shared cluster from nothing to a balanced ledger: write, ingest, plan, apply, show.

A folder that already holds a project is left as it is, edits and all; only what changed in its files is read again.
"""

from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from apportion.model.result import Result
from apportion.model.times import parse_period
from apportion.render.listing import Listing
from apportion.reports.equation import Equation
from apportion.reports.report import Report
from apportion.sources.demo import SCALE, SEED
from apportion.sources.demo.files import write
from apportion.verbs.apply import Applied, apply
from apportion.verbs.ingest import Ingested, ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from apportion.verbs.report import report
from apportion.verbs.settings import FILE
from apportion.verbs.steps import Step, silent

PERIOD = parse_period("2026-10")
FEW = 12


@dataclass(frozen=True, slots=True, repr=False)
class Shown(Result):
    """`fresh` is False where the folder held a project already. `run` is a job worth asking `cost` about, `team` one for `explain`."""

    folder: Path
    fresh: bool
    ingested: Listing[Ingested]
    applied: Applied
    equation: tuple[Equation, ...]
    showback: Report
    team: str
    run: str


def demo(
    folder: str | Path = "demo",
    seed: int | None = None,
    scale: str | None = None,
    engine: str | None = None,
    step: Step = silent,
) -> Shown:
    """A believable month of a shared cluster, from nothing to a balanced ledger; about half a minute.

    A folder that holds a project already is left as it is, and only what changed in its files is read. `scale` is how much happens: 1 is about
    50,000 workloads.
    """
    folder = Path(folder)
    fresh = not (folder / FILE).is_file()
    if fresh:
        step("writing a month of a cluster", 0, 0)
        write(folder, seed=SEED if seed is None else seed, scale=scale or SCALE)
    project = open_project(folder).on(engine)
    ingested = ingest(project, step=step)
    planned = plan(project, PERIOD, step=step)
    applied = apply(project, PERIOD, step=step, made=planned.plan)
    shown = report(project, "showback", [PERIOD])
    team = str(shown.sections[0].rows[0][0])
    return Shown(folder, fresh, ingested, applied, planned.equation, shown, team, telling_run(project))


def telling_run(project: Project) -> str:
    """A job of an owner that went through a few attempts with different ends: its cost is more than one line, and fits a screen."""
    charges = project.books.scan("charges", columns=["workload", "team"])
    owned = set(charges.filter(pc.invert(pc.starts_with(charges["team"], "_")))["workload"].to_pylist())
    ends: dict[str, list[str]] = {}
    for row in project.books.scan("workloads", columns=["workload", "run", "outcome"]).to_pylist():
        if row["workload"] in owned:
            ends.setdefault(row["run"], []).append(row["outcome"])
    few = {run: found for run, found in ends.items() if len(found) <= FEW} or ends
    return max(few, key=lambda run: (len(set(few[run])), len(few[run]), run), default="")
