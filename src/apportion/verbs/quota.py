"""Quotas of the policy: what was used of each so far. Hours are what was held, by the charges behind the postings; money is what is posted.

What a user or project uses counts in its team's quota, what a team uses in its department's.
"""

from datetime import date
from fractions import Fraction

from apportion.model.times import Period, parse_period
from apportion.render.listing import Listing
from apportion.render.sheet import report_sheet
from apportion.reports.quotas import Used, quota_report
from apportion.reports.report import Record
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import current_month, today_of
from apportion.verbs.carrying import Carrying, carried
from apportion.verbs.counting import MONTHS, Counting, limit_of, window
from apportion.verbs.pledged import place
from apportion.verbs.project import Project
from apportion.verbs.reaches import known_day
from apportion.verbs.report import Reading, posted_periods, read_record
from apportion.verbs.world import pins_of


def quotas(
    project: Project, period: Period | str | None = None, read: Reading = read_record, today: date | None = None
) -> Listing[Used]:
    """What is used and left of each quota, in its window that the month's last known day lies in: of a running month, so far.

    `read`: the record as somebody may see it.
    """
    month = current_month(project, period)
    policy = policy_for(project, month)
    now = today or today_of(project)
    record = read(project, [month], None) if str(month) in posted_periods(project) else None
    day = reference_day(project, record, month, now)
    found = []
    for quota in policy.quotas:
        if quota.holds_on(day):
            first, last = window(quota.per, day)
            known = months_of(project, first, day)
            records = [read(project, [one], None) for one in known]
            through = min(known_to(project, known[-1], now) or first, last) if records else None
            counting = Counting(project, policy, quota, None if quota.per in MONTHS else (first, last))
            used = sum((counting.used(*pair) for pair in zip(records, known, strict=True)), Fraction(0))
            limit = limit_of(quota, policy, (first, last))
            found.append(
                Used(limit, first, last, through, used, carried(Carrying(project, quota, read), limit, (first, last)))
            )
    every = sorted(place(project, found, now), key=lambda one: (one.limit.owner, one.limit.what, one.limit.per))
    return Listing(every, lambda: report_sheet(quota_report(every, str(month), project.books.head())))


def reference_day(project: Project, record: Record | None, month: Period, today: date) -> date:
    """Of a month that is over its last; of a running one the last that everything is known of."""
    if record is None and today <= month.last_day:
        return month.first_day
    return known_to(project, month, today) or month.first_day


def known_to(project: Project, month: Period, today: date) -> date | None:
    return month.last_day if today > month.last_day else known_day(project, month, pins_of(project), today)


def months_of(project: Project, first: date, day: date) -> list[Period]:
    """Those that something is posted in."""
    wanted = {f"{first:%Y-%m}", f"{day:%Y-%m}"}
    found = [text for text in posted_periods(project) if min(wanted) <= text <= max(wanted)]
    return [parse_period(text) for text in sorted(found)]
