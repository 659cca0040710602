"""The oracle against numbers worked out by hand."""

from fractions import Fraction

import pytest

from tests.property.by_hand import POOL, by_hand, capacity, line, owed, reservation, usage, workload


def test_sixty_percent_of_the_time_is_sixty_percent_of_the_cost() -> None:
    found = owed(by_hand(POOL + "method: proportional}", [line("100", 0, 24)], [usage("a", 1, 7), usage("b", 30, 34)]))
    assert found == {"a": 60, "b": 40}


def test_three_hours_and_one_pay_three_to_one_whatever_they_asked_for() -> None:
    uses = [usage("a", 0, 2, 1), usage("a", 1, 3, 8), usage("b", 5, 6, 64)]
    assert owed(by_hand(POOL + "method: time}", [line("100", 0, 24)], uses)) == {"a": 75, "b": 25}


def test_a_full_pool_at_weight_has_no_idle_and_no_negative_line() -> None:
    jobs = [workload("a", "a", qos="high"), workload("b", "b", qos="low")]
    rules = POOL + "method: capacity_rate, weights: {qos: {high: '1.2'}}}"
    found = owed(
        by_hand(
            rules,
            [line("220", 0, 1)],
            [usage("a", 0, 1), usage("b", 0, 1)],
            capacity=[capacity(0, 1, 2)],
            workloads=jobs,
        ),
        "reason",
    )
    assert found == {("a", "usage"): 120, ("b", "usage"): 100}


@pytest.mark.parametrize(
    ("reserved", "expected"),
    [((10, 30), {"a": 40, "b": 50, "_idle": 10}), ((40, 120), {"a": Fraction(85, 2), "b": Fraction(115, 2)})],
)
def test_a_holder_pays_its_own_unused_reservation_and_no_more(
    reserved: tuple[int, int], expected: dict[str, int]
) -> None:
    """The case I04; then reservations of more than what was idle, scaled down to it: 50 idle shared 10 to 30... here 40 to 120."""
    uses = [usage("a", 0, 1, 30), usage("b", 0, 1, 20)]
    promised = [reservation("a", 0, 1, 30 + reserved[0]), reservation("b", 0, 1, 20 + reserved[1])]
    found = owed(
        by_hand(
            POOL + "idle: reservation}",
            [line("100", 0, 1)],
            uses,
            capacity=[capacity(0, 1, 100)],
            reservations=promised,
        )
    )
    assert found == expected


def test_a_policy_reservation_counts_like_the_schedulers() -> None:
    rules = (
        "reservations: [{team: b, pool: gpus, meter: gpu, amount: 3, from: 2026-10-14, until: 2026-10-14}]\n"
        + POOL
        + "idle: reservation}"
    )
    found = owed(by_hand(rules, [line("80", 0, 2)], [usage("b", 0, 1)], capacity=[capacity(0, 2, 4)]), "reason")
    assert found == {("b", "usage"): 10, ("b", "idle"): 50, ("_idle", "idle"): 20}


@pytest.mark.parametrize(
    ("idle", "expected"),
    [("central", {"a": 30, "b": 20, "_idle": 50}), ("even", {"a": 55, "b": 45}), ("proportional", {"a": 60, "b": 40})],
)
def test_idle_rules(idle: str, expected: dict[str, int]) -> None:
    """Cases I01 to I03."""
    uses = [usage("a", 0, 1, 30), usage("b", 0, 1, 20)]
    assert (
        owed(by_hand(POOL + f"idle: {idle}}}", [line("100", 0, 1)], uses, capacity=[capacity(0, 1, 100)])) == expected
    )


def test_demand_above_capacity_has_no_negative_idle() -> None:
    """Case I05."""
    uses = [usage("a", 0, 1, 30), usage("b", 0, 1, 20)]
    assert owed(by_hand(POOL + "idle: central}", [line("100", 0, 1)], uses, capacity=[capacity(0, 1, 40)])) == {
        "a": 60,
        "b": 40,
    }


@pytest.mark.parametrize(
    ("driver", "expected"),
    [
        ("max", {"a": 80, "b": 15, "_idle": 5}),
        ("{blend: '0.5'}", {"a": 80, "b": Fraction(25, 2), "_idle": Fraction(15, 2)}),
    ],
)
def test_drivers(driver: str, expected: dict[str, int]) -> None:
    """Case I07, and a blend: a held 80 and used 20, so 50 count and 30 are held, which the default rule leaves with a."""
    uses = [usage("a", 0, 1, 80, used=20), usage("b", 0, 1, 10, used=15)]
    assert (
        owed(by_hand(POOL + f"driver: {driver}}}", [line("100", 0, 1)], uses, capacity=[capacity(0, 1, 100)]))
        == expected
    )


def test_what_a_row_holds_is_not_made_up_for_by_another_of_its_team() -> None:
    """a's rows hold 3 and -2 beyond what they used: 3 are held. Idle is 10 - 1 - 4 = 5."""
    uses = [usage("a", 0, 1, 4, used=1), usage("a", 0, 1, 2, used=4)]
    world = by_hand(POOL + "driver: used}", [line("10", 0, 1)], uses, capacity=[capacity(0, 1, 10)])
    assert owed(world, "reason", "cause") == {
        ("a", "usage", ""): 5,
        ("a", "idle", "held"): 3,
        ("_idle", "idle", "unsold"): 2,
    }


def test_reservations_reach_each_resource_by_its_part_of_what_is_idle() -> None:
    """n1 has 8 with 2 in use, n2 has 4 with 1 down: 6 + 3 rest. b has reserved 3, a third of them: 2 on n1, 1 on n2."""
    rows = [capacity(0, 1, 8), capacity(0, 1, 3, resource="n2"), capacity(0, 1, 1, resource="n2", state="down")]
    world = by_hand(
        POOL + "scope: resource, idle: reservation}",
        [line("80", 0, 1, ResourceId="n1"), line("4", 0, 1, ResourceId="n2", component="other")],
        [usage("a", 0, 1, 2)],
        capacity=rows,
        reservations=[reservation("b", 0, 1, 3)],
    )
    assert owed(world, "component", "cause") == {
        ("a", "compute", ""): 20,
        ("b", "compute", "reserved"): 20,
        ("_idle", "compute", "unsold"): 40,
        ("b", "other", "reserved"): 1,
        ("_idle", "other", "down"): 1,
        ("_idle", "other", "unsold"): 2,
    }


def test_a_line_counts_on_its_node_and_else_on_the_whole_pool() -> None:
    """n1 is the pool's own and a's alone; m1 is a node, but none that the pool counts; nobody knows gone."""
    uses = [usage("a", 0, 1, 1), usage("b", 0, 1, 3, resource="n2"), usage("c", 0, 1, 4, resource="m1")]
    rules = POOL + "method: proportional, scope: resource}"
    for resource, expected in (("n1", {"a": 40}), ("m1", {"_unallocated": 40}), ("gone", {"a": 10, "b": 30})):
        assert owed(by_hand(rules, [line("40", 0, 1, ResourceId=resource)], uses)) == expected


def test_with_a_selector_on_workloads_every_known_resource_is_the_pools_own() -> None:
    jobs = [workload("a", "a", queue="big"), workload("b", "b", queue="small")]
    uses = [usage("a", 0, 1, 1), usage("b", 0, 1, 3, resource="n2")]
    rules = POOL.replace("node: 'n*'", "queue: big") + "scope: resource}"
    lines = [line("40", 0, 1, ResourceId="n2"), line("8", 0, 1, ResourceId="n1")]
    assert owed(by_hand(rules, lines, uses, workloads=jobs)) == {"_idle": 40, "a": 8}


def test_causes_of_idle_in_their_order() -> None:
    uses = [usage("a", 0, 1, 4, used=1)]
    rows = [capacity(0, 1, 8), capacity(0, 1, 2, state="down", resource="n2")]
    found = owed(
        by_hand(
            POOL + "driver: used}", [line("10", 0, 1)], uses, capacity=rows, reservations=[reservation("b", 0, 1, 1)]
        ),
        "reason",
        "cause",
    )
    expected = {
        ("a", "usage", ""): 1,
        ("a", "idle", "held"): 3,
        ("_idle", "idle", "down"): 2,
        ("_idle", "idle", "reserved"): 1,
        ("_idle", "idle", "unsold"): 3,
    }
    assert found == expected


def test_hours_without_demand_and_without_capacity() -> None:
    found = owed(by_hand(POOL + "method: proportional, slot: hour}", [line("20", 0, 2)], [usage("a", 0, 1)]), "cause")
    assert found == {("a", ""): 10, ("_unallocated", "no demand"): 10}
    assert owed(by_hand(POOL + "method: capacity_rate}", [line("20", 0, 2)], [usage("a", 0, 1)]), "cause") == {
        ("a", ""): 10,
        ("_idle", "unsold"): 10,
    }


def test_idle_is_shared_over_the_period_unless_told() -> None:
    uses = [usage("a", 0, 1, 2), usage("b", 1, 2, 1)]
    for extra, expected in (
        ("", {"a": Fraction(80, 3), "b": Fraction(40, 3)}),
        (", idle_slot: hour", {"a": 20, "b": 20}),
    ):
        assert (
            owed(by_hand(POOL + f"idle: proportional{extra}}}", [line("40", 0, 2)], uses, capacity=[capacity(0, 2, 2)]))
            == expected
        )


@pytest.mark.parametrize("scope", ["pool", "resource"])
def test_a_board_counts_once_however_much_was_asked_of_it(scope: str) -> None:
    """3/2 of one board and 1/2 of another: 1 and 1/2 of 24."""
    uses = [usage("a", 0, 1, 0.75), usage("b", 0, 1, 0.75), usage("c", 0, 1, 0.5, resource="n2")]
    boards = [capacity(0, 1, 1), capacity(0, 1, 1, resource="n2")]
    found = owed(by_hand(POOL + f"scope: {scope}}}", [line("24", 0, 1)], uses, capacity=boards))
    assert found == {"a": 6, "b": 6, "c": 6, "_idle": 6}


def test_whole_boards_above_a_capacity_count_as_they_are() -> None:
    uses = [usage("a", 0, 1, 2), usage("b", 0, 1, 1, resource="n2")]
    boards = [capacity(0, 1, 1), capacity(0, 1, 1, resource="n2")]
    assert owed(by_hand(POOL + "scope: pool}", [line("24", 0, 1)], uses, capacity=boards)) == {"a": 16, "b": 8}


def test_what_is_held_of_a_full_board_is_what_its_users_leave() -> None:
    uses = [usage("a", 0, 1, 0.75, used=0.25), usage("b", 0, 1, 0.75, used=0.25)]
    boards = [capacity(0, 1, 1), capacity(0, 1, 1, resource="n2")]
    found = owed(by_hand(POOL + "driver: used}", [line("24", 0, 1)], uses, capacity=boards), "reason", "cause")
    assert found == {
        ("a", "usage", ""): 3,
        ("b", "usage", ""): 3,
        ("a", "idle", "held"): 3,
        ("b", "idle", "held"): 3,
        ("_idle", "idle", "unsold"): 12,
    }
