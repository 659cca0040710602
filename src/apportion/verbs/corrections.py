"""What was corrected in a month, read from the ledger: for `report corrections`, statements and explanations."""

from collections.abc import Sequence

from apportion.books.shapes import COMPUTED, CORRECTION, StoredRun
from apportion.model.times import Period
from apportion.reports.corrections import Corrected, Correction
from apportion.reports.corrections import corrections as told
from apportion.verbs.minor_units import read_believed, read_correction
from apportion.verbs.project import Project

BY = ("cost_centre", "department", "team", "project", "user", "component", "pool")


def corrections(project: Project, period: Period | str, by: Sequence[str] = BY) -> list[Correction]:
    """Of each figure that a correction booked in the month changes: what it was, what it is now, why, and both runs.

    `by` are columns of the postings. The amounts add up to what corrections booked in the month, whatever they are.
    """
    return told(corrected(project, period), by)


def corrected(project: Project, period: Period | str, until_s: int | None = None) -> list[Corrected]:
    """The corrections that a month holds, oldest first; all of them, or those posted until a second."""
    held = (run for run in project.books.runs(CORRECTION) if run.period == str(period))
    return read(project, [run for run in held if until_s is None or run.posted_s <= until_s])


def corrected_since(project: Project, period: Period | str) -> list[Corrected]:
    """The corrections of a closed month, oldest first, wherever they are booked."""
    return read(project, [run for run in project.books.runs(CORRECTION) if run.about == str(period)])


def read(project: Project, runs: Sequence[StoredRun]) -> list[Corrected]:
    every = project.books.runs() if runs else []
    return [one_of(project, run, before_run(every, run)) for run in runs]


def before_run(runs: Sequence[StoredRun], run: StoredRun) -> str:
    """The run that said last, before this one, what the closed month comes to."""
    earlier = [one for one in runs_of(runs, run.about) if one.seq < run.seq]
    return earlier[-1].run_id if earlier else ""


def runs_of(runs: Sequence[StoredRun], period: str) -> list[StoredRun]:
    """Those that say what a month comes to: its own, and the corrections of it wherever they are booked."""
    return [run for run in runs if run.kind in COMPUTED and (run.about or run.period) == period]


def one_of(project: Project, run: StoredRun, before: str) -> Corrected:
    return Corrected(
        about=run.about,
        booked=run.period,
        cause=run.cause,
        before_run=before,
        run=run.run_id,
        was=read_believed(project, run.about, run.seq),
        change=read_correction(project, run.run_id, run.period),
    )
