"""Would it have paid? A month is planned once more for each team and deed: had it asked for more, split its largest jobs, or run them when it is cheapest.

Everybody else does what they did, there is room for the job wherever it goes, and bills stay as they are. What is a team's job is as posted.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.capacity import unit_prices
from apportion.engine.demand import UNITS
from apportion.engine.plan import Plan, World
from apportion.engine.setting import Setting
from apportion.errors import ProjectError
from apportion.model.meters import METERS
from apportion.model.money import half_even
from apportion.model.rows import USAGE, held_amounts
from apportion.model.times import Interval
from apportion.reports.backtest import LEAF
from apportion.reports.incentives import Done
from apportion.reports.sums import grouped, side_of
from apportion.verbs.project import Project
from apportion.verbs.repriced import Instead, Rehearsal
from apportion.verbs.settings import nearest

MORE = 10  # percent
PIECES = 2
DEEDS = 3  # of each team
LEVELS = pa.array(sorted(name for name, meter in METERS.items() if not meter.flow))
Deed = Callable[[World], World]
Jobs = Mapping[str, Mapping[str, Sequence[str]]]  # team -> pool -> its workloads, the largest first


@dataclass(frozen=True, slots=True)
class Tempted:
    """Whose deeds are asked about: everybody's, unless some are named."""

    teams: tuple[str, ...] = ()
    percent: int = MORE
    pieces: int = PIECES


@dataclass(slots=True)
class Tempting:
    """A month, the jobs of its teams, and its usage as a table, read once."""

    stage: Rehearsal
    jobs: Jobs
    tempted: Tempted
    usage: dict[int, pa.Table] = field(default_factory=dict)

    def rows(self, world: World) -> pa.Table:
        if id(world.usage) not in self.usage:
            given = world.usage if isinstance(world.usage, pa.Table) else world.usage.select(*USAGE.names).to_pyarrow()
            self.usage[id(world.usage)] = given.select(USAGE.names).cast(USAGE)
        return self.usage[id(world.usage)]

    def under(self, policy: str, new: Instead, told: Callable[[str], None]) -> Iterator[Done]:
        """Every deed of every team."""
        plan = self.stage.plan(new)[0]
        before = grouped(plan.postings, LEAF)
        for team in self.jobs:
            for deed, jobs, act in self.deeds(team, plan):
                told(f"trying {self.stage.period} by {policy} if {team} {deed}")
                after = before if act is None else grouped(self.stage.plan(new, act)[0].postings, LEAF)
                yield Done(policy, str(self.stage.period), team, deed, jobs, before, after)

    def deeds(self, team: str, plan: Plan) -> Iterator[tuple[str, Mapping[str, str], Deed | None]]:
        """What to call each, the job in each pool, and what it does to the world."""
        percent, pieces, own = self.tempted.percent, self.tempted.pieces, self.jobs[team]
        largest = {pool: jobs[0] for pool, jobs in own.items()}
        everything = sorted({job for jobs in own.values() for job in jobs})
        yield f"asks for {percent} % more", {}, lambda world: self.asking(world, everything, percent)
        yield f"splits a job into {pieces}", largest, lambda world: self.splitting(world, largest, pieces)
        places = self.cheapest(largest, plan)
        zone = ZoneInfo(plan.trace.setting.policy.time_zone)
        texts = {pool: f"{job} to {clock(places[job], zone)}" for pool, job in largest.items() if job in places}
        yield (
            "moves a job",
            texts,
            (lambda world: self.moving(world, places)) if places else None,
        )

    def asking(self, world: World, jobs: Sequence[str], percent: int) -> World:
        """Levels alone: what flows was there to be moved or burnt."""
        rows = self.rows(world)
        mine = pc.and_(pc.is_in(rows["workload"], pa.array(jobs)), pc.is_in(rows["meter"], LEVELS)).to_pylist()
        held = [
            half_even(amount * (100 + percent), 100) if here else amount
            for amount, here in zip(held_amounts(rows).to_pylist(), mine, strict=True)
        ]
        return replace(world, usage=with_column(rows, "allocated", held))

    def splitting(self, world: World, jobs: Mapping[str, str], pieces: int) -> World:
        """Into runs that follow one another, each a job of its own with the same labels and the same end."""
        rows, known = self.rows(world), pa.array(sorted(set(jobs.values())))
        mine = pc.is_in(rows["workload"], known)
        cut = [piece for row in rows.filter(mine).to_pylist() for piece in pieces_of(row, pieces)]
        named = world.workloads.filter(pc.is_in(world.workloads["workload"], known)).to_pylist()
        copies = [row | {"workload": piece_name(row["workload"], n)} for row in named for n in range(1, pieces)]
        return replace(
            world,
            usage=pa.concat_tables([rows.filter(pc.invert(mine)), pa.Table.from_pylist(cut, USAGE)]),
            workloads=pa.concat_tables([
                world.workloads, pa.Table.from_pylist(copies, world.workloads.schema)
            ]),
        )  # fmt: skip

    def moving(self, world: World, places: Mapping[str, int]) -> World:
        rows = self.rows(world)
        starts = self.starts(list(places), rows)
        by = {job: start - starts[job].start_s for job, start in places.items()}
        moves = np.array([by.get(job, 0) for job in rows["workload"].to_pylist()], dtype=np.int64)
        for name in ("start_s", "end_s"):
            rows = with_column(rows, name, rows[name].to_numpy() + moves)
        return replace(world, usage=rows)

    def starts(self, jobs: Sequence[str], rows: pa.Table) -> dict[str, Interval]:
        own = rows.filter(pc.is_in(rows["workload"], pa.array(jobs, pa.string())))
        spans = own.group_by("workload").aggregate([("start_s", "min"), ("end_s", "max")])
        return {row["workload"]: Interval(row["start_s_min"], row["end_s_max"]) for row in spans.to_pylist()}

    def cheapest(self, jobs: Mapping[str, str], plan: Plan) -> dict[str, int]:
        """When each job would begin; only those that lie within the month and could lie elsewhere in it."""
        setting, found = plan.trace.setting, dict[str, int]()
        own = setting.period.interval(ZoneInfo(setting.policy.time_zone))
        known = self.starts(list(jobs.values()), self.rows(next(iter(self.stage.worlds.values()))))
        for pool, job in jobs.items():
            costs = costs_of(plan, pool)
            span = known.get(job)
            if job in found or not costs or span is None or span != span.clip(own):
                continue
            start = best_start(costs, span, own, plan)
            if start != span.start_s:
                found[job] = start
        return found


def jobs_asked(project: Project, period: str, tempted: Tempted) -> Jobs:
    """Those of the teams that are asked about; refuses a team without any."""
    jobs = jobs_of(project, period)
    for team in tempted.teams:
        if team not in jobs:
            hint = nearest(team, sorted(jobs), "teams")
            raise ProjectError("unknown-team", f"{team!r} has no job in {period}", hint=hint)
    return {team: own for team, own in jobs.items() if not tempted.teams or team in tempted.teams}


def jobs_of(project: Project, period: str) -> Jobs:
    """By team and pool, as charged. Where two are as large, the first by name."""
    rows = project.books.scan(
        "charges", columns=["team", "pool", "workload", "unit_seconds"], where=pc.field("period") == period
    )
    sums = rows.group_by(["team", "pool", "workload"]).aggregate([("unit_seconds", "sum")])
    names = zip(*(sums[name].to_pylist() for name in sums.column_names), strict=True)
    found: dict[str, dict[str, list[str]]] = {}
    for team, pool, job, _ in sorted(names, key=lambda row: (row[0], row[1], -(row[3] or 0), row[2])):
        if job and side_of(team) == "owners":
            found.setdefault(team, {}).setdefault(pool, []).append(job)
    return found


def costs_of(plan: Plan, pool: str) -> list[Fraction]:
    """Of every cell: what a unit costs there; where that is the same all along, how much was asked for."""
    result, setting = plan.trace.pools.get(pool), plan.trace.setting
    if result is None or result.market is None:
        return []
    market, cells = result.market, setting.calendar.cells
    if result.priced is not None:
        prices = unit_prices(setting, market, result.priced, (0, cells)).get(setting.policy.currency, [])
        known = filled([price if units else None for price, units in prices], setting)
        if len(set(known)) > 1:
            return known
    asked = market.demand.get(0, {})
    return [Fraction(sum(load[UNITS] for load in asked.get(n, {}).values())) for n in range(cells)] if asked else []


def filled(prices: Sequence[Fraction | None], setting: Setting) -> list[Fraction]:
    """When nobody is there, there is no price: that of the same hour on other days, on average, else the least of all."""
    zone, calendar = ZoneInfo(setting.policy.time_zone), setting.calendar
    starts = (calendar.interval((cell, cell + 1)).start_s for cell in range(len(prices)))
    hour_of = [datetime.fromtimestamp(start, zone).hour for start in starts]
    by_hour: dict[int, list[Fraction]] = {}
    for hour, price in zip(hour_of, prices, strict=True):
        if price is not None:
            by_hour.setdefault(hour, []).append(price)
    if not by_hour:
        return []
    usual = {hour: sum(some, Fraction(0)) / len(some) for hour, some in by_hour.items()}
    least = min(price for price in prices if price is not None)
    return [usual.get(hour, least) if price is None else price for hour, price in zip(hour_of, prices, strict=True)]


def best_start(costs: Sequence[Fraction], span: Interval, own: Interval, plan: Plan) -> int:
    """The whole hour, counted from its own, at which as many cells as the job takes cost least; where it is, if nothing is cheaper."""
    calendar = plan.trace.setting.calendar
    running = [Fraction(0)]
    for cost in costs:
        running.append(running[-1] + cost)
    hours = range(-((span.start_s - own.start_s) // 3600), (own.end_s - span.end_s) // 3600 + 1)

    def price(hour: int) -> Fraction:
        first, last = calendar.widen(Interval(span.start_s + hour * 3600, span.end_s + hour * 3600))
        return running[last] - running[first]

    best = min(hours, key=lambda hour: (price(hour), abs(hour), hour), default=0)
    return span.start_s + best * 3600 if price(best) < price(0) else span.start_s


def pieces_of(row: Mapping[str, int | str | None], pieces: int) -> Iterator[dict[str, int | str | None]]:
    """One after the other; of a flow each gets what falls into it, and no unit is lost."""
    start, end = int(row["start_s"] or 0), int(row["end_s"] or 0)
    edges = [start + (end - start) * n // pieces for n in range(pieces + 1)]
    flow = METERS[str(row["meter"])].flow
    for n, (first, last) in enumerate(pairwise(edges)):
        if last == first and (n or end > start):
            continue
        piece = dict(row) | {"workload": piece_name(str(row["workload"]), n), "start_s": first, "end_s": last}
        for name in ("allocated", "used") if flow and end > start else ():
            whole = row[name]
            upto, before = ((int(whole or 0) * (edge - start)) // (end - start) for edge in (last, first))
            piece[name] = None if whole is None else upto - before
        yield piece


def piece_name(job: str, number: int) -> str:
    return f"{job}, part {number + 1}" if number else job


def with_column(rows: pa.Table, name: str, values: Sequence[int] | np.ndarray) -> pa.Table:
    place = rows.schema.get_field_index(name)
    return rows.set_column(place, rows.schema.field(name), pa.array(values, rows.schema.field(name).type))


def clock(second: int, zone: ZoneInfo) -> str:
    return f"{datetime.fromtimestamp(second, zone):%Y-%m-%d %H:%M}"
