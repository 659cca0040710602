"""Work that is in no pool, though it has meters that pools count: its hours are told, and stop nothing, since leaving work without a price may
be meant. Work of which a pool counts one meter is in that pool: the cores of a job on GPUs are no such work.

Mostly the pools take all resources that usage names, and no row is looked at. Else the rows of the other resources are, or each row once more where
pools choose by workload.
"""

from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import reduce
from operator import or_
from typing import Any
from zoneinfo import ZoneInfo

import ibis
import pyarrow as pa

from apportion.engine.amounts import held_units
from apportion.engine.backend import exact
from apportion.engine.claims import Reach, reach_of
from apportion.engine.encode import METER_NUMBER
from apportion.engine.lines import Tranches
from apportion.engine.setting import Setting
from apportion.engine.workloads import Season
from apportion.model.findings import FLOWS, Finding, natural, unit_of
from apportion.model.meters import METERS

TENTH = Decimal("0.1")
Reaches = Mapping[str, Reach]


def find_work_in_no_pool(tranches: Tranches, setting: Setting) -> tuple[Finding, ...]:
    """One finding of a plan, by the first meter that has hours; the others are in its message."""
    units: dict[str, int] = {}
    for season in setting.workforce.seasons if not setting.late else ():
        reaches = reaches_of(tranches, season, setting)
        for meter, amount in count_outside(reaches, season, setting).items():
            units[meter] = units.get(meter, 0) + amount
    told = [(meter, natural(units[meter], meter)) for meter in METERS if units.get(meter)]
    if not told:
        return ()
    (first, hours), *others = told
    also = ", ".join(
        f"{amount.quantize(TENTH)} {unit_of(name)}{'' if name in FLOWS else ' hours'}" for name, amount in others
    )
    return (
        Finding(
            "work-in-no-pool",
            f"work with meters that pools count is in none of the pools, and pays nothing{f' (also {also})' if also else ''}",
            "let the `usage` of a pool match it, if it should share that pool's money",
            hours=hours,
            unit=unit_of(first),
        ),
    )


def reaches_of(tranches: Tranches, season: Season, setting: Setting) -> Reaches:
    """What each pool that counts something counts in a season."""
    pools = {name: pool for name, pool in setting.policy.pools.items() if pool.meter}
    return {
        name: reach_of(pool, tranches.resources_of(name), setting.resources, season.persons)
        for name, pool in pools.items()
    }


def count_outside(reaches: Reaches, season: Season, setting: Setting) -> dict[str, int]:
    """Base units (times seconds, of levels) by meter, on the period's own days, of work that no pool has, whatever it counts of it."""
    whole = [reach for reach in reaches.values() if takes_all(reach, season)]
    left = set(range(len(setting.resources.labels))) - {n for reach in whole for n in reach.resources}
    if not left or not reaches:
        return {}
    partial = [reach for reach in reaches.values() if not takes_all(reach, season)]
    return sum_outside(left, [reach for reach in partial if reach.resources and reach.persons], season, setting)


def takes_all(reach: Reach, season: Season) -> bool:
    """Whether a pool counts everybody's work on its resources."""
    return reach.pairs is None and len(reach.persons) == len(season.persons)


def sum_outside(left: Iterable[int], partial: list[Reach], season: Season, setting: Setting) -> dict[str, int]:
    """Of rows on some resources, those that none of the reaches has."""
    window = season.interval.clip(setting.period.interval(ZoneInfo(setting.policy.time_zone)))
    rows, names = rows_on(left, setting, encoded=bool(partial))
    rows = rows.filter(rows.start_s < window.end_s, rows.end_s > window.start_s)
    rows = without(rows, partial, setting)
    seconds = ibis.least(rows.end_s, window.end_s) - ibis.greatest(rows.start_s, window.start_s)
    begun = (rows.start_s >= window.start_s).cast("int64")
    lasting = ibis.ifelse(rows.meter.isin([key for key, name in names.items() if name in FLOWS]), begun, seconds)
    made = rows.mutate(units=exact(held_units(rows)) * lasting).group_by("meter")
    found = made.aggregate(units=lambda same: same.units.sum()).to_pyarrow().to_pylist()
    return {names[row["meter"]]: int(row["units"] or 0) for row in found}


def rows_on(resources: Iterable[int], setting: Setting, *, encoded: bool) -> tuple[Any, dict[Any, str]]:
    """Usage of the meters that pools count, and what its meters are called: as it is numbered, where that is done already or persons are asked
    for; else as it was delivered.
    """
    known, meters = setting.encoded, {name for pool in setting.policy.pools.values() for name in pool.meter}
    names: dict[Any, str]
    if encoded or "rows" in vars(known):
        rows, names = known.rows, {METER_NUMBER[name]: name for name in sorted(meters)}
        wanted = pa.array(sorted(resources), pa.int32())
    else:
        rows, names = known.usage, {name: name for name in sorted(meters)}
        wanted = pa.array([known.resources[number] for number in sorted(resources)], pa.string())
    rows = rows.filter(rows.meter.isin(list(names)))
    return rows.semi_join(setting.backend.lend(pa.table({"resource": wanted})), "resource"), names


def without(rows: Any, reaches: list[Reach], setting: Setting) -> Any:
    """Rows of which neither the resource and the person, each by itself, nor the two together are in one of the reaches."""
    for reach in (each for each in reaches if each.pairs is not None):
        pairs = sorted(reach.pairs or ())
        lent = {
            "resource": pa.array([n for n, _ in pairs], pa.int32()),
            "person": pa.array([m for _, m in pairs], pa.int32()),
        }
        rows = rows.anti_join(setting.backend.lend(pa.table(lent)), ["resource", "person"])
    plain = [each for each in reaches if each.pairs is None]
    if not plain:
        return rows
    for column, sets in (
        ("resource", [each.resources for each in plain]),
        ("person", [each.persons for each in plain]),
    ):
        rows = rows.left_join(setting.backend.lend(marks(column, sets)), column).drop(f"{column}_right")
    taken = reduce(or_, ((rows[f"resource{n}"] & rows[f"person{n}"]).fill_null(False) for n in range(len(plain))))
    return rows.filter(~taken)


def marks(column: str, sets: list[tuple[int, ...]]) -> pa.Table:
    """Every number that is in some set, and in which."""
    numbers = sorted({number for some in sets for number in some})
    inside = [{*some} for some in sets]
    return pa.table({
        column: pa.array(numbers, pa.int32()),
        **{f"{column}{n}": pa.array([number in some for number in numbers]) for n, some in enumerate(inside)},
    })  # fmt: skip
