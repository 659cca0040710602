"""Methods that say what a team is worth: a period's money is shared over teams by their demand over time, and inside a team by use.

`noncoincident_peak`: by each team's own highest slot. `peak_shapley`: by what a team adds to the common peak, on average over all orders
in which teams might have come; over all subsets where the teams are few, else over orders drawn from a seed that is kept.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from hashlib import shake_256
from math import gcd, isqrt

import numpy as np

from apportion.engine.account import Column, divide_up
from apportion.engine.calendar import Slot
from apportion.engine.demand import UNITS
from apportion.engine.hours import headroom, keep_nowhere, keep_unused, slots_of
from apportion.engine.price import Cells, Load, Market, Played, Priced, Sampling, over, sum_cells
from apportion.engine.sharing.shapley import MOST_PLAYERS, MOST_SUBSET_SLOTS, peak_costs, subset_values
from apportion.engine.wide import LARGEST_INT

PAIRS = 1000  # orders that are drawn; each counts with its reverse
MILLION = 10**6
Series = dict[str, list[int]]  # team -> units in each slot


def price_players(market: Market, seed: str) -> Priced:
    """`market.money` lies on whole periods. The charge lies on the days of the use."""
    priced = Priced(credited=[defaultdict(int) for _ in market.credited])
    for (curve, period), columns in market.money.items():
        slots = slots_of(period, market.pool, market.calendar)
        series = series_of(market.demand.get(curve, {}), slots, market)
        played = play(market, (curve, period), series, seed)
        priced.played.append(played)
        room = headroom(market, curve, slots, peak_of(series, market.pool.method))
        for column, days in columns.items():
            left = keep_unused(priced, column, days, room)
            if any(played.values.values()):
                charge(market, priced, played, (column, sum(left.values())))
            else:
                keep_nowhere(priced, column, left)
    return priced


def charge(market: Market, priced: Priced, played: Played, money: tuple[Column, int]) -> None:
    """Over teams by what they are worth, inside a team by units; credits give back at the same price."""
    column, grains = money
    used, *given = (
        by_team(sum_cells(part.get(played.curve, {}), played.slot, market.calendar), market)
        for part in (market.demand, *market.credited)
    )
    worth = {team: value for team, value in sorted(played.values.items()) if value}
    for team, part in zip(worth, divide_up(grains, worth.values(), sum(worth.values())), strict=True):
        loads, units = used[team], sum(used[team].values())
        for (day, load), share in zip(loads, divide_up(part, loads.values(), units), strict=True):
            priced.usage[column, day, load] += share
        for credited, back in zip(priced.credited, given, strict=True):
            for (day, load), amount in back[team].items():
                credited[column, day, load] += part * amount // units


def series_of(cells: Cells, slots: Sequence[Slot], market: Market) -> Series:
    """What each team asked for in each slot."""
    found: dict[str, dict[int, int]] = defaultdict(lambda: defaultdict(int))
    for cell, loads in cells.items():
        for load, amounts in loads.items():
            found[market.bearers[load[0]].owner.team][cell] += amounts[UNITS]
    return {team: [over(units, slot) for slot in slots] for team, units in sorted(found.items())}


def by_team(
    loads: Mapping[tuple[int, Load], list[int]], market: Market
) -> defaultdict[str, dict[tuple[int, Load], int]]:
    """Units by team, each by day and load, in an order that does not depend on that of meeting."""
    found: defaultdict[str, dict[tuple[int, Load], int]] = defaultdict(dict)
    for day, load in sorted(loads, key=lambda key: (key[0], market.bearers.rank(key[1][0]), key[1][1])):
        if loads[day, load][UNITS]:
            found[market.bearers[load[0]].owner.team][day, load] = loads[day, load][UNITS]
    return found


def peak_of(series: Series, method: str) -> int:
    """The common peak, or the sum of own ones."""
    if method == "noncoincident_peak":
        return sum(max(row) for row in series.values())
    return max(map(sum, zip(*series.values(), strict=True)), default=0)


def play(market: Market, where: tuple[int, Slot], series: Series, seed: str) -> Played:
    if market.pool.method == "noncoincident_peak":
        return Played(*where, {team: max(row) for team, row in series.items()})
    players = {team: row for team, row in series.items() if any(row)}
    slots = len(next(iter(players.values()), ()))
    if len(players) <= MOST_PLAYERS and slots << len(players) <= MOST_SUBSET_SLOTS:
        values = subset_values(peak_costs(list(players.values())), len(players)) if players else []
        return Played(*where, dict(zip(players, values, strict=True)))
    return Played(*where, *sample(players, f"{seed} {where[0]} {where[1]}"))


def sample(players: Series, seed: str) -> tuple[dict[str, int], Sampling]:
    """Marginal peaks summed over orders drawn from the seed, each with its reverse: together exactly the peak times the orders."""
    rows = narrowed(np.array(list(players.values()), dtype=object))
    sums, squares = np.zeros(len(rows), dtype=object), np.zeros(len(rows), dtype=object)
    for n in range(PAIRS):
        keys = np.frombuffer(shake_256(f"{seed} {n}".encode()).digest(8 * len(rows)), dtype="<u8")
        order = np.argsort(keys, kind="stable")
        pair = (marginals(rows, order) + marginals(rows, order[::-1])).astype(object)
        sums, squares = sums + pair, squares + pair * pair
    peak = max(1, int(rows.sum(axis=0).max()))
    errors = {
        # of a mean of pairs, each the sum of two orders
        team: isqrt(max(0, PAIRS * square - total * total) * MILLION**2 // (4 * PAIRS**2 * (PAIRS - 1) * peak**2))
        for team, total, square in zip(players, sums.tolist(), squares.tolist(), strict=True)
    }
    return dict(zip(players, sums.tolist(), strict=True)), Sampling(seed, 2 * PAIRS, errors)


def marginals(rows: np.ndarray, order: np.ndarray) -> np.ndarray:
    """What each player adds to the peak of those before it."""
    peaks: np.ndarray = np.cumsum(rows[order], axis=0).max(axis=1)
    found: np.ndarray = np.empty_like(peaks)
    found[order] = np.diff(peaks, prepend=0)
    return found


def narrowed(rows: np.ndarray) -> np.ndarray:
    """The same proportions in 64 bits; where that is not possible, without the lowest bits, which no sample would show."""
    common = gcd(*rows.ravel().tolist()) or 1
    rows = rows // common
    spare = max(0, int(rows.sum()).bit_length() - LARGEST_INT.bit_length() + 1)
    found: np.ndarray = (rows >> spare).astype(np.int64)
    return found
