"""`/api/v1/teams`, `/projects`, `/users` and `/pools`: who is charged, how much, and of what it is made."""

import pyarrow as pa
import pyarrow.compute as pc
from fastapi import APIRouter

from apportion.client.shapes import Amount, Breakdown, Listed, Owner, Team
from apportion.model.rows import SYSTEM_OWNERS
from apportion.web.api.asked import FILTERED, Named, Reading, about
from apportion.web.api.figures import broken_down, by_name, posted
from apportion.web.api.paging import Part, Parted
from apportion.web.ask import Ask, NotThereError
from apportion.web.viewer import Deed

router = APIRouter(tags=["figures"], dependencies=[FILTERED])


@router.get("/teams", **about(Deed.read))
def teams(ask: Reading, part: Parted) -> Listed[Team]:
    """The teams that you may see, with what is posted for them."""
    sums = {name: found for (name,), found in by_name(posted(ask), ["team"]).items()}
    declared = {name for name in ask.project.policy.teams if ask.viewer.sees(name)}
    found = part.of({*sums, *declared}, str)
    return Listed(items=[as_team(ask, name, sums.get(name, [])) for name in found.items], next=found.next)


def as_team(ask: Ask, name: str, amounts: list[Amount]) -> Team:
    known = ask.project.policy.teams.get(name)
    return Team(
        name=name,
        department=known.department if known else "",
        cost_centre=known.cost_centre if known else "",
        mode=known.mode if known else "",
        amounts=amounts,
    )


@router.get("/teams/{team:path}", **about(Deed.read))
def team(ask: Reading, team: Named) -> Breakdown:
    """What is posted for a team, by project, user, pool, component, reason and day."""
    ask.require_team(team)
    rows = of(posted(ask), team=team)
    if not len(rows) and (team in ask.project.policy.teams):
        return Breakdown(name=team, team=team, period=ask.period, amounts=[], by={})
    return broken_down(ask, rows, team, team=team)


@router.get("/projects", **about(Deed.read))
def projects(ask: Reading, part: Parted) -> Listed[Owner]:
    """The projects of the teams that you may see."""
    return owners(part, by_name(posted(ask), ["team", "project"]))


@router.get("/projects/{team}/{project:path}", **about(Deed.read))
def project(ask: Reading, team: Named, project: Named) -> Breakdown:
    """What is posted for a project, by user, pool, component, reason and day."""
    ask.require_team(team)
    return broken_down(ask, of(posted(ask), team=team, project=project), project, ["project"], team)


@router.get("/users", **about(Deed.read))
def users(ask: Reading, part: Parted) -> Listed[Owner]:
    """The users of the teams that you may see, once for each team that they work for."""
    return owners(part, by_name(posted(ask), ["team", "user"]))


@router.get("/users/{user:path}", **about(Deed.read))
def user(ask: Reading, user: Named) -> Breakdown:
    """What is posted for a user, as far as it is of teams that you may see."""
    return broken_down(ask, of(posted(ask), user=user), user, ["user"])


@router.get("/pools", **about(Deed.read))
def pools(ask: Reading, part: Parted) -> Listed[Owner]:
    """The pools that the teams you may see are charged from."""
    return owners(part, by_name(posted(ask), ["pool"]))


@router.get("/pools/{pool:path}", **about(Deed.read))
def pool(ask: Reading, pool: Named) -> Breakdown:
    """What the teams that you may see are charged from a pool."""
    return broken_down(ask, of(posted(ask), pool=pool), pool, ["pool"])


def owners(part: Part, sums: dict[tuple[str, ...], list[Amount]]) -> Listed[Owner]:
    made = [Owner(name=key[-1], team=key[0] if len(key) > 1 else "", amounts=amounts) for key, amounts in sums.items()]
    return part.of(made, lambda one: [one.team, one.name])


def of(rows: pa.Table, **names: str) -> pa.Table:
    """A name that is empty, or the system's own, is nobody's."""
    for column, name in names.items():
        if not name or name in SYSTEM_OWNERS:
            raise NotThereError("such name")
        rows = rows.filter(pc.equal(rows[column], name))
    return rows
