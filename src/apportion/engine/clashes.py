"""One node under two cluster names in a pool: are they two machines, or did two sources call one cluster by two names?"""

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import ibis

from apportion.engine.backend import exact
from apportion.engine.claims import Reach
from apportion.engine.clusters import CLUSTER, FEW, HOUR_S, LEVELS
from apportion.engine.encode import METER_NUMBER
from apportion.engine.setting import Setting
from apportion.model.findings import Finding
from apportion.model.meters import METERS
from apportion.model.money import for_reading
from apportion.policy.pools import Pool


def find_clashes(name: str, pool: Pool, reach: Reach, setting: Setting) -> Iterator[Finding]:
    """Of a pool whose `usage` says no cluster. One that says it, if only `cluster: "*"`, means all that it has."""
    if pool.usage is None or any(key.rpartition(".")[2] == CLUSTER for key in pool.usage.keys):
        return
    resources, places = setting.encoded.resources, setting.resources.places
    same: dict[str, list[int]] = defaultdict(list)
    for number in sorted({*reach.resources, *reach.supplied}):
        if place := places.get(resources[number]):
            same[place.node].append(number)
    clashing = {node: numbers for node, numbers in same.items() if len(numbers) > 1}
    meter = next((meter for meter in LEVELS if meter in pool.meter), None)
    if clashing and meter:
        yield finding_of(name, clashing, meter, reach, setting)


def finding_of(name: str, clashing: dict[str, list[int]], meter: str, reach: Reach, setting: Setting) -> Finding:
    numbers = {number for some in clashing.values() for number in some}
    used = unit_seconds(meter, reach, setting)
    mine, whole = sum(used[number] for number in used if number in numbers), sum(used.values())
    names = [setting.encoded.resources[number] for number in sorted(numbers)]
    some = ", ".join(names[:FEW]) + (", ..." if len(names) > FEW else "")
    return Finding(
        "node-in-two-clusters",
        f"pool '{name}' counts nodes of one name in several clusters: {some}",
        'say `cluster` in its `usage` if they are several nodes (cluster: "*" for all of them); if they are one, give it one `cluster` in all sources',
        pool=name,
        rows=len(names),
        hours=for_reading(Fraction(mine, METERS[meter].base * HOUR_S)),
        unit=METERS[meter].unit,
        share=for_reading(Fraction(mine, whole))
        if whole
        else for_reading(Fraction(len(numbers), len(reach.supplied) or 1)),
    )


def unit_seconds(meter: str, reach: Reach, setting: Setting) -> dict[int, int]:
    """What was held of each resource of the pool, or used where nobody said what was held."""
    rows, window = setting.encoded.rows, setting.calendar.window
    rows = rows.filter(rows.meter == METER_NUMBER[meter], rows.resource.isin(sorted(reach.resources)))
    seconds = ibis.least(rows.end_s, window.end_s) - ibis.greatest(rows.start_s, window.start_s)
    units = exact(ibis.coalesce(rows.allocated, rows.used, 0)) * seconds
    found = rows.mutate(units=units).group_by("resource").aggregate(units=ibis._.units.sum()).to_pyarrow()
    return {row["resource"]: int(row["units"]) for row in found.to_pylist()}
