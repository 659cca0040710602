"""The estimate of the running month as a viewer may see it, computed once however many ask, and again only when data arrived."""

from collections.abc import Hashable
from dataclasses import replace
from hashlib import sha256

import pyarrow.compute as pc

from apportion.books.shapes import PLAN
from apportion.errors import ApportionError
from apportion.model.times import parse_period
from apportion.reports.anomaly.found import Anomaly
from apportion.reports.live import Estimate, SourceReach, narrowed
from apportion.verbs.anomalies import anomalies_beside, with_words
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


def anomalies(ask: Ask) -> list[Anomaly]:
    """Of teams that the viewer may see, and of pools that charge them. What was credited or corrected counts too: they are kept by where the books stand."""
    desk, day = ask.desk, today()
    found = desk.kept("anomalies", lambda: anomalies_beside(desk.project, running(desk), desk.held_in))
    own = [one if ask.viewer.teams is None else seen(one) for one in found if sees(ask, one)]
    return with_words(own, desk.books.acknowledgements.all(), day)


def running(desk: Desk) -> Estimate | None:
    try:
        return whole_estimate(desk)
    except ApportionError:
        return None  # without usage there is no running month


def sees(ask: Ask, one: Anomaly) -> bool:
    """A pool's price and idle name no team, and are for those who are charged for it."""
    if not one.is_of_pool or ask.viewer.teams is None:
        return ask.viewer.teams is None or ask.viewer.sees(one.owner)
    return one.owner in ask.desk.kept(("own pools", ask.viewer.teams), lambda: own_pools(ask))


def seen(one: Anomaly) -> Anomaly:
    """What all teams of a pool pay together is for those who see all teams."""
    return one.without_money() if one.is_of_pool else one


def own_pools(ask: Ask) -> frozenset[str]:
    months = [parse_period(month) for month in sorted(ask.known_months)[-2:]]
    return frozenset(pc.unique(ask.record(ask.project, months).posted["pool"]).to_pylist()) if months else frozenset()


def state(ask: Ask) -> str:
    """Tells of nothing but that something is new."""
    teams = ask.viewer.teams
    said = (evidence(ask.desk), None if teams is None else sorted(teams), ask.filters)
    return sha256(repr(said).encode()).hexdigest()[:20]
