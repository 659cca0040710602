"""`/metrics`: what Prometheus scrapes. Whoever sees some teams is told of those alone; without a token nobody is told anything, unless [web] says so."""

import threading
import time
from collections.abc import Hashable
from dataclasses import dataclass, field

from fastapi import APIRouter, Request, Response

from apportion import __version__
from apportion.books.moment import moment
from apportion.books.recent import Recent
from apportion.model.times import Period
from apportion.render.exposition import exposed
from apportion.reports.metrics.families import BUILD
from apportion.reports.metrics.family import Filled
from apportion.reports.report import Report
from apportion.verbs.asked import today_of
from apportion.verbs.estimate import Seen
from apportion.verbs.metrics import DAY, Figures, Looked, collected, in_order, moving
from apportion.verbs.periods import today
from apportion.verbs.pools import pools_by
from apportion.verbs.prices import Told, told_by
from apportion.verbs.standing import standing
from apportion.verbs.web_settings import ANYONE, LOOPBACK, is_loopback
from apportion.web.ask import Ask
from apportion.web.computing import at_bench, seen_pools
from apportion.web.door.entering import entered
from apportion.web.door.proxied import peer
from apportion.web.door.session import door_of, viewer_from
from apportion.web.estimates import estimate
from apportion.web.faults import METRICS as PATH
from apportion.web.forecasts import month_ends
from apportion.web.viewer import Deed, Role, Viewer

METRICS = APIRouter(include_in_schema=False)
HOUR_S = 3600  # prices are told by the hour
PATIENCE_S = 1.5  # a scrape should take no longer than two seconds
EYES = 64  # kinds of viewers whose figures are kept
SCRAPER = Viewer("", Role.finance, None, "metrics", frozenset({Deed.read, Deed.whole}))


@METRICS.get(PATH)
def metrics(request: Request) -> Response:
    ask = Ask(request.app.state.desk, scraper(request))
    scrapes: Scrapes = request.app.state.scrapes
    made = scrapes.get(ask)
    if is_whole(ask):
        made = in_order([*made, *moving(ask.project, looked(ask))])
    text, kind = exposed(made, request.headers.get("accept", ""))
    return Response(text, headers={"Content-Type": kind, "Vary": "Accept, Authorization, Cookie"})


def scraper(request: Request) -> Viewer:
    """A token that is brought counts alone, also where none is needed."""
    wanted = door_of(request).web.metrics
    open_to = wanted == ANYONE or (wanted == LOOPBACK and is_loopback(peer(request)))
    if open_to and "authorization" not in request.headers and viewer_from(request) is None:
        return SCRAPER
    return entered(request, Deed.read).viewer


def is_whole(ask: Ask) -> bool:
    return ask.viewer.teams is None and ask.viewer.may(Deed.whole)


def looked(ask: Ask) -> Looked | None:
    """By this process; another one may have looked since."""
    last = ask.desk.verifying.last
    return Looked(last.at_s, len(last.findings)) if last is not None and not last.failed else None


def figures(ask: Ask) -> Figures:
    """As pages get them: kept while nothing moved, and cut to what the viewer may see."""
    project = ask.project

    def pools(period: Period) -> Report:
        only = seen_pools(ask)
        return at_bench(ask, ("pools",), lambda means: pools_by(means, project, period, only))

    def prices() -> Told:
        seen = Seen(ask.viewer.teams, seen_pools(ask))
        return at_bench(ask, ("told", today()), lambda means: told_by(means, project, DAY, seen))

    return Figures(
        read=ask.record,
        estimate=lambda: estimate(ask),
        pools=pools,
        prices=prices,
        quotas=lambda: ask.desk.kept(("standing", hour()), lambda: standing(project)),
        ends=lambda period: month_ends(ask)(project, period, today_of(project)),
        sees=ask.viewer.sees,
        whole=is_whole(ask),
    )


def hour() -> int:
    return int(time.time()) // HOUR_S


@dataclass
class Making:
    """Of one kind of viewer: what was made last, of which state, and what is being made."""

    lock: threading.Lock = field(default_factory=threading.Lock)
    state: Hashable = None
    made: list[Filled] | None = None
    failed: Exception | None = None
    thread: threading.Thread | None = None


class Scrapes:
    """What takes longer than a scraper should wait is made beside it. Until then it gets what there was, which says when it was made.

    After a start there was nothing: it gets the release alone, and the figures with a later scrape.
    """

    def __init__(self) -> None:
        self._kept: Recent[Making] = Recent(EYES)

    def get(self, ask: Ask) -> list[Filled]:
        making = self._kept.get((ask.viewer.teams, is_whole(ask)), Making)
        state = ask.desk.state(), hour()
        with making.lock:
            if making.made is not None and making.state == state:
                return making.made
            if making.thread is None or not making.thread.is_alive():
                making.thread = threading.Thread(target=make, args=(making, ask), name="metrics", daemon=True)
                making.thread.start()
            thread = making.thread
        thread.join(PATIENCE_S)
        with making.lock:
            if making.failed is not None:
                raise making.failed
            return [Filled(BUILD, {(__version__,): 1})] if making.made is None else making.made


def make(making: Making, ask: Ask) -> None:
    with moment():
        state = ask.desk.state(), hour()
        try:
            made, failed = collected(ask.project, figures(ask), __version__), None
        except Exception as error:  # noqa: BLE001  # raised again where it was asked for
            made, failed = None, error
    with making.lock:
        making.failed = failed
        if made is not None:
            making.state, making.made = state, made
