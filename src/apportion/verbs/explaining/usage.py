"""The usage intervals behind a charge: how many, how much, and the largest."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.claims import claim
from apportion.engine.demand import WIDE, measures, scale_of
from apportion.engine.pools import PoolResult
from apportion.engine.setting import Setting
from apportion.engine.workloads import Season
from apportion.model.meters import METERS
from apportion.model.owner import Owner
from apportion.model.times import Interval, instant_text
from apportion.reports.words import counted
from apportion.verbs.explaining.prices import Measure, measure_of
from apportion.verbs.explaining.story import Node
from apportion.verbs.plan import Computed

FEW = 3


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose usage to look at: that of some teams, of some workloads, or everybody's."""

    teams: Collection[str] = ()
    workloads: Collection[str] = ()
    called: str = ""
    everybody: bool = False
    leaf: tuple[str, ...] = ()  # team, project, user of one posting
    span: Interval | None = None  # its day

    def owns(self, owner: Owner) -> bool:
        return (owner.team, owner.project, owner.user) == self.leaf if self.leaf else owner.team in self.teams


def usage_nodes(computed: Computed, name: str, whose: Whose) -> tuple[Node, ...]:
    """Only usage in slots that carry money: what lies outside shares nothing."""
    result, pool = computed.plan.trace.pools.get(name), computed.world.policy.pools[name]
    if result is None or result.reach is None or not result.reach.resources or not result.reach.persons:
        return ()
    measure = measure_of(pool)
    rows: list[dict[str, Any]] = []
    count = units = 0
    for season in computed.plan.trace.setting.workforce.seasons:
        for span in spans_of(computed, result, season, whose.span):
            found = own_rows(computed, name, season, span, whose)
            sums = found.aggregate(count=found.count(), units=found.units.sum()).to_pyarrow().to_pylist()[0]
            count, units = count + sums["count"], units + int(sums["units"] or 0)
            rows += (
                found.order_by([ibis.desc("units"), "work", "start_s", "resource"]).limit(FEW).to_pyarrow().to_pylist()
            )
    if not count:
        return (Node(f"no usage of {whose.called} in this pool", {"count": 0}),)
    largest = sorted(rows, key=lambda row: (-row["units"], row["work"], row["start_s"]))[:FEW]
    text = f"{counted(count, 'usage interval')} of {whose.called}: {measure.amount(units)}{of_all(result, whose)}; the largest:"
    rest = (Node(f"... and {count - len(largest):,} more"),) if count > len(largest) else ()
    nodes = (*(interval_node(computed, row, measure) for row in largest), *rest)
    return (Node(text, {"count": count, "units": str(units)}, nodes),)


def spans_of(computed: Computed, result: PoolResult, season: Season, only: Interval | None) -> list[Interval]:
    """The stretches of a season in which the pool has money; a price list has the whole of it."""
    bounds = season.interval.clip(only) if only else season.interval
    if result.market is None or not result.market.money:
        return [bounds] if bounds.seconds else []
    calendar = computed.plan.trace.setting.calendar
    merged: list[Interval] = []
    for first, last in sorted({slot for _, slot in result.market.money}):
        span = Interval(calendar.start_s + first * calendar.cell_s, calendar.start_s + last * calendar.cell_s)
        if merged and span.start_s <= merged[-1].end_s:
            merged[-1] = Interval(merged[-1].start_s, max(merged[-1].end_s, span.end_s))
        else:
            merged.append(span)
    return [part for part in (span.clip(bounds) for span in merged) if part.seconds]


def of_all(result: PoolResult, whose: Whose) -> str:
    """Everybody's demand, where slots do not overlap (late lines make them) and all of it counts (less does on crowded boards)."""
    if result.market is None or result.market.boards:
        return ""
    steps = result.priced.curve if result.priced else []
    slots = sorted({step.slot for step in steps})
    overlap = len({step.curve for step in steps}) > 1 or any(first[1] > second[0] for first, second in pairwise(slots))
    whole = sum(step.demand for step in steps)
    measure = measure_of(result.market.pool, result.market.scale)
    return "" if overlap or not whole or whose.everybody or whose.span else f" of {measure.amount(whole)} used by all"


def pool_rows(computed: Computed, name: str, season: Season) -> Any:
    """The pool's usage rows in a season, with their amounts in whole units."""
    setting, pool = computed.plan.trace.setting, computed.world.policy.pools[name]
    reach = computed.plan.trace.pools[name].reach
    if reach is None:
        raise LookupError(name)
    rows = claim(name, reach, season, setting).rows
    amount = ibis.literal(1, "int64") if pool.method == "time" else measures(rows, pool.driver, scale_of(pool))["units"]
    rows = rows.select("work", "bearer", "resource", "start_s", "end_s", amount=amount)
    return rows if computed.asked is None else setting.backend.keep(rows)


def own_rows(computed: Computed, name: str, season: Season, span: Interval, whose: Whose) -> Any:
    """Somebody's usage rows in a stretch of a season, clipped to it, with their size in whole units."""
    setting, pool = computed.plan.trace.setting, computed.world.policy.pools[name]
    rows = computed.once(("rows", name, season.interval), lambda: pool_rows(computed, name, season))
    rows = rows.filter(rows.start_s < span.end_s, rows.end_s > span.start_s)
    if whose.workloads:
        ids = pc.is_in(setting.workforce.ids, pa.array(list(whose.workloads), pa.string()))
        rows = among(rows, "work", np.flatnonzero(ids).tolist(), setting)
    elif not whose.everybody:
        bearers = [n for n, bearer in enumerate(setting.bearers.all) if whose.owns(bearer.owner)]
        rows = among(rows, "bearer", bearers, setting)
    rows = rows.mutate(start_s=ibis.greatest(rows.start_s, span.start_s), end_s=ibis.least(rows.end_s, span.end_s))
    flow = pool.method != "time" and all(METERS[meter].flow for meter in pool.meter)
    seconds = ibis.literal(1, "int64") if flow else rows.end_s - rows.start_s
    return rows.mutate(units=(rows.amount.cast(WIDE) * seconds).cast(WIDE))


def among(rows: Any, column: str, numbers: list[int], setting: Setting) -> Any:
    """Those of some numbers: a table, since a long list takes longer to be written into a query than to be looked up."""
    return rows.semi_join(setting.backend.lend(pa.table({column: pa.array(numbers, pa.int32())})), column)


def interval_node(computed: Computed, row: dict[str, Any], measure: Measure) -> Node:
    setting = computed.plan.trace.setting
    workload = setting.workforce.ids[row["work"]].as_py() if row["work"] >= 0 else "(unknown workload)"
    resource = setting.encoded.resources[row["resource"]]
    start, end = instant_text(row["start_s"]), instant_text(row["end_s"])
    facts = {"workload": workload, "resource": resource, "start": start, "end": end, "units": str(int(row["units"]))}
    return Node(f"{workload} on {resource}, {start} to {end}: {measure.amount(int(row['units']))}", facts)
