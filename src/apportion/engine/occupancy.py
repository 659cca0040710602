"""Time: a team pays for the seconds in which it occupied a resource, whatever it asked for; inside the team, by its owners' own seconds."""

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import ibis
import pyarrow as pa

from apportion.engine.account import Column, divide_up
from apportion.engine.backend import Backend
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import Calendar
from apportion.engine.demand import UNITS, integrate_events, level_events
from apportion.engine.price import Load, Market, Priced, SlotPrice, nothing, sum_cells

NONE = [0, 0, 0]


def own_seconds(rows: Any, calendar: Calendar) -> dict[tuple[int, int, int], dict[int, list[int]]]:
    """(curve, bearer, rate) -> cell -> the summed seconds of its intervals."""
    return integrate_events(
        level_events(rows, {"units": ibis.literal(1, "int64")}, calendar, decimal=False), ["units"], calendar
    )


def occupied_seconds(
    rows: Any, calendar: Calendar, bearers: Bearers, backend: Backend
) -> dict[tuple[int, int, int], dict[int, list[int]]]:
    """(curve, team's bearer, 0) -> cell -> the seconds in which the team had anything on each resource, summed over resources."""
    teams = [bearers.number(bearer.owner.at_team()) for bearer in list(bearers.all)]
    lent = backend.lend(
        pa.table({"bearer": pa.array(range(len(teams)), pa.int32()), "team": pa.array(teams, pa.int32())})
    )
    rows = rows.select("curve", "bearer", "resource", "start_s", "end_s").join(lent, "bearer")
    earlier = ibis.window(group_by=["team", "resource"], order_by=["start_s", "end_s"], preceding=(None, 1))
    rows = rows.mutate(reached=rows.end_s.max().over(earlier))
    rows = rows.mutate(opens=ibis.ifelse(rows.reached.isnull() | (rows.start_s > rows.reached), 1, 0))
    so_far = ibis.window(group_by=["team", "resource"], order_by=["start_s", "end_s"], preceding=None, following=0)
    rows = rows.mutate(island=rows.opens.sum().over(so_far))
    union = rows.group_by("curve", "team", "resource", "island").aggregate(
        start_s=rows.start_s.min(), end_s=rows.end_s.max()
    )
    union = union.select("curve", "start_s", "end_s", bearer=union.team, rate=ibis.literal(0, "int32"))
    return integrate_events(
        level_events(union, {"units": ibis.literal(1, "int64")}, calendar, decimal=False), ["units"], calendar
    )


Own = Mapping[int, Mapping[int, Mapping[Load, list[int]]]]


def price_time(market: Market, own: Own) -> Priced:
    """`market.demand` holds the teams' occupied seconds, `own` their owners' seconds."""
    priced = Priced(credited=[defaultdict(int) for _ in market.credited])
    steps = []
    for (curve, slot), columns in market.money.items():
        teams = sum_cells(market.demand.get(curve, {}), slot, market.calendar)
        total = sum(amounts[UNITS] for amounts in teams.values())
        steps.append(SlotPrice(curve, slot, total, total, {}))
        inside: dict[tuple[int, str], dict[Load, int]] = defaultdict(dict)
        for (day, load), amounts in sum_cells(own.get(curve, {}), slot, market.calendar).items():
            inside[day, market.bearers[load[0]].owner.team][load] = amounts[UNITS]
        given = [sum_cells(curves.get(curve, {}), slot, market.calendar) for curves in market.credited]
        order = sorted(teams, key=lambda key: (key[0], market.bearers.rank(key[1][0])))
        for column, days in columns.items():
            if not total:
                nothing(market, priced, slot, column, days)
                continue
            shares = divide_up(sum(days.values()), (teams[key][UNITS] for key in order), total)
            for (day, team), share in zip(order, shares, strict=True):
                loads = inside[day, market.bearers[team[0]].owner.team]
                back = [{load: cells.get((day, load), NONE)[UNITS] for load in loads} for cells in given]
                share_inside(priced, (column, day, share), loads, back, market.bearers)
    priced.curve = steps
    return priced


def share_inside(
    priced: Priced,
    team_day: tuple[Column, int, int],
    loads: Mapping[Load, int],
    back: list[dict[Load, int]],
    bearers: Bearers,
) -> None:
    """A team's charge of one day by its owners' own seconds; `back` are the seconds that each credit rule gives back."""
    column, day, grains = team_day
    whole = sum(loads.values())
    ranked = sorted(loads, key=lambda load: (bearers.rank(load[0]), load[1]))
    for load, part in zip(ranked, divide_up(grains, (loads[load] for load in ranked), whole), strict=True):
        priced.usage[column, day, load] += part
    for used, seconds in zip(priced.credited, back, strict=True):
        for load in ranked:
            used[column, day, load] += grains * seconds[load] // whole
