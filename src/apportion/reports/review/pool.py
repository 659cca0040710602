"""A pool in a month, as the review looks at it: what was held of it and by whom, what stood idle, and what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from apportion.reports.review.profile import Profile


@dataclass(frozen=True, slots=True)
class Pool:
    """`teams`: hours held and money of each. `parts`: hours by what became of them, all that there was; empty where nobody stated it.

    `idle` is the money that was posted for idle capacity, `shows_idle` whether the method gives any to it. `slot_written`: the policy says `slot: period`.
    """

    name: str
    method: str
    profile: Profile
    currency: str
    amount: Decimal
    teams: Mapping[str, tuple[Fraction, Decimal]]
    parts: Mapping[str, Fraction] = field(default_factory=dict)
    idle: Decimal = Decimal(0)
    shows_idle: bool = False
    may_reserve: str = ""  # the meter of which a team could reserve some
    slot_written: bool = False
