"""What a month holds in whole minor units, posted or planned: the same integers that its statements and its journal add up."""

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.minor import minor_of
from apportion.books.shapes import CLOSE, PLAN
from apportion.model.minor import add_rounding, apart
from apportion.model.rows import MINOR_KEY
from apportion.model.times import Period
from apportion.verbs.corrections import owners_side
from apportion.verbs.project import Project

AMOUNTS = [*MINOR_KEY, "amount"]


def read_posted(project: Project, period: Period | str, until_s: int | None = None) -> pa.Table:
    """The postings of a month, now or at a second, with rows of no day that round them."""
    books = project.books
    return add_rounding(books.posted(str(period), as_of_s=until_s), books.minor(str(period), until_s), str(period))


def round_planned(project: Project, period: Period, postings: pa.Table) -> pa.Table:
    """What a plan would make of the month. The parts of its other runs are rounded by themselves, and are none of the plan's."""
    others = other_rows(project, period)
    rows = pa.concat_tables([postings.select(AMOUNTS), others.select(AMOUNTS).cast(postings.select(AMOUNTS).schema)])
    minor = apart(minor_of(project.books.names, rows), others)
    own = minor.filter(pc.equal(minor["run"], "")).drop_columns("run")
    return add_rounding(postings, own, str(period))


def other_rows(project: Project, period: Period) -> pa.Table:
    """What corrections of earlier months and decisions posted in it, each row with its run."""
    runs = [run.run_id for run in project.books.runs() if run.period == str(period) and run.kind not in (PLAN, CLOSE)]
    rows = owners_side(project, runs)
    return rows.select([*MINOR_KEY, "run_id", "amount"]).rename_columns([*MINOR_KEY, "run", "amount"])
