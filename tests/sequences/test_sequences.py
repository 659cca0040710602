"""Whatever is done in whatever order: balances hold, closed figures never move, and the same steps in fresh books give the same head."""

from collections.abc import Callable, Sequence
from decimal import Decimal

from hypothesis import Phase, example, given, note, settings

from apportion.books.shapes import CREDIT, RECLASS
from tests.conftest import LONG
from tests.sequences.hands import Hand
from tests.sequences.judging import Judge
from tests.sequences.model import Model
from tests.sequences.steps import Step, Taken, steps, take, take_all, take_by_verbs

PHASES = tuple(Phase) if LONG else (Phase.explicit,)  # sequences are drawn where they are quick
MARCH, APRIL, MAY, JUNE = "2025-03", "2025-04", "2025-05", "2025-06"
EVERYTHING = [
    Step("restate", MARCH, ("vision", ""), Decimal("60.004")),
    Step("restate", MARCH, ("speech", ""), Decimal("39.993")),
    Step(CREDIT, MARCH, ("speech", "bio"), Decimal("0.005")),
    Step("close", MARCH),
    Step("close", MARCH),
    Step(RECLASS, MARCH, ("speech", "bio"), Decimal(1)),  # refused: it is closed
    Step("restate", MARCH, ("vision", ""), Decimal("55.5")),  # in April, which has no bill
    Step("close", APRIL),
    Step("restate", JUNE, ("bio", ""), Decimal("1000000000000000.000000001")),
    Step("close", JUNE),  # before May, which has none
    Step(CREDIT, MAY, ("bio", "speech"), Decimal("7.77")),
    Step("restate", MARCH, ("vision", ""), Decimal("60.004")),  # in July: June is closed
    Step("restate", APRIL, ("speech", ""), Decimal("-12.34")),  # the bill of a closed month that came without one
    Step("close", "2025-07"),
]  # fmt: skip


BY_VERBS = [
    *EVERYTHING[:4],
    Step("adjust", MARCH, ("vision", "bio"), Decimal("10.01")),  # in April: March is closed
    Step("adjust", MARCH, ("vision", "bio"), Decimal("10.001")),  # refused: no such coin
    *EVERYTHING[6:8],
    Step("dispute", MARCH, ("speech", "vision")),  # in May
    Step("adjust", MARCH, ("speech", "bio"), Decimal("0.01")),  # refused: nothing is owed any more
    Step("restate", MAY, ("bio", ""), Decimal(5)),
    Step("dispute", MAY, ("bio", "speech")),
    Step("close", MAY),
    Step("restate", MARCH, ("speech", ""), Decimal("1.5")),  # all of it is vision's still: the 0.005 that bio pays aside
    Step("restate", MARCH, ("vision", ""), Decimal(4)),  # 10.01 were bio's: stopped, then taken down
    Step("apply", MARCH),
    Step("restate", MARCH, ("vision", ""), Decimal(40)),  # there are 10.01 again
]  # fmt: skip


def judged(hand: Hand, some: Sequence[Step], taken: Taken = take) -> str:
    """Every step looked at; everything hashed again at the end. Returns the head."""
    model, judge = Model(), Judge(hand.books)
    for step in some:
        note(str(step))
        taken(hand, model, step)
        judge.look(model)
    judge.verify()
    return hand.books.head()


@settings(max_examples=1000 if LONG else 2)
@given(some=steps(14))
@example(some=EVERYTHING)
def test_any_sequence_on_the_books(on_books: Callable[[], Hand], some: list[Step]) -> None:
    assert judged(on_books(), some) == take_all(on_books(), some)


@settings(max_examples=100, phases=PHASES)
@given(some=steps(12, "adjust", "dispute"))
@example(some=BY_VERBS)
def test_any_sequence_by_the_verbs(by_verbs: Callable[[], Hand], some: list[Step]) -> None:
    assert judged(by_verbs(), some, take_by_verbs) == take_all(by_verbs(), some, take_by_verbs)


@settings(max_examples=50, phases=PHASES)
@given(some=steps(12))
@example(some=EVERYTHING)
def test_both_databases_come_to_the_same_head(
    on_books: Callable[[], Hand], on_postgresql: Callable[[], Hand], some: list[Step]
) -> None:
    assert judged(on_postgresql(), some) == take_all(on_books(), some)
