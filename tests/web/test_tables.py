"""A chart tells the largest teams apart, and every day still comes to what it came to."""

from decimal import Decimal

from apportion.render import chart
from apportion.web.tables import folded, in_order

TEAMS = [f"team-{n:02}" for n in range(20)]
SUMS = {
    (day, team): Decimal(sign * (n + 1))
    for day, sign in (("2026-10-01", 1), ("2026-10-02", -1))
    for n, team in enumerate(TEAMS)
} | {("2026-10-01", "_idle"): Decimal("0.5")}


def test_the_largest_are_told_apart_whatever_their_sign() -> None:
    few = folded(SUMS, 5)
    assert {team for _, team in few} == {*TEAMS[15:], "15 other teams", "_idle"}
    for day in ("2026-10-01", "2026-10-02"):
        assert sum(amount for (one, _), amount in few.items() if one == day) == sum(
            amount for (one, _), amount in SUMS.items() if one == day
        )
    assert in_order({team for _, team in few}, [*TEAMS, "_idle"]) == [*TEAMS[15:], "15 other teams", "_idle"]


def test_one_that_is_left_over_keeps_its_name() -> None:
    assert folded(SUMS, 19) == SUMS


def test_a_team_keeps_its_colour_beside_the_many() -> None:
    every = chart.colours(TEAMS)
    some = chart.colours(TEAMS, [*TEAMS[15:], "15 other teams"])
    assert all(some[team] == every[team] for team in TEAMS)
    assert some["15 other teams"] not in {*every.values()}
