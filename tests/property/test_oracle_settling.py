"""The oracle against numbers worked out by hand: price lists, overheads, followers, credits, adjustments, rounding."""

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

from tests.property.by_hand import POOL, by_hand, line, owed, usage, workload
from tests.property.oracle import EverySecond, attribute, round_tree
from tests.property.oracle_facts import Facts
from tests.property.oracle_rounding import largest_remainder
from tests.property.oracle_time import Breakpoints
from tests.property.worlds import world


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


@pytest.mark.parametrize(("refund", "overhead"), [("-20", {"a": 7}), ("-300", {"b": 7}), ("-100", {"_unallocated": 7})])
def test_an_overhead_goes_to_owners_with_the_sign_of_all_together(refund: str, overhead: dict[str, int]) -> None:
    rules = """pools:
  tagged: {costs: {ServiceName: T}, method: direct}
  plat: {costs: {ServiceName: P}, by: cost, over: all}
"""
    rows = [line("100", 0, 1, ServiceName="T", Tags={"team": "a"}), line("7", 0, 1, ServiceName="P")]
    rows.append(line(refund, 0, 1, ServiceName="T", Tags={"team": "b"}))
    found = owed(by_hand(rules, rows, []), "reason")
    assert {owner: amount for (owner, reason), amount in found.items() if reason == "overhead"} == overhead


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


def test_what_a_cap_takes_off_is_shared_by_size_whatever_the_sign() -> None:
    """a owes 80 and gets 20 back: 60 in all, and 30 too much."""
    rules = "adjustments: [{team: a, cap: 30, sponsor: office, why: x}]\n" + POOL + "method: proportional}"
    lines = [line("80", 0, 1), line("-20", 0, 1, component="other")]
    found = owed(by_hand(rules, lines, [usage("a", 0, 1)]), "component", "reason", "cause")
    assert found == {
        ("a", "compute", "usage", ""): 80,
        ("a", "compute", "adjustment", "x"): -24,
        ("office", "compute", "subsidy", "x"): 24,
        ("a", "other", "usage", ""): -20,
        ("a", "other", "adjustment", "x"): -6,
        ("office", "other", "subsidy", "x"): 6,
    }


@pytest.mark.parametrize(("grant", "used"), [("25", 25), ("75", 60)])
def test_a_grant_is_used_up_by_what_is_owed(grant: str, used: int) -> None:
    rules = f"adjustments: [{{team: a, grant: {grant}, sponsor: office, why: x}}]\n" + POOL + "method: proportional}"
    lines = [line("80", 0, 1), line("-20", 0, 1, component="other")]
    found = owed(by_hand(rules, lines, [usage("a", 0, 1)]), "reason")
    assert found == {("a", "usage"): 60, ("a", "adjustment"): -used, ("office", "subsidy"): used}


def test_a_floor_reaches_a_team_whose_charges_cancel_out() -> None:
    rules = "adjustments: [{team: a, floor: 8, sponsor: office, why: x}]\n" + POOL + "method: proportional}"
    lines = [line("30", 0, 1), line("-30", 0, 1, component="other")]
    found = owed(by_hand(rules, lines, [usage("a", 0, 1)]), "component", "reason")
    assert found["a", "compute", "adjustment"] == found["a", "other", "adjustment"] == 4
    assert found["office", "compute", "subsidy"] == found["office", "other", "subsidy"] == -4


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
