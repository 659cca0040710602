"""Few owners and a table of what every group would cost by itself: `"N+F": 301607`."""

from fractions import Fraction

from apportion.engine.sharing.given import UNALLOCATED, Given, Shares, add, check_names, read_amounts, refuse, union
from apportion.engine.sharing.method import (
    ADDITIVITY,
    CORE,
    EFFICIENCY,
    MONOTONE,
    NULL_PLAYER,
    SPLIT_PROOF,
    STAND_ALONE,
    SYMMETRY,
    Method,
    case,
)
from apportion.engine.sharing.shapley import MOST_PLAYERS, shapley_values

ZERO = Fraction(0)
Costs = dict[frozenset[str], Fraction]


def coalition_costs(given: Given) -> tuple[Costs, list[str]]:
    table = read_amounts(given.need("coalition_cost"), "coalition_cost", "negative_amount")
    costs: Costs = {}
    for key, cost in table.items():
        group = frozenset(check_names(key.split("+"), "coalition_cost"))
        if group in costs:
            refuse("duplicate_key", f"coalition_cost names the group {key!r} twice", "coalition_cost")
        costs[group] = cost
    players = union(*(key.split("+") for key in table))
    if not players:
        refuse("missing_input", "coalition_cost names no group", "coalition_cost")
    if len(players) > MOST_PLAYERS:
        refuse("too_large", f"a table of coalitions takes at most {MOST_PLAYERS} owners", "coalition_cost")
    check_names(players, "coalition_cost")
    return costs, players


def cost_of(costs: Costs, group: frozenset[str]) -> Fraction:
    if group and group not in costs:
        refuse("missing_input", f"coalition_cost has no cost for {'+'.join(sorted(group))!r}", "coalition_cost")
    return costs[group] if group else ZERO


def at_bill(given: Given, values: Shares, total: Fraction) -> Shares:
    """The table is a model of the cost and the bill is the fact: values are scaled to it."""
    if total:
        return {owner: given.bill * value / total for owner, value in values.items()}
    shares = dict.fromkeys(values, ZERO)
    add(shares, UNALLOCATED, Fraction(given.bill))
    return shares


def shapley_table(given: Given) -> Shares:
    costs, players = coalition_costs(given)
    if len(costs) < 2 ** len(players) - 1:
        refuse(
            "missing_input",
            f"coalition_cost must have all {2 ** len(players) - 1} groups of {len(players)} owners",
            "coalition_cost",
        )
    return at_bill(given, shapley_values(costs, players), costs[frozenset(players)])


def incremental(given: Given) -> Shares:
    costs, players = coalition_costs(given)
    order = given.names("order")
    if set(order) != set(players):
        refuse("invalid_order", "order must name every owner of coalition_cost once", "order")
    before, values = ZERO, {}
    for place, owner in enumerate(order, 1):
        after = cost_of(costs, frozenset(order[:place]))
        values[owner], before = after - before, after
    return at_bill(given, values, before)


def scrb(given: Given) -> Shares:
    """Everyone pays what it alone adds; the joint rest goes by what each still gains."""
    costs, players = coalition_costs(given)
    everyone = frozenset(players)
    total = cost_of(costs, everyone)
    alone = {owner: cost_of(costs, frozenset((owner,))) for owner in players}
    own = {owner: total - cost_of(costs, everyone - {owner}) for owner in players}
    benefits = given.amounts("benefits") if given.has("benefits") else alone
    gains = {owner: max(ZERO, min(benefits.get(owner, ZERO), alone[owner]) - own[owner]) for owner in players}
    joint, gained = total - sum(own.values(), ZERO), sum(gains.values(), ZERO)
    values = {owner: own[owner] + (joint * gains[owner] / gained if gained else ZERO) for owner in players}
    if joint and not gained:
        add(values, UNALLOCATED, joint)
    return at_bill(given, values, total)


TVA = {"N": 163520, "F": 140826, "P": 250096, "N+F": 301607, "N+P": 378821, "F+P": 367370, "N+F+P": 412584}
RUNWAY = {"a": 2, "b": 2, "a+b": 2}
CROWD = {"a": 3, "b": 3, "a+b": 9}
TRIANGLE = {"a": 1, "b": 1, "c": 1, "a+b": 1, "a+c": 1, "b+c": 1, "a+b+c": 2}
NESTED = {"a": 3000, "b": 600, "c": 1200, "a+b": 3000, "a+c": 3000, "b+c": 1200, "a+b+c": 3000}

METHODS = (
    Method(
        name="shapley_table",
        share=shapley_table,
        reads=("coalition_cost",),
        formula="x_i = C / v(N) * average over all orders of v(S + i) - v(S)",
        holds=(EFFICIENCY, SYMMETRY, NULL_PLAYER, ADDITIVITY),
        breaks={
            SPLIT_PROOF: case(6000, coalition_cost=RUNWAY, peaks={"a": 2, "b": 2}),
            STAND_ALONE + " (unless groups save by joining)": case(9000, coalition_cost=CROWD),
            CORE + " (even where groups save by joining)": case(6000, coalition_cost=TRIANGLE),
        },
        choose="a few sponsors, and the cost of every combination is known",
        example={"bill_minor": 412584, "inputs": {"coalition_cost": TVA}},
        idle="part of the table",
        burst="part of the table",
    ),
    Method(
        name="incremental",
        share=incremental,
        reads=("coalition_cost", "order"),
        formula="x_i = C / v(N) * (v(S + i) - v(S)), S = those before i in the order",
        holds=(EFFICIENCY, ADDITIVITY, NULL_PLAYER),
        breaks={
            SYMMETRY: case(6000, coalition_cost=RUNWAY, order=["a", "b"]),
            SPLIT_PROOF: case(6000, coalition_cost=RUNWAY, order=["a", "b"], peaks={"a": 2, "b": 2}),
            STAND_ALONE + " (unless groups save by joining)": case(9000, coalition_cost=CROWD, order=["a", "b"]),
            CORE + " (even where groups save by joining)": case(6000, coalition_cost=TRIANGLE, order=["a", "b", "c"]),
        },
        choose="priority classes: production first, batch pays only what it adds",
        example={"bill_minor": 412584, "inputs": {"coalition_cost": TVA, "order": ["P", "N", "F"]}},
        idle="part of the table",
        burst="lower classes pay the increment",
    ),
    Method(
        name="scrb",
        share=scrb,
        reads=("coalition_cost", "benefits"),
        formula="x_i = C / v(N) * (m_i + joint * g_i / sum(g)), m_i = v(N) - v(N - i), g_i = max(0, min(benefit_i, v(i)) - m_i)",
        holds=(EFFICIENCY, SYMMETRY, NULL_PLAYER),
        breaks={
            ADDITIVITY: case(3000, coalition_cost=NESTED),
            MONOTONE: case(6000, coalition_cost={"a": 2, "b": 1, "a+b": 2}, benefits={"b": 1}, peaks={"a": 2, "b": 1}),
            SPLIT_PROOF: case(6000, coalition_cost=RUNWAY, peaks={"a": 2, "b": 2}),
            STAND_ALONE + " (unless groups save by joining)": case(9000, coalition_cost=CROWD),
            CORE + " (even where groups save by joining)": case(6000, coalition_cost=TRIANGLE),
        },
        choose="few big sponsors of one joint investment",
        example={
            "bill_minor": 412584,
            "inputs": {"coalition_cost": TVA, "benefits": {"N": 1000000, "F": 1000000, "P": 1000000}},
        },
        idle="part of the table",
        burst="part of the table",
    ),
)
