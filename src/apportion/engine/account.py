"""The running account of a plan: exact amounts in grains, each under its column of money, pool, day, reason, cause and bearer."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple, TypeVar

from apportion.model.money import GRAINS_PER_ATTO

# No part that small amounts are likely to split into, so that flooring does not decide.
LEAST: int = GRAINS_PER_ATTO * 618 // 1000
ONE = Fraction(1)
K = TypeVar("K")


class Column(NamedTuple):
    """Money that must never be mixed: one bill and component (and the account and service that other lines follow)."""

    bill: str
    component: str
    family: int = -1


class Entry(NamedTuple):
    column: Column
    pool: str
    day: int
    reason: str
    cause: str
    bearer: int


@dataclass(slots=True)
class Account:
    amounts: defaultdict[Entry, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, entry: Entry, grains: int) -> None:
        if grains:
            self.amounts[entry] += grains

    def merge(self, other: "Account") -> None:
        for entry, grains in other.amounts.items():
            self.amounts[entry] += grains

    def __iter__(self) -> Iterator[tuple[Entry, int]]:
        return iter(self.amounts.items())


def counts(grains: int) -> bool:
    """Whether other money is shared in proportion to this much: to about 10^-18 of a unit or more, and so never to what flooring left."""
    return abs(grains) >= LEAST


def with_sign_of_sum(amounts: Mapping[K, int], scale: Fraction = ONE) -> dict[K, int]:
    """What other money is shared by (idle, overheads, followers): of mixed signs those that have the sum's, without sign; none where the sum is as good as 0.

    `scale` says how much one of the amounts is worth.
    """
    whole = sum(amounts.values())
    sign = (1 if whole > 0 else -1) if counts(part_of(whole, scale)) else 0
    return {key: sign * grains for key, grains in amounts.items() if sign * grains > 0}


def part_of(grains: int, share: Fraction) -> int:
    """Floored."""
    return grains * share.numerator // share.denominator


def divide_up(grains: int, weights: Iterable[int], whole: int) -> list[int]:
    """Parts of `grains` by weights out of `whole`, each floored; the first takes the few grains that flooring left.

    Only for weights that add up to `whole`, in the order of the bearers' names: so a tie of nanos, later, goes by name too.
    """
    parts = [grains * weight // whole for weight in weights]
    if parts:
        parts[0] += grains - sum(parts)
    return parts


def cumulative(grains: int, weights: Iterable[int]) -> list[int]:
    """`grains` over weights in sequence: differences of the running floor, so that any prefix is within one grain of exact."""
    weights = list(weights)
    whole, so_far, before, out = sum(weights), 0, 0, []
    for weight in weights:
        so_far += weight
        here = grains * so_far // whole
        out.append(here - before)
        before = here
    return out
