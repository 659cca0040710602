"""Sets parts of quotas aside for jobs before they run, and settles them when they have: pending, then posted, void or expired.

Whether there is enough is decided in the transaction that keeps it, on what was counted from the data as it still stands: however many ask at once,
no hard quota is promised twice.
"""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from fractions import Fraction

from apportion.books.pledges import ENDS, EXPIRE, POST, RESERVE, VOID, Entry, Pledge
from apportion.errors import ApportionError, BooksError, ProjectError
from apportion.model.money import GRAIN, plain, to_decimal
from apportion.model.result import Result
from apportion.reports.fit import MONEY, Fit, Need, amount
from apportion.reports.quotas import figure
from apportion.verbs.asked import refuse_unknown, today_of
from apportion.verbs.counting import window
from apportion.verbs.fit import ANYWHERE, Where, needed
from apportion.verbs.pledged import POSTED, Job, now_of, pledged
from apportion.verbs.project import Project
from apportion.verbs.standing import counted_now
from apportion.verbs.steps import Step, silent

TRIES = 5
SPAN = re.compile(r"([1-9][0-9]{0,4})([smhd])")
BY_WORD, BY_DATA = "as stated", "as usage says"
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}


@dataclass(frozen=True, slots=True)
class Wish:
    """So much `of` something (see `needed`) for a job, by its id or its run's as its scheduler writes it. `cost` is money that is expected beside it.

    `expires` is how long it is held at most, such as `24h`; for ever unless given.
    """

    team: str
    amount: str
    job: str
    of: str = "gpu"
    where: Where = ANYWHERE
    cost: str = ""
    expires: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Reserved(Result):
    """`pledges` are those of the job; none where it does not fit, and then nothing was kept. `made`: they are new."""

    pledges: tuple[Pledge, ...]
    fits: tuple[Fit, ...]
    made: bool

    @property
    def sentence(self) -> str:
        return next((one for one in self.fits if not one.fits), self.fits[0]).sentence


def reserve(
    project: Project, wish: Wish, today: date | None = None, now_s: int | None = None, step: Step = silent
) -> Reserved:
    """Set a part of a quota aside for a job. The same again changes nothing; another amount for the same job is refused until the first is void."""
    refuse_unknown(project, wish.team)
    needs = [needed(project, wish.amount, wish.of, wish.where)]
    needs += [needed(project, wish.cost, MONEY, wish.where)] if wish.cost else []
    refuse_nothing(needs, wish)
    span = span_of(wish.expires)
    for attempt in range(TRIES):
        asking = Asking(project, wish, tuple(needs), span, today or today_of(project), now_s or int(time.time()))
        try:
            return asking.settle(step)
        except BooksError as error:
            if error.code != "inputs-moved" or attempt == TRIES - 1:
                raise
    raise AssertionError


@dataclass(slots=True)
class Asking:
    project: Project
    wish: Wish
    needs: tuple[Need, ...]
    span_s: int
    today: date
    now_s: int
    fits: tuple[Fit, ...] = ()
    made: bool = False

    def settle(self, step: Step) -> Reserved:
        found, ground = counted_now(self.project, self.today, step)
        mine = [one for one in found if one.limit.is_of(self.wish.team)]
        now = now_of(self.project, self.project.books.pledges.all(), self.now_s, [(self.wish.team, self.wish.job)])

        def decide(known: Sequence[Pledge]) -> list[Entry]:
            self.fits, self.made = (), False
            there = {one.begun.what: one for one in of_job(known, self.wish.job, self.now_s)}
            ends = [ending(one, EXPIRE, Decimal(0)) for one in known if one.is_expired(self.now_s)]
            placed = tuple(pledged(mine, known, now, self.today))
            self.fits = tuple(Fit(self.wish.team, need, self.today, placed) for need in self.needs)
            new = [self.entry(need) for need in self.needs if need.of not in there]
            for need in self.needs:
                refuse_other(there.get(need.of), self.entry(need), self.wish.job)
            asked = [one for one in self.fits if one.need.of not in there]
            self.made = bool(new) and all(one.fits for one in asked)
            return [*ends, *new] if self.made else ends

        known = self.project.books.pledges.add(decide, ground, self.now_s)
        pledges = tuple(of_job(known, self.wish.job, self.now_s))
        return Reserved(pledges if len(pledges) == len(self.needs) else (), self.fits, self.made)

    def entry(self, need: Need) -> Entry:
        token = self.project.books.names.token(need.user)
        until = self.now_s + self.span_s if self.span_s else 0
        return Entry(
            RESERVE,
            kept(need.amount),
            team=self.wish.team,
            project=need.project,
            user=token,
            what=need.of,
            pool=need.pool,
            unit=need.unit,
            job=self.wish.job,
            until_s=until,
        )


def of_job(known: Iterable[Pledge], job: str, now_s: int) -> list[Pledge]:
    """Those that hold something for it, or have."""
    mine = (one for one in known if one.begun.kind == RESERVE and one.begun.job == job)
    return [one for one in mine if one.status == POSTED or (one.is_open and not one.is_expired(now_s))]


def refuse_nothing(needs: Sequence[Need], wish: Wish) -> None:
    if not wish.job.strip():
        raise ProjectError("no-job", "a reservation is for a job", hint="name it: --for JOB")
    if any(not need.amount for need in needs):
        raise ProjectError("invalid-amount", "nothing is not reserved", hint="write more than 0, such as 512")


def refuse_other(there: Pledge | None, wanted: Entry, job: str) -> None:
    """The same job has one reservation of a thing: a retry finds it, and a change is said first."""
    same = ("amount", "team", "project", "user", "pool")
    if there and any(getattr(there.begun, name) != getattr(wanted, name) for name in same):
        known = f"{amount(Fraction(there.begun.amount), there.begun.unit, up=True)} of {there.begun.owner}"
        raise ProjectError(
            "reservation-differs",
            f"reservation {there.number} holds {known} for {job}, which is something else",
            hint=f"apportion quota void {there.number}, then reserve again",
        )


def span_of(text: str) -> int:
    found = SPAN.fullmatch(text)
    if text and not found:
        raise ProjectError("invalid-span", f"{text!r} is not a time to wait", hint="write it as 30m, 24h or 7d")
    return int(found[1]) * SECONDS[found[2]] if found else 0


def kept(number: Fraction) -> Decimal:
    """To the last grain, up: what is set aside is never less than what is needed."""
    return Decimal(plain(to_decimal(-(-number.numerator * GRAIN // number.denominator))))


def post_reservation(project: Project, number: int, actual: str = "") -> Pledge:
    """Say what the job came to: as stated, else as the data says. It counts until usage of the job comes, and then that does."""
    known = project.books.pledges.all()
    begun = numbered(known, number, RESERVE).begun
    stated = needed(project, actual, begun.what).amount if actual else None
    job = now_of(project, known).job_of(numbered(known, number, RESERVE))
    if stated is None and job is None and numbered(known, number, RESERVE).is_open:
        raise ProjectError(
            "nothing-known",
            f"nothing is known yet of job {begun.job}",
            hint="ingest its usage, or state what it came to: --actual AMOUNT",
        )

    def amount_of(one: Pledge) -> Fraction:
        return stated if stated is not None else came_to(one, job) if job else Fraction(one.ended)

    return ended(project, number, POST, amount_of, BY_WORD if actual else BY_DATA)


def void_reservation(project: Project, number: int, why: str = "") -> Pledge:
    """Give a reservation back. The job does not run: what was set aside is free again."""
    return ended(project, number, VOID, lambda _: Fraction(0), why)


def settle_reservations(project: Project, now_s: int | None = None) -> list[Pledge]:
    """After data came: posts those of jobs that are over with what they came to, and ends those whose time is over. Those that it ended."""
    before = [one for one in project.books.pledges.all() if one.is_open and one.begun.kind == RESERVE]
    try:
        now = now_of(project, before, now_s) if before else None
    except ApportionError:
        now = None  # while the policy cannot be read, nobody knows whose a job is
    if now is None:
        return []

    def decide(known: Sequence[Pledge]) -> list[Entry]:
        held = [one for one in known if one.is_open and one.begun.kind == RESERVE]
        over = {one.number: job for one in held if (job := now.job_of(one)) and job.is_over}
        late = [one for one in held if one.is_expired(now.second) and one.number not in over]
        return [
            *(ending(one, POST, kept(came_to(one, over[one.number])), BY_DATA) for one in held if one.number in over),
            *(ending(one, EXPIRE, Decimal(0)) for one in late),
        ]

    numbers = {one.number for one in before}
    return [
        one for one in project.books.pledges.add(decide, at_s=now.second) if one.number in numbers and not one.is_open
    ]


def end_said(one: Pledge) -> str:
    """`Reservation 3 of vision for job 4711 is posted: 12 of 20 GPU-hours.`"""
    begun = one.begun
    size = f"{figure(Fraction(one.ended))} of {figure(Fraction(begun.amount))} {begun.unit}"
    return f"Reservation {one.number} of {begun.owner} for {begun.job} is {one.status}: {size}."


def ended_since(project: Project, second: int) -> list[str]:
    """Reservations that are over since then, in sentences."""
    known = [one for one in project.books.pledges.all() if one.begun.kind == RESERVE and not one.is_open]
    return [end_said(one) for one in known if one.ended_s >= second]


def came_to(one: Pledge, job: Job) -> Fraction:
    """Hours as they were held. What money came to is for the bill to say: until then it is what was expected."""
    return job.used.get(one.begun.what, Fraction(0)) if one.begun.what != MONEY else Fraction(one.begun.amount)


def ended(project: Project, number: int, kind: str, amount_of: Callable[[Pledge], Fraction], why: str = "") -> Pledge:
    """The same end again changes nothing."""

    def decide(known: Sequence[Pledge]) -> list[Entry]:
        one = numbered(known, number, RESERVE)
        entry = ending(one, kind, kept(amount_of(one)) if one.is_open else one.ended, why)
        if not one.is_open and one.status != ENDS[kind]:
            raise ProjectError(
                "pledge-ended", f"reservation {number} is {one.status} already", hint="apportion quota pledges"
            )
        return [entry] if one.is_open else []

    return numbered(project.books.pledges.add(decide), number, RESERVE)


def ending(one: Pledge, kind: str, amount: Decimal, why: str = "") -> Entry:
    return Entry(kind, amount, about=one.number, why=why)


def numbered(known: Iterable[Pledge], number: int, kind: str) -> Pledge:
    found = next((one for one in known if one.number == number and one.begun.kind == kind), None)
    if found is None:
        what = "reservation" if kind == RESERVE else "loan"
        raise ProjectError("unknown-pledge", f"there is no {what} {number}", hint="apportion quota pledges")
    return found


def all_pledges(project: Project, team: str = "", *, every: bool = False) -> list[Pledge]:
    """What is reserved and lent now, or ever was; of a team what it reserved, lent or borrowed."""
    if team:
        refuse_unknown(project, team)
    day, now_s = today_of(project), int(time.time())
    found = [one for one in project.books.pledges.all() if every or stands(one, day, now_s)]
    return [one for one in found if team in ("", one.begun.team, one.begun.other.partition("/")[0])]


def stands(one: Pledge, today: date, now_s: int) -> bool:
    """Whether it still counts: a reservation until it expires, a loan until its window is over."""
    first = one.begun.first
    over = bool(first) and window(one.begun.per, date.fromisoformat(first))[1] < today
    return one.is_open and not one.is_expired(now_s) and not over
