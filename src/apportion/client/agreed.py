"""What people set, propose and try, over the wire: budgets, drafts of the policy, what-if."""

from pydantic import Field

from apportion.client.record import Wish
from apportion.client.shapes import Shape


class Budget(Shape):
    """What an owner (TEAM or TEAM/PROJECT) means to spend a month, and what it spent; `projected` is null where the month is over or nothing is posted."""

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

    owner: str = Field(examples=["vision"], min_length=1, max_length=1024)
    amount: str = Field(examples=["12000.00"], min_length=1, max_length=60)
    since: str = Field(examples=["2026-11"], max_length=20)
    why: str = Field("", max_length=4096)


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

    text: str = Field(min_length=1, max_length=1_000_000)
    why: str = Field(examples=["storage by TiB-days"], min_length=1, max_length=4096)


class OwnerRuleWish(Wish):
    """A rule that says whose work is: where a workload's `label` matches `pattern` it is the team's. `project` and `user` may be templates."""

    label: str = Field(examples=["slurm.account"], min_length=1, max_length=200)
    pattern: str = Field(examples=["vis-*"], min_length=1, max_length=200)
    team: str = Field(examples=["vision"], min_length=1, max_length=200)
    project: str = Field("", max_length=200)
    user: str = Field("", max_length=200)
    why: str = Field(examples=["a new account of ours"], min_length=1, max_length=4096)


class WhatifWish(Wish):
    period: str = Field(examples=["2026-10"], max_length=20)
    text: str = Field(description="a policy, whole", min_length=1, max_length=1_000_000)


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
