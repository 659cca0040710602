"""Who bears a charge: an owner, together with those labels of its workloads that the pool's rules ask about."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from apportion.engine.workloads import Person
from apportion.model.owner import Owner
from apportion.policy.document import Policy
from apportion.policy.match import find_label
from apportion.policy.pools import Pool


@dataclass(frozen=True, order=True, slots=True)
class Bearer:
    """`worked`: the charge came from this owner's workloads, so that rules about workloads see it; shares of idle and overheads did not."""

    owner: Owner
    labels: tuple[tuple[str, str], ...] = ()
    worked: bool = False

    @property
    def named(self) -> dict[str, str]:
        return dict(self.labels)


@dataclass(slots=True)
class Bearers:
    """Numbers for bearers, for one plan. Numbers follow the order of meeting; whatever must not depend on it sorts the bearers themselves."""

    all: list[Bearer] = field(default_factory=list)
    numbers: dict[Bearer, int] = field(default_factory=dict)
    ranks: list[int] = field(default_factory=list)

    def number(self, owner: Owner) -> int:
        """An owner as such."""
        return self.intern(Bearer(owner))

    def owner_of(self, number: int) -> int:
        """The owner as such of a bearer that worked."""
        return self.number(self.all[number].owner)

    def intern(self, bearer: Bearer) -> int:
        if bearer not in self.numbers:
            self.numbers[bearer] = len(self.all)
            self.all.append(bearer)
        return self.numbers[bearer]

    def rank(self, number: int) -> int:
        """Where a bearer stands among all that are known: what sorting by it gives does not depend on the order of meeting."""
        if len(self.ranks) != len(self.all):
            self.ranks = [0] * len(self.all)
            for rank, known in enumerate(sorted(range(len(self.all)), key=self.all.__getitem__)):
                self.ranks[known] = rank
        return self.ranks[number]

    def __getitem__(self, number: int) -> Bearer:
        return self.all[number]


def asked_by(pool_name: str, pool: Pool, policy: Policy) -> set[str]:
    """The workload labels that tell one bearer of this pool from another with the same owner."""
    keys = set(pool.weights)
    for price in pool.prices:
        keys |= price.when.keys if price.when else set()
    for adjustment in policy.adjustments:
        if adjustment.when and adjustment.pool in (None, pool_name):
            keys |= adjustment.when.keys
    return keys


def bearer_number(person: Person, keys: set[str], bearers: Bearers) -> int:
    return bearers.intern(Bearer(person.owner, tuple(sorted(known_labels(person.labels, keys).items())), worked=True))


def known_labels(labels: Mapping[str, str], keys: Iterable[str]) -> dict[str, str]:
    """The labels behind some keys, under the names that the rules use."""
    found = {key: find_label(labels, key) for key in keys}
    return {key: value for key, value in found.items() if value is not None}
