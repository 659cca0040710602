"""A family of samples as Prometheus has them: a name, what it means, its labels, and a number for each set of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Literal

Number = Decimal | Fraction | int
Samples = Mapping[tuple[str, ...], Number]
Kind = Literal["gauge", "counter", "info"]


@dataclass(frozen=True, slots=True)
class Family:
    """`unit` is the last word of the name where it has one. Money has its currency as a label, since a name cannot know it.

    `whole` is about no single team: only for those who see all of them.
    """

    name: str
    says: str
    labels: tuple[str, ...] = ()
    kind: Kind = "gauge"
    unit: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Filled:
    """Numbers are exact; whoever writes them out makes floats of them, once."""

    family: Family
    samples: Samples


Metrics = Sequence[Filled]
