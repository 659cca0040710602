"""`/api/v1/statements`: what each owner owes for a month, as it was issued, or a draft."""

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query

from apportion.client.record import StatementAnswer, StatementLine
from apportion.client.shapes import Listed
from apportion.client.texts import MONTH as MONTH_FORM
from apportion.client.texts import only
from apportion.model.money import plain
from apportion.model.times import parse_period
from apportion.reports.statement.shape import Statement, money
from apportion.reports.statement.told import told
from apportion.verbs.statement import Wanted
from apportion.web.api.asked import AS_OF, OF_MONTH, Named, Reading, about
from apportion.web.api.paging import Parted
from apportion.web.ask import NotThereError
from apportion.web.statements import seen_statements
from apportion.web.viewer import Deed

router = APIRouter(tags=["statements"])
Level = Literal["cost_centre", "department", "team", "project", "user"]
LEVEL = Query(description="whose statements; without all teams, only `team` and `project`")
MONTH = Path(examples=["2026-10"], description="a month", pattern=only(MONTH_FORM))


@router.get("/statements", dependencies=[OF_MONTH], **about(Deed.read))
def statements_of(ask: Reading, part: Parted, level: Annotated[Level, LEVEL] = "team") -> Listed[StatementLine]:
    """Everybody's statement of a month, as far as you may see them."""
    return part.of(map(line, seen_statements(ask, Wanted(ask.month, level))), lambda one: [one.owner, one.currency])


@router.get("/statements/{period}/{owner:path}", **about(Deed.read))
def statement(
    ask: Reading,
    period: Annotated[str, MONTH],
    owner: Named,
    level: Annotated[Level, LEVEL] = "team",
    as_of: Annotated[str, AS_OF] = "",
) -> StatementAnswer:
    """One owner's statement, in every currency that it has one in."""
    found = seen_statements(ask, Wanted(parse_period(period), level, owner, as_of))
    if not found or not owner:
        raise NotThereError("such statement")
    return StatementAnswer(period=period, level=level, owner=owner, statements=[told(one) for one in found])


def line(made: Statement) -> StatementLine:
    coming = made.preview.owed if made.preview else None
    return StatementLine(
        period=made.period,
        level=made.level,
        owner=made.owner,
        mode=made.mode,
        number=made.number,
        currency=made.currency,
        owed=plain(money(made.owed, made.digits)),
        charged=plain(money(made.charged, made.digits)),
        is_draft=made.is_draft,
        coming="" if coming is None else plain(money(coming, made.digits)),
    )
