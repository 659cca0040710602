"""Weights that the data contradict: a GPU-hour of some kind counts so much by the policy, and did, drew or cost something else.

Both sides are measured as ratios (used over held, joules over held, money over capacity) of sums over workloads or nodes. The range is that of about two
standard errors of such a ratio, each workload or node counting as one. Told where the weight lies outside of it, and nothing that was measured agrees.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from math import sqrt

from apportion.reports.held import places
from apportion.reports.report import Cell, Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.finding import Edit, Pattern, said_number
from apportion.reports.words import counted, shown

FEWEST = 20  # workloads on each side
WIDE = 2  # standard errors
Pair = tuple[Fraction, Fraction]  # measured, over what
WHAT = {
    "activity": ("did {ratio} times the work of others", "workload"),
    "energy": ("drew {ratio} times the energy of others", "workload"),
    "price": ("cost {ratio} times what others cost by the bills", "node"),
}
COLUMNS = (
    Column("what", "by"),
    Column("weight", "weight"),
    Column("low", "from"),
    Column("high", "to"),
    Column("count", "of", "count"),
    Column("others", "against", "count"),
)


@dataclass(frozen=True, slots=True)
class Evidence:
    """Of one kind: what was measured of those that the weight is for, and of others, whose mean weight is `level`."""

    kind: str
    own: tuple[Pair, ...]
    others: tuple[Pair, ...]
    level: Fraction = Fraction(1)


@dataclass(frozen=True, slots=True)
class Claim:
    """What a policy says at `pools.POOL.weights.LABEL.VALUE`; `amount` is what such workloads were charged.

    Of several kinds of evidence the one that is nearest to the policy suggests.
    """

    pool: str
    label: str
    value: str
    weight: Fraction
    evidence: tuple[Evidence, ...]
    workloads: int
    currency: str
    amount: Decimal


@dataclass(frozen=True, slots=True)
class Estimate:
    ratio: Fraction
    suggested: Fraction
    low: Fraction
    high: Fraction


def weights(claims: Sequence[Claim], bounds: Bounds) -> Iterator[Pattern]:
    for claim in claims:
        known = [(one, found) for one in claim.evidence if (found := estimate(one))]
        if known and all(is_against(found, claim.weight, Fraction(bounds.weight, 100)) for _, found in known):
            above = {found.suggested > claim.weight for _, found in known}
            if len(above) == 1:  # all say the same
                yield finding(claim, sorted(known, key=lambda pair: abs(pair[1].suggested - claim.weight)))


def estimate(one: Evidence) -> Estimate | None:
    """None where too little was measured to say anything. Of nodes one is enough: what it cost is no sample."""
    fewest = FEWEST if WHAT[one.kind][1] == "workload" else 1
    if min(len(one.own), len(one.others)) < fewest:
        return None
    (own, own_error), (others, others_error) = ratio_of(one.own), ratio_of(one.others)
    if not own or not others:
        return None
    suggested = one.level * own / others
    error = WIDE * Fraction(sqrt(own_error + others_error)).limit_denominator(10**9)
    return Estimate(own / others, suggested, max(suggested * (1 - error), Fraction(0)), suggested * (1 + error))


def ratio_of(pairs: Sequence[Pair]) -> tuple[Fraction, float]:
    """The ratio of the sums, and its variance over its square."""
    above, below = (sum((pair[n] for pair in pairs), Fraction(0)) for n in (0, 1))
    if not above or not below:
        return Fraction(0), 0.0
    ratio = above / below
    if len(pairs) == 1:
        return ratio, 0.0
    apart = sum(float(measured - ratio * over) ** 2 for measured, over in pairs)
    return ratio, apart * len(pairs) / (len(pairs) - 1) / float(above) ** 2


def is_against(found: Estimate, weight: Fraction, bound: Fraction) -> bool:
    inside = found.low <= weight <= found.high
    return not inside and abs(found.suggested - weight) > bound * weight


def finding(claim: Claim, known: Sequence[tuple[Evidence, Estimate]]) -> Pattern:
    evidence, found = known[0]
    did, counts = WHAT[evidence.kind]
    per = "GPU-hour that was held" if counts == "workload" else "GPU-hour that was there"
    value = written(found.suggested)
    margin = f", from {said_number(found.low)} to {said_number(found.high)}," if found.low < found.high else ""
    said = (
        f"In pool {claim.pool} {claim.label} {claim.value} counts {said_number(claim.weight)}, but a {per} {did.format(ratio=said_number(found.ratio))} "
        f"({counted(len(evidence.own), counts)} against {len(evidence.others):,}): {value}{margin} would follow that{objection(known[1:])}."
    )
    first = ("the policy", places(claim.weight), *[None] * (len(COLUMNS) - 2))
    return Pattern(
        "weight", (claim.pool, claim.label, claim.value), said, COLUMNS, (first, *(cells(one, each) for one, each in known)), "bars",
        ((claim.weight,), *((each.suggested,) for _, each in known)), ("weight",), "weight", claim.currency, claim.amount, (),
        f"{counted(claim.workloads, 'workload')} of that kind were charged {shown(claim.amount, claim.currency)}; a weight that is meant to steer "
        "rather than to measure may stay as it is",
        Edit(((("pools", claim.pool, "weights", claim.label, claim.value), value),)),
    )  # fmt: skip


def objection(known: Sequence[tuple[Evidence, Estimate]]) -> str:
    """`, and 0.15 its activity`: what else was measured points the same way."""
    return "".join(f", and {written(found.suggested)} its {one.kind}" for one, found in known)


def cells(one: Evidence, found: Estimate) -> tuple[Cell, ...]:
    numbers = (found.suggested, found.low, found.high)
    return (one.kind, *(places(number) for number in numbers), len(one.own), len(one.others))


def written(weight: Fraction) -> str:
    """Two digits that count, as a policy has it."""
    digits = 2 if weight >= Fraction(1, 10) else 4
    return f"{float(weight):.{digits}f}".rstrip("0").rstrip(".") or "0"
