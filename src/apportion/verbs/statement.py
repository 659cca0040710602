"""What each owner owes for a month, and why: as it was issued when the month was closed, or a draft while it is open."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from apportion.books.shapes import Closed, Document
from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.render.listing import Listing
from apportion.render.statement.listing import statement_list
from apportion.reports.statement.build import statements as built
from apportion.reports.statement.facts import Facts
from apportion.reports.statement.shape import LEVELS, Statement, from_json, to_json
from apportion.reports.statement.told import StatementValue, valued
from apportion.verbs.agreement import policy_of_version
from apportion.verbs.asked import nothing_posted, posted_month
from apportion.verbs.preview import Upcoming, upcoming
from apportion.verbs.project import Project
from apportion.verbs.report import end_of
from apportion.verbs.settings import nearest
from apportion.verbs.stating.gather import gather
from apportion.verbs.stating.shelf import shelf_of
from apportion.verbs.steps import Step, silent

BILLED = "team"  # the level whose statements are invoices


@dataclass(frozen=True, slots=True)
class Wanted:
    """Statements of all owners at a level, or of one; `as_of` is a day: as the books stood at its end."""

    period: Period | str | None = None
    level: str = BILLED
    owner: str = ""
    as_of: str = ""


Gathering = Callable[[Project, Period, int | None], Facts]
EVERY = Wanted()


def statements(
    project: Project, wanted: Wanted = EVERY, step: Step = silent, gathering: Gathering | None = None
) -> Listing[Statement]:
    """What each owner owes for a month, what changed, and why: as it was issued where the month is closed, else a draft.

    `gathering`: the facts of an open month in another way, such as kept from before.
    """
    period = posted_month(project, wanted.period)
    wanted = replace(wanted, period=period)
    if wanted.level not in LEVELS:
        raise ProjectError(
            "unknown-level", f"there is no level {wanted.level!r}", hint=nearest(wanted.level, LEVELS, "levels")
        )
    until_s = end_of(project, wanted.as_of) if wanted.as_of else None
    closed = project.books.closed(str(period))
    if closed is not None and closed.documents and (until_s is None or closed.closed_s <= until_s):
        found = issued(project, closed, wanted)
        return Listing(found, lambda: statement_list(found))
    facts = gathering(project, period, until_s) if gathering else facts_of(project, period, until_s, step)
    made = drafts(facts, wanted)
    return Listing(made, lambda: statement_list(made))


def told_statements(project: Project, wanted: Wanted = EVERY, step: Step = silent) -> Listing[StatementValue]:
    """What each owner owes for a month, what changed, and why: as it was issued where the month is closed, else a draft.

    A value has the fields of docs/reference/statement.md; every amount is a Decimal in the currency's own units.
    """
    found = statements(project, wanted, step)
    return Listing(map(valued, found), found.sheet)


def issued(project: Project, closed: Closed, wanted: Wanted) -> list[Statement]:
    """Word for word; the day of issue is that of the close, which is no part of what was said."""
    texts = project.books.statements(closed.period, wanted.level, wanted.owner)
    if not texts:
        names = {one.owner for one in closed.documents if one.level == wanted.level}
        raise unknown(wanted, closed.period, names)
    zone = ZoneInfo(policy_of_version(project, closed.policy_version).time_zone)
    day = datetime.fromtimestamp(closed.closed_s, zone).date().isoformat()
    return [replace(from_json(text), issued=day) for text in texts]


def facts_of(project: Project, period: Period, until_s: int | None, step: Step = silent) -> Facts:
    shelf = shelf_of(project, until_s)
    month = shelf.month(period)
    if month is None:
        raise nothing_posted(project, [period], until_s)
    return gather(shelf, month, step, upcoming(project, period) if until_s is None else None)


def drafts(facts: Facts, wanted: Wanted) -> list[Statement]:
    found = list(built(facts.only(wanted.level, wanted.owner) if wanted.owner else facts, wanted.level))
    if not found:
        raise unknown(wanted, str(wanted.period), {one.owner for one in built(facts, wanted.level)})
    return found


def unknown(wanted: Wanted, period: str, names: set[str]) -> ProjectError:
    level = wanted.level.replace("_", " ")
    if not wanted.owner:
        return ProjectError(
            "unknown-owner",
            f"no {level} has a statement of {period}: the month names none, or every amount is less than one minor unit",
            hint="name it in the policy, ask for another level, or look at `apportion report showback`",
        )
    return ProjectError(
        "unknown-owner",
        f"there is no {level} {wanted.owner!r} in {period}",
        hint=nearest(wanted.owner, sorted(names), f"{level}s"),
    )


def documents(
    project: Project, period: Period, step: Step = silent, beside: Upcoming | None = None
) -> tuple[Document, ...]:
    """Everything that is issued when a month is closed: each level's statements, and the next numbers for those who are charged.

    `beside`: rules to come, which they tell of.
    """
    shelf = shelf_of(project)
    month = shelf.month(period)
    if month is None:
        return ()
    facts = gather(shelf, month, step, beside)
    step(f"writing the statements of {period}", 0, 0)
    return tuple(numbered(facts, month.policy, period, project.books.last_number()))


def numbered(facts: Facts, policy: Policy, period: Period, last: int) -> Iterator[Document]:
    for level in LEVELS:
        for made in built(facts, level):
            number, label = 0, ""
            if level == BILLED and made.mode == "chargeback":
                number = last = last + 1
                label = policy.statements.numbered(number, period)
            text = to_json(replace(made, number=label))
            yield Document(level, made.owner, made.currency, number, label, made.charged, text)
