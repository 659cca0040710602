"""What the hours of a day cost in pools that are billed by the hour: the mean of each, over the lines of the month."""

from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime
from fractions import Fraction
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from apportion.engine.lines import labelled, line_amounts, place_all
from apportion.engine.plan import World
from apportion.model.money import to_grains
from apportion.verbs.advising.charged import Counting

HOUR_S = 3600
DAY_H = 24
BY_TIME = "capacity_rate"  # of other methods the price follows what others do
Tariff = tuple[Fraction, ...]  # of each hour of the local day


def tariffs(world: World, pools: Mapping[str, Counting]) -> dict[str, Tariff]:
    """Only of pools whose lines tell every hour of the day."""
    policy, zone = world.policy, ZoneInfo(world.policy.time_zone)
    lines = hourly(world.cost_lines)
    timed = [name for name in pools if policy.pools[name].method == BY_TIME]
    if not timed or not len(lines):
        return {}
    placed = place_all(lines, labelled(lines, policy), policy)
    table = pa.table({
        "pool": placed.column({name: name for name in timed}, "", pa.string()),
        "start_s": lines["charge_start_s"],
        "amount": line_amounts(lines, policy),
    })  # fmt: skip
    summed = table.group_by(["pool", "start_s"]).aggregate([("amount", "sum"), ("amount", "count")]).to_pylist()
    hours: dict[str, list[list[int]]] = defaultdict(lambda: [[0, 0] for _ in range(DAY_H)])
    for row in summed:
        if row["pool"] and row["amount_sum"] is not None:
            cell = hours[row["pool"]][datetime.fromtimestamp(row["start_s"], zone).hour]
            cell[0] += to_grains(row["amount_sum"])
            cell[1] += row["amount_count"]
    return {
        name: tuple(Fraction(grains, count) for grains, count in cells)
        for name, cells in hours.items()
        if all(count and grains > 0 for grains, count in cells)
    }


def hourly(lines: pa.Table) -> pa.Table:
    seconds = pc.subtract(lines["charge_end_s"], lines["charge_start_s"])
    usage = pc.and_(pc.equal(lines["ChargeCategory"], "Usage"), pc.is_null(lines["problem"]))
    return lines.filter(pc.and_(pc.less_equal(seconds, HOUR_S), pc.fill_null(usage, fill_value=False)))
