"""Anomalies as somebody may see and acknowledge them, for pages and API alike."""

from collections.abc import Sequence

import pyarrow.compute as pc

from apportion.errors import ApportionError
from apportion.model.times import parse_period
from apportion.reports.anomaly.found import Anomaly
from apportion.reports.live import Estimate
from apportion.verbs.anomalies import acknowledge, anomalies_beside, is_running, with_words
from apportion.verbs.periods import today
from apportion.web.ask import Ask, NotThereError
from apportion.web.desk import Desk
from apportion.web.estimates import whole_estimate
from apportion.web.viewer import Deed


def anomalies(ask: Ask) -> list[Anomaly]:
    """Of teams that the viewer may see, and of pools that charge them. What was credited or corrected counts too: they are kept by where the books stand."""
    desk, day = ask.desk, today()
    found = desk.kept("anomalies", lambda: anomalies_beside(desk.project, running(desk), desk.held_in))
    own = [one if ask.viewer.teams is None else seen(one) for one in found if sees(ask, one)]
    return with_words(own, desk.books.acknowledgements.all(), day)


def running(desk: Desk) -> Estimate | None:
    try:
        return whole_estimate(desk) if is_running(desk.project, today()) else None
    except ApportionError:
        return None  # without usage there is none


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


def may_acknowledge(ask: Ask, one: Anomaly) -> bool:
    return ask.viewer.may(Deed.dispute) and (not one.is_of_pool or ask.viewer.teams is None)


def find(found: Sequence[Anomaly], name: str) -> Anomaly:
    """What is not theirs and what does not exist look the same."""
    for one in found:
        if one.id == name:
            return one
    raise NotThereError("such anomaly")


def acknowledge_as(ask: Ask, name: str, why: str, until: str) -> Anomaly:
    found = anomalies(ask)
    one = find(found, name)
    if not may_acknowledge(ask, one):
        raise NotThereError("such anomaly")
    return acknowledge(ask.project, [one], name, (why, until), today())
