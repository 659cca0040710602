"""The oracle against numbers worked out by hand."""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.property.by_hand import by_hand, capacity, line, reservation, usage, workload
from tests.property.oracle import EverySecond, attribute, round_tree
from tests.property.oracle_facts import Facts
from tests.property.oracle_rounding import largest_remainder
from tests.property.oracle_time import Breakpoints
from tests.property.worlds import World, world

POOL = "pools:\n  gpus: {costs: {ServiceName: EC2}, usage: {node: 'n*'}, meter: gpu, "


def owed(world: World, *names: str) -> dict[Any, Fraction]:
    """Exact amounts by team and by the other `names` (reason, cause, day, project, bill)."""
    places = {
        "bill": 0,
        "currency": 1,
        "component": 2,
        "pool": 3,
        "day": 4,
        "reason": 5,
        "cause": 6,
        "team": 9,
        "project": 10,
    }
    found: dict[Any, Fraction] = {}
    for key, amount in attribute(world).items():
        short = tuple(str(key[places[name]]) for name in ("team", *names))
        found[short if names else short[0]] = found.get(short if names else short[0], Fraction(0)) + amount
    return {key: amount for key, amount in found.items() if amount}


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


def test_a_line_on_a_resource_of_another_pool_counts_on_the_whole_pool() -> None:
    """n1 is the pool's own and a's alone; m1 is known, but not the pool's; nobody knows gone."""
    uses = [usage("a", 0, 1, 1), usage("b", 0, 1, 3, resource="n2"), usage("c", 0, 1, 4, resource="m1")]
    rules = POOL + "method: proportional, scope: resource}"
    for resource, expected in (("n1", {"a": 40}), ("m1", {"a": 10, "b": 30}), ("gone", {"a": 10, "b": 30})):
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


def test_a_price_list_leaves_what_it_does_not_recover() -> None:
    """Case T07, and the same without a bill."""
    rules = POOL + "method: rate_card, prices: [{per: hour, price: '2.50'}]}"
    uses = [usage("a", 0, 2, 100), usage("b", 0, 2, 50)]
    assert owed(by_hand(rules, [line("1000", 0, 24)], uses), "reason") == {
        ("a", "usage"): 500,
        ("b", "usage"): 250,
        ("_residual", "recovery"): 250,
    }
    assert owed(by_hand(rules, [], uses), "bill") == {
        ("a", "rate card gpus 2026-10 USD"): 500,
        ("b", "rate card gpus 2026-10 USD"): 250,
    }


def test_a_price_list_recovers_each_column_of_its_own_currency_by_its_money() -> None:
    rules = POOL + "method: rate_card, prices: [{per: hour, price: 1}]}"
    lines = [
        line("90", 0, 24),
        line("-30", 0, 24),
        line("20", 0, 24, component="other"),
        line("-20", 0, 24, InvoiceIssuerName="Colo"),
        line("9", 0, 24, InvoiceIssuerName="Colo", BillingCurrency="EUR"),
    ]
    found = owed(by_hand(rules, lines, [usage("a", 0, 10)]), "bill", "component")
    assert found == {
        ("a", "Cloud 2026-10 USD", "compute"): 6,
        ("_residual", "Cloud 2026-10 USD", "compute"): 54,
        ("a", "Cloud 2026-10 USD", "other"): 2,
        ("_residual", "Cloud 2026-10 USD", "other"): 18,
        ("a", "Colo 2026-10 USD", "compute"): 2,
        ("_residual", "Colo 2026-10 USD", "compute"): -22,
        ("_residual", "Colo 2026-10 EUR", "compute"): 9,
    }


def test_a_price_list_is_split_evenly_where_all_columns_come_to_nothing() -> None:
    rules = POOL + "method: rate_card, prices: [{per: hour, price: 1}]}"
    lines = [
        line("30", 0, 24),
        line("-30", 0, 24),
        line("5", 0, 24, component="other"),
        line("-5", 0, 24, component="other"),
    ]
    assert owed(by_hand(rules, lines, [usage("a", 0, 10)]), "component") == {
        ("a", "compute"): 5,
        ("_residual", "compute"): -5,
        ("a", "other"): 5,
        ("_residual", "other"): -5,
    }


def test_a_pool_may_state_the_component_of_its_postings() -> None:
    found = owed(by_hand(POOL + "component: energy, method: proportional}", [line("8", 0, 1)], []), "component")
    assert found == {("_unallocated", "energy"): 8}


def test_free_hours_are_paid_by_someone() -> None:
    rules = POOL + "method: rate_card, prices: [{per: hour, price: 1}], free: {per: team, amount: 5h, paid_by: office}}"
    found = owed(by_hand(rules, [], [usage("a", 0, 20), usage("b", 0, 2)]), "reason", "cause")
    expected = {
        ("a", "usage", ""): 20,
        ("a", "adjustment", "free"): -5,
        ("b", "usage", ""): 2,
        ("b", "adjustment", "free"): -2,
        ("office", "subsidy", "free"): 7,
    }
    assert found == expected


def test_even_fixed_direct_and_overheads() -> None:
    rules = """pools:
  lic: {costs: {ServiceName: L}, method: fixed, shares: {a: 60, b: 15}}
  seats: {costs: {ServiceName: S}, method: even, members: [a, c]}
  tagged: {costs: {ServiceName: T}, method: direct}
  plat: {costs: {ServiceName: P}, from: {owner: c}, by: cost, over: all}
"""
    rows = [
        line("100", 0, 1, ServiceName="L"),
        line("20", 0, 1, ServiceName="S"),
        line("7", 0, 1, ServiceName="T", Tags={"team": "b"}),
    ]
    rows += [
        line("3", 0, 1, ServiceName="T"),
        line("92", 0, 1, ServiceName="P"),
        line("1", 0, 1, ServiceName="nobody's"),
    ]
    found = owed(by_hand(rules, rows, []), "reason", "cause")
    share = Fraction(92 + 10)  # the line and c's seat, over a's 70 and b's 22
    expected = {
        ("a", "usage", ""): 70, ("b", "usage", ""): 22, ("c", "usage", ""): 10, ("c", "overhead", ""): -10,
        ("a", "overhead", ""): share * 70 / 92, ("b", "overhead", ""): share * 22 / 92,
        ("_unallocated", "usage", "no owner"): 25 + 3, ("_unallocated", "usage", "no pool"): 1,
    }  # fmt: skip
    assert found == expected


def test_an_overhead_without_anyone_to_share_it_stays() -> None:
    """What would be passed on stays with its owner; a line is nobody's. Where only b could share, b's currency alone counts."""
    rules = """pools:
  seats: {costs: {ServiceName: S}, method: even, members: [c]}
  other: {costs: {ServiceName: T}, method: even, members: [b]}
  plat: {costs: {ServiceName: P}, from: {owner: c}, by: cost, over: all}
"""
    rows = [line("20", 0, 1, ServiceName="S"), line("92", 0, 1, ServiceName="P")]
    alone = {("c", "usage", ""): 20, ("_unallocated", "overhead", "no demand"): 92}
    assert owed(by_hand(rules, rows, []), "reason", "cause") == alone
    euros = line("7", 0, 1, ServiceName="T", BillingCurrency="EUR")
    assert owed(by_hand(rules, [*rows, euros], []), "reason", "cause") == {**alone, ("b", "usage", ""): 7}


def test_tax_follows_its_service_and_else_the_whole_bill() -> None:
    rules = POOL + "method: proportional}\n  lic: {costs: {ServiceName: L}, method: fixed, shares: {c: 100}}"
    rows = [
        line("40", 0, 1),
        line("60", 0, 1, ServiceName="L"),
        line("10", 0, 1, ChargeCategory="Tax"),
        line("-5", 0, 1, ChargeCategory="Credit", ServiceName=None),
    ]
    found = owed(by_hand(rules, rows, [usage("a", 0, 1, 3), usage("b", 0, 1, 1)]))
    assert found == {"a": 30 + Fraction(15, 2) - Fraction(3, 2), "b": 10 + Fraction(5, 2) - Fraction(1, 2), "c": 60 - 3}


def test_a_late_correction_is_shared_by_the_usage_of_its_own_days() -> None:
    uses = [usage("a", -5, -4), usage("b", 1, 2)]
    found = owed(by_hand(POOL + "method: proportional}", [line("30", -6, -4), line("12", 0, 24)], uses), "day")
    assert found == {("a", "2026-10-13"): 30, ("b", "2026-10-14"): 12}


def test_credits_cover_the_last_hours_of_what_failed() -> None:
    jobs = [workload("a", "a", outcome="node_fail"), workload("b", "b")]
    rules = POOL + "method: proportional, credit: [{outcome: node_fail, percent: 50, max_hours: 2, paid_by: office}]}"
    found = owed(by_hand(rules, [line("100", 0, 24)], [usage("a", 0, 8), usage("b", 0, 2)], workloads=jobs), "cause")
    assert found == {("a", ""): 80, ("b", ""): 20, ("a", "node_fail"): -10, ("office", "node_fail"): 10}


def test_adjustments_in_their_order() -> None:
    rules = """adjustments:
  - {team: a, percent: -50, sponsor: office, until: 2026-10-14, why: x}
  - {team: a, pool: gpus, percent: 10, sponsor: office, why: y}
  - {team: a, cap: 50, sponsor: office, why: z}
  - {team: b, floor: 30, sponsor: office, why: z}
  - {team: c, smooth: 10, sponsor: office, why: z}
"""
    uses = [usage("a", 0, 5), usage("a", 24, 29), usage("b", 0, 2), usage("c", 0, 8)]
    found = owed(
        by_hand(rules + POOL + "method: proportional}", [line("200", 0, 24)], uses, previous={"c": Decimal(50)}),
        "reason",
    )
    # a owes 100: 50 on each day; the first halves day one (75), the second adds a tenth (82.5), the cap leaves 50
    expected = {
        ("a", "usage"): 100, ("a", "adjustment"): -50, ("b", "usage"): 20, ("b", "adjustment"): 10,
        ("c", "usage"): 80, ("c", "adjustment"): -25, ("office", "subsidy"): 50 - 10 + 25,
    }  # fmt: skip
    assert found == expected


def test_a_cap_scales_amounts_of_either_sign_alike() -> None:
    """a owes 80 and gets 20 back: 60 in all, capped to half of that."""
    rules = "adjustments: [{team: a, cap: 30, sponsor: office, why: x}]\n" + POOL + "method: proportional}"
    lines = [line("80", 0, 1), line("-20", 0, 1, component="other")]
    found = owed(by_hand(rules, lines, [usage("a", 0, 1)]), "component", "reason", "cause")
    assert found == {
        ("a", "compute", "usage", ""): 80,
        ("a", "compute", "adjustment", ""): -40,
        ("office", "compute", "subsidy", ""): 40,
        ("a", "other", "usage", ""): -20,
        ("a", "other", "adjustment", ""): 10,
        ("office", "other", "subsidy", ""): -10,
    }


def test_largest_remainder() -> None:
    assert largest_remainder(10, parts(A="30/7", B="30/7", C="10/7")) == {"A": 4, "B": 4, "C": 2}
    assert largest_remainder(-10_000, parts(A="-10000/3", B="-10000/3", C="-10000/3")) == {
        "A": -3334,
        "B": -3333,
        "C": -3333,
    }
    assert largest_remainder(1, parts(b="1/2", a="1/2")) == {"a": 1, "b": 0}
    assert largest_remainder(1, parts(a="-1/3", b="5/3")) == {"a": 0, "b": 1}


def parts(**named: str) -> dict[str, Fraction]:
    return {name: Fraction(part) for name, part in named.items()}


def near(posted: Iterable[tuple[Any, int]], exact: dict[Any, Fraction]) -> bool:
    return all(abs(amount - exact[key] * 10**9) < 1 for key, amount in posted)


@pytest.mark.parametrize("seed", range(60))
def test_the_oracle_gives_out_every_line_and_no_more(seed: int) -> None:
    one = world(seed)
    facts = Facts(one, Breakpoints())
    left: dict[Any, Fraction] = {}
    for found in facts.lines:
        root = (facts.bill(found.row), found.row["BillingCurrency"], found.component)
        left[root] = left.get(root, Fraction(0)) + found.amount
    for key, amount in attribute(one).items():
        left[key[:3]] = left.get(key[:3], Fraction(0)) - amount
    assert not {root: rest for root, rest in left.items() if rest and not root[0].startswith("rate card ")}


@pytest.mark.parametrize("seed", range(40))
def test_the_two_clocks_agree_and_the_tree_is_near(seed: int) -> None:
    small = world(seed, 0)
    exact = attribute(small)
    assert attribute(small, EverySecond()) == exact
    assert near(round_tree(exact).items(), exact)
