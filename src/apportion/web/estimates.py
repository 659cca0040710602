"""The estimate of the running month as a viewer may see it, computed once however many ask, and again only when data arrived."""

from collections.abc import Hashable
from dataclasses import replace
from hashlib import sha256

from apportion.books.shapes import PLAN
from apportion.reports.live import Estimate, SourceReach, narrowed
from apportion.verbs.live import live
from apportion.verbs.periods import today
from apportion.verbs.report import read_filters
from apportion.verbs.world import pins_of
from apportion.web.ask import Ask
from apportion.web.desk import Desk
from apportion.web.viewer import Deed


def evidence(desk: Desk) -> Hashable:
    """All that an estimate depends on: the evidence, the rules, what was planned, and the day."""

    def read() -> Hashable:
        project = desk.project
        plans = tuple(run.run_id for run in project.books.runs(PLAN))
        return tuple(sorted(pins_of(project).snapshots.items())), project.policy.version, plans

    return desk.kept("what estimates rest on", read), today()


def whole_estimate(desk: Desk) -> Estimate:
    day = today()
    return desk.lasting(("live", evidence(desk)), lambda: live(desk.project, day))


def estimate(ask: Ask) -> Estimate:
    """Of the viewer's own teams, and of what the URL's filters leave."""
    made = whole_estimate(ask.desk)
    if ask.viewer.teams is not None:
        made = narrowed(made, {"team": sorted(ask.viewer.teams)})
    if not ask.viewer.may(Deed.whole):
        made = replace(made, sources=(SourceReach("all sources", made.complete_to),))
    return narrowed(made, read_filters(ask.filters))


def state(ask: Ask) -> str:
    """Tells of nothing but that something is new."""
    teams = ask.viewer.teams
    said = (evidence(ask.desk), None if teams is None else sorted(teams), ask.filters)
    return sha256(repr(said).encode()).hexdigest()[:20]
