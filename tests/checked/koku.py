"""koku's worked examples of boards cut into MIG slices: what a board costs a day, who held which slices how long, what each is to owe and what was idle."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

from tests.checked import world
from tests.checked.tally import Outcome

CENT = Decimal("0.01")
DAY = {"start": "2026-11-02 00:00", "end": "2026-11-03 00:00"}  # November has the 30 days of the examples


@dataclass(frozen=True)
class Held:
    slices: int
    hours: int


@dataclass(frozen=True)
class Board:
    case: str
    about: str
    day: Fraction  # what the board costs
    held: Mapping[str, Held]
    expected: Mapping[str, str]  # `_idle` is what they call unallocated
    idle: str = "central"
    reason: str = ""  # of the postings that are compared; all where empty
    of: int = 7
    why: str = ""


THREE = {"ml-train": Held(4, 2), "inference": Held(1, 6), "serving": Held(2, 2)}
BOARDS = (
    Board(
        "Scenario 1",
        "An A100 at 70 a day; a slice of 4/7 is held all day.",
        Fraction(70),
        {"pod": Held(4, 24)},
        {"pod": "40.00", "_idle": "30.00"},
    ),
    Board(
        "Scenario 2",
        "An A100 at 1000 a month, shared by three namespaces for some hours; what nobody held is shown.",
        Fraction(1000, 30),
        THREE,
        {"ml-train": "1.59", "inference": "1.19", "serving": "0.79", "_idle": "29.76"},
    ),
    Board(
        "Scenario 2, distributed",
        "The same; what nobody held is shared by what was held.",
        Fraction(1000, 30),
        THREE,
        {"ml-train": "13.23", "inference": "9.92", "serving": "6.61"},
        idle="proportional",
        reason="idle",
    ),
    Board(
        "With slice-weighting",
        "An A100 at 3 an hour, the same three namespaces.",
        Fraction(72),
        THREE,
        {"ml-train": "3.43", "inference": "2.57", "serving": "1.72", "_idle": "64.28"},
        why="they compute on with 2/7 as 0.286 and a slice-hour as 0.428; exactly 1.714285... and 64.285714...",
    ),
    Board(
        "Listed tests",
        "1g.5gb is 1/7 of an A100 (at 70 a day), 3g.20gb 3/7.",
        Fraction(70),
        {"one": Held(1, 24), "three": Held(3, 24)},
        {"one": "10.00", "three": "30.00", "_idle": "30.00"},
    ),
    Board(
        "Listed tests, A30",
        "An A30 (at 40 a day) is cut into at most 4.",
        Fraction(40),
        {"one": Held(1, 24)},
        {"one": "10.00", "_idle": "30.00"},
        of=4,
    ),
    Board(
        "Listed tests, whole board",
        "A board that is not cut is paid whole.",
        Fraction(70),
        {"whole": Held(7, 24)},
        {"whole": "70.00", "_idle": "0.00"},
    ),
)


def facts(board: Board) -> world.Facts:
    money = board.day * 10**6
    amount = Decimal(money.numerator) / money.denominator / 10**6
    usage = [
        {
            "workload": name,
            "start": "2026-11-02 00:00",
            "end": f"2026-11-0{2 + held.hours // 24} {held.hours % 24:02}:00",
            "allocated": f"{held.slices}/{board.of}",
        }
        for name, held in board.held.items()
    ]
    pool: dict[str, Any] = {"costs": {"ServiceName": "EC2"}, "usage": {"node": "*"}, "meter": "gpu", "idle": board.idle}
    return world.Facts(
        world.policy("2026-11", tuple(board.held), {"gpus": pool}),
        bill=[DAY | {"amount": str(amount.quantize(Decimal("1e-18")))}],
        usage=usage,
        capacity=[DAY | {"resource": "n1", "amount": "1"}],
    )


def outcome(board: Board) -> Outcome:
    owed = world.by_team(world.plan_of(facts(board)), reason=board.reason)
    equal = [owed[name].quantize(CENT, ROUND_HALF_UP) == Decimal(amount) for name, amount in board.expected.items()]
    return Outcome(board.case, board.about, len(equal), sum(equal), board.why)


def outcomes() -> list[Outcome]:
    mixed = Outcome("Scenario 3", "A node of two boards that are cut differently.", why="it states no figures")
    return [*map(outcome, BOARDS), mixed]
