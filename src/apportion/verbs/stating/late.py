"""What a month's bills ask for days of other months: lines that came late."""

from datetime import UTC, date

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.currencies import grains_per_minor
from apportion.model.money import half_even, to_grains
from apportion.model.rows import MINOR_KEY
from apportion.model.times import Period, local_day, zone_named
from apportion.policy.document import Policy
from apportion.verbs.stating.placing import on_accounts


def late_part(policy: Policy, period: Period, postings: pa.Table) -> pa.Table:
    """Of what was planned in a month, with whose account each amount goes to; each is rounded by itself."""
    first, last = own_days(policy, period)
    rows = postings.filter(pc.or_(pc.less(postings["day"], first), pc.greater(postings["day"], last)))
    sums = rows.group_by(list(MINOR_KEY)).aggregate([("amount", "sum")])
    made = []
    for *key, exact in zip(*(sums[name].to_pylist() for name in [*MINOR_KEY, "amount_sum"]), strict=True):
        made.append((*key, "", half_even(to_grains(exact), grains_per_minor(key[1]))))
    return on_accounts(policy, period, made, {})


def within(policy: Policy, period: Period, rows: pa.Table) -> pa.Table:
    """The rows of the month's own days."""
    first, last = own_days(policy, period)
    return rows.filter(pc.and_(pc.greater_equal(rows["day"], first), pc.less_equal(rows["day"], last)))


def own_days(policy: Policy, period: Period) -> tuple[date, date]:
    """Those of the month, and those that it reaches into where bills are cut by UTC."""
    zone, whole = zone_named(policy.time_zone), period.interval(UTC)
    ends = (period.first_day, local_day(whole.start_s, zone))
    lasts = (local_day(period.interval(zone).end_s - 1, zone), local_day(whole.end_s - 1, zone))
    return min(ends), max(lasts)
