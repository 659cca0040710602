"""The same problem, a little changed: somebody uses more, appears as two, or moves to another slot.

A problem may carry remarks that its method does not read: `usage` beside `even`, `series` beside `drivers` (their sums) and `peaks`
beside `coalition_cost` (a group then costs its highest peak). An alteration changes the remark and what follows from it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, permutations
from typing import Any

from apportion.engine.sharing.methods import METHODS

Problem = Mapping[str, Any]
Inputs = dict[str, Any]
Cut = Callable[[Any], tuple[Any, Any]]

USED = ("drivers", "usage", "series", "peaks", "quantity", "demand", "alloc_hours", "dynamic_joules")
ASKED = ("reserved", "request", "benefits")
SUMMED = ("drivers", "usage", "quantity")
KEPT = ("caps", "floors", "subsidy_pct")  # every part has the whole of it
GONE = ("previous",)  # a new owner has no past
ZERO = Fraction(0)


@dataclass(frozen=True, slots=True)
class Altered:
    """What changed, in words, whom it is about, and the problem after it. `parts` are the owners that stand for `owner`."""

    what: str
    owner: str
    problem: Problem
    parts: tuple[str, ...]


def inputs_of(problem: Problem) -> Inputs:
    return dict(problem.get("inputs", {}))


def with_inputs(problem: Problem, inputs: Inputs) -> Problem:
    return {**problem, "inputs": inputs}


def used_keys(problem: Problem) -> list[str]:
    """Inputs that say what an owner used: remarks that others follow from, else those that the method reads."""
    present = [key for key in USED if key in problem["inputs"]]
    if "series" in present:
        return ["series"]
    reads = METHODS[problem["method"]].reads
    return [key for key in present if key in reads] or present


def owners_of(problem: Problem) -> list[str]:
    """Whoever may have to pay; pools that pass their money on do not."""
    inputs = problem["inputs"]
    if "coalition_cost" in inputs:
        return sorted({owner for key in inputs["coalition_cost"] for owner in key.split("+")})
    if "shares" in inputs:
        named = {*inputs["costs"], *(receiver for row in inputs["shares"].values() for receiver in row)}
        return sorted(named - set(inputs["shares"]))
    if "allocation" in inputs:
        return sorted(inputs["allocation"])
    keys = [*used_keys(problem), *(key for key in ASKED if key in inputs), "weights_pct", "members"]
    return sorted({owner for key in keys for owner in inputs.get(key, ())})


def numbers(value: Any) -> list[Fraction]:
    """All numbers of one owner's entry: an amount, a list by slot, a table by resource, or none."""
    if value is None:
        return [ZERO]
    if isinstance(value, Mapping):
        return [Fraction(value[name]) for name in sorted(value)]
    return [Fraction(item) for item in value] if isinstance(value, list | tuple) else [Fraction(value)]


def scaled(value: Any, factor: Fraction) -> Any:
    if isinstance(value, Mapping):
        return {name: scaled(item, factor) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [scaled(item, factor) for item in value]
    return Fraction(value) * factor


def rebuilt(inputs: Inputs) -> Inputs:
    """What follows from the remarks that tell how a problem came about."""
    derived: Inputs = {}
    if "series" in inputs:
        derived |= {key: {o: sum(row) for o, row in inputs["series"].items()} for key in SUMMED if key in inputs}
    if "intervals" in inputs:
        derived["drivers"] = {owner: union_length(spans) for owner, spans in inputs["intervals"].items()}
    if "coalition_cost" in inputs and "peaks" in inputs:
        groups = [group for size in range(len(inputs["peaks"])) for group in combinations(inputs["peaks"], size + 1)]
        derived["coalition_cost"] = {"+".join(group): max(inputs["peaks"][o] for o in group) for group in groups}
    return {**inputs, **derived}


def union_length(spans: Sequence[list[int]]) -> int:
    """Seconds in which at least one of the half-open spans runs."""
    end, length = 0, 0
    for start, stop in sorted(spans):
        length += max(0, stop - max(start, end))
        end = max(end, stop)
    return length


def using_more(problem: Problem) -> Iterator[Altered]:
    """One entry of one owner, one or a few units higher."""
    inputs = inputs_of(problem)
    if "shares" in inputs:
        yield from weights_raised(problem)
        return
    for key in used_keys(problem):
        for owner in (name for name in inputs[key] if name in owners_of(problem)):
            for entry in raised(inputs[key][owner]):
                after = rebuilt({**inputs, key: {**inputs[key], owner: entry}})
                yield Altered(f"with {key}.{owner} = {shown(entry)}", owner, with_inputs(problem, after), (owner,))


def weights_raised(problem: Problem) -> Iterator[Altered]:
    inputs = inputs_of(problem)
    for pool, row in inputs["shares"].items():
        for owner in owners_of(problem):
            more = {**row, owner: Fraction(row.get(owner, 0)) + 1}
            after = {**inputs, "shares": {**inputs["shares"], pool: more}}
            yield Altered(f"with shares.{pool}.{owner} = {more[owner]}", owner, with_inputs(problem, after), (owner,))


def raised(entry: Any) -> Iterator[Any]:
    for step in (1, 2, 5):
        if isinstance(entry, Mapping):
            yield from ({**entry, name: Fraction(value) + step} for name, value in entry.items())
        elif isinstance(entry, list | tuple):
            yield from ([Fraction(v) + step * (n == place) for n, v in enumerate(entry)] for place in range(len(entry)))
        else:
            yield Fraction(entry) + step


def using_less(problem: Problem) -> Iterator[Altered]:
    """One owner's whole entry, brought to nothing."""
    inputs = inputs_of(problem)
    for key in used_keys(problem):
        for owner, entry in inputs[key].items():
            if any(numbers(entry)):
                after = {**inputs, key: {**inputs[key], owner: scaled(entry, ZERO)}}
                yield Altered(
                    f"with {key}.{owner} = {shown(after[key][owner])}", owner, with_inputs(problem, after), (owner,)
                )


def as_two(problem: Problem) -> Iterator[Altered]:
    """Half and half; of several resources also one against the others, of intervals the first against the rest."""
    inputs = inputs_of(problem)
    for owner in owners_of(problem):
        if "intervals" in inputs:
            yield parted(problem, owner, lambda spans: (spans[:1], spans[1:]), "the first interval and the rest")
            continue
        yield parted(problem, owner, halves, "half and half")
        entries = [inputs[key].get(owner) for key in used_keys(problem)]
        for name in sorted({name for entry in entries if isinstance(entry, Mapping) for name in entry}):
            yield parted(problem, owner, by_resource(name), f"one with all its {name}, one with the rest")


def in_other_slots(problem: Problem) -> Iterator[Altered]:
    """An owner as two that never use the same slot."""
    series = problem["inputs"].get("series", {})
    slots = range(len(next(iter(series.values()), ())))
    for owner in series:
        for mine in (chosen for size in range(1, len(slots)) for chosen in combinations(slots, size)):
            yield parted(problem, owner, by_slot(mine), f"one in slots {', '.join(map(str, mine))}, one in the rest")


def halves(entry: Any) -> tuple[Any, Any]:
    half = scaled(entry, Fraction(1, 2))
    return half, half


def by_resource(name: str) -> Cut:
    return lambda entry: (
        halves(entry)
        if not isinstance(entry, Mapping)
        else (
            {resource: amount if resource == name else 0 for resource, amount in entry.items()},
            {resource: 0 if resource == name else amount for resource, amount in entry.items()},
        )
    )


def by_slot(mine: Sequence[int]) -> Cut:
    return lambda row: (
        halves(row)
        if not isinstance(row, list | tuple)
        else (
            [amount if slot in mine else 0 for slot, amount in enumerate(row)],
            [0 if slot in mine else amount for slot, amount in enumerate(row)],
        )
    )


def parted(problem: Problem, owner: str, cut: Cut, what: str) -> Altered:
    """What was used is cut, other amounts are halved; `caps` and the like are everybody's own."""
    parts = (f"{owner} 1", f"{owner} 2")
    used = ["intervals"] if "intervals" in problem["inputs"] else used_keys(problem)
    inputs: Inputs = {}
    for key, value in problem["inputs"].items():
        if isinstance(value, list | tuple) and owner in value:
            inputs[key] = [name for member in value for name in (parts if member == owner else (member,))]
        elif key == "shares":
            inputs[key] = {pool: two_entries(row, owner, parts, halves) for pool, row in value.items()}
        elif isinstance(value, Mapping) and owner in value:
            cut_here = cut if key in used else kept if key in KEPT else halves
            inputs[key] = two_entries(value, owner, () if key in GONE else parts, cut_here)
        else:
            inputs[key] = value
    return Altered(f"as two, {what},", owner, with_inputs(problem, rebuilt(inputs)), parts)


def kept(entry: Any) -> tuple[Any, Any]:
    return entry, entry


def two_entries(table: Mapping[str, Any], owner: str, parts: Sequence[str], cut: Cut) -> Inputs:
    others = {name: entry for name, entry in table.items() if name != owner}
    return {**others, **dict(zip(parts, cut(table[owner]), strict=False))} if owner in table else others


def off_the_peak(problem: Problem) -> Iterator[Altered]:
    """Units of one owner, moved from a fullest slot to one that stays no fuller."""
    series = problem["inputs"].get("series", {})
    totals = [sum(map(Fraction, slot)) for slot in zip(*series.values(), strict=True)]
    for owner, row in series.items():
        for moved in moves(row, totals):
            inputs = rebuilt({**problem["inputs"], "series": {**series, owner: moved}})
            yield Altered(f"with series.{owner} = {shown(moved)}", owner, with_inputs(problem, inputs), (owner,))


def moves(row: Sequence[Any], totals: Sequence[Fraction | int]) -> Iterator[list[Fraction]]:
    most = max(totals)
    for slot, other in permutations(range(len(row)), 2):
        room = min(int(Fraction(row[slot])), int(most - totals[other])) if totals[slot] == most else 0
        for units in range(1, room + 1):
            yield [Fraction(v) + units * ((n == other) - (n == slot)) for n, v in enumerate(row)]


def shown(value: Any) -> str:
    """As a problem would write it."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{name}: {shown(item)}" for name, item in value.items()) + "}"
    return "[" + ", ".join(map(shown, value)) + "]" if isinstance(value, list | tuple) else str(value)
