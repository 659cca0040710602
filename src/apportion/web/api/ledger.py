"""`/api/v1/postings`: the entries behind every figure. `/books/runs` and `/audit`: what was posted and who did what."""

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query

from apportion.books.browse import Sought
from apportion.client.record import LedgerRun, Note, Posting
from apportion.client.shapes import Listed
from apportion.client.texts import OptionalName
from apportion.render.json import portable
from apportion.verbs.audit import audit as notes
from apportion.verbs.report import read_filters
from apportion.web.api.asked import PERIOD, WHERE, Admin, Filter, Reading, about
from apportion.web.api.paging import Parted, invalid
from apportion.web.viewer import Deed

router = APIRouter(tags=["ledger"])
WHAT = Query(description="only such deeds: run, delivery, policy, login, ...")


@router.get("/postings", **about(Deed.read))
def postings(
    ask: Reading, part: Parted, period: Annotated[str, PERIOD] = "", where: Annotated[list[Filter] | None, WHERE] = None
) -> Listed[Posting]:
    """The owners' side of the ledger, newest first: of the months that are asked for, of all unless some are."""
    del where  # the Ask reads it, within what the viewer may see
    if part.after is not None and (not isinstance(part.after, int) or not 0 <= part.after < 2**62):
        raise invalid()
    months = tuple(map(str, ask.months)) if period else tuple(sorted(ask.known_months))
    teams = None if ask.viewer.teams is None else tuple(sorted(ask.viewer.teams))
    sought = Sought(months, teams, read_filters(ask.filters))
    rows = ask.project.books.browse.page(sought, part.after, part.limit + 1).select(list(Posting.model_fields))
    return part.cut([Posting(**portable(row)) for row in rows.to_pylist()], lambda one: one.seq)


@router.get("/books/runs", **about(Deed.admin))
def runs_of_the_books(ask: Admin, part: Parted) -> Listed[LedgerRun]:
    """Every plan, correction, credit, reclass and close that was posted, oldest first."""
    names = LedgerRun.model_fields
    made = [LedgerRun(**{name: getattr(run, name) for name in names}) for run in ask.project.books.runs()]
    return part.of(made, lambda run: run.seq)


@router.get("/audit", **about(Deed.admin))
def audit(ask: Admin, part: Parted, what: Annotated[list[OptionalName] | None, WHAT] = None) -> Listed[Note]:
    """Who changed the books, when, what and why, oldest first."""
    made = [Note(number=number, **asdict(note)) for number, note in enumerate(notes(ask.project), 1)]
    return part.of((note for note in made if not what or note.what in what), lambda note: note.number)
