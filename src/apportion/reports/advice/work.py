"""What a rule looks at: one workload with what it held and used over the month and what that was charged, and what a rule finds in it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from apportion.model.money import to_decimal, to_grains

HOUR_S = 3600
BOARDS, HOSTS, STORES = (
    "boards",
    "hosts",
    "stores",
)  # what is paid for: accelerators, cores and memory, what lies on disks
UNUSED = Fraction(3, 100)  # a mean at most so high is a driver's heartbeat, no work
BUSY = Fraction(10, 100)  # a stretch above it did work
START_S = HOUR_S  # imports, staging and compiling: not judged where more is known
MEASURED = Fraction(1, 2)  # of what was held, at least so much must have been measured


@dataclass(frozen=True, slots=True)
class Stretch:
    """Base units of the meter over a time, all nodes together. `used` is None where any of it was not measured."""

    start_s: int
    end_s: int
    held: int
    used: int | None

    @property
    def seconds(self) -> int:
        return self.end_s - self.start_s

    @property
    def share(self) -> Fraction | None:
        return None if self.used is None or not self.held else Fraction(self.used, self.held)

    @property
    def is_busy(self) -> bool:
        return self.share is not None and self.share > BUSY


@dataclass(frozen=True, slots=True)
class Side:
    """One meter of a pool that counts several: what a base unit of it weighs in the charge."""

    stretches: tuple[Stretch, ...]
    weight: Fraction
    base: int


@dataclass(frozen=True, slots=True)
class Offer:
    """Labels with which the same work is charged less, and by which part."""

    labels: Mapping[str, str]
    part: Fraction


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody said of a run beside its use; empty where nobody did.

    `config`: a fingerprint of what was run, argument by argument. `experiment`: what runs that differ in an argument share. `memory`: the most bytes
    of a board in use. `read_s`: when what is stored was last read, and `kept`: whether it is on purpose. `needed_s`: until when
    its result is needed. `offer`: for work that may be put out.
    """

    config: str = ""
    experiment: str = ""
    memory: int | None = None
    read_s: int | None = None
    kept: bool = False
    needed_s: int | None = None
    offer: Offer | None = None


@dataclass(frozen=True, slots=True)
class Work:
    """`stretches` are those of the month, in order; `start_s` and `end_s` are the workload's own. `amounts` were charged, by currency."""

    workload: str
    run: str
    name: str
    team: str
    project: str
    user: str
    outcome: str
    start_s: int
    end_s: int
    unit: str
    base: int  # base units of one unit
    stretches: tuple[Stretch, ...]
    amounts: Mapping[str, Decimal]
    phase: str = ""
    model: str = ""  # of the boards, where the nodes say so
    labels: Mapping[str, str] = field(default_factory=dict)
    sort: str = BOARDS
    sides: Mapping[str, Side] = field(default_factory=dict)  # by meter, where a pool counts several
    told: Told = Told()
    hourly: tuple[Fraction, ...] = ()  # what each hour of the local day costs, where hours have prices of their own

    @property
    def key(self) -> tuple[str, str]:
        """What one piece of advice alone may claim."""
        return self.workload, self.sort

    @property
    def owner(self) -> str:
        return "/".join(filter(None, (self.team, self.project, self.user)))

    @property
    def seconds(self) -> int:
        return sum(one.seconds for one in self.stretches)

    @property
    def held(self) -> int:
        return held_in(self.stretches)

    def hours(self, unit_seconds: int) -> Fraction:
        return Fraction(unit_seconds, self.base * HOUR_S)


@dataclass(frozen=True, slots=True)
class Saving:
    """Which share of what the workload was charged could have been saved, at least and at most. `need`: what would have been enough, as the kind counts it."""

    kind: str
    work: Work
    low: Fraction
    high: Fraction
    need: Fraction = Fraction(0)
    proof: str = ""  # what it was found by, in words
    instead: str = ""  # what to use

    def saving(self, currency: str) -> tuple[Decimal, Decimal]:
        """At the price that its own hours had."""
        grains = to_grains(self.work.amounts[currency])
        low, high = (to_decimal(grains * part.numerator // part.denominator) for part in (self.low, self.high))
        return low, high


def held_in(stretches: Iterable[Stretch]) -> int:
    """Unit-seconds."""
    return sum(one.held * one.seconds for one in stretches)


def used_in(stretches: Iterable[Stretch]) -> int:
    """Unit-seconds of what was measured."""
    return sum(one.used * one.seconds for one in stretches if one.used is not None)


def mean(stretches: Sequence[Stretch]) -> Fraction | None:
    """Used of what was held; None where too little was measured to say."""
    measured = held_in(one for one in stretches if one.used is not None)
    if not measured or measured < MEASURED * held_in(stretches):
        return None
    return Fraction(used_in(stretches), measured)


def length(work: Work) -> int:
    return work.end_s - work.start_s


def started(work: Work) -> tuple[Stretch, ...]:
    """Without what began in its first hour, where more is known."""
    return tuple(one for one in work.stretches if one.start_s >= work.start_s + START_S) or work.stretches


def spared(gaps: Iterable[Sequence[Stretch]], work: Work) -> tuple[Fraction, Fraction]:
    """Shares of what was held in some gaps: from an hour after each began, and from its beginning."""
    late = whole = 0
    for gap in gaps:
        notice = gap[0].start_s + HOUR_S
        whole += held_in(gap)
        late += sum(one.held * max(0, one.end_s - max(one.start_s, notice)) for one in gap)
    return Fraction(late, work.held), Fraction(whole, work.held)
