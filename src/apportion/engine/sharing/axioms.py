"""What a fair method might promise, each as a function that tries a problem and says what went wrong, exactly.

An axiom yields one item per trial: None where it held, a sentence where it did not. A problem in which it has nothing to
say (no two equal owners, no cost of a group known) yields nothing. Bills are at least 0: a credit mirrors its bill.
"""

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import chain, combinations, permutations

from apportion.engine.sharing import alterations, method
from apportion.engine.sharing.alterations import (
    ASKED,
    ZERO,
    Altered,
    Inputs,
    Problem,
    inputs_of,
    numbers,
    owners_of,
    shown,
    used_keys,
    with_inputs,
)
from apportion.engine.sharing.currency import converted
from apportion.engine.sharing.given import RESIDUAL, Given, Shares
from apportion.engine.sharing.solve import solve
from apportion.engine.sharing.tiers import cost_function

Trial = str | None
Axiom = Callable[[Problem], Iterator[Trial]]
Cost = Callable[[frozenset[str]], Fraction]


def shares_of(problem: Problem) -> Shares:
    return solve(problem).exact


def paid(problem: Problem, owners: tuple[str, ...]) -> Fraction:
    shares = shares_of(problem)
    return sum((shares.get(owner, ZERO) for owner in owners), ZERO)


def efficiency(problem: Problem) -> Iterator[Trial]:
    bill = problem["bill_minor"]
    if problem["method"] == "fx":
        bill = converted(Given(bill, problem.get("params", {}), problem["inputs"])).bill
    charged = sum((share for owner, share in shares_of(problem).items() if owner != RESIDUAL), ZERO)
    yield None if charged == bill else f"{charged} is charged for a bill of {bill}"


def symmetry(problem: Problem) -> Iterator[Trial]:
    shares = shares_of(problem)
    for one, other in combinations(owners_of(problem), 2):
        if demand(problem, one, other) == demand(problem, other, one):
            same = shares.get(one) == shares.get(other)
            yield None if same else f"{one} pays {shares.get(one, ZERO)}, {other} pays {shares.get(other, ZERO)}"


def demand(problem: Problem, owner: str, other: str) -> object:
    """What the owner asked for and used, as seen by somebody who would change places with the other."""
    inputs = problem["inputs"]
    if "coalition_cost" in inputs:
        named = {owner: "one", other: "other"}
        costs = {frozenset(named.get(n, n) for n in key.split("+")): c for key, c in inputs["coalition_cost"].items()}
        return costs, inputs.get("benefits", {}).get(owner)
    if "shares" in inputs:
        return inputs["costs"].get(owner, 0), [row.get(owner, 0) for row in inputs["shares"].values()]
    if "allocation" in inputs:
        return inputs["allocation"][owner]
    keys = (*used_keys(problem), *(key for key in ASKED if key in inputs))
    return [numbers(inputs[key].get(owner)) for key in keys]


def null_player(problem: Problem) -> Iterator[Trial]:
    shares = shares_of(problem)
    for owner in owners_of(problem):
        if used_nothing(problem, owner):
            share = shares.get(owner, ZERO)
            yield None if not share else f"{owner} used nothing and pays {share}"


def used_nothing(problem: Problem, owner: str) -> bool:
    inputs = problem["inputs"]
    if "coalition_cost" in inputs:
        costs = {frozenset(key.split("+")): cost for key, cost in inputs["coalition_cost"].items()}
        return all(cost == costs.get(group - {owner}, 0) for group, cost in costs.items())
    if "shares" in inputs or "allocation" in inputs:
        return not any(numbers([*flat(demand(problem, owner, owner))]))
    return not any(chain.from_iterable(numbers(inputs[key].get(owner)) for key in used_keys(problem)))


def flat(value: object) -> Iterator[object]:
    if isinstance(value, list | tuple):
        for item in value:
            yield from flat(item)
    else:
        yield value


def additivity(problem: Problem) -> Iterator[Trial]:
    """Another bill over the same demand; where the problem states money by name, other money under the same names."""
    one = at_stated_bill(problem)
    words, two = another_bill(one)
    if not one["bill_minor"] or not two["bill_minor"]:
        return
    both = together(one, two)
    first, second, joint = map(shares_of, (one, two, both))
    for owner in sorted({*first, *second, *joint}, key=lambda name: (name.startswith("_"), name)):
        apart = first.get(owner, ZERO) + second.get(owner, ZERO)
        held = apart == joint.get(owner, ZERO)
        yield None if held else f"beside {words}: {owner} pays {apart} apart and {joint.get(owner, ZERO)} together"


STATED = ("costs", "allocation", "coalition_cost")


def stated_key(problem: Problem) -> str | None:
    return next((key for key in STATED if key in problem["inputs"]), None)


def at_stated_bill(problem: Problem) -> Problem:
    """Money by name adds up to the bill; a table of groups costs what all of them cost together."""
    key, inputs = stated_key(problem), problem["inputs"]
    if key is None:
        return problem
    if key != "coalition_cost":
        return {**problem, "bill_minor": sum(inputs[key].values())}
    return {**problem, "bill_minor": max(inputs[key].items(), key=lambda item: item[0].count("+"))[1]}


def another_bill(problem: Problem) -> tuple[str, Problem]:
    key = stated_key(problem)
    if key is None:
        bill = 3 * problem["bill_minor"]
        return f"a bill of {bill}", {**problem, "bill_minor": bill}
    table = problem["inputs"][key]
    turned = dict(zip(table, [*list(table.values())[1:], next(iter(table.values()))], strict=True))
    return f"{key} {shown(turned)}", at_stated_bill(with_inputs(problem, {**problem["inputs"], key: turned}))


def together(one: Problem, two: Problem) -> Problem:
    key, inputs = stated_key(one), inputs_of(one)
    if key is not None:
        inputs[key] = {name: amount + two["inputs"][key][name] for name, amount in inputs[key].items()}
    return {**one, "inputs": inputs, "bill_minor": one["bill_minor"] + two["bill_minor"]}


def resources_together(problem: Problem) -> Iterator[Trial]:
    """A bill for each resource, as big as the others, against one bill for all of them."""
    inputs, bill = problem["inputs"], problem["bill_minor"]
    names = list(inputs["capacity"])
    joint, apart = shares_of({**problem, "bill_minor": bill * len(names)}), dict.fromkeys(inputs["usage"], ZERO)
    for name in names:
        usage = {owner: {name: used.get(name, 0)} for owner, used in inputs["usage"].items()}
        for owner, share in shares_of(with_inputs(problem, {**inputs, "usage": usage})).items():
            apart[owner] = apart.get(owner, ZERO) + share
    for owner, share in apart.items():
        words = f"{owner} pays {share} for bills of {bill} by {' and by '.join(names)}, {joint.get(owner, ZERO)} for both as one"
        yield None if share == joint.get(owner, ZERO) else words


def compared(
    problem: Problem, changes: Iterator[Altered], wrong: Callable[[Fraction, Fraction], bool]
) -> Iterator[Trial]:
    """What an owner pays after each change, beside what it paid before."""
    shares = shares_of(problem)
    for change in changes:
        before, after = shares.get(change.owner, ZERO), paid(change.problem, change.parts)
        yield f"{change.owner} pays {before}; {change.what} it pays {after}" if wrong(before, after) else None


def monotone(problem: Problem) -> Iterator[Trial]:
    return compared(problem, alterations.using_more(problem), lambda before, after: after < before)


def split_proof(problem: Problem) -> Iterator[Trial]:
    known = "coalition_cost" not in problem["inputs"] or "peaks" in problem["inputs"]
    changes = alterations.as_two(problem) if known else iter(())
    return compared(problem, changes, lambda before, after: after != before)


def time_split(problem: Problem) -> Iterator[Trial]:
    return compared(problem, alterations.in_other_slots(problem), lambda before, after: after != before)


def time_shift(problem: Problem) -> Iterator[Trial]:
    """The bill falls with the peak, by itself where a capacity is given: the rest of it is idle."""
    highest, shares = peak(problem), shares_of(problem)
    for change in alterations.off_the_peak(problem):
        lower = peak(change.problem) / highest if "capacity" not in problem["inputs"] else Fraction(1)
        before, after = shares.get(change.owner, ZERO), paid(change.problem, change.parts) * lower
        words = f"{change.owner} pays {before}; {change.what} it pays {after}, the bill falling with the peak"
        yield words if after > before else None


def peak(problem: Problem, group: frozenset[str] | None = None) -> Fraction:
    rows = [row for owner, row in problem["inputs"].get("series", {}).items() if group is None or owner in group]
    return max((sum(map(Fraction, slot), ZERO) for slot in zip(*rows, strict=True)), default=ZERO)


def stand_alone(problem: Problem) -> Iterator[Trial]:
    return within_cost(problem, 1)


def core(problem: Problem) -> Iterator[Trial]:
    return within_cost(problem, len(owners_of(problem)))


def within_cost(problem: Problem, largest: int) -> Iterator[Trial]:
    cost = cost_of_groups(problem)
    if cost is None:
        return
    shares = shares_of(problem)
    for group in chain.from_iterable(combinations(owners_of(problem), size) for size in range(1, largest + 1)):
        due, alone = sum((shares.get(owner, ZERO) for owner in group), ZERO), cost(frozenset(group))
        pay, by_itself = ("pays", "alone") if len(group) == 1 else ("pay", "by themselves")
        words = f"{' and '.join(group)} {pay} {due}; {by_itself} it would be {alone}"
        yield None if due <= alone else words


def cost_of_groups(problem: Problem) -> Cost | None:
    """What a group would cost by itself, in money of the bill; None where the problem does not say."""
    bill, needs = Fraction(problem["bill_minor"]), needed(problem)
    if needs is None:
        return None
    whole = bought(problem, needs(frozenset(owners_of(problem))))
    return (lambda group: bill * needs(group) / whole) if whole else None


def bought(problem: Problem, needed_by_all: Fraction) -> Fraction:
    """What the bill paid for: the capacity where one is given, or what was used where that is more; else what all need together."""
    inputs = problem["inputs"]
    capacity = inputs.get("capacity")
    if isinstance(capacity, dict):
        return Fraction(1)  # needs are parts of it
    if capacity is None:
        return needed_by_all
    if "usage" in inputs and "series" in inputs:
        slots = len(next(iter(inputs["series"].values())))
        return max(Fraction(capacity), sum(map(Fraction, inputs["usage"].values()), ZERO)) / slots
    return max(Fraction(capacity), needed_by_all)


def needed(problem: Problem) -> Cost | None:
    """What a group needs by itself: its own peak, its own nodes, its row of the table."""
    inputs = problem["inputs"]
    if "series" in inputs:
        return lambda group: peak(problem, group)
    if "coalition_cost" in inputs:
        costs = {frozenset(key.split("+")): Fraction(cost) for key, cost in inputs["coalition_cost"].items()}
        return lambda group: costs[group]
    if "reserved" in inputs:
        both = (inputs["reserved"], inputs["usage"])
        return lambda group: max(sum((Fraction(t.get(o, 0)) for o in group), ZERO) for t in both)
    if "peaks" in inputs and "step" not in problem.get("params", {}):
        return lambda group: max(Fraction(inputs["peaks"][owner]) for owner in group)
    if "tiers" in inputs or "cost" in inputs:
        function = cost_function(Given(0, {}, inputs))
        return lambda group: function(sum((Fraction(inputs["demand"][owner]) for owner in group), ZERO))
    sizes = inputs.get("node") if "demand" in inputs else inputs.get("capacity")
    return nodes_needed(inputs, sizes) if isinstance(sizes, dict) else None


def nodes_needed(inputs: Inputs, sizes: Inputs) -> Cost:
    """As many nodes, or as large a part of them, as the resource that runs out first."""
    used = inputs["usage" if "usage" in inputs else "demand"]
    return lambda group: max(
        sum((Fraction(used[owner].get(name, 0)) for owner in group), ZERO) / size for name, size in sizes.items()
    )


def responsive(problem: Problem) -> Iterator[Trial]:
    return compared(problem, alterations.using_less(problem), lambda before, after: after >= before)


def foresight(problem: Problem) -> Iterator[Trial]:
    """Another bill, and others that use more, change nothing."""
    shares = shares_of(problem)
    dearer = shares_of({**problem, "bill_minor": 3 * problem["bill_minor"]})
    for owner in owners_of(problem):
        yield (
            None
            if shares[owner] == dearer[owner]
            else f"{owner} pays {shares[owner]}, of a higher bill {dearer[owner]}"
        )
        for change in alterations.using_more(problem):
            after = shares_of(change.problem)[owner]
            held = owner == change.owner or after == shares[owner]
            yield None if held else f"{owner} pays {shares[owner]}; {change.what} it pays {after}"


def shielding(problem: Problem) -> Iterator[Trial]:
    """The bill is what the cost function says, before and after."""
    wanted = problem["inputs"]["demand"]
    before = shares_of(at_cost(problem))
    for change in alterations.using_more(problem):
        after = shares_of(at_cost(change.problem))
        for owner in (name for name in wanted if wanted[name] <= wanted[change.owner] and name != change.owner):
            words = f"{owner} pays {before[owner]}; {change.what} it pays {after[owner]}"
            yield None if before[owner] == after[owner] else words


def at_cost(problem: Problem) -> Problem:
    inputs = problem["inputs"]
    bill = cost_function(Given(0, {}, inputs))(sum(map(Fraction, inputs["demand"].values()), ZERO))
    return {**problem, "bill_minor": int(bill)}


def order_freedom(problem: Problem) -> Iterator[Trial]:
    inputs, shares = problem["inputs"], shares_of(problem)
    for order in permutations(inputs["shares"]):
        turned = {**inputs, "shares": {pool: inputs["shares"][pool] for pool in order}, "order": list(order)}
        after = shares_of(with_inputs(problem, turned))
        owner = next((name for name in shares if after[name] != shares[name]), None)
        yield (
            None
            if owner is None
            else f"{owner} pays {shares[owner]}; with order {shown(list(order))} it pays {after[owner]}"
        )


def causation(problem: Problem) -> Iterator[Trial]:
    """Money that a pool sends to another one changes who pays in the end."""
    inputs, shares = problem["inputs"], shares_of(problem)
    pools = inputs["shares"]
    for pool, other in permutations(pools, 2):
        row = {**pools[pool], other: pools[pool].get(other, 0) + 1}
        after = shares_of(with_inputs(problem, {**inputs, "shares": {**pools, pool: row}}))
        yield None if after != shares else f"with shares.{pool}.{other} = {row[other]} everybody pays as before"


AXIOMS: dict[str, Axiom] = {
    method.EFFICIENCY: efficiency,
    method.SYMMETRY: symmetry,
    method.NULL_PLAYER: null_player,
    method.ADDITIVITY: additivity,
    method.MONOTONE: monotone,
    method.SPLIT_PROOF: split_proof,
    method.TIME_SPLIT: time_split,
    method.TIME_SHIFT: time_shift,
    method.STAND_ALONE: stand_alone,
    method.CORE: core,
    method.RESPONSIVE: responsive,
    method.FORESIGHT: foresight,
    method.SHIELDING: shielding,
    method.ORDER_FREE: order_freedom,
    method.CAUSATION: causation,
    method.ADDITIVITY + " (across resources)": resources_together,
}


def axiom_named(label: str) -> Axiom:
    """Brackets name the case in which a method breaks it; some cases have a test of their own."""
    return AXIOMS.get(label) or AXIOMS[label.partition(" (")[0]]


def violation(label: str, problem: Problem) -> str | None:
    """The first thing that goes wrong."""
    return next(filter(None, axiom_named(label)(problem)), None)
