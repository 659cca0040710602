"""A month's attributed cost pushed to Datadog as custom costs: once, however often it is pushed; and gauges of the running month.

Each item carries the key of its project and month and the digest of the push that it belongs to, so that what is there tells itself what is old,
doubled or missing. New files come first, then the others of the month go: what broke off in between is completed by the next push.
"""

import hashlib
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from apportion.errors import ApportionError, InputError
from apportion.model.times import Period
from apportion.render.datadog.gauges import Gauge, gauges
from apportion.render.datadog.items import KEY, PART, PERIOD, PROJECT, PUSH, Costs, Item, costs, fitting, marked
from apportion.reports.flat import flat
from apportion.verbs.datadog_calls import Calls, File, calling, provider_of
from apportion.verbs.live import live
from apportion.verbs.periods import as_period, today
from apportion.verbs.project import Project
from apportion.verbs.steps import Step, silent

AT_ONCE = 5000  # items of one file
SERIES = 1000  # gauges of one request: well below what Datadog takes
NEAR = timedelta(days=62)  # days of a month may lie outside it, but not so far


@dataclass(frozen=True, slots=True)
class Push:
    """A month as it is to be at Datadog, in parts by their names."""

    project: str
    period: Period
    provider: str
    costs: Costs
    parts: Mapping[str, tuple[Item, ...]]

    @property
    def key(self) -> str:
        """Of all pushes of a project's month."""
        return hashlib.sha256(f"{self.project}\n{self.period}".encode()).hexdigest()[:32]

    @property
    def marks(self) -> Mapping[str, str]:
        return {PROJECT: fitting(self.project), PERIOD: str(self.period), KEY: self.key, PUSH: self.costs.sha256}

    def is_near(self, file: File) -> bool:
        first, last = self.period.first_day - NEAR, self.period.last_day + NEAR
        return (file.last is None or file.last >= first) and (file.first is None or file.first <= last)


@dataclass(frozen=True, slots=True)
class Pushed:
    """`added` and `removed` count files at Datadog: both 0 where the very same was there. With `dry_run` nothing was asked or done."""

    push: Push
    added: int = 0
    removed: int = 0
    dry_run: bool = False

    @property
    def again(self) -> bool:
        return not (self.added or self.removed or self.dry_run)


@dataclass(frozen=True, slots=True)
class Held:
    """A file that Datadog holds of this project and month: of which push, and which part of it."""

    file: str
    push: str
    part: str


def export_datadog(
    project: Project, period: Period | str, *, dry_run: bool = False, today: date | None = None, step: Step = silent
) -> Pushed:
    """`today` is that of UTC, in which Datadog counts days. The same content twice changes nothing there."""
    push = push_of(project, as_period(period), today or datetime.now(UTC).date())
    if dry_run:
        return Pushed(push, dry_run=True)
    with calling(project) as calls:
        done = replaced(calls, push, step)
    project.books.note_once("export", f"Datadog costs of {push.period}, sha256 {push.costs.sha256}")
    return done


def push_of(project: Project, period: Period, until: date) -> Push:
    provider = provider_of(project)
    made = costs(flat(project.books.posted(str(period))), provider, until)
    starts = range(0, len(made.items), AT_ONCE)
    parts = {f"{n}-of-{len(starts)}": made.items[start : start + AT_ONCE] for n, start in enumerate(starts, 1)}
    return Push(project.settings.name, period, provider, made, parts)


def replaced(calls: Calls, push: Push, step: Step) -> Pushed:
    """What is missing is added; then everything else of the month goes, a part that came twice among it."""
    before = held(calls, push)
    there = {one.part for one in before if one.push == push.costs.sha256}
    added = uploaded(calls, push, [part for part in push.parts if part not in there], step)
    kept: dict[str, str] = {}
    extra = []
    for one in held(calls, push) if added else before:
        if one.push == push.costs.sha256 and one.part in push.parts and one.part not in kept:
            kept[one.part] = one.file
        else:
            extra.append(one.file)
    if missing := push.parts.keys() - kept.keys() - added.keys():
        raise InputError(
            "bad-response", f"{calls.host} took part {min(missing)} and does not list it", hint="push again later"
        )
    for n, file in enumerate(extra):
        step("removing what was there before", n, len(extra))
        removed(calls, push, file)
    return Pushed(push, len(added), len(extra))


def held(calls: Calls, push: Push) -> list[Held]:
    """By the marks of their items; files of other projects, months and people are nobody's business here."""
    found = []
    for file in calls.files(push.provider):
        tags = calls.tags(file.id) if push.is_near(file) else {}
        if tags.get(KEY) == push.key:
            found.append(Held(file.id, tags.get(PUSH, ""), tags.get(PART, "")))
    return found


def uploaded(calls: Calls, push: Push, parts: list[str], step: Step) -> dict[str, str]:
    """Ids by parts. Where one fails, those that came before it are taken back, so that the month is as it was."""
    made: dict[str, str] = {}
    for n, part in enumerate(parts):
        step("pushing items", n, len(parts))
        try:
            made[part] = calls.upload(marked(push.parts[part], {**push.marks, PART: part}))
        except ApportionError:
            take_back(calls, made.values())
            raise
    return made


def take_back(calls: Calls, files: Iterable[str]) -> None:
    """As far as it goes: what stays is completed or removed by the next push."""
    for file in files:
        with suppress(ApportionError):
            calls.delete(file)


def removed(calls: Calls, push: Push, file: str) -> None:
    try:
        calls.delete(file)
    except ApportionError as error:
        hint = f"what was pushed before of {push.period} is there beside the new until it is pushed again"
        raise InputError(error.code, error.message, where=error.where, hint=hint) from error


def push_gauges(project: Project, day: date | None = None, step: Step = silent) -> tuple[Gauge, ...]:
    """The running month as it stands now; Datadog takes points of the last hour alone."""
    made = gauges(live(project, day or today(), step), project.settings.name)
    with calling(project) as calls:
        for start in range(0, len(made), SERIES):
            step("pushing gauges", start, len(made))
            calls.submit(made[start : start + SERIES], int(time.time()))
    return made
