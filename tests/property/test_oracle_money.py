"""The oracle on the small worlds in which money once went astray, each with its figures by hand."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.property.by_hand import POOL, by_hand, capacity, line, owed, reservation, usage, workload
from tests.property.oracle_findings import hours_above_capacity
from tests.property.worlds import World

# M3: idle shared evenly
EVEN = POOL + "slot: hour, idle: even"


def test_idle_is_shared_evenly_by_who_used_the_pool_in_other_hours_too() -> None:
    """90 for 12 hours of one GPU, of which a used 6; b used it in the 12 hours after."""
    uses = [usage("a", 0, 6), usage("b", 12, 24)]
    world = by_hand(EVEN + "}", [line("90", 0, 12)], uses, capacity=[capacity(0, 24, 1)])
    assert owed(world, "reason") == {("a", "usage"): 45, ("a", "idle"): 22.5, ("b", "idle"): 22.5}


def test_idle_of_an_hour_is_shared_evenly_by_who_used_it() -> None:
    """a 1 of 2 in the first hour, b 1 of 2 in the second, nobody in the third: that one stays idle."""
    uses = [usage("a", 0, 1), usage("b", 1, 2)]
    world = by_hand(EVEN + ", idle_slot: hour}", [line("30", 0, 3)], uses, capacity=[capacity(0, 3, 2)])
    assert owed(world) == {"a": 10, "b": 10, "_idle": 10}


def test_idle_of_a_day_is_shared_evenly_by_who_used_it_on_that_day() -> None:
    uses = [usage("a", 0, 1), usage("b", 5, 6), usage("c", 24, 25)]
    world = by_hand(EVEN + ", idle_slot: day}", [line("30", 0, 2)], uses, capacity=[capacity(0, 48, 1)])
    assert owed(world) == {"a": 15 + 7.5, "b": 7.5}


def test_idle_that_no_team_could_share_evenly_is_nobodys() -> None:
    uses = [usage("unknown", 0, 1), usage("a", 0, 1, resource="elsewhere"), usage("b", 0, 1, 0)]
    world = by_hand(EVEN + "}", [line("24", 0, 2)], uses, capacity=[capacity(0, 2, 2)])
    assert owed(world) == {"_unallocated": 6, "_idle": 18}


# M4: bounds of teams that were not charged


def bounded(rules: str, lines: list[Any], uses: list[Any], **tables: Any) -> World:
    return by_hand(f"adjustments: [{rules}]\n" + POOL + "method: proportional}", lines, uses, **tables)


def test_a_floor_holds_for_a_team_that_ran_nothing() -> None:
    world = bounded("{team: b, floor: 500, sponsor: c, why: x}", [line("1000", 0, 24)], [usage("a", 0, 1)])
    assert owed(world, "reason", "cause") == {
        ("a", "usage", ""): 1000,
        ("b", "adjustment", "x"): 500,
        ("c", "subsidy", "x"): -500,
    }


def test_last_month_bounds_a_team_that_ran_nothing() -> None:
    rules = "{team: b, smooth: 20, sponsor: c, why: x}"
    world = bounded(rules, [line("1000", 0, 24)], [usage("a", 0, 1)], previous={"b": Decimal(100)})
    assert owed(world) == {"a": 1000, "b": 80, "c": -80}


def test_the_floor_of_a_team_that_ran_nothing_lies_on_the_bills_days_by_their_money() -> None:
    """300 on the first day, 100 on the second, and euros that no floor is in; from the second day on, all is there."""
    lines = [line("300", 0, 24), line("100", 24, 48, ServiceName="other"), line("7", 0, 24, BillingCurrency="EUR")]
    found = owed(bounded("{team: b, floor: 40, sponsor: c, why: x}", lines, []), "day", "pool", "reason")
    first, second = "2026-10-14", "2026-10-15"
    assert {key: amount for key, amount in found.items() if key[0] in "bc"} == {
        ("b", first, "", "adjustment"): 30,
        ("b", second, "", "adjustment"): 10,
        ("c", first, "", "subsidy"): -30,
        ("c", second, "", "subsidy"): -10,
    }
    late = owed(bounded("{team: b, floor: 40, sponsor: c, why: x, from: 2026-10-15}", lines, []), "day")
    assert {key: amount for key, amount in late.items() if key[0] == "b"} == {("b", second): 40}


def test_a_floor_without_a_bill_has_nowhere_to_lie() -> None:
    rules = "{team: b, floor: 40, sponsor: c, why: x}"
    assert owed(bounded(rules, [line("7", 0, 24, BillingCurrency="EUR")], [])) == {"_unallocated": 7}


def test_a_cap_holds_for_a_teams_own_charges_and_not_for_what_it_sponsors() -> None:
    """M11: a is capped at 10 and pays 25 for b beside that."""
    rules = "{team: a, cap: 10, sponsor: c, why: x}, {team: b, percent: -50, sponsor: a, why: y}"
    world = bounded(rules, [line("100", 0, 1)], [usage("a", 0, 1), usage("b", 0, 1)])
    assert owed(world, "reason") == {
        ("a", "usage"): 50,
        ("a", "adjustment"): -40,
        ("a", "subsidy"): 25,
        ("b", "usage"): 50,
        ("b", "adjustment"): -25,
        ("c", "subsidy"): 40,
    }


# M5: money that is tied to a node
TIED = POOL + "scope: resource, "


@pytest.mark.parametrize("more", ["", "on_zero: even, "])
def test_money_of_a_node_that_nobody_used_stays_there(more: str) -> None:
    """n1 is used by a; n2 is only on the bill, and its name is one that the pool's `usage` asks for."""
    lines = [line("100", 0, 1, ResourceId="n1"), line("900", 0, 1, ResourceId="n2")]
    found = owed(by_hand(TIED + more + "method: proportional}", lines, [usage("a", 0, 1)]), "cause")
    evenly = {("a", ""): 325, ("b", ""): 225, ("c", ""): 225, ("office", ""): 225}
    assert found == (evenly if more else {("a", ""): 100, ("_unallocated", "no demand"): 900})


def test_money_of_a_node_without_capacity_is_idle() -> None:
    """n1 has 2 GPUs, of which a holds one."""
    lines = [line("100", 0, 1, ResourceId="n1"), line("900", 0, 1, ResourceId="n2")]
    world = by_hand(TIED + "method: capacity_rate}", lines, [usage("a", 0, 1)], capacity=[capacity(0, 1, 2)])
    assert owed(world, "reason", "cause") == {("a", "usage", ""): 50, ("_idle", "idle", "unsold"): 950}


def test_money_of_a_node_that_is_used_later_or_in_another_pool_stays_there() -> None:
    """x7 is a node since usage names it; v1 is no node, and its money is everybody's."""
    lines = [line("6", 0, 1, ResourceId="n1"), line("90", 0, 1, ResourceName="n2"), line("700", 0, 1, ResourceId="x7")]
    uses = [usage("a", 0, 1), usage("b", 800, 801, resource="n2"), usage("c", 0, 1, resource="x7")]
    world = by_hand(TIED + "method: proportional}", [*lines, line("1", 0, 1, ResourceId="v1")], uses)
    assert owed(world) == {"a": 7, "_unallocated": 790}


def test_one_price_for_the_pool_does_not_look_at_nodes() -> None:
    lines = [line("100", 0, 1, ResourceId="n1"), line("900", 0, 1, ResourceId="n2")]
    assert owed(by_hand(POOL + "method: proportional}", lines, [usage("a", 0, 1)])) == {"a": 1000}


# M11: tax over lending
LENT = POOL + "method: two_part}"


def test_tax_follows_what_is_owed_after_lending() -> None:
    """a reserved all 10 and used 5, b borrowed 5: 50 each of the 100, and 5 each of the tax."""
    lines = [line("100", 0, 1), line("10", 0, 1, ChargeCategory="Tax")]
    world = by_hand(
        LENT, lines, [usage("a", 0, 1, 5), usage("b", 0, 1, 5)],
        capacity=[capacity(0, 1, 10)], reservations=[reservation("a", 0, 1, 10)],
    )  # fmt: skip
    assert owed(world, "reason", "cause") == {
        ("a", "usage", ""): 50 + 5,
        ("a", "idle", "reserved"): 50,
        ("a", "credit", "lent"): -50,
        ("b", "burst", ""): 50 + 5,
    }


def test_tax_follows_what_was_lent_in_part() -> None:
    """a reserved 8 and used 2, b borrowed 2 beyond the 2 unsold: a owes 20 + 60 - 20, b 40."""
    lines = [line("100", 0, 1), line("10", 0, 1, ChargeCategory="Tax")]
    world = by_hand(
        LENT, lines, [usage("a", 0, 1, 2), usage("b", 0, 1, 4)],
        capacity=[capacity(0, 1, 10)], reservations=[reservation("a", 0, 1, 8)],
    )  # fmt: skip
    assert owed(world) == {"a": 66, "b": 44}
    assert owed(world, "reason")["a", "idle"] == 64


# M6: use without a statement of what was held


@pytest.mark.parametrize(
    ("driver", "a", "b"),
    [("used", 50, 100), ("max", 100, 100), ('{blend: "0.5"}', 75, 100), ("allocated", 100, 100)],
)
def test_use_counts_where_nobody_says_what_was_held(driver: str, a: int, b: int) -> None:
    """a holds 100 and uses 50, b uses 100: 66.67 and 133.33 of 200 by use, 85.71 and 114.29 by half of each."""
    uses = [usage("a", 0, 1, 100, used=50), usage("b", 0, 1, None, used=100)]
    world = by_hand(POOL + f"method: proportional, driver: {driver}}}", [line("200", 0, 1)], uses)
    assert owed(world) == {"a": Fraction(200 * a, a + b), "b": Fraction(200 * b, a + b)}


def test_use_without_a_statement_holds_nothing_idle() -> None:
    """3/2 of a board of which half is handed out: a and b have one whole of it, and the other board is idle."""
    uses = [usage("a", 0, 1, None, used=0.5), usage("b", 0, 1, None, used=1), usage("c", 0, 1, None)]
    boards = [capacity(0, 1, 1), capacity(0, 1, 1, resource="n2")]
    world = by_hand(POOL + "driver: used}", [line("60", 0, 1)], uses, capacity=boards)
    assert owed(world, "cause") == {("a", ""): 10, ("b", ""): 20, ("_idle", "unsold"): 30}


def test_use_without_a_statement_is_what_a_reservation_sees() -> None:
    world = by_hand(
        POOL + "idle: reservation}", [line("40", 0, 1)], [usage("a", 0, 1, None, used=1)],
        capacity=[capacity(0, 1, 4)], reservations=[reservation("a", 0, 1, 3)],
    )  # fmt: skip
    assert owed(world, "cause") == {("a", ""): 10, ("a", "reserved"): 20, ("_idle", "unsold"): 10}


# M10: use above capacity


@pytest.mark.parametrize("method", ["two_part", "capacity_rate", "proportional", "time"])
def test_use_above_capacity_is_told_in_hours(method: str) -> None:
    """K = 10, a reserved and used 6, b used 5: one GPU too many, for two hours."""
    world = by_hand(
        POOL + f"method: {method}}}", [line("11", 0, 2)], [usage("a", 0, 2, 6), usage("b", 0, 2, 5)],
        capacity=[capacity(0, 2, 10)], reservations=[reservation("a", 0, 2, 6)],
    )  # fmt: skip
    assert hours_above_capacity(world) == {"gpus": 2}


def test_use_above_capacity_is_told_node_by_node_where_each_has_its_price() -> None:
    """n1 has 1 and is asked for 2, n2 has 2 and is asked for nothing; n3 has none stated. One price: 2 of 3."""
    uses = [usage("a", 0, 1, 2)]
    boards = [capacity(0, 1, 1), capacity(0, 1, 2, resource="n2")]
    lines = [line("4", 0, 1, ResourceId=name) for name in ("n1", "n2", "n3")]
    assert hours_above_capacity(by_hand(TIED + "method: capacity_rate}", lines, uses, capacity=boards)) == {"gpus": 1}
    assert hours_above_capacity(by_hand(POOL + "slot: hour}", lines, uses, capacity=boards)) == {}


def test_what_a_full_board_cuts_down_is_above_its_capacity() -> None:
    uses = [usage("a", 0, 1, 0.75), usage("b", 0, 1, 0.75)]
    world = by_hand(POOL + "slot: hour}", [line("4", 0, 1)], uses, capacity=[capacity(0, 1, 1)])
    assert hours_above_capacity(world) == {"gpus": 0.5}


# M1: usage rows are facts
@pytest.mark.parametrize(("ends", "a"), [((2, 3), 500), ((2, 2), 480), ((5,), 500)])
def test_rows_that_share_all_or_all_but_the_end_are_each_a_row(ends: tuple[int, ...], a: int) -> None:
    """2 and 3 hours of a beside one of b, for 600; twice 2 hours; 5 hours in one row."""
    uses = [*(usage("a", 0, end) for end in ends), usage("b", 0, 1)]
    assert owed(by_hand(POOL + "method: proportional}", [line("600", 0, 24)], uses)) == {"a": a, "b": 600 - a}


def test_one_row_for_each_board_is_as_many_boards() -> None:
    """a has 2 of 4 boards, one row each; what one board of b did not use is held."""
    uses = [*[usage("a", 0, 1, used=1)] * 2, usage("b", 0, 1, used=1), usage("b", 0, 1, used=0)]
    world = by_hand(POOL + "driver: used}", [line("40", 0, 1)], uses, capacity=[capacity(0, 1, 4)])
    assert owed(world, "cause") == {("a", ""): 20, ("b", ""): 10, ("b", "held"): 10}


# M2: one id, two users
REUSED = [workload("1", "a", label_set="x"), workload("1", "b", label_set="y", outcome="node_fail")]


def test_labels_on_a_row_own_that_row() -> None:
    """Job 1 is a's for 2 hours and b's for one."""
    uses = [usage("1", 0, 2, label_set="x"), usage("1", 5, 6, label_set="y")]
    world = by_hand(POOL + "method: proportional}", [line("300", 0, 24)], uses, workloads=REUSED)
    assert owed(world) == {"a": 200, "b": 100}


def test_the_outcome_of_a_row_is_that_of_its_labels() -> None:
    rules = POOL + "method: proportional, credit: [{outcome: node_fail, percent: 100, paid_by: office}]}"
    uses = [usage("1", 0, 2, label_set="x"), usage("1", 0, 2, label_set="y")]
    world = by_hand(rules, [line("300", 0, 24)], uses, workloads=REUSED)
    assert owed(world) == {"a": 150, "office": 150}


def test_a_row_without_labels_takes_the_workloads() -> None:
    uses = [usage("1", 0, 1), usage("1", 0, 1, label_set="y"), usage("1", 0, 1, label_set="lost")]
    jobs = [*REUSED, workload("1", "c")]
    world = by_hand(POOL + "method: proportional}", [line("30", 0, 24)], uses, workloads=jobs)
    assert owed(world) == {"b": 10, "c": 10, "_unallocated": 10}


# M8: two clusters
CLUSTERS = "".join(
    f"  {name}: {{costs: {{SubAccountId: {name}}}, usage: {{cluster: {name}}}, meter: gpu, method: capacity_rate%s}}\n"
    for name in "AB"
)


@pytest.mark.parametrize("scope", ["", ", scope: resource"])
def test_nodes_of_one_name_in_two_clusters_are_two(scope: str) -> None:
    """A and B have a g01 of 8 GPUs each, for 800 and 80; a holds 4 in A, b all 8 in B."""
    two = [{"resource": "g01", "cluster": name} for name in "AB"]
    lines = [
        line(*money, SubAccountId=name, ResourceId="g01")
        for name, money in (("A", ("800", 0, 24)), ("B", ("80", 0, 24)))
    ]
    world = by_hand(
        "pools:\n" + CLUSTERS.replace("%s", scope), lines, [usage("a", 0, 24, 4, **two[0]), usage("b", 0, 24, 8, **two[1])],
        capacity=[capacity(0, 24, 8, **more) for more in two],
    )  # fmt: skip
    assert owed(world, "pool") == {("a", "A"): 400, ("_idle", "A"): 400, ("b", "B"): 80}


def test_a_name_without_a_cluster_is_that_of_the_only_cluster_that_has_it() -> None:
    """Only A has an n1; both have an n2, so that a row on n2 without a cluster is of neither."""
    boards = [capacity(0, 1, 1, cluster="A"), *(capacity(0, 1, 1, resource="n2", cluster=name) for name in "AB")]
    uses = [usage("a", 0, 1), usage("b", 0, 1, resource="n2"), usage("c", 0, 1, resource="n2", cluster="A")]
    rules = "pools:\n" + CLUSTERS.replace("%s", "")
    world = by_hand(
        rules, [line("30", 0, 1, SubAccountId="A"), line("4", 0, 1, SubAccountId="B")], uses, capacity=boards
    )
    assert owed(world, "pool") == {("a", "A"): 15, ("c", "A"): 15, ("_idle", "B"): 4}


def test_a_node_selector_means_every_cluster_and_an_id_of_two_is_tied_to_none() -> None:
    """Both have an n1, used by a and b; only B has an n2, used by c."""
    where: list[dict[str, Any]] = [{"cluster": "A"}, {"cluster": "B"}, {"cluster": "B", "resource": "n2"}]
    uses = [usage(team, 0, 1, **more) for team, more in zip("abc", where, strict=True)]
    lines = [line("30", 0, 1, ResourceId="n1"), line("7", 0, 1, ResourceId="n2")]
    assert owed(by_hand(TIED + "method: proportional}", lines, uses)) == {"a": 10, "b": 10, "c": 17}


@pytest.mark.parametrize(("hour", "reason"), [(-1500, "usage"), (5, "burst")])
def test_a_reservation_of_another_month_makes_no_burst(hour: int, reason: str) -> None:
    """a held a GPU two months before, or later on that day."""
    world = by_hand(
        POOL + "method: proportional, slot: hour}", [line("20", 0, 1)], [usage("a", 0, 1), usage("b", 0, 1)],
        reservations=[reservation("a", hour, hour + 1, 1)],
    )  # fmt: skip
    assert owed(world, "reason") == {("a", reason): 10, ("b", "usage"): 10}
