"""The usage intervals behind a charge: how many, how much, and the largest."""

from collections.abc import Collection
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import ibis

from apportion.engine.claims import claim
from apportion.engine.demand import WIDE, measures, scale_of
from apportion.engine.pools import PoolResult
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
            found = own_rows(computed, name, replace(season, interval=span), whose)
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


def own_rows(computed: Computed, name: str, season: Season, whose: Whose) -> Any:
    """The pool's usage rows in a season, clipped to it, with their size in whole units."""
    setting, pool = computed.plan.trace.setting, computed.world.policy.pools[name]
    reach = computed.plan.trace.pools[name].reach
    if reach is None:
        raise LookupError(name)
    rows = claim(name, reach, season, setting).rows
    if whose.workloads:
        numbers = [n for n, known in enumerate(setting.workforce.ids.to_pylist()) if known in whose.workloads]
        rows = rows.filter(rows.work.isin(numbers))
    elif not whose.everybody:
        bearers = [n for n, bearer in enumerate(setting.bearers.all) if whose.owns(bearer.owner)]
        rows = rows.filter(rows.bearer.isin(bearers))
    start, end = ibis.greatest(rows.start_s, season.interval.start_s), ibis.least(rows.end_s, season.interval.end_s)
    rows = rows.mutate(start_s=start, end_s=end)
    amount = ibis.literal(1, "int64") if pool.method == "time" else measures(rows, pool.driver, scale_of(pool))["units"]
    flow = pool.method != "time" and all(METERS[meter].flow for meter in pool.meter)
    seconds = ibis.literal(1, "int64") if flow else rows.end_s - rows.start_s
    return rows.mutate(units=(amount.cast(WIDE) * seconds).cast(WIDE))


def interval_node(computed: Computed, row: dict[str, Any], measure: Measure) -> Node:
    setting = computed.plan.trace.setting
    workload = setting.workforce.ids[row["work"]].as_py() if row["work"] >= 0 else "(unknown workload)"
    resource = setting.encoded.resources[row["resource"]]
    start, end = instant_text(row["start_s"]), instant_text(row["end_s"])
    facts = {"workload": workload, "resource": resource, "start": start, "end": end, "units": str(int(row["units"]))}
    return Node(f"{workload} on {resource}, {start} to {end}: {measure.amount(int(row['units']))}", facts)
