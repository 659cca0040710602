"""The daily round: read all sources, plan every open month, post where that is allowed, look around, tell people.

One at a time for a project, on whatever machine. Whatever it has done stays, and what is done is not done again: a round that was killed is completed by
the next, and a round over unchanged inputs changes nothing.
"""

import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from datetime import date

from apportion import __version__
from apportion.books.failures import spoken
from apportion.books.rounds import FINE, INTERRUPTED, NOTHING, Round
from apportion.books.shapes import Damage
from apportion.engine.plan import RULES
from apportion.errors import ApportionError, BooksError, InvariantError
from apportion.model.times import instant_text
from apportion.verbs import logs, periods
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent
from apportion.verbs.syncing.posting import post_months
from apportion.verbs.syncing.reading import read_sources
from apportion.verbs.syncing.telling import look_around, tell_people
from apportion.verbs.syncing.under_way import Did, UnderWay
from apportion.verbs.traces import span

LOCK = "sync"
NAP_S = 0.2


def sync(project: Project, wait_s: int = 0, today: date | None = None, step: Step = silent) -> Round:
    """`wait_s` is how long to wait for another round to end; after that it is refused."""
    with alone(project, wait_s), span("sync", {"apportion.project": project.settings.name}) as told:
        before = project.books.rounds.last()
        at = UnderWay(project, project.books.rounds.begin(), step)
        told.say({"apportion.round": at.round.number})
        logs.event("round begins", round=at.round.number)
        try:
            go_round(at, before.seen if before else "", today or periods.today())
        except BaseException:
            project.books.rounds.end(at.round, INTERRUPTED)
            raise
        made = project.books.rounds.end(at.round, at.status, seen(project, today) if at.status == FINE else "")
        if made.status != FINE:
            told.fail(made.status)
        logs.event("round ends", round=made.number, status=made.status, changed=made.changed)
        return made


def go_round(at: UnderWay, known: str, today: date) -> None:
    settings = at.project.settings.sync
    if settings.verify:
        at.do("verify", "", lambda: verified(at.project))
    owed = read_sources(at)
    is_new = at.status != FINE or seen(at.project, today) != known
    if is_new:
        post_months(at, owed)
    else:
        at.do("plan", "", lambda: Did("nothing moved since the last round", outcome=NOTHING))
    if is_new and settings.advise:
        look_around(at, today)
    if settings.notify:
        tell_people(at, today)


def verified(project: Project) -> Did:
    """The whole record against itself, before anything is added to it."""
    found = project.books.verify()
    if found:
        raise InvariantError("the record", "as it was written", words(found[0], len(found)))
    return Did("every posting and file is as it was recorded")


def words(first: Damage, count: int) -> str:
    return f"{count} findings, the first at {first.where}: {first.message}"


def seen(project: Project, today: date | None) -> str:
    """Another whenever a round could come to something else: what is recorded, the rules, the settings, the program, and the day."""
    try:
        policy = project.policy.version
    except ApportionError:
        return ""  # nobody can tell
    stands = [
        project.books.state(),
        policy,
        dict(project.settings.engine),
        asdict(project.settings.sync),
        __version__,
        RULES,
    ]
    day = str(today or periods.today())
    return hashlib.sha256(json.dumps([*stands, day], sort_keys=True, default=str).encode()).hexdigest()


@contextmanager
def alone(project: Project, wait_s: int) -> Iterator[None]:
    """The lock goes with its process: one that was killed holds up nobody."""
    until = time.monotonic() + wait_s
    while True:
        with spoken(), project.books.locks.attempt(LOCK) as mine:
            if mine:
                yield
                return
        if time.monotonic() >= until:
            raise busy(project.books.rounds.last())
        time.sleep(NAP_S)


def busy(last: Round | None) -> BooksError:
    who = ""
    if last is not None and not last.ended_s:
        who = f" since {instant_text(last.began_s)}: process {last.process} on {last.host}, started by {last.who}"
    hint = "let it end; --wait 600 waits ten minutes for it, and `apportion sync --last` shows how far it is"
    return BooksError("round-running", f"another round is running{who}", hint=hint)
