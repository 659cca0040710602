"""Lines of a bill that span more days than are known, such as a fee for the whole month: what they cost a day, now and in the months before.

That is certain, so a forecast takes it out of what it looks back at and adds what is to come of it.
"""

from collections.abc import Sequence
from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.placed import placed_lines
from apportion.model.money import to_decimal, to_grains
from apportion.model.times import Interval, Period, day_start, days, parse_period
from apportion.reports.forecast.series import ROWS
from apportion.reports.sums import ZERO, by_currency, summed
from apportion.verbs.agreement import policy_for
from apportion.verbs.project import Project
from apportion.verbs.reaches import LONGEST_S
from apportion.verbs.world import Pins, bill_lines, exchange_rates

ALIKE = (
    "source",
    "InvoiceIssuerName",
    "BillingAccountId",
    "SubAccountId",
    "ServiceName",
    "SkuId",
    "ResourceId",
    "ChargeCategory",
)
SPANS = pc.field("charge_end_s") - pc.field("charge_start_s") > LONGEST_S
OWNER = ("team", "project", "pool")


def standing_rows(project: Project, months: Sequence[str], through: date, pins: Pins) -> pa.Table:
    """Of lines of the last month that reach beyond `through`, and of the same charges in the months before, as if each was posted evenly."""
    periods = [parse_period(text) for text in months]
    end_s = day_start(through + timedelta(days=1), ZoneInfo(project.policy.time_zone))
    now = bill_lines(project, periods[-1], pins, SPANS & (pc.field("charge_end_s") > end_s))
    wanted, found = set(keys_of(now)), list[dict[str, object]]()
    for period in periods if wanted else []:
        lines = now if period == periods[-1] else bill_lines(project, period, pins, SPANS)
        lines = lines.filter(pa.array([key in wanted for key in keys_of(lines)], pa.bool_()))
        found += daily_rows(project, lines, period, pins)
    return pa.Table.from_pylist(found, schema=ROWS)


def keys_of(lines: pa.Table) -> list[tuple[object, ...]]:
    return list(zip(*(lines[name].to_pylist() for name in ALIKE), strict=True))


def daily_rows(project: Project, lines: pa.Table, period: Period, pins: Pins) -> list[dict[str, object]]:
    """Whose a line is, is told where it says so itself."""
    if not len(lines):
        return []
    policy = policy_for(project, period)
    placed = placed_lines(lines, policy, period, exchange_rates(project, period, policy, pins, lines))
    keys = ["charge_start_s", "charge_end_s", "posted_currency", *OWNER]
    found: list[dict[str, object]] = []
    for row in placed.group_by(keys).aggregate([("amount", "sum")]).to_pylist():
        span, grains = Interval(row["charge_start_s"], row["charge_end_s"]), to_grains(row["amount_sum"])
        same = {"period": str(period), "currency": row["posted_currency"]} | {name: row[name] or "" for name in OWNER}
        for day, part in days(span, ZoneInfo(policy.time_zone)):
            before, after = (grains * (at - span.start_s) // span.seconds for at in (part.start_s, part.end_s))
            found.append({**same, "day": day, "amount": to_decimal(after - before)})
    return found


def as_posted(standing: pa.Table, rows: pa.Table, month: Period, through: date) -> pa.Table:
    """Where a pool has one price for the month, all of a line is posted on days that are known: nothing of it is to come, and those days have it all."""
    made = []
    known = [month.first_day + timedelta(days=n) for n in range((through - month.first_day).days + 1)]
    held = {currency: summed(part) for currency, part in by_currency(after(rows, through))}
    for currency, part in by_currency(standing):
        later = after(part, through)
        due, there = to_grains(summed(later)), to_grains(held.get(currency, ZERO))
        if not known or abs(there) >= abs(due):
            made.append(part)
            continue
        made.append(part.filter(pc.less_equal(part["day"], pa.scalar(through, pa.date32()))))
        came, left = [], []
        for row in later.to_pylist():
            grains = to_grains(row["amount"])
            a_day = to_decimal(grains * (due - there) // due // len(known))
            came += [{**row, "day": day, "amount": a_day} for day in known]
            left.append({**row, "amount": to_decimal(grains * there // due)})
        made.append(pa.Table.from_pylist([*came, *left], schema=ROWS))
    return pa.concat_tables([ROWS.empty_table(), *made])


def after(rows: pa.Table, day: date) -> pa.Table:
    return rows.filter(pc.greater(rows["day"], pa.scalar(day, pa.date32())))
