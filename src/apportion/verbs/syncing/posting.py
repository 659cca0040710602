"""Every open month planned, and posted where that is allowed. A month whose figures are as they were leaves no trace."""

from dataclasses import dataclass

from apportion.books.rounds import NOTHING, SKIPPED
from apportion.errors import ApportionError, BooksError
from apportion.model.times import Period
from apportion.reports.words import counted
from apportion.verbs.accept import accept_always
from apportion.verbs.apply import apply
from apportion.verbs.difference import difference
from apportion.verbs.periods import as_period
from apportion.verbs.plan import Drawn, beside_record, draw, save
from apportion.verbs.project import Project
from apportion.verbs.syncing.reading import Owed, owing
from apportion.verbs.syncing.under_way import Did, UnderWay
from apportion.verbs.waiting import waiting
from apportion.verbs.world import known_periods, pins_of

NO_PLAN = (
    "no-policy-in-force",
    "nothing-to-plan",
)  # of a month before the first policy, or without a bill: nothing is wrong
MOVED = "inputs-moved"
TRIES = 3  # a push may come between a plan and its posting


@dataclass(slots=True)
class Month:
    """One that is being looked after; `drawn` is its plan where that would change what is posted."""

    period: Period
    drawn: Drawn | None = None


def open_months(project: Project) -> list[Period]:
    """All that have something to plan, from the first that rounds look after."""
    known = known_periods(project, pins_of(project)) - set(project.books.closed_periods())
    return [as_period(month) for month in sorted(known) if month >= project.settings.sync.since]


def post_months(at: UnderWay, owed: Owed) -> None:
    project, settings = at.project, at.project.settings.sync
    late: list[str] = []
    at.do("corrections", "", lambda: looked_for(at, late))
    for closed in late if settings.corrections else ():
        look_after(at, Month(as_period(closed)), owed)
    for period in open_months(project):
        look_after(at, Month(period), owed)


def looked_for(at: UnderWay, late: list[str]) -> Did:
    found = list(waiting(at.project, at.step))
    late += [one.period for one in found]
    if not found:
        return Did("none waits", outcome=NOTHING)
    if at.project.settings.sync.corrections:
        return Did(f"of {', '.join(late)}")
    one = found[0]
    more = f", and {counted(len(found) - 1, 'more')} such" if len(found) > 1 else ""
    return Did(f"{one.text}{more}; {one.fix()}, or set corrections = true under [sync]", outcome=SKIPPED)


def look_after(at: UnderWay, month: Month, owed: Owed) -> None:
    project, settings, name = at.project, at.project.settings.sync, str(month.period)
    if not at.do("plan", name, lambda: planned(at, month)) or month.drawn is None:
        return
    missing = [] if settings.apply_incomplete else owing(project, owed, month.period)
    if at.is_broken:
        at.skip(
            "apply",
            name,
            "the record is not what its inputs say: nothing is posted until `apportion verify` is content",
        )
    elif not settings.apply:
        at.skip("apply", name, f"[sync] does not say apply = true; by hand: apportion apply --period {name}")
    elif missing:
        at.skip("apply", name, f"{', '.join(missing)} failed and still owes something of {name}")
    else:
        at.do("apply", name, lambda: posted(at, month))


def planned(at: UnderWay, month: Month) -> Did:
    """Kept for `apply` where it would change something and was not kept before."""
    project, name = at.project, str(month.period)
    month.drawn = None
    try:
        drawn = draw(project, month.period, at.step)
    except ApportionError as error:
        if error.code in NO_PLAN:
            return Did(error.message, outcome=SKIPPED)
        raise
    made = drawn.computed.plan
    if not difference(drawn.postings, project.books.believed(name)).num_rows:
        return Did("posted as it is", outcome=NOTHING)
    month.drawn = drawn
    tally = beside_record(project, drawn.policy, made, drawn.head, drawn.postings).tally
    if is_kept(project, name, drawn):
        return Did(f"{tally} The plan waits, as before.", outcome=NOTHING)
    save(project, drawn)
    return Did(tally, 1)


def is_kept(project: Project, period: str, drawn: Drawn) -> bool:
    try:
        known = project.books.load_plan(period)
    except BooksError:  # damaged: made anew
        return False
    now = drawn.computed.plan.digest, drawn.head, dict(drawn.pins.snapshots), drawn.policy.version
    return known is not None and (known.digest, known.head, known.inputs, known.policy_version) == now


def posted(at: UnderWay, month: Month) -> Did:
    """Planned again where a push or another run came between."""
    for tries in reversed(range(TRIES)):
        if month.drawn is None:
            break
        try:
            return posted_once(at, month, month.drawn)
        except BooksError as error:
            if error.code != MOVED or not tries:
                raise
            planned(at, month)
    return Did("posted as it is", outcome=NOTHING)


def posted_once(at: UnderWay, month: Month, drawn: Drawn) -> Did:
    settings, made = at.project.settings.sync, drawn.computed.plan
    accept_always(at.project, drawn.policy, month.period, made.findings, (settings.accept, settings.why))
    done = apply(at.project, month.period, step=at.step, made=made)
    if not done.posted:
        return Did("posted already", outcome=NOTHING)
    booked = "" if done.booked == done.period else f" as a correction in {done.booked}"
    return Did(f"{counted(done.entries, 'entry', 'entries')} posted{booked}", done.entries)
