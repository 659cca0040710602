"""What a task does: a request in, an answer of small JSON values out. Knows nothing of Airflow, and also runs as a program of its own (`elsewhere`).

A request may be worked on again after a failure, from its beginning: every verb here changes nothing the second time.
"""

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from apportion.errors import ApportionError, InvariantError
from apportion.integrations.airflow.intervals import days_ended, months_ended, months_touched
from apportion.model.times import Interval, Period, parse_periods

FEW = 10  # days that a sensor names
Tell = Callable[[str], object]
Answer = dict[str, Any]

# What may pass by itself: a server that is away, books that somebody else writes in, a bill that is still being written, a disk.
PASSING = frozenset(
    {
        "unreachable", "too-slow", "rate-limited", "half-response", "object-changed", "command-failed", "spark-not-started",
        "books-busy", "database-failed", "warehouse-failed", "nothing-posted", "manifest-part-missing", "manifest-missing", "system",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Request:
    """`interval` is the run's, in UTC seconds; `period` names months instead. `environment` are variables that only the work sees, such as passwords."""

    verb: str
    project: str | None = None
    interval: tuple[int, int] | None = None
    period: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)


def answer(request: Request, tell: Tell) -> Answer:
    """`done` with what the verb says, `skip` with why there was nothing to do, or `error` with whether it may pass."""
    logging.getLogger("pyiceberg").setLevel(logging.WARNING)  # it tells of every file that it opens
    try:
        with surrounded(request.environment):
            return VERBS[request.verb](Task(request, tell))
    except ApportionError as error:
        return {"error": str(error), "passing": error.code in PASSING}
    except InvariantError as error:
        return {"error": f"error[integrity-broken]: {error}\n  hint: run `apportion verify`", "passing": False}
    except OSError as error:
        return {"error": f"error[system]: {error}", "passing": True}


@contextmanager
def surrounded(environment: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


class Task:
    """A request with its project open. Verbs are imported when they are asked for: a DAG is read much more often than it runs."""

    def __init__(self, request: Request, tell: Tell) -> None:
        from apportion.verbs.project import open_project

        self.request, self.options, self.tell = request, request.options, tell
        self.project = open_project(request.project or None)
        self.said = ""

    def step(self, what: str, done: int, total: int) -> None:
        """Progress, once for each step."""
        del done, total
        if what != self.said:
            self.said = what
            self.tell(what)

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.project.policy.time_zone)

    @property
    def interval(self) -> Interval:
        if self.request.interval is None:
            raise ValueError("a request without months needs an interval")
        return Interval(*self.request.interval)

    @property
    def named(self) -> list[Period]:
        """The months that were asked for by name; last-month is the one before the run's, whenever it runs."""
        if not self.request.period:
            return []
        end = self.request.interval[1] - 1 if self.request.interval else None
        today = datetime.fromtimestamp(end, self.zone) if end is not None else datetime.now(UTC)
        return parse_periods(self.request.period, today.date())

    @property
    def touched(self) -> list[Period]:
        """The months named, else those of the interval of which the books have something to share."""
        if self.named:
            return self.named
        from apportion.verbs.world import known_periods, pins_of

        known = known_periods(self.project, pins_of(self.project))
        return [month for month in months_touched(self.interval, self.zone) if str(month) in known]

    @property
    def ended(self) -> list[Period]:
        return self.named or months_ended(self.interval, self.zone)

    @property
    def span(self) -> str:
        """The interval, for reading."""
        moments = (datetime.fromtimestamp(second, self.zone) for second in (self.interval.start_s, self.interval.end_s))
        start, end = (f"{moment:%Y-%m-%d %H:%M}" for moment in moments)
        return f"from {start} to {end} ({self.zone})"


def ingest(task: Task) -> Answer:
    """What is due, or the months named. Needs no interval: the books know what they have."""
    from apportion.verbs.ingest import ingest as read

    done = read(task.project, task.options.get("sources", ()), task.named, task.step)
    sources = [
        {
            "source": one.source,
            "deliveries": one.deliveries,
            "new": one.changed,
            "rows": sum(one.rows.values()),
            "quarantined": one.quarantined,
            "problems": len(one.problems),
        }
        for one in done
    ]
    return {"done": {"sources": sources}}


def plan(task: Task) -> Answer:
    from apportion.verbs.plan import plan as compute

    made = [compute(task.project, month, None, task.step) for month in task.touched]
    months = [
        {
            "period": one.period,
            "policy": one.policy,
            "pending": one.pending,
            "tally": one.tally,
            "digest": one.digest,
            "problems": len(one.problems),
        }
        for one in made
    ]
    return {"done": {"months": months}} if months else nothing_billed(task)


def apply(task: Task) -> Answer:
    """Codes that are accepted are so in every month that has them above the bound, as those of `[sync]` are."""
    from apportion.verbs.accept import accept_planned
    from apportion.verbs.apply import apply as post

    accept, why = tuple(task.options.get("accept", ())), task.options.get("why", "")
    for month in task.touched if accept else ():
        accept_planned(task.project, month, (accept, why))
    done = [post(task.project, month, None, task.step) for month in task.touched]
    months = [
        {
            "period": one.period,
            "booked": one.booked,
            "posted": one.posted,
            "entries": one.entries,
            "digest": one.digest,
            "head": one.head,
        }
        for one in done
    ]
    return {"done": {"months": months}} if months else nothing_billed(task)


def nothing_billed(task: Task) -> Answer:
    return {"skip": f"no month has a bill {task.span}, and there is no price list to charge by"}


def close(task: Task) -> Answer:
    """A month that may not be closed yet may be later: its checks wait for days of grace, for bills and for people."""
    from apportion.verbs.close import close as shut

    months = []
    for month in task.ended:
        done = shut(task.project, month, task.options.get("override", ""), task.step)
        if done.closed is None:
            told = "\n".join(f"  {look.name}: {look.text}; {look.fix}" for look in done.against)
            return {"error": f"{month} is not closed:\n{told}", "passing": True}
        months.append({"period": done.period, "again": done.again, "head": done.closed.head})
    return {"done": {"months": months}} if months else no_month_ended(task)


def statement(task: Task) -> Answer:
    """Files are written whole, under the same names each time."""
    from apportion.render.statement.batch import render_all
    from apportion.verbs.statement import Wanted, statements

    form, to = task.options["form"], Path(task.project.folder, task.options["to"])
    months = []
    for month in task.ended:
        folder = to / str(month)
        made = statements(
            task.project, Wanted(month, task.options["level"], task.options.get("owner", "")), step=task.step
        )
        files = render_all(made, form, folder, task.step)
        final = task.project.books.closed(str(month)) is not None
        months.append({"period": str(month), "folder": str(folder), "files": len(files), "final": final})
    return {"done": {"months": months}} if months else no_month_ended(task)


def no_month_ended(task: Task) -> Answer:
    return {"skip": f"no month ends {task.span}"}


def complete(task: Task) -> Answer:
    """Days of the interval, or of the months named, that some source has not delivered all of."""
    from apportion.verbs.incomplete import undelivered_days

    days = [day for month in task.named for day in days_ended(month.interval(task.zone), task.zone)]
    days = days or days_ended(task.interval, task.zone)
    missing = {}
    for month in sorted({Period(day.year, day.month) for day in days}):
        found = undelivered_days(task.project, month, task.options.get("sources", ()))
        missing.update({str(day): list(found[day]) for day in days if day in found})
    few = dict(list(missing.items())[:FEW])
    return {"done": {"days": len(days), "complete": len(days) - len(missing), "missing": few}}


VERBS: Mapping[str, Callable[[Task], Answer]] = {
    "ingest": ingest,
    "plan": plan,
    "apply": apply,
    "close": close,
    "statement": statement,
    "complete": complete,
}


def main() -> None:
    """As a program: the request on stdin, the answer on stdout, progress on stderr."""
    wish = json.load(sys.stdin)
    found = answer(Request(**wish), lambda text: print(text, file=sys.stderr, flush=True))  # noqa: T201  # its two streams
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
