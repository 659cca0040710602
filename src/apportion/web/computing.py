"""What pages ask of a month that is computed again: kept as all answers are, and cut to what the viewer may see before it is."""

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import pyarrow.compute as pc

from apportion.errors import ProjectError
from apportion.reports.estimate import Estimate
from apportion.reports.report import Report
from apportion.verbs.efficiency import efficiency
from apportion.verbs.estimate import Seen, estimate_by
from apportion.verbs.estimating.asked import Asked
from apportion.verbs.explain import Explanation, explain_by
from apportion.verbs.explaining.seen import seen_by, visible
from apportion.verbs.ground import Means
from apportion.verbs.periods import today
from apportion.verbs.pools import pool_by, pools_by
from apportion.verbs.prices import Wish, prices_by
from apportion.web.ask import Ask, NotThereError
from apportion.web.work import full_name

Found = TypeVar("Found")


def at_bench(ask: Ask, name: tuple[object, ...], find: Callable[[Means], Found]) -> Found:
    """One at a time: the answer is of the month that was asked for."""

    def make() -> Found:
        with ask.desk.bench.alone():
            return find(ask.desk.means)

    return ask.desk.kept(("bench", str(ask.month), ask.viewer.teams, *name), make)


def seen_pools(ask: Ask) -> frozenset[str] | None:
    """Those that the viewer's teams were charged from; None is all of them."""
    if ask.viewer.teams is None:
        return None
    posted = ask.record(ask.project, [ask.month]).posted
    return frozenset(pc.unique(posted["pool"]).to_pylist()) - {""}


def all_pools(ask: Ask) -> Report:
    only = seen_pools(ask)
    return at_bench(ask, ("pools",), lambda means: pools_by(means, ask.project, ask.month, only))


def one_pool(ask: Ask, name: str, by: str) -> Report:
    require_pool(ask, name)
    return at_bench(ask, ("pool", name, by), lambda means: pool_by(means, ask.project, name, ask.month, by))


def require_pool(ask: Ask, name: str) -> None:
    """Before anything is computed."""
    only = seen_pools(ask)
    if only is not None and name not in only:
        raise NotThereError("such pool")


def estimated(ask: Ask, asked: Asked) -> Estimate:
    """For a team that the viewer may see, from pools that theirs are charged from."""
    ask.require_team(asked.team)
    seen = Seen(ask.viewer.teams, seen_pools(ask))

    def make(means: Means) -> Estimate:
        return estimate_by(replace(means, read=ask.record), ask.project, asked, seen)

    return at_bench(ask, ("estimate", today(), asked), make)


def ahead(ask: Ask, wish: Wish) -> Report:
    """Of pools that the viewer's teams are charged from."""
    if wish.team:
        ask.require_team(wish.team)
    seen = Seen(ask.viewer.teams, seen_pools(ask))
    made = at_bench(ask, ("prices", today(), wish), lambda means: prices_by(means, ask.project, wish, seen))
    return made if ask.viewer.teams is None else replace(made, head="")


def efficient(ask: Ask) -> Report:
    """Of the viewer's teams."""
    key = ("efficiency", str(ask.month), ask.viewer.teams)
    return ask.desk.kept(key, lambda: efficiency(ask.project, ask.month, ask.record))


def explained(ask: Ask, what: str) -> Explanation:
    teams = ask.viewer.teams
    if teams is None:
        return at_bench(ask, ("explain", what), lambda means: explain_by(means, ask.project, what, ask.month))
    own = ask.record(ask.project, [ask.month])
    full = visible(ask.project, what, ask.month, own, teams)
    full = full or visible(ask.project, full_name(ask, what), ask.month, own, teams)
    if full is None:
        raise NotThereError("such figure")
    try:
        return at_bench(
            ask, ("explain", full), lambda means: seen_by(explain_by(means, ask.project, full, ask.month), teams)
        )
    except ProjectError as error:
        if error.code != "unknown-figure":
            raise
        raise NotThereError("such figure") from None  # its hint would name all teams
