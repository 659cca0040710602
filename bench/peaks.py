"""Methods of peaks on many teams: a month of hours, each team asking for something else in every one."""

from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from apportion.engine.account import Column
from apportion.engine.bearers import Bearers
from apportion.engine.calendar import make_calendar
from apportion.engine.claims import WHOLE_POOL
from apportion.engine.hours import price_hours
from apportion.engine.players import price_players
from apportion.engine.price import Market, Supply
from apportion.model.money import GRAIN
from apportion.model.owner import Owner
from apportion.model.times import Interval
from apportion.policy.load import load_policy
from bench.measure import Clock
from bench.worlds import HOURS, POLICY, START_S, ZONE

BILL = 10**6 * GRAIN


def market(method: str, teams: int) -> Market:
    policy = load_policy(POLICY.format(method=method, scope="pool", zone=ZONE))
    calendar = make_calendar(Interval(START_S, START_S + HOURS * 3600), ZoneInfo(ZONE))
    bearers = Bearers()
    numbers = [bearers.number(Owner("", "", f"team-{n:04d}", "", "")) for n in range(teams)]
    cells = {
        cell: {(number, 0): [(number * 7919 + cell * 104729) % 1009, 0, 0] for number in numbers}
        for cell in range(calendar.cells)
    }
    money = {(WHOLE_POOL, (0, calendar.cells)): {Column("bill", "compute"): {0: BILL}}}
    return Market("gpu", policy.pools["gpu"], money, {WHOLE_POOL: cells}, (), Supply({}, {}, {}), calendar, bearers)


def peaks(folder: Path) -> dict[str, Any]:
    """Temporal Shapley over 1,000 teams and 744 hours; peak Shapley over 200 teams, 2,000 sampled orders. Sums are checked."""
    del folder
    clock = Clock()
    hours, players = market("temporal_shapley", 1000), market("peak_shapley", 200)
    for _ in range(3):
        _, valued = clock.time("hours", lambda: price_hours(hours, ZoneInfo(ZONE)))
        played = clock.time("players", lambda: price_players(players, "bench"))
    for name, priced in (("temporal_shapley", valued), ("peak_shapley", played)):
        if sum(priced.usage.values()) != BILL:
            raise SystemExit(f"{name} does not share the bill")
    return {
        "temporal_shapley_1000_teams_seconds": round(clock.warm("hours"), 2),
        "peak_shapley_200_teams_seconds": round(clock.warm("players"), 2),
        "largest_standard_error_millionths": max(played.played[0].sampling.errors.values()),
    }
