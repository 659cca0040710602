"""The running month so far, as if its bills had come: pools without one are charged at their last settled price. Nothing is posted.

What has no price per unit (overheads, fixed shares) is carried over from the last month, day by day.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import pairwise
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.late import together
from apportion.engine.lines import labelled, place_all
from apportion.engine.plan import Plan, make_plan
from apportion.errors import ProjectError
from apportion.model.money import to_decimal, to_grains
from apportion.model.times import Period, day_start, local_day
from apportion.policy.document import Policy
from apportion.reports.live import BILLED, CARRIED, ESTIMATED, LISTED, ROWS, UNKNOWN, Estimate, PoolBasis, SourceReach
from apportion.reports.words import shown
from apportion.verbs.agreement import policy_for, short
from apportion.verbs.engines import backend_of
from apportion.verbs.periods import today as this_day
from apportion.verbs.project import Project
from apportion.verbs.reaches import reaches
from apportion.verbs.settled import Settled, settled_prices
from apportion.verbs.standins import StandIns, bill_names, with_standins
from apportion.verbs.steps import Step, silent
from apportion.verbs.world import Pins, bill_lines, build_world, parts_of, pins_of

CARRIED_KEYS = ("currency", "component", "cost_centre", "department", "team", "project", "user")


@dataclass(frozen=True, slots=True)
class Running:
    """The month that runs until `today`, which of its pools are billed, and what the others last came to."""

    period: Period
    policy: Policy
    today: date
    billed: frozenset[str]
    settled: dict[str, Settled]
    sources: tuple[SourceReach, ...]

    def basis_of(self, name: str) -> str:
        if name in self.billed:
            return BILLED
        if self.policy.pools[name].method == "rate_card":
            return LISTED
        found = self.settled.get(name)
        return UNKNOWN if found is None else CARRIED if found.price is None else ESTIMATED

    @property
    def bases(self) -> dict[str, str]:
        return {name: self.basis_of(name) for name in self.policy.pools}

    @property
    def has_prices(self) -> bool:
        return bool({BILLED, LISTED, ESTIMATED} & set(self.bases.values()))

    def made(self, rows: pa.Table) -> Estimate:
        pools = tuple(pool_basis(self, name) for name in self.policy.pools)
        return Estimate(self.period, self.today, rows, pools, self.sources, self.policy.currency, short(self.policy))


def live(project: Project, today: date | None = None, step: Step = silent) -> Estimate:
    """What the running month comes to so far, estimated: the newest that has usage until `today`. Nothing is posted."""
    pins = pins_of(project)
    running = running_month(project, today or this_day(), pins, step)
    step(f"estimating {running.period}", 0, 0)
    return estimate_of(running, plan_of(project, running, pins) if running.has_prices else None)


def estimate_of(running: Running, plan: Plan | None) -> Estimate:
    """`plan` is None where no pool has a price."""
    until = running.made(ROWS.empty_table()).complete_to
    rows = pa.concat_tables([planned(running, plan) if plan else ROWS.empty_table(), *carried(running, until)])
    rows = rows.filter(pc.not_equal(rows["reason"], "rounding"))  # it makes plans add up to bills, and here is none
    so_far = pc.less_equal(rows["day"], pa.scalar(running.today, pa.date32()))
    later = rows.filter(pc.and_(pc.invert(so_far), pc.equal(rows["basis"], BILLED)))
    return replace(running.made(without_guessed_idle(rows.filter(so_far), until)), later=later)


def running_month(project: Project, today: date, pins: Pins, step: Step = silent) -> Running:
    period = newest(project, pins, today)
    policy = policy_for(project, period)
    lines = bill_lines(project, period, pins)
    billed = frozenset(place_all(lines, labelled(lines, policy), policy).names) if len(lines) else frozenset[str]()
    missing = [name for name, pool in policy.pools.items() if name not in billed and pool.method != "rate_card"]
    step(f"looking for the last prices before {period}", 0, 0)
    settled = settled_prices(project, period, policy, missing)
    if (
        "energy" in lines["component"].unique().to_pylist()
    ):  # it is paid elsewhere: a price per kWh would ask for it twice
        settled = {
            name: one if "energy" not in policy.pools[name].meter else replace(one, price=None)
            for name, one in settled.items()
        }
    return Running(
        period,
        policy,
        min(today, period.last_day),
        billed,
        settled,
        reaches(project, period, pins, today),
    )


def newest(project: Project, pins: Pins, today: date) -> Period:
    """The month of the newest usage that began until the end of the day."""
    zone = ZoneInfo(project.policy.time_zone)
    until = day_start(today + timedelta(days=1), zone)
    starts = project.books.scan("usage", pins["usage"], columns=["start_s"], where=pc.field("start_s") < until)
    last = pc.max(starts["start_s"]).as_py()
    if last is None:
        raise ProjectError("no-usage", f"there is no usage until {today}", hint="run `apportion ingest` first")
    day = local_day(last, zone)
    return Period(day.year, day.month)


def planned(running: Running, plan: Plan) -> pa.Table:
    """What the engine makes of the bills that came and of what stands in for the others."""
    postings = plan.postings
    bases = running.bases
    names = {bill: basis for pool, basis in bases.items() for bill in bill_names(pool, running.period, running.policy)}
    coded = postings["bill"].combine_chunks().dictionary_encode()
    said = pa.array([names.get(bill, BILLED) for bill in coded.dictionary.to_pylist()], pa.string())
    return postings.append_column(ROWS.field("basis"), said.take(coded.indices)).cast(ROWS)


def plan_of(project: Project, running: Running, pins: Pins) -> Plan:
    """As `verbs/plan.compute` makes it, of another world. What is late on the bills that came needs nothing to stand in."""
    backend, wanted = backend_of(project), StandIns(running.settled, running.today)
    made: dict[str, Plan] = {}
    for month, part in parts_of(project, running.period, running.policy, pins).items():
        world = build_world(project, running.period, part, pins, backend)
        made[month] = make_plan(world if month else with_standins(world, wanted), backend)
    return together(made.pop(""), made)


def without_guessed_idle(rows: pa.Table, until: date | None) -> pa.Table:
    """On a day that is not complete, what looks idle may only not be known yet."""
    open_day = pc.greater(rows["day"], pa.scalar(until or date.min, pa.date32()))
    guessed = pc.and_(pc.equal(rows["basis"], ESTIMATED), pc.equal(rows["reason"], "idle"))
    return rows.filter(pc.invert(pc.and_(open_day, guessed)))


def carried(running: Running, until: date | None) -> Iterator[pa.Table]:
    """A day's part of what each owner was posted in the last month, for every complete day."""
    for name, found in running.settled.items():
        if found.price is None and until is not None:
            yield daily(name, found.posted, running.period, until)


def daily(name: str, posted: pa.Table, period: Period, until: date) -> pa.Table:
    sums = posted.group_by(list(CARRIED_KEYS)).aggregate([("amount", "sum")]).to_pylist()
    same = {
        "period": str(period),
        "bill": f"carried over {name}",
        "pool": name,
        "reason": "overhead",
        "cause": "",
        "basis": CARRIED,
    }
    rows = [
        {**same, **{key: row[key] for key in CARRIED_KEYS}, "day": period.first_day + timedelta(days=n), "amount": part}
        for row in sums
        for n, part in enumerate(day_parts(row["amount_sum"], period.last_day.day)[: until.day])
        if part
    ]
    return pa.Table.from_pylist(rows, schema=ROWS)


def day_parts(amount: Decimal, days: int) -> list[Decimal]:
    """An amount over days, adding up."""
    grains = to_grains(amount)
    return [to_decimal(after - before) for before, after in pairwise(grains * n // days for n in range(days + 1))]


def pool_basis(running: Running, name: str) -> PoolBasis:
    basis, found = running.basis_of(name), running.settled.get(name)
    if basis == UNKNOWN:
        note = "no bill has come and nothing was posted for it before: its price is not known, and it is not in the estimate"
        return PoolBasis(name, basis, note=note)
    if found is None:
        return PoolBasis(name, basis)
    if found.price is None:
        note = f"no bill has come: what was posted in {found.month} is carried over, a day's part for each complete day"
        return PoolBasis(name, basis, month=found.month, note=note)
    return PoolBasis(
        name,
        basis,
        found.paid,
        found.unit,
        found.month,
        price_note(running.policy.pools[name].scope, found, running.policy.currency),
    )


def price_note(scope: str, found: Settled, currency: str) -> str:
    said = f"no bill has come: at what a unit came to in {found.month}"
    if scope == "resource":
        said += ", on average over its resources"
    if found.capacity_price is not None:
        return f"{said}, used or idle"
    return said + (f"; idle is not estimated, it was {shown(found.idle, currency)} then" if found.idle else "")
