"""Reads and computes the newest month before anybody asks: after the start, and whenever something was posted. Beside the requests, never in their way."""

import logging
from collections.abc import Hashable

from apportion.books.doors import Person
from apportion.model.times import parse_period
from apportion.verbs.pools import pools_by
from apportion.verbs.report import posted_periods
from apportion.web.ask import Ask
from apportion.web.beside import Job
from apportion.web.desk import Desk
from apportion.web.pages.overview import overview
from apportion.web.pages.teams import all_moved
from apportion.web.viewer import Role, viewer_of
from apportion.web.work import costly_runs, known_names

LOOK_S = 20
EVERYBODY = viewer_of(Person("", Role.finance, None, "server"))  # nobody sees more


def once(desk: Desk, seen: Hashable) -> str:
    """The newest posted month, where the ledger moved since: what most pages show first, what few ask for last."""
    head = desk.books.head()
    months = sorted(posted_periods(desk.project)) if head != seen else ()
    if months:
        ask = Ask(desk, EVERYBODY, query={"period": months[-1:]})
        overview(ask)
        all_moved(ask)
        costly_runs(ask)
        known_names(ask)
        with desk.bench.alone():
            pools_by(desk.means, desk.project, parse_period(months[-1]))
    return head


WARMING = Job(
    "warming", LOOK_S, once, at_once=True, level=logging.INFO
)  # what fails here is told to whoever asks for it
