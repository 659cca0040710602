"""Telling people by the channels of apportion.toml: mail, Slack, Microsoft Teams and signed webhooks.

At least once and in order for each channel; at most so many an hour, and what is over goes out together in one digest. What fails is tried again as
webhooks are.
"""

import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from apportion.books.channels import WITH, Wish
from apportion.books.failures import spoken
from apportion.books.hooks import CHANNEL, EVENTS, GIVEN_UP, Telling
from apportion.errors import ProjectError
from apportion.render.notify.message import NAMES, Templates
from apportion.reports.words import counted
from apportion.verbs import hooks
from apportion.verbs.hooks import MOST_TRIES, Told, allows_private, wait_s
from apportion.verbs.notifying.send import Sender
from apportion.verbs.notifying.settings import SECRETS, Channel
from apportion.verbs.project import Project
from apportion.verbs.settings import FILE, nearest
from apportion.verbs.soundness import BAD, GOOD, NOTE, CheckLine

LOCK = "notify"
HOUR_S, WEEK_S = 3600, 7 * 86_400
TOGETHER = 50  # messages in one digest; what is more is for the next
OWN_TEMPLATES = Path("templates") / "notify"
TEST = "notify.test"
ROWS = ("channel", "kind", "to", "events", "teams", "per_hour", "waiting", "last")


def deliver(project: Project, now_s: int | None = None) -> list[Told]:
    """Send all that is due, to webhooks and to channels."""
    now = int(time.time()) if now_s is None else now_s
    told = hooks.deliver(project, now_s)
    if not project.settings.notify:
        return told
    enrol(project)
    with spoken(), project.books.locks.attempt(LOCK) as mine:
        return [*told, *delivered(project, now)] if mine else told


def enrol(project: Project) -> None:
    """What happens from now on is told to the channels as they are in the settings."""
    channels = project.settings.notify
    check_teams(project, channels)
    project.books.channels.enrol(
        [Wish(outlet.id, channel.events, outlet.teams) for channel in channels for outlet in channel.outlets]
    )


def check_teams(project: Project, channels: Sequence[Channel]) -> None:
    named = [(team, one) for one in channels for outlet in one.outlets for team in sorted(outlet.teams or ())]
    known = {*project.policy.teams, *project.books.teams()} if named else set()
    for team, channel in named:
        if team not in known:
            raise ProjectError(
                "unknown-team",
                f"channel {channel.name} is for a team {team!r}, which neither the policy nor the books know",
                where=channel.stanza.where,
                hint=nearest(team, sorted(known), "teams"),
            )


def templates_of(project: Project) -> Templates:
    """Ours, and the project's own beside them; each is tried on an example."""
    own = {}
    folder = project.folder / OWN_TEMPLATES
    for file in sorted(folder.iterdir()) if folder.is_dir() else ():
        if file.name not in NAMES:
            hint = nearest(file.name, NAMES)
            raise ProjectError("template-wrong", f"no event has a template {file.name!r}", where=str(file), hint=hint)
        try:
            own[file.name] = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ProjectError("template-wrong", f"{file} cannot be read: {error}", where=str(file)) from error
    made = Templates(project.settings.name, project.settings.web.address, own)
    made.check()
    return made


def delivered(project: Project, now_s: int) -> Iterator[Told]:
    minute = minute_of(project, now_s)
    for sender in senders(project, [one for one in project.settings.notify if not one.is_quiet(minute)]):
        yield from in_turn(project, sender, now_s)


def senders(project: Project, channels: Sequence[Channel]) -> list[Sender]:
    templates, private = templates_of(project), allows_private(project)
    return [Sender(one, outlet, templates, private) for one in channels for outlet in one.outlets]


def minute_of(project: Project, now_s: int) -> int:
    """Of the day, in the policy's time zone."""
    now = datetime.fromtimestamp(now_s, ZoneInfo(project.policy.time_zone))
    return now.hour * 60 + now.minute


def in_turn(project: Project, sender: Sender, now_s: int) -> Iterator[Told]:
    """Until one fails: what comes after it waits."""
    channels, name = project.books.channels, sender.outlet.id
    waiting = channels.waiting(name, TOGETHER + sender.channel.per_hour)
    if not waiting or waiting[0].due_s > now_s:
        return
    room = sender.channel.per_hour - channels.sent(name, now_s - HOUR_S)
    for some in batches(waiting, room):
        told = sender.send(some)
        note_answer(project, some, told, now_s)
        yield told
        if not told.is_told:
            return


def batches(waiting: Sequence[Telling], room: int) -> list[Sequence[Telling]]:
    """One by one while there is room for them in this hour, and the rest together as its last message."""
    if room <= 0:
        return []
    if len(waiting) <= room:
        return [[one] for one in waiting]
    alone = room - 1
    return [*([one] for one in waiting[:alone]), waiting[alone : alone + TOGETHER]]


def note_answer(project: Project, some: Sequence[Telling], told: Told, now_s: int) -> None:
    channels, first = project.books.channels, some[0]
    if told.is_told:
        rest = [(one.seq, f"{WITH}{first.seq}: {told.answer}") for one in some[1:]]
        channels.mark([(first.seq, told.answer), *rest], done_s=now_s)
        return
    lost = [one.seq for one in some if one.tries + 1 >= MOST_TRIES]
    again = [one.seq for one in some if one.seq not in lost]
    channels.mark([(seq, GIVEN_UP + told.answer) for seq in lost], done_s=now_s)
    channels.mark([(seq, told.answer) for seq in again], due_s=now_s + wait_s(first.tries))


def try_channels(project: Project, name: str = "") -> list[Told]:
    """Send a message that tells of nothing, now, by one channel or by all; it counts for no hour. That it was sent is noted, whatever came of it."""
    channels = [one for one in project.settings.notify if name in ("", one.name)]
    if not channels:
        known = [one.name for one in project.settings.notify]
        said = f"{FILE} has no channel {name!r}" if name else f"{FILE} has no channel yet"
        hint = nearest(name, known, "channels") if known else "add a [[notify]] stanza"
        raise ProjectError("unknown-channel", said, where=str(project.folder / FILE), hint=hint)
    check_teams(project, channels)
    found = []
    for sender in senders(project, channels):
        body = f'{{"event": "{TEST}", "link": "/"}}'
        told = sender.send([Telling(0, sender.outlet.id, TEST, "", body, 0, 0, 0, 0, "")])
        project.books.channels.tried(sender.outlet.id, told.answer)
        found.append(told)
    return found


def channel_rows(project: Project) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """For listings: where a secret is, never what it is. `last` is what the last message came to."""
    told: dict[str, list[Telling]] = {}
    for one in project.books.hooks.tellings():
        told.setdefault(one.hook, []).append(one)
    rows = []
    for channel in project.settings.notify:
        for outlet in channel.outlets:
            mine = told.get(outlet.id, [])
            tried = [one for one in mine if one.tries]
            to = ", ".join(outlet.to) or channel.stanza.text("url")
            teams = "all" if outlet.teams is None else ", ".join(sorted(outlet.teams))
            waiting = str(sum(one.state == "waiting" for one in mine))
            last = f"{tried[-1].event} {tried[-1].about}: {tried[-1].answer}" if tried else ""
            events = "all" if channel.events == EVENTS else ", ".join(channel.events)
            name = outlet.id.removeprefix(CHANNEL)
            rows.append((name, channel.kind, to, events, teams, str(channel.per_hour), waiting, last))
    return ROWS, tuple(rows)


def telling_findings(project: Project, now_s: int | None = None) -> Iterator[CheckLine]:
    """Whether those who are to be told can be, and were: channels and webhooks."""
    channels = project.settings.notify
    if channels:
        check_teams(project, channels)
        templates_of(project)
    for channel in channels:
        for key in SECRETS:
            channel.secret(key)  # refuses where there is none
    failing = list(failures(project, int(time.time()) if now_s is None else now_s))
    yield from failing
    if channels and not failing:
        yield CheckLine(
            GOOD, "notify", f"{counted(len(channels), 'channel')}: {', '.join(one.name for one in channels)}"
        )


def failures(project: Project, now_s: int) -> Iterator[CheckLine]:
    live = {hook.id for hook in project.books.hooks.told()}
    for name in sorted(live):
        told = project.books.hooks.tellings(name)
        what = f"notify {name.removeprefix(CHANNEL)}" if name.startswith(CHANNEL) else f"webhook {name}"
        again = [one for one in told if one.state == "waiting" and one.tries]
        lost = [one for one in told if one.state == "given up" and one.done_s > now_s - WEEK_S]
        test = "apportion notify test" if name.startswith(CHANNEL) else f"apportion webhooks test {name}"
        if again:
            waiting = sum(one.state == "waiting" for one in told)
            text = f"{counted(waiting, 'message waits', 'messages wait')}; tried {counted(again[0].tries, 'time')}: {again[0].answer}"
            yield CheckLine(NOTE, what, text, test)
        if lost:
            text = f"{counted(len(lost), 'message was', 'messages were')} given up in the last 7 days: {lost[-1].answer.removeprefix(GIVEN_UP)}"
            yield CheckLine(BAD, what, text, test)
