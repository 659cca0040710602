"""Lends a part of a quota to another owner for one window, and takes it back. What one has more the other has less: their sum never changes."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fractions import Fraction

from apportion.books.pledges import LEND, RETURN, Entry, Ground, Pledge
from apportion.errors import BooksError, ProjectError
from apportion.model.times import Period
from apportion.policy.quotas import Quota, named
from apportion.reports.fit import MONEY, amount, left_of
from apportion.reports.quotas import Used
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import refuse_unknown, today_of
from apportion.verbs.counting import MONTHS, Window, limit_of, window
from apportion.verbs.fit import Where, needed
from apportion.verbs.periods import as_period
from apportion.verbs.pledged import Now, now_of, pledged
from apportion.verbs.project import Project
from apportion.verbs.reserve import TRIES, ending, kept, numbered
from apportion.verbs.standing import counted_now


@dataclass(frozen=True, slots=True)
class Loan:
    """`owner` and `other` are TEAM or TEAM/PROJECT; of a longer quota than a month it is for the quarter or year that the month lies in."""

    owner: str
    other: str
    amount: str
    period: str
    why: str
    of: str = "gpu"
    pool: str = ""
    approver: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of two owners' quotas in one window."""

    what: str
    pool: str
    per: str
    days: Window

    def is_of(self, quota: Quota) -> bool:
        return quota.what[:3] == (self.what, self.pool, self.per)


def lend(project: Project, loan: Loan, today: date | None = None) -> Pledge:
    """Lend a part of a quota to another team. Refused where the lender has not so much that is neither used nor reserved nor lent already."""
    refuse_unfit(project, loan)
    need = needed(project, loan.amount, loan.of, Where(loan.pool))
    if not need.amount:
        raise ProjectError("invalid-amount", "nothing is not lent", hint="write more than 0, such as 500")
    day = today or today_of(project)
    part = part_of(project, loan, need.of, day)
    said = amount(need.amount, need.unit, up=True)
    entry = Entry(
        LEND,
        kept(need.amount),
        team=loan.owner.partition("/")[0],
        project=loan.owner.partition("/")[2],
        other=loan.other,
        what=need.of,
        pool=loan.pool,
        unit=need.unit,
        per=part.per,
        first=str(part.days[0]),
        why=loan.why.strip(),
        approver=loan.approver.strip(),
    )
    return deciding(Deciding(project, part, day, loan.owner, need.amount, f"{loan.owner} cannot lend {said}"), entry)


def give_back(project: Project, number: int, why: str = "", today: date | None = None) -> Pledge:
    """Undo a loan while its window lasts. Refused where the borrower has used or reserved of it already."""
    one = numbered(project.books.pledges.all(), number, LEND)
    if not one.is_open:
        return one
    begun, day = one.begun, today or today_of(project)
    days = window(begun.per, date.fromisoformat(begun.first))
    refuse_over(days, day)
    whole = Fraction(begun.amount)
    said = f"{begun.other} cannot give back {amount(whole, begun.unit)}"
    part = Part(begun.what, begun.pool, begun.per, days)
    return deciding(
        Deciding(project, part, day, begun.other, whole, said), ending(one, RETURN, begun.amount, why.strip())
    )


@dataclass(frozen=True, slots=True)
class Deciding:
    """Whether an owner has so much left of its quota: what it gives must be there when it is written down."""

    project: Project
    part: Part
    today: date
    giver: str
    amount: Fraction
    refusal: str

    def counted(self) -> tuple[Used, Ground]:
        """In the window that today lies in as it is counted; of one to come nothing is used."""
        found, ground = counted_now(self.project, self.today)
        days = self.part.days
        if days[0] <= self.today:
            mine = [one for one in found if (one.limit.owner, one.first) == (self.giver, days[0]) and self.is_it(one)]
        else:
            policy = policy_for(self.project, Period(days[0].year, days[0].month))
            limits = [
                limit_of(one, policy, days) for one in policy.quotas if self.part.is_of(one) and one.holds_on(days[0])
            ]
            mine = [Used(one, *days, None, Fraction(0)) for one in limits if one.owner == self.giver]
        if not mine:
            raise no_quota(self.giver, self.part.what)
        return mine[0], ground

    def is_it(self, one: Used) -> bool:
        limit = one.limit
        return (limit.meter or MONEY, limit.pool, limit.per) == (self.part.what, self.part.pool, self.part.per)

    def refuse_more(self, used: Used, known: Sequence[Pledge], now: Now) -> None:
        (placed,) = pledged([used], known, now, self.today)
        if self.amount > placed.left:
            raise ProjectError("not-enough", f"{self.refusal}: {left_of(placed)}", hint="write less")


def deciding(asking: Deciding, entry: Entry) -> Pledge:
    """In one transaction with what it rests on; again where data came in between. What is returned already stays so."""
    pledges = asking.project.books.pledges
    for attempt in range(TRIES):
        used, ground = asking.counted()
        now = now_of(asking.project, pledges.all())

        def decide(known: Sequence[Pledge], used: Used = used, now: Now = now) -> list[Entry]:
            if entry.about and not numbered(known, entry.about, LEND).is_open:
                return []
            asking.refuse_more(used, known, now)
            return [entry]

        try:
            known = pledges.add(decide, ground)
        except BooksError as error:
            if error.code != "inputs-moved" or attempt == TRIES - 1:
                raise
        else:
            return numbered(known, entry.about, LEND) if entry.about else known[-1]
    raise AssertionError


def refuse_unfit(project: Project, loan: Loan) -> None:
    for owner in (loan.owner, loan.other):
        refuse_unknown(project, owner.partition("/")[0])
    if loan.owner == loan.other:
        raise ProjectError("same-owner", f"{loan.owner} cannot lend to itself", hint="name another owner: --to TEAM")
    if not loan.why.strip():
        raise ProjectError("no-reason", "a loan needs a reason", hint="say it: --why TEXT")


def part_of(project: Project, loan: Loan, what: str, today: date) -> Part:
    """The shortest window that both have a quota of it for. Who has none is limited by nothing, and neither lends nor borrows."""
    month = as_period(loan.period)
    policy = policy_for(project, month)
    day = min(max(month.first_day, today), month.last_day)
    holding = [
        one for one in policy.quotas if one.holds_on(day) and one.what[:2] == (what, loan.pool) and one.per in MONTHS
    ]
    have = {owner: {one.per for one in holding if named(one) == owner} for owner in (loan.owner, loan.other)}
    for owner, found in have.items():
        if not found:
            raise no_quota(owner, what)
    common = have[loan.owner] & have[loan.other]
    if not common:
        raise ProjectError(
            "no-quota",
            f"{loan.owner} and {loan.other} have no quota of {what} for the same time",
            hint="a loan is between two quotas per month, per quarter or per year",
        )
    per = min(common, key=MONTHS.__getitem__)
    days = window(per, month.first_day)
    refuse_over(days, today)
    return Part(what, loan.pool, per, days)


def refuse_over(days: Window, today: date) -> None:
    if days[1] < today:
        raise ProjectError(
            "period-over", f"what was a quota until {days[1]} stays as it was", hint="lend in this month or a later one"
        )


def no_quota(owner: str, what: str) -> ProjectError:
    return ProjectError(
        "no-quota", f"{owner} has no quota of {what} then", hint="see apportion quota, and quotas of the policy"
    )
