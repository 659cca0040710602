"""Work on a node that no money names, where each resource has a price of its own: it pays nothing, and is told with its hours."""

from collections.abc import Collection
from fractions import Fraction
from zoneinfo import ZoneInfo

import ibis
import pyarrow.compute as pc

from apportion.engine.calendar import HOUR_S
from apportion.engine.claims import Reach, claim
from apportion.engine.demand import measures, scale_of
from apportion.engine.lines import Tranches
from apportion.engine.setting import Setting
from apportion.model.findings import Finding, list_few, share_of
from apportion.model.meters import METERS
from apportion.model.money import for_reading
from apportion.policy.pools import Pool


def find_unpaid(name: str, tranches: Tranches, reach: Reach, setting: Setting) -> tuple[Finding, ...]:
    """Levels only, each meter by itself, on the period's own days. Money that names no node is everybody's: then nothing is told."""
    pool = setting.policy.pools[name]
    bare = find_bare(name, pool, tranches, reach, setting)
    levels = [meter for meter, weight in pool.meter.items() if weight and not METERS[meter].flow]
    counted = [(meter, *count_hours(name, meter, (reach, bare), setting)) for meter in levels] if bare else []
    told = [(meter, unpaid, asked) for meter, unpaid, asked in counted if unpaid]
    if not told:
        return ()
    names = sorted(setting.encoded.resources[node] for node in bare)
    shown = list_few(names)
    return (
        Finding(
            "work-without-money",
            f"each node of pool '{name}' has its own money, and no line of it names {shown}: work there pays nothing",
            "bring the lines of these nodes, name them in `nodes` if a line calls them otherwise, or share the pool with `scope: pool`",
            pool=name,
            hours=for_reading(sum((unpaid for _, unpaid, _ in told), Fraction(0))),
            unit=" and ".join(METERS[meter].unit for meter, _, _ in told),
            share=max(share_of(unpaid, asked, lost=False) for _, unpaid, asked in told),
        ),
    )


def find_bare(name: str, pool: Pool, tranches: Tranches, reach: Reach, setting: Setting) -> frozenset[int]:
    """The nodes of a pool without money of their own, where all of its money is that of some node."""
    if pool.scope != "resource" or pool.method == "rate_card" or setting.late:
        return frozenset()
    table = tranches.table_of(name)
    named = pc.unique(table.filter(pc.not_equal(table["amount"], 0))["resource"]).to_pylist()
    curves = setting.curves_of(name, set(reach.resources))
    if not named or any(node not in curves for node in named):
        return frozenset()
    paid = {curves[node] - 1 for node in named}
    return frozenset(reach.resources) - paid


def count_hours(
    name: str, meter: str, place: tuple[Reach, Collection[int]], setting: Setting
) -> tuple[Fraction, Fraction]:
    """Unit-hours of a meter on some nodes, and on all of the pool's, by its driver."""
    reach, bare = place
    pool = setting.policy.pools[name].model_copy(update={"meter": {meter: Fraction(1)}, "method": "proportional"})
    own, scale = setting.with_pools({name: pool}), scale_of(pool)
    month = setting.period.interval(ZoneInfo(setting.policy.time_zone))
    unpaid = asked = 0
    for season in setting.workforce.seasons:
        inside = season.interval.clip(month)
        if not reach.persons or inside.end_s <= inside.start_s:
            continue
        rows = claim(name, reach, season, own).rows
        rows = rows.filter(rows.start_s < inside.end_s, rows.end_s > inside.start_s)
        units = measures(rows, pool.driver, scale)["units"]
        seconds = ibis.least(rows.end_s, inside.end_s) - ibis.greatest(rows.start_s, inside.start_s)
        made = rows.select("curve", units=units, seconds=seconds).group_by("curve", "units", "seconds")
        for row in made.aggregate(times=lambda same: same.count()).to_pyarrow().to_pylist():
            amount = row["units"] * row["seconds"] * row["times"]
            asked += amount
            unpaid += amount if row["curve"] - 1 in bare else 0
    return scale.natural * unpaid / HOUR_S, scale.natural * asked / HOUR_S
