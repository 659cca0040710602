"""Statements as somebody may read them, for pages and API alike: those of their own teams, and no name in them that they may not see."""

from dataclasses import replace

from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.reports.statement.facts import Facts
from apportion.reports.statement.shape import Move, Statement
from apportion.verbs.asked import posted_month
from apportion.verbs.project import Project
from apportion.verbs.statement import BILLED, Wanted, facts_of, statements
from apportion.web.ask import Ask, NotThereError

TEAM_WISE = ("team", "project")  # levels that lie within a team: whoever sees the team may read them


def seen_statements(ask: Ask, wanted: Wanted) -> list[Statement]:
    """None where no owner of that level is named. Of whoever sees some teams only, no other level is there."""
    if ask.viewer.teams is not None and wanted.level not in TEAM_WISE:
        raise NotThereError("such level")
    own = [one for one in every_statement(ask, replace(wanted, owner="")) if is_theirs(ask, one)]
    return [discreet(ask, one) for one in own if wanted.owner in ("", one.owner)]


def is_theirs(ask: Ask, made: Statement) -> bool:
    return ask.viewer.sees(made.owner) if made.level == BILLED else ask.sees_owner(made.owner)


def discreet(ask: Ask, made: Statement) -> Statement:
    """Who is on the other side of a deal is said as `/adjustments` says it."""
    told = (replace(one, other=ask.called(one.other) if one.other else "") for one in made.adjustments)
    moves = tuple(moved(ask, one) for one in made.moves or ())
    return replace(made, adjustments=tuple(told), moves=moves or None)


def moved(ask: Ask, one: Move) -> Move:
    """Why another team has it, or had it, is for those to know who see that team, as in `explain`."""
    other = ask.called(one.other) if one.other else ""
    return replace(one, other=other, why=one.why if other == one.other else "")


def every_statement(ask: Ask, wanted: Wanted) -> list[Statement]:
    """What they are made of is kept for all levels of a month."""
    month = posted_month(ask.project, wanted.period)

    def gathered(project: Project, period: Period, until_s: int | None) -> Facts:
        key = ("statement facts", str(period), wanted.as_of)
        return ask.desk.kept(key, lambda: facts_of(project, period, until_s))

    def made() -> list[Statement]:
        try:
            return list(statements(ask.project, wanted, gathering=gathered))
        except ProjectError as error:
            if error.code == "unknown-owner":
                return []
            raise

    return ask.desk.kept(("statements", str(month), wanted.level, wanted.as_of), made)
