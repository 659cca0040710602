"""Steps in any order: bills delivered and restated, months applied and closed, credits and re-attributions, some of it twice."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import strategies as st

from apportion.books.shapes import CREDIT, RECLASS
from apportion.errors import BooksError
from tests.sequences.hands import Hand, transfer
from tests.sequences.model import MONTHS, TEAMS, Model


@dataclass(frozen=True)
class Step:
    what: str
    month: str
    teams: tuple[str, str] = ("", "")
    amount: Decimal = Decimal(0)

    def __str__(self) -> str:
        return f"{self.what} {self.month} {' '.join(self.teams)} {self.amount}"


def months() -> st.SearchStrategy[str]:
    """Mostly the first ones, so that things meet."""
    return st.sampled_from([*MONTHS[:3], *MONTHS[:2], MONTHS[0], *MONTHS])


def amounts() -> st.SearchStrategy[Decimal]:
    """Nothing, cents and their halves, nano-units, credits, and more than a float can hold."""
    odd = st.sampled_from(
        ["0", "0.005", "-0.015", "0.000000001", "-12.34", "1000000000000000.000000001", "33.333333333"]
    )
    return st.one_of(odd.map(Decimal), st.integers(-(10**6), 10**6).map(lambda cents: Decimal(cents).scaleb(-3)))


def pairs() -> st.SearchStrategy[tuple[str, str]]:
    return st.permutations(TEAMS).map(lambda teams: (teams[0], teams[1]))


def steps(most: int) -> st.SearchStrategy[list[Step]]:
    one = st.one_of(
        st.builds(Step, st.just("bill"), months(), pairs(), amounts()),
        st.builds(Step, st.just("restate"), months(), pairs(), amounts()),  # delivered and applied at once
        st.builds(Step, st.just("apply"), months()),
        st.builds(Step, st.just("close"), months()),
        st.builds(Step, st.sampled_from([CREDIT, RECLASS]), months(), pairs(), amounts()),
    )
    return st.lists(one, min_size=most // 2, max_size=most)


def take(hand: Hand, model: Model, step: Step) -> None:
    """One step, by the hand and in the model; what must be refused is."""
    if step.what in ("bill", "restate"):
        hand.deliver(step.month, model.deliver(step.month, step.teams[0], step.amount))
    if step.what in ("apply", "restate") and step.month in model.said:
        hand.apply(model, step.month)
        model.apply(step.month)
    if step.what == "close":
        close(hand, model, step.month)
    if step.what in (CREDIT, RECLASS) and step.amount:
        move(hand, model, step)


def close(hand: Hand, model: Model, month: str) -> None:
    if month in model.closed:
        hand.close(month)
    elif month in model.touched:
        hand.close(month)
        model.closed.append(month)
    else:
        with pytest.raises(BooksError, match="nothing-posted"):
            hand.close(month)


def move(hand: Hand, model: Model, step: Step) -> None:
    if step.month in model.closed:
        with pytest.raises(BooksError, match="period-closed"):
            transfer(hand, step.what, step.month, step.teams, step.amount)
    else:
        transfer(hand, step.what, step.month, step.teams, step.amount)
        model.transfer(step.month, *step.teams, step.amount)


def take_all(hand: Hand, some: Sequence[Step]) -> str:
    """The head that they lead to."""
    model = Model()
    for step in some:
        take(hand, model, step)
    return hand.books.head()
