"""What people set, propose and try, over the wire: budgets, drafts of the policy, what-if."""

from typing import Annotated, Literal

from pydantic import Field

from apportion.client.record import Wish
from apportion.client.shapes import Shape
from apportion.client.texts import (
    FIGURE,
    NEW_PRICE,
    WITHOUT_NUL,
    Month,
    Name,
    OptionalName,
    OptionalText,
    OwnerPath,
    PolicyText,
    Whole,
    Why,
    only,
)

Role = Literal["viewer", "lead", "finance", "admin"]
Deed = Literal["read", "dispute", "budget", "propose", "settle", "adjust", "push", "whole", "adopt", "admin"]
Event = Literal[
    "period.closed",
    "statement.issued",
    "quota.reached",
    "budget.reached",
    "anomaly.found",
    "policy.changed",
    "data.late",
    "data.health",
]


class Budget(Shape):
    """What an owner (TEAM or TEAM/PROJECT) means to spend a month, and what it spent; `projected` is where its forecast ends, null where the month is
    over or nothing is known.
    """

    owner: str
    since: str
    currency: str
    amount: str
    spent: str
    left: str
    projected: str | None
    who: str
    why: str


class BudgetWish(Wish):
    """`amount` is for a month, in the policy's currency, from the month `since` on; 0 ends it."""

    owner: OwnerPath
    amount: str = Field(examples=["12000.00"], pattern=only(FIGURE))
    since: Month
    why: OptionalText = ""


class BudgetSet(Shape):
    owner: str
    since: str
    currency: str
    amount: str
    who: str
    why: str


class Draft(Shape):
    """`is_current`: the policy file is still what the draft was drawn up from."""

    number: int
    status: str
    why: str
    who: str
    at_s: int
    ended_by: str
    ended_s: int


class DraftText(Draft):
    """`clauses` are what it changes, in sentences; `diff` is that of the texts."""

    text: str
    clauses: list[str]
    diff: str
    is_current: bool


class DraftWish(Wish):
    """The whole text of a policy that somebody wants instead of the file's."""

    text: PolicyText
    why: Why = Field(examples=["storage by TiB-days"])


class OwnerRuleWish(Wish):
    """A rule that says whose work is: where a workload's `label` matches `pattern` it is the team's. `project` and `user` may be templates."""

    label: Name = Field(examples=["slurm.account"])
    pattern: Name = Field(examples=["vis-*"])
    team: Name = Field(examples=["vision"])
    project: OptionalName = ""
    user: OptionalName = ""
    why: Why = Field(examples=["a new account of ours"])


Prices = list[Annotated[str, Field(max_length=400, pattern=NEW_PRICE)]]


class WhatifWish(Wish):
    period: Month
    text: Annotated[str, Field(max_length=1_000_000, pattern=WITHOUT_NUL)] = Field(
        "", description="a policy, whole; that of the month where only prices are asked about"
    )
    prices: Prices = Field(
        default_factory=list,
        description="what a pool's bill, or a unit of its price list, would come to: POOL=+10%, POOL=-5% or POOL=AMOUNT",
        examples=[["gpus=+10%"]],
        max_length=1000,
    )


class WhatifRow(Shape):
    owner: str
    currency: str
    before: str
    after: str
    change: str
    why: str


class Whatif(Shape):
    """`posted`: whether `before` is what is in the books; otherwise it was computed, too."""

    period: str
    was: str
    policy: str
    posted: bool
    title: str
    rows: list[WhatifRow]
    clauses: list[str]
    bills: list[str]


class PolicyWish(Wish):
    """A policy, whole, and what it is to be called in the answer."""

    name: Name = Field(examples=["shared idle"])
    text: PolicyText


class BacktestWish(Wish):
    """Posted months, both included, and what is to hold instead: policies, prices, or both. `fairness` takes longer."""

    first: Month
    last: Month
    policies: list[PolicyWish] = Field(default_factory=list, max_length=10)
    prices: Prices = Field(default_factory=list, examples=[["gpus=+10%"]], max_length=1000)
    fairness: bool = False


class BacktestRow(Shape):
    """`causes` add up to the change. `month` and `pool` are empty over all of them; `why` is what moves most, of rows by owner."""

    currency: str
    owner: str
    month: str
    pool: str
    posted: str
    instead: str
    change: str
    causes: dict[str, str]
    why: str


class BacktestSwing(Shape):
    """The average change from one month to the next, as a part of the average month; null where there is none."""

    currency: str
    owner: str
    posted: str | None
    instead: str | None


class BacktestMoved(Shape):
    """What would move by peak Shapley, of what can be compared."""

    currency: str
    moved: str
    compared: str
    share: str | None


class BacktestEvenness(Shape):
    """Of one pool: gini of what owners pay for an hour held, and correlations of what they pay with what they held and used."""

    currency: str
    pool: str
    unit: str
    owners: int
    gini: str | None
    held_pearson: str | None
    held_spearman: str | None
    measured: int
    used_pearson: str | None
    used_spearman: str | None


class BacktestIncentive(Shape):
    """What a team would owe more or less, had it done something else; `pool` is empty over all of them."""

    policy: str
    month: str
    currency: str
    team: str
    deed: str
    pool: str
    job: str
    owed: str
    change: str
    verdict: str
    bearer: str
    borne: str


class BacktestVariant(Shape):
    name: str
    policy: str
    title: str
    owners: list[BacktestRow]
    months: list[BacktestRow]
    pools: list[BacktestRow]
    swings: list[BacktestSwing]
    clauses: list[str]
    bills: list[str]
    fairness: list[BacktestMoved]
    departments: list[BacktestRow]
    evenness: list[BacktestEvenness]


class Backtest(Shape):
    """`fairness` and `evenness` are those of what is posted; all are empty unless asked for."""

    period: str
    title: str
    months: list[str]
    variants: list[BacktestVariant]
    fairness: list[BacktestMoved]
    notes: list[str]
    evenness: list[BacktestEvenness]
    incentives: list[BacktestIncentive]


class TokenWish(Wish):
    """A key for a program: never more than you may yourself. No role or teams are your own; no deeds are reading."""

    label: Name = Field(examples=["nightly export"])
    role: Role | Literal[""] = ""
    teams: list[Name] = Field(default_factory=list, max_length=1000)
    deeds: list[Deed] = Field(default_factory=list, max_length=20, examples=[["read"]])
    days: Whole = Field(90, ge=1, le=366)


class Token(Shape):
    """`used_s` and `revoked_s` are 0 until they happen; `teams` is null for all of them."""

    id: str
    label: str
    owner: str
    role: str
    teams: list[str] | None
    deeds: list[str]
    status: str
    made_s: int
    until_s: int
    used_s: int
    revoked_s: int


class TokenMade(Token):
    """`key` is shown this once."""

    key: str


class HookWish(Wish):
    """Whom to tell of what: all events and all teams unless some are named."""

    url: str = Field(
        examples=["https://hooks.example/apportion"], max_length=2000, pattern=r"^https?://[^\s\x00-\x1f]+$"
    )
    events: list[Event] = Field(default_factory=list, max_length=100)
    teams: list[Name] = Field(default_factory=list, max_length=1000)


class Hook(Shape):
    """`place` is where it goes, without what could be secret; `teams` is null for all of them."""

    id: str
    place: str
    events: list[str]
    teams: list[str] | None
    who: str
    made_s: int
    ended_s: int


class HookMade(Hook):
    """`secret` signs what is told, and is shown this once."""

    secret: str


class HookTold(Shape):
    """`answer` is the status that came back, or why none did."""

    event: str
    answer: str
    is_told: bool
