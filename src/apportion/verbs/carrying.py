"""What is rolled over into a window: counted anew from the months that are closed, so that it is the same whoever asks and whenever."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from apportion.model.times import Period, parse_period
from apportion.policy.document import Policy
from apportion.policy.quotas import Quota
from apportion.reports.quotas import Limit, Moved, window_name
from apportion.reports.rolling import Past, rolled
from apportion.verbs.agreement import policy_for
from apportion.verbs.counting import Counting, Window, limit_of, window
from apportion.verbs.pledged import lent_in
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, posted_periods, read_record


@dataclass(frozen=True, slots=True)
class Carrying:
    project: Project
    quota: Quota
    read: Reading = read_record


def carried(asking: Carrying, limit: Limit, days: Window) -> Moved:
    """From the first closed window on that the quota was rolled over in. Nothing, while the window before is over and not closed."""
    if asking.quota.rollover is None:
        return Moved()
    closed = set(asking.project.books.closed_periods())
    before = window(limit.per, days[0] - timedelta(days=1))
    posted = posted_periods(asking.project)
    months = {str(month) for month in months_in(before) if str(month) in posted or month.last_day == before[1]}
    if not closed or not months <= closed:
        begun = asking.quota.from_ is None or asking.quota.from_ < days[0]
        return Moved(waits=window_name(limit.per, before[0]) if closed and begun else "")
    past = [
        found for each in windows(limit.per, min(closed), days[0]) for found in past_of(asking, limit, each, closed)
    ]
    return Moved(rolled=tuple(lot for lot in rolled(past) if lot.until >= days[0]))


def months_in(days: Window) -> Iterator[Period]:
    month = Period(days[0].year, days[0].month)
    while month.first_day <= days[1]:
        yield month
        month = month.next


def windows(per: str, first: str, until: date) -> Iterator[Window]:
    days = window(per, parse_period(first).first_day)
    while days[0] < until:
        yield days
        days = window(per, days[1] + timedelta(days=1))


def past_of(asking: Carrying, limit: Limit, days: Window, closed: set[str]) -> Iterator[Past]:
    """A closed window, by the policy that its last month was closed with. Where the quota was not rolled over then, there is nothing to go on."""
    months = [month for month in months_in(days) if str(month) in closed]
    if not months or months[-1].last_day != days[1]:
        return
    policy = policy_for(asking.project, months[-1])
    quota = same(policy, limit, days)
    if quota is None or quota.rollover is None:
        return
    counting = Counting(asking.project, policy, quota, None)
    used = sum((counting.used(asking.read(asking.project, [one], None), one) for one in months), Fraction(0))
    own = limit_of(quota, policy, days)
    borrowed, lent = lent_in(asking.project.books.pledges.all(), own, days[0])
    cap = quota.rollover.cap
    until = days[1]
    for _ in range(quota.rollover.expires):
        until = window(limit.per, until + timedelta(days=1))[1]
    yield Past(window_name(limit.per, days[0]), days[1], own.size + borrowed - lent, used, until, cap)


def same(policy: Policy, limit: Limit, days: Window) -> Quota | None:
    """The quota that was this one in an earlier window."""
    holding = (one for one in policy.quotas if one.holds_on(days[1]))
    return next((one for one in holding if limit_of(one, policy, days).of == limit.of), None)
