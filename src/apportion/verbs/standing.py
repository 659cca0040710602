"""Where each quota stands today: months that are over as they were posted, the running month and those that wait for their bill as they are estimated.

An estimate takes seconds. What it came to is kept in the project's hidden folder until evidence, ledger, policy or day are others, so that a submit
filter can ask for every job.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction
from hashlib import sha256

import pyarrow as pa
import pyarrow.compute as pc

from apportion.books.pledges import Ground
from apportion.engine.charges import charges_of
from apportion.errors import ApportionError
from apportion.model.meters import METERS
from apportion.model.rows import CHARGES, POSTINGS
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.quotas import Quota
from apportion.reports.live import CARRIED, UNKNOWN
from apportion.reports.quotas import Lot, Moved, Used
from apportion.reports.report import Record
from apportion.verbs.agreement import policy_for
from apportion.verbs.asked import today_of
from apportion.verbs.carrying import Carrying, carried
from apportion.verbs.counting import MONTHS, Counting, limit_of, window
from apportion.verbs.files import put
from apportion.verbs.live import Running, estimate_of, newest, plan_of, running_month
from apportion.verbs.pledged import place
from apportion.verbs.project import Project
from apportion.verbs.reaches import known_day
from apportion.verbs.report import posted_periods, read_record
from apportion.verbs.settings import HIDDEN
from apportion.verbs.settled import PRICED, Settled
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, pins_of

KEPT = "quotas.json"


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a month, through which day. `flows` are charges of an estimate; None where those of the books count."""

    record: Record
    through: date | None
    flows: pa.Table | None = None


@dataclass(frozen=True, slots=True)
class Asking:
    project: Project
    pins: Pins
    today: date
    step: Step

    def known(self, month: Period) -> Known | None:
        """Posted and over, else estimated, else nothing."""
        posted = str(month) in posted_periods(self.project)
        if posted and month.last_day < self.today:
            return Known(read_record(self.project, [month], None), month.last_day)
        day = min(self.today, month.last_day)
        if newest_month(self, day) == month:
            return self.estimated(day)
        if not posted:
            return None
        record = read_record(self.project, [month], None)
        return Known(record, known_day(self.project, month, self.pins, self.today))

    def estimated(self, day: date) -> Known:
        running = running_month(self.project, day, self.pins, self.step)
        plan = plan_of(self.project, running, self.pins) if running.has_prices else None
        made = estimate_of(running, plan)
        counting = counted_anyway(running)
        if counting.settled != running.settled:
            plan = plan_of(self.project, counting, self.pins)
        rows = pa.Table.from_batches(charges_of(plan) if plan else (), CHARGES)
        rows = rows.filter(pc.less_equal(rows["day"], pa.scalar(day, pa.date32())))
        record = Record(str(running.period), made.rows.select(POSTINGS.names), "", charges=rows)
        return Known(record, made.complete_to, rows)


def newest_month(asking: Asking, day: date) -> Period | None:
    try:
        return newest(asking.project, asking.pins, day)
    except ApportionError:
        return None  # without usage there is nothing to estimate


def counted_anyway(running: Running) -> Running:
    """What was held is known before anybody knows what it costs: pools without a price get one of 1, for counting alone."""
    priceless = {
        name: pool
        for name, pool in running.policy.pools.items()
        if running.basis_of(name) in (UNKNOWN, CARRIED) and pool.method in PRICED and pool.usage is not None
    }
    more = {
        name: Settled("", POSTINGS.empty_table(), Fraction(1), flow=all(METERS[meter].flow for meter in pool.meter))
        for name, pool in priceless.items()
    }
    return replace(running, settled={**running.settled, **more})


def standing(project: Project, today: date | None = None, step: Step = silent) -> tuple[Used, ...]:
    """Every quota that holds today, in the window that today lies in, in the policy's order, with what is pledged of it."""
    found, _ = counted_now(project, today, step)
    return tuple(place(project, found, today))


def counted_now(project: Project, today: date | None = None, step: Step = silent) -> tuple[tuple[Used, ...], Ground]:
    """Before what is pledged, and what it was counted from."""
    day = today or today_of(project)
    policy = policy_for(project, Period(day.year, day.month))
    holding = [quota for quota in policy.quotas if quota.holds_on(day)]
    asking = Asking(project, pins_of(project), day, step)
    ground = Ground(project.books.head(), asking.pins.snapshots)
    key = key_of(asking, policy, ground)
    counts = kept(project, key)
    if counts is None or len(counts) != len(holding):
        counts = counted(asking, policy, holding)
        keep(project, key, counts)
    found = []
    for quota, (through, used, moved) in zip(holding, counts, strict=True):
        days = window(quota.per, day)
        found.append(Used(limit_of(quota, policy, days), *days, through, used, moved))
    return tuple(found), ground


Counts = list[tuple[date | None, Fraction, Moved]]


def counted(asking: Asking, policy: Policy, holding: Sequence[Quota]) -> Counts:
    """Through which day each is known, what was used until then, and what was rolled over."""
    months: dict[Period, Known | None] = {}
    found: Counts = []
    for quota in holding:
        first, last = days = window(quota.per, asking.today)
        for month in months_from(first, asking.today):
            if month not in months:
                months[month] = asking.known(month)
        mine = {month: months[month] for month in months_from(first, asking.today)}
        counting = Counting(asking.project, policy, quota, None if quota.per in MONTHS else (first, last))
        rolled = carried(Carrying(asking.project, quota), limit_of(quota, policy, days), days)
        found.append((*used_of(counting, mine), rolled))
    return found


def used_of(counting: Counting, months: Mapping[Period, Known | None]) -> tuple[date | None, Fraction]:
    known = {month: one for month, one in months.items() if one is not None}
    used = sum((counting.used(one.record, month, one.flows) for month, one in known.items()), Fraction(0))
    return max((one.through for one in known.values() if one.through), default=None), used


def months_from(first: date, day: date) -> Iterator[Period]:
    month = Period(first.year, first.month)
    while month.first_day <= day:
        yield month
        month = month.next


def key_of(asking: Asking, policy: Policy, ground: Ground) -> str:
    """All that the answer depends on."""
    told = (sorted(ground.snapshots.items()), ground.head, policy.version, str(asking.today))
    return sha256(repr(told).encode()).hexdigest()


def kept(project: Project, key: str) -> Counts | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        said = json.loads((project.folder / HIDDEN / KEPT).read_text("utf-8"))
        if said["key"] == key:
            return [count_of(*one) for one in said["counts"]]
    return None


def count_of(through: str, used: str, lots: Sequence[Sequence[str]], waits: str) -> tuple[date | None, Fraction, Moved]:
    rolled = tuple(Lot(name, Fraction(amount), date.fromisoformat(until)) for name, amount, until in lots)
    return date.fromisoformat(through) if through else None, Fraction(used), Moved(rolled, waits=waits)


def keep(project: Project, key: str, counts: Counts) -> None:
    """Where the folder may not be written, or is not there, the next one counts again."""
    rows = [
        (
            str(through or ""),
            str(used),
            [(lot.window, str(lot.amount), str(lot.until)) for lot in moved.rolled],
            moved.waits,
        )
        for through, used, moved in counts
    ]
    with suppress(OSError, ApportionError):
        put(project.folder / HIDDEN / KEPT, json.dumps({"key": key, "counts": rows}).encode())
