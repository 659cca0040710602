"""Late lines: a bill that asks for the use of an earlier month. They are booked with the bill that carries them, and shared by themselves.

What is late for a month is a plan of its own: only those lines and the evidence of their charge periods, under the policy of that month. So its
idle, its weights and its even shares are those of that use, and nothing of the bill's own month is touched. What the period's own bill settles
once is not settled again: list prices and prices of bursts charge nobody twice, caps, floors and smoothing look at the month's own charges.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.digest import digest_of
from apportion.engine.lines import Bill, labelled, place_all
from apportion.engine.plan import BOUNDS, Plan
from apportion.model.findings import merge
from apportion.model.kinds import kinds
from apportion.model.money import total_of
from apportion.model.rows import BILL_DAYS, POSTING_KEY, POSTINGS
from apportion.model.times import Period, local_day
from apportion.policy.document import Policy

OF_THE_BILL = ("currency", "time_zone", "basis", "fx")  # what a bill is and comes to is said by its own month


def service_months(lines: pa.Table, period: Period, zone: ZoneInfo) -> pa.Array:
    """The month that each line is late for; "" for lines of the period's own. A line that reaches into its billing period is not late."""
    few = kinds((lines[name] for name in BOUNDS), len(lines))
    said = [late_for(row, period, zone) for row in lines.select(BOUNDS).take(few.first).to_pylist()]
    return pa.array(said, pa.string()).take(pa.array(few.of))


def late_for(row: Mapping[str, int], period: Period, zone: ZoneInfo) -> str:
    start, end = row["charge_start_s"], row["charge_end_s"]
    if end > row["billing_start_s"] or start >= row["billing_start_s"]:
        return ""
    month = f"{local_day(max(start, end - 1), zone):%Y-%m}"
    return month if month < str(period) else ""


def is_shared(lines: pa.Table, policy: Policy) -> bool:
    """Whether some pool shares one of these lines by use, or says whose it is. Overheads, taxes and credits need others to follow."""
    placed = place_all(lines, labelled(lines, policy), policy)
    own = {name for name, pool in policy.pools.items() if pool.method != "by_cost"}
    return bool(np.any(placed.inside(own & set(placed.names))))


def late_policy(policy: Policy, own: Policy) -> Policy:
    """The policy of an earlier month, for lines on a bill of the period's own policy."""
    percent = tuple(rule for rule in policy.adjustments if rule.percent is not None)
    same = {name: getattr(own, name) for name in OF_THE_BILL}
    return policy.model_copy(update={**same, "adjustments": percent})


def together(own: Plan, late: Mapping[str, Plan]) -> Plan:
    """The plan of a period and of what is late on its bills, by month."""
    if not late:
        return own
    parts = (own, *late.values())
    postings, exact = added([(part.postings, part.exact) for part in parts])
    versions = {f"policy of {month}": part.policy_version for month, part in late.items()}
    return replace(
        own,
        digest=digest_of(postings, own.policy_version, {**own.inputs, **versions}),
        postings=postings,
        exact=exact,
        bill_days=summed(pa.concat_tables([part.bill_days for part in parts]), BILL_DAYS),
        bills=same_bills(part.bills for part in parts),
        problems=tuple(dict.fromkeys(problem for part in parts for problem in part.problems)),
        findings=tuple(merge(finding for part in parts for finding in part.findings)),
        parts=parts,
    )


def added(parts: Sequence[tuple[pa.Table, Sequence[int]]]) -> tuple[pa.Table, tuple[int, ...]]:
    """Postings of several plans, each key once, sorted as ever, with their exact amounts."""
    every = [grains for _, exact in parts for grains in exact]
    rows = pa.concat_tables([table for table, _ in parts]).append_column("number", pa.array(range(len(every))))
    rows = rows.sort_by([(key, "ascending") for key in POSTING_KEY])
    sums = rows.group_by(list(POSTING_KEY), use_threads=False).aggregate([("amount", "sum"), ("number", "list")])
    sums = sums.filter(pc.not_equal(sums["amount_sum"], pa.scalar(0, POSTINGS.field("amount").type)))
    exact = tuple(sum(every[number] for number in numbers) for numbers in sums["number_list"].to_pylist())
    made = sums.select([*POSTING_KEY, "amount_sum"]).rename_columns([*POSTING_KEY, "amount"])
    return made.select(POSTINGS.names).cast(POSTINGS), exact


def summed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    keys = [name for name in schema.names if name != "amount"]
    found = table.group_by(keys).aggregate([("amount", "sum")]).rename_columns([*keys, "amount"])
    return found.sort_by([(key, "ascending") for key in keys]).select(schema.names).cast(schema)


def same_bills(parts: Iterable[Iterable[Bill]]) -> tuple[Bill, ...]:
    """Each bill once, whatever parts it was planned in."""
    found: dict[str, Bill] = {}
    for bill in (bill for part in parts for bill in part):
        known = found.get(bill.id)
        found[bill.id] = bill if known is None else joined(known, bill)
    return tuple(sorted(found.values(), key=lambda bill: bill.id))


def joined(one: Bill, two: Bill) -> Bill:
    """Two parts of one bill, converted by the same rate."""
    how = (
        one.conversion
        and two.conversion
        and replace(one.conversion, total=total_of([one.conversion.total, two.conversion.total]))
    )
    return replace(one, total=total_of([one.total, two.total]), lines=one.lines + two.lines, conversion=how)
