"""Webhooks: who is told of what, and the telling. At least once, in order for each hook, signed; what fails is tried again, ever more slowly."""

import hashlib
import hmac
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from apportion.books.failures import spoken
from apportion.books.hooks import EVENTS, GIVEN_UP, Hook, News, Telling
from apportion.errors import ApportionError, ProjectError
from apportion.model.times import instant_text
from apportion.sources.outside.post import address_of, check_url, post
from apportion.verbs.project import Project
from apportion.verbs.settings import nearest

SIGNATURE, EVENT, DELIVERY = "Apportion-Signature", "Apportion-Event", "Apportion-Delivery"
LOCK = "webhooks"
FIRST_WAIT_S, LONGEST_WAIT_S, MOST_TRIES = 30, 6 * 3600, 20  # about three days
AT_ONCE = 100  # messages to one hook in one go


@dataclass(frozen=True, slots=True)
class Told:
    """`answer` is the status, or the sentence that says why there is none."""

    hook: str
    event: str
    about: str
    answer: str
    is_told: bool


def add_hook(project: Project, url: str, events: Iterable[str] = (), teams: Iterable[str] = ()) -> tuple[Hook, str]:
    """Tell a server of closes, quotas and anomalies: all events and all teams unless some are named. With its secret, which is shown once."""
    wanted, own = list(dict.fromkeys(events)) or list(EVENTS), frozenset(teams)
    for event in wanted:
        if event not in EVENTS:
            raise ProjectError("unknown-event", f"nothing is told of {event!r}", hint=nearest(event, EVENTS, "events"))
    for team in sorted(own):
        if team not in project.policy.teams:
            raise ProjectError(
                "unknown-team", f"the policy names no team {team!r}", hint=nearest(team, project.policy.teams, "teams")
            )
    address_of(check_url(url), allow_private=allows_private(project))
    return project.books.hooks.add(url, wanted, own or None)


def try_hook(project: Project, name: str) -> Told:
    """Send a webhook a message that tells of nothing, now. That it was sent is noted, whatever came of it."""
    hook = project.books.hooks.find(name)
    now_s = int(time.time())
    body = News("webhook.test", f"{name} {instant_text(now_s)}", {}).for_hook(hook, now_s)
    message = Telling(0, name, "webhook.test", "", body, now_s, now_s, 0, 0, "")
    told = send(project, hook, message)
    project.books.hooks.tried(name, told.answer)
    return told


def deliver(project: Project, now_s: int | None = None) -> list[Told]:
    """All that is due, one process at a time: whoever finds another at it has nothing to do."""
    with spoken(), project.books.locks.attempt(LOCK) as mine:
        return list(delivered(project, int(time.time()) if now_s is None else now_s)) if mine else []


def delivered(project: Project, now_s: int) -> Iterator[Told]:
    for hook in project.books.hooks.all():
        if hook.is_live and hook.has_secret:
            yield from in_order(project, hook, now_s)


def in_order(project: Project, hook: Hook, now_s: int) -> Iterator[Told]:
    """Until one fails: what comes after it waits."""
    hooks = project.books.hooks
    for _ in range(AT_ONCE):
        message = hooks.next_for(hook.id)
        if message is None or message.due_s > now_s:
            return
        told = send(project, hook, message)
        if told.is_told:
            hooks.mark(message.seq, told.answer)
        elif message.tries + 1 >= MOST_TRIES:
            hooks.mark(message.seq, GIVEN_UP + told.answer)
        else:
            hooks.mark(message.seq, told.answer, due_s=now_s + wait_s(message.tries))
        yield told
        if not told.is_told:
            return


def wait_s(tries: int) -> int:
    return min(FIRST_WAIT_S << tries, LONGEST_WAIT_S)


def send(project: Project, hook: Hook, message: Telling) -> Told:
    body = message.body.encode()
    headers = {
        SIGNATURE: signature(project.books.hooks.secret_of(hook.id), body, int(time.time())),
        EVENT: message.event,
        DELIVERY: str(message.seq),
    }
    try:
        answer, good = post(hook.url, body, headers, allow_private=allows_private(project)), True
    except ApportionError as error:
        answer, good = error.message, False
    return Told(hook.id, message.event, message.about, answer, good)


def signature(secret: str, body: bytes, at_s: int) -> str:
    """`t=1794823200,v1=...`: HMAC-SHA256 of the time, a point and the body. The time keeps an old message from being sent again by somebody else."""
    digest = hmac.new(secret.encode(), f"{at_s}.".encode() + body, hashlib.sha256).hexdigest()
    return f"t={at_s},v1={digest}"


def allows_private(project: Project) -> bool:
    return bool(project.settings.webhooks.get("allow_private"))


ROWS = ("id", "to", "events", "teams", "by", "since", "state", "waiting", "last")


def hook_rows(project: Project) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """For listings: nothing that is secret. `last` is what the last message came to."""
    told: dict[str, list[Telling]] = {}
    for one in project.books.hooks.tellings():
        told.setdefault(one.hook, []).append(one)
    return ROWS, tuple(hook_row(hook, told.get(hook.id, [])) for hook in project.books.hooks.all())


def hook_row(hook: Hook, told: Sequence[Telling]) -> tuple[str, ...]:
    teams = "all" if hook.teams is None else ", ".join(sorted(hook.teams))
    state = "ended" if not hook.is_live else "live" if hook.has_secret else "needs a new secret"
    open_ones = str(sum(one.state == "waiting" for one in told)) if hook.is_live else ""
    tried = [one for one in told if one.tries]
    last = f"{tried[-1].event} {tried[-1].about}: {tried[-1].answer}" if tried else ""
    since = instant_text(hook.made_s)
    return hook.id, hook.place, ", ".join(hook.events), teams, hook.who, since, state, open_ones, last
