"""Quotas of the policy: what was used of each so far. Hours are what was held, by the charges behind the postings; money is what is posted.

What a user or project uses counts in its team's quota, what a team uses in its department's.
"""

from collections.abc import Sequence
from datetime import date
from fractions import Fraction

import pyarrow.compute as pc

from apportion.model.times import Period, parse_period
from apportion.render.listing import Listing
from apportion.render.sheet import report_sheet
from apportion.reports.quotas import Used, quota_report
from apportion.reports.report import Record
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import current_month
from apportion.verbs.budget import today_of
from apportion.verbs.carrying import Carrying, carried
from apportion.verbs.counting import MONTHS, Counting, limit_of, window
from apportion.verbs.pledged import place
from apportion.verbs.project import Project
from apportion.verbs.report import Reading, posted_periods, read_record


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
    day = reference_day(record, month, now)
    found = []
    for quota in policy.quotas:
        if quota.holds_on(day):
            first, last = window(quota.per, day)
            known = months_of(project, first, day)
            records = [read(project, [one], None) for one in known]
            through = None if not records else last if now > last else min(last_day(records) or last, last)
            counting = Counting(project, policy, quota, None if quota.per in MONTHS else (first, last))
            used = sum((counting.used(*pair) for pair in zip(records, known, strict=True)), Fraction(0))
            limit = limit_of(quota, policy, (first, last))
            found.append(
                Used(limit, first, last, through, used, carried(Carrying(project, quota, read), limit, (first, last)))
            )
    every = sorted(place(project, found, now), key=lambda one: (one.limit.owner, one.limit.what, one.limit.per))
    return Listing(every, lambda: report_sheet(quota_report(every, str(month), project.books.head())))


def reference_day(record: Record | None, month: Period, today: date) -> date:
    """Of a month that is over its last; of a running one the last that something is known of."""
    if today > month.last_day:
        return month.last_day
    known = last_day([record]) if record else None
    return min(known or month.first_day, month.last_day)


def last_day(records: Sequence[Record]) -> date | None:
    days = [pc.max(one.posted["day"]).as_py() for one in records if len(one.posted)]
    return max(days, default=None)


def months_of(project: Project, first: date, day: date) -> list[Period]:
    """Those that something is posted in."""
    wanted = {f"{first:%Y-%m}", f"{day:%Y-%m}"}
    found = [text for text in posted_periods(project) if min(wanted) <= text <= max(wanted)]
    return [parse_period(text) for text in sorted(found)]
