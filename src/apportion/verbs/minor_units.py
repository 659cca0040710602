"""What a month holds in whole minor units, posted or planned: the same integers that its statements and its journal add up.

Corrections and decisions are rounded each by itself, and what remains of the month's minor units is its plan's.
"""

from collections.abc import Callable
from typing import TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.minor import minor_of
from apportion.books.shapes import CORRECTION, PLAN
from apportion.errors import BooksError
from apportion.model.minor import TOO_LARGE, add_rounding, apart, round_each
from apportion.model.rows import MINOR_KEY, POSTINGS
from apportion.model.times import Period
from apportion.verbs.difference import difference
from apportion.verbs.project import Project
from apportion.verbs.run_rows import other_rows, owners_side

AMOUNTS = [*MINOR_KEY, "amount"]
Found = TypeVar("Found")


def read_posted(project: Project, period: Period | str, until_s: int | None = None) -> pa.Table:
    """The postings of a month, now or at a second, with rows of no day that round them."""
    books = project.books
    minor = unless_too_large(lambda: books.minor(str(period), until_s))
    return add_rounding(books.posted(str(period), as_of_s=until_s), minor, str(period))


def read_believed(project: Project, period: Period | str, before_seq: int | None = None) -> pa.Table:
    """What a month's own evidence has come to, wherever it is booked: its plan, and the corrections of it that were posted before a link."""
    month = str(period)
    runs = [run for run in project.books.runs(CORRECTION) if run.about == month]
    earlier = [run.run_id for run in runs if before_seq is None or run.seq < before_seq]
    return pa.concat_tables(
        [read_plan(project, month), *(read_correction(project, run_id, month) for run_id in earlier)]
    )


def read_plan(project: Project, period: Period | str) -> pa.Table:
    """What was planned in a month, without its other runs."""
    books, month = project.books, str(period)
    own = unless_too_large(lambda: of_no_run(apart(books.minor(month), other_rows(project, month, books.runs()))))
    return add_rounding(books.posted(month, kinds=[PLAN]), own, month)


def read_correction(project: Project, run_id: str, period: str) -> pa.Table:
    """What one run changed, as rows of a month."""
    rows = owners_side(project, [run_id]).select(POSTINGS.names).cast(POSTINGS)
    return round_change(rows, period)


def round_change(change: pa.Table, period: str) -> pa.Table:
    place = POSTINGS.names.index("period")
    month = pa.repeat(pa.scalar(period), len(change)).cast(POSTINGS.field(place).type)
    return add_rounding(change.set_column(place, POSTINGS.field(place), month), round_each(change), period)


def round_planned(project: Project, period: Period, postings: pa.Table) -> pa.Table:
    """What a plan would make of the month, beside its other runs."""
    others = other_rows(project, period, project.books.runs())
    rows = pa.concat_tables([postings.select(AMOUNTS), others.select(AMOUNTS).cast(postings.select(AMOUNTS).schema)])
    own = unless_too_large(lambda: of_no_run(apart(minor_of(project.books.names, rows), others)))
    return add_rounding(postings, own, str(period))


def round_outcome(project: Project, period: Period, postings: pa.Table) -> pa.Table:
    """What the month would come to once the plan is posted: of a closed month, what it is, and the change."""
    if not project.books.closed_by(str(period)):
        return round_planned(project, period, postings)
    change = difference(postings, project.books.believed(str(period)))
    return pa.concat_tables([read_believed(project, period), round_change(change, str(period))])


def unless_too_large(find: Callable[[], Found]) -> Found | None:
    """None of a month that has no minor units, because it is too large to be stated: its figures are told exactly."""
    try:
        return find()
    except BooksError as error:
        if error.code != TOO_LARGE:
            raise
        return None


def of_no_run(minor: pa.Table) -> pa.Table:
    return minor.filter(pc.equal(minor["run"], "")).drop_columns("run")
