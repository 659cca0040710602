"""`/api/v1/drafts`: policies that people propose. `POST /api/v1/what-if` and `back-test`: what one would change, without a trace."""

from typing import Literal

from fastapi import APIRouter

from apportion.books.audit import acting
from apportion.books.proposals import Proposal
from apportion.client.agreed import (
    Backtest,
    BacktestWish,
    Draft,
    DraftText,
    DraftWish,
    OwnerRuleWish,
    Whatif,
    WhatifRow,
    WhatifWish,
)
from apportion.client.shapes import Listed
from apportion.errors import ApportionError, ProjectError
from apportion.model.times import months_between, parse_period
from apportion.policy.edit import NewOwner
from apportion.render.json import portable
from apportion.verbs import draft as verbs
from apportion.verbs.backtest import Wanted, backtest
from apportion.verbs.whatif import whatif
from apportion.web.api.asked import Adopting, Number, Proposing, Whole, about
from apportion.web.api.paging import Parted
from apportion.web.viewer import Deed

router = APIRouter(tags=["policies"])


@router.get("/drafts", **about(Deed.whole))
def drafts(ask: Whole, part: Parted, status: Literal["", "open", "adopted", "dropped"] = "") -> Listed[Draft]:
    """In the order in which they were proposed."""
    return part.of(map(shape, verbs.drafts(ask.project, status)), lambda one: one.number)


@router.get("/drafts/{number}", **about(Deed.whole))
def draft(ask: Whole, number: Number) -> DraftText:
    """A draft with its text and what it changes."""
    found = verbs.draft(ask.project, number)
    told = verbs.looked_at(ask.project, found)
    return DraftText(
        **shape(found).model_dump(),
        text=found.text,
        clauses=list(told["clauses"]),
        diff=told["diff"],
        is_current=verbs.is_current(ask.project, found),
    )


@router.post("/drafts", status_code=201, **about(Deed.propose, 409))
def propose(ask: Proposing, wish: DraftWish) -> Draft:
    """Propose another policy. It is one for everybody, so that it takes somebody who may see all teams."""
    ask.require(Deed.whole)
    with acting(ask.viewer.name):
        return shape(verbs.propose(ask.project, wish.text, wish.why))


@router.post("/drafts/owners", status_code=201, **about(Deed.propose, 409))
def propose_owner_rule(ask: Proposing, wish: OwnerRuleWish) -> Draft:
    """Propose a rule that says whose work is, for a team that you may see."""
    ask.require_team(wish.team)
    rule = NewOwner(wish.label, wish.pattern, wish.team, wish.project, wish.user)
    with acting(ask.viewer.name):
        try:
            return shape(verbs.propose(ask.project, verbs.owner_edit(ask.project, rule).text, wish.why))
        except ApportionError as error:
            if ask.viewer.may(Deed.whole):
                raise
            raise ProjectError("rule-refused", "the policy cannot take that rule", hint="ask an admin") from error


@router.post("/drafts/{number}/adoption", **about(Deed.adopt, 409))
def adopt(ask: Adopting, number: Number) -> Draft:
    """The policy file becomes the draft. Nothing is posted: `plan` shows what it changes."""
    with acting(ask.viewer.name):
        return shape(verbs.adopt(ask.project, number))


@router.post("/drafts/{number}/drop", **about(Deed.adopt, 409))
def drop(ask: Adopting, number: Number) -> Draft:
    """It is not adopted."""
    with acting(ask.viewer.name):
        return shape(verbs.drop(ask.project, number))


@router.post("/what-if", **about(Deed.whole, 409))
def what_if(ask: Whole, wish: WhatifWish) -> Whatif:
    """The plan of a month under another policy or at other prices, against what is posted. Nothing is kept."""
    if not wish.text and not wish.prices:
        raise ProjectError("nothing-asked", "neither a policy nor a price is given", hint="give text, prices or both")
    made = whatif(ask.project, parse_period(wish.period), wish.text, wish.prices)
    rows = [WhatifRow(**{name: portable(getattr(row, name)) for name in WhatifRow.model_fields}) for row in made.rows]
    return Whatif(
        period=made.period,
        was=made.was,
        policy=made.policy,
        posted=made.posted,
        title=made.title,
        rows=rows,
        clauses=list(made.clauses),
        bills=list(made.bills),
    )


@router.post("/back-test", **about(Deed.whole, 409))
def back_test(ask: Whole, wish: BacktestWish) -> Backtest:
    """Posted months under other policies or at other prices: who gains, who loses and why, and how much bills swing. Nothing is kept."""
    months = months_between(f"{wish.first}..{wish.last}")
    return Backtest.model_validate(portable(backtest(ask.project, months, wanted_of(wish))))


def wanted_of(wish: BacktestWish) -> Wanted:
    texts = {one.name: one.text for one in wish.policies}
    if len(texts) < len(wish.policies):
        raise ProjectError("same-name", "two policies have one name", hint="give each a name of its own")
    return Wanted(texts, wish.prices, wish.fairness)


def shape(one: Proposal) -> Draft:
    return Draft(**{name: getattr(one, name) for name in Draft.model_fields})
