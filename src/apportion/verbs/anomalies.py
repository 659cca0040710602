"""What is not as usual, of teams and pools, in what is posted and in what is estimated of the running month. What is known is acknowledged, with a reason."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date

from apportion.books.acknowledged import About, Acknowledgement
from apportion.errors import ApportionError, ProjectError
from apportion.render.listing import Listing
from apportion.render.sheet import report_sheet
from apportion.reports.anomaly.found import Acknowledged, Anomaly
from apportion.reports.anomaly.report import anomaly_report
from apportion.reports.live import Estimate
from apportion.verbs.held import Holding, held_in
from apportion.verbs.live import live, newest
from apportion.verbs.noticing.failed import failures
from apportion.verbs.noticing.known import known
from apportion.verbs.noticing.pools import pools
from apportion.verbs.noticing.teams import teams
from apportion.verbs.periods import today as this_day
from apportion.verbs.project import Project
from apportion.verbs.report import posted_periods
from apportion.verbs.settings import nearest
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import pins_of


def anomalies(project: Project, today: date | None = None, step: Step = silent) -> Listing[Anomaly]:
    """What is not as usual: spending, prices, idle, failures, the cost of an hour.

    Of the newest month that has something to show, estimated or posted; with who acknowledged them.
    """
    today = today or this_day()
    found = anomalies_beside(project, running(project, today, step))
    told = with_words(found, project.books.acknowledgements.all(), today)
    return Listing(told, lambda: report_sheet(anomaly_report(told)))


def running(project: Project, today: date, step: Step = silent) -> Estimate | None:
    """None where no month runs, or it cannot be estimated."""
    try:
        return live(project, today, step) if is_running(project, today) else None
    except ApportionError:
        return None


def is_running(project: Project, today: date) -> bool:
    """The month of the newest usage is not posted yet."""
    return str(newest(project, pins_of(project), today)) not in posted_periods(project)


def anomalies_beside(project: Project, running: Estimate | None, held: Holding = held_in) -> list[Anomaly]:
    """Whatever anybody said of them."""
    seen = known(project, running, held)
    return [] if seen is None else [*teams(seen), *pools(seen), *failures(seen)]


def with_words(found: Sequence[Anomaly], said: Sequence[Acknowledgement], today: date) -> list[Anomaly]:
    """Each by the name that it was acknowledged by; whether that still holds is another question."""
    made = []
    for one in found:
        own = [word for word in said if word.about.is_same(about_of(one))]
        if own:
            holds = own[-1].about.holds_on(today)
            words = Acknowledged(own[-1].who, own[-1].why, own[-1].at_s, own[-1].about.until)
            one = replace(one, known_as=own[0].about.id, acknowledged=words if holds else None, told_again=not holds)  # noqa: PLW2901
        made.append(one)
    return made


def about_of(one: Anomaly, until: str = "") -> About:
    return About(one.id, one.kind, one.owner, one.currency, str(one.began), until)


def acknowledge(project: Project, found: Sequence[Anomaly], name: str, words: tuple[str, str], today: date) -> Anomaly:
    """Acknowledge an anomaly, so that nothing more is told of it.

    Of those `found`, the one called `name`; `words` are why, and until which day it is not told, "" for as long as it lasts.
    """
    why, until = (word.strip() for word in words)
    if not why:
        raise ProjectError(
            "no-reason", "an anomaly is acknowledged with a reason", hint='say it: --why "the new model"'
        )
    one = find(found, name)
    said = project.books.acknowledgements.add(about_of(one, day_of(until, today)), why, today)
    return with_words([one], [said], today)[0]


def find(found: Sequence[Anomaly], name: str) -> Anomaly:
    for one in found:
        if one.id == name:
            return one
    ids = [one.id for one in found]
    raise ProjectError(
        "unknown-anomaly", f"nothing is found that is called {name!r}", hint=nearest(name, ids, "anomalies")
    )


def day_of(text: str, today: date) -> str:
    """A day to come."""
    if not text:
        return ""
    try:
        day = date.fromisoformat(text)
    except ValueError:
        raise ProjectError("invalid-day", f"{text!r} is no day", hint="write it as 2026-12-31") from None
    if day < today:
        raise ProjectError("invalid-day", f"{text} is over", hint=f"give a day from {today} on, or none")
    return str(day)
