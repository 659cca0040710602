"""Steps in any order: bills delivered and restated, months applied and closed, credits and re-attributions, some of it twice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import strategies as st

import apportion
from apportion.books.shapes import CREDIT, RECLASS
from apportion.errors import BooksError, ProjectError
from apportion.verbs.adjust import Wish
from apportion.verbs.dispute import Doubt, Settlement, open_dispute, settle
from tests.sequences.hands import ByVerbs, Hand, transfer
from tests.sequences.model import MONTHS, TEAMS, Model

Taken = Callable[[Any, Model, "Step"], None]


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


def steps(most: int, *more: str) -> st.SearchStrategy[list[Step]]:
    one = st.one_of(
        *(st.builds(Step, st.just(what), months(), pairs(), amounts()) for what in more),
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
        apply(hand, model, step)
    if step.what == "close":
        close(hand, model, step.month)
    if step.what in (CREDIT, RECLASS) and step.amount:
        move(hand, model, step)


def apply(hand: Hand, model: Model, step: Step) -> None:
    """Stopped where a credit is of more than is left; a restatement then takes it down, with a reason."""
    if model.stops(step.month):
        with pytest.raises(ProjectError, match="would move more than is left"):
            hand.apply(model, step.month)
        if step.what == "apply":
            return
        hand.lower(step.month)
        model.lower(step.month)
    hand.apply(model, step.month)
    model.apply(step.month)


def take_by_verbs(hand: ByVerbs, model: Model, step: Step) -> None:
    """Also what only the verbs know: one-off credits and disputes of what a team owes."""
    if step.what == "adjust":
        adjust(hand, model, step)
    elif step.what == "dispute":
        dispute(hand, model, step)
    else:
        take(hand, model, step)


def adjust(hand: ByVerbs, model: Model, step: Step) -> None:
    wish = Wish(*step.teams, f"{step.amount:f}", "agreed", reference=hand.books.head())
    in_coins = step.amount == step.amount.quantize(Decimal("0.01"))
    if in_coins and 0 < step.amount <= model.stands(step.month, step.teams[0]):
        assert apportion.adjust(hand.project, step.month, wish).booked == model.place(step.month)
        model.spare(step.month, step.teams, step.amount)
    else:
        with pytest.raises(ProjectError):
            apportion.adjust(hand.project, step.month, wish)


def dispute(hand: ByVerbs, model: Model, step: Step) -> None:
    """Of all that a team owes: credited where that is above nothing, then rejected the second time."""
    team, other = step.teams
    owed = model.stands(step.month, team)
    if owed <= 0:
        return
    for outcome in ("rejected", "credited"):
        opened = open_dispute(hand.project, step.month, Doubt(team, "not ours")).dispute
        settle(hand.project, opened.number, Settlement(outcome, "seen", other))
    model.spare(step.month, step.teams, owed, everything=True)


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


def take_all(hand: Hand, some: Sequence[Step], taken: Taken = take) -> str:
    """The head that they lead to."""
    model = Model()
    for step in some:
        taken(hand, model, step)
    return hand.books.head()
