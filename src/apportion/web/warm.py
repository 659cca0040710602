"""Computes the newest month before anybody asks for it: after the start, and whenever something was posted. Beside the requests, never in their way."""

import logging
from collections.abc import Hashable

from apportion.model.times import parse_period
from apportion.verbs.pools import pools_by
from apportion.verbs.report import posted_periods
from apportion.web.beside import Job
from apportion.web.desk import Desk

LOOK_S = 20


def once(desk: Desk, seen: Hashable) -> str:
    """The newest posted month, where the ledger moved since."""
    head = desk.books.head()
    months = sorted(posted_periods(desk.project)) if head != seen else ()
    if months:
        with desk.bench.alone():
            pools_by(desk.means, desk.project, parse_period(months[-1]))
    return head


WARMING = Job(
    "warming", LOOK_S, once, at_once=True, level=logging.INFO
)  # what fails here is told to whoever asks for it
