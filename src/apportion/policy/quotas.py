"""Quotas: how much a department, a team, a project or a user may use, and what contradicts itself among them."""

from collections.abc import Iterator
from datetime import date
from fractions import Fraction
from typing import Literal, Self

from pydantic import field_validator, model_validator

from apportion.model.meters import METERS
from apportion.policy.clause import Clause, wrong
from apportion.policy.fields import Count, MeterName, Name, Positive
from apportion.policy.rules import Dated

MEASURES = ("hours", "months", "amount", "money")
LEVELS = ("team", "project", "user")
MONTHLY = ("month", "quarter", "year")
Owner = tuple[str, str, str, str]  # department, team, project, user
What = tuple[str, str, str, str]  # meter or money, pool, per, measure


class Rollover(Clause):
    """What is left of a window goes to the next: at most `cap` of it in all, each part for `expires` windows."""

    cap: Positive | None = None
    expires: Count = 1


class Quota(Dated):
    """`hours` for levels, `amount` for flows (both natural units), `months` for levels that are held for a whole month each, `money` for any.

    It is a department's, a team's, or of a project or user of a team. A soft one, and what lies above `soft`, is told and stops nobody.
    """

    department: Name = ""
    team: Name = ""
    project: Name = ""
    user: Name = ""
    meter: MeterName | None = None
    pool: Name | None = None
    hours: Positive | None = None
    months: Positive | None = None
    amount: Positive | None = None
    money: Positive | None = None
    per: Literal["day", "week", "month", "quarter", "year"]
    kind: Literal["hard", "soft"] = "hard"
    soft: Positive | None = None
    children: Literal["free", "fit"] = "free"
    rollover: Rollover | None = None
    warn: tuple[Positive, ...] = ()
    enforce: Literal["none", "slurm", "kubernetes", "kueue"] = "none"

    @property
    def given(self) -> list[str]:
        return [name for name in MEASURES if getattr(self, name) is not None]

    @property
    def size(self) -> Fraction:
        found: Fraction = getattr(self, self.given[0])
        return found

    @property
    def owner(self) -> Owner:
        return self.department, self.team, self.project, self.user

    @property
    def what(self) -> What:
        return "money" if self.money is not None else self.meter or "", self.pool or "", self.per, self.given[0]

    @model_validator(mode="after")
    def one_owner(self) -> Self:
        if not self.team and not self.department:
            raise wrong(
                "policy-missing-key",
                "a quota is a team's or a department's",
                hint="add team: NAME, or department: NAME",
            )
        for name in ("team", "project", "user"):
            if self.department and getattr(self, name):
                raise wrong(
                    "policy-value", f"a quota of a department is not of one {name}", name, hint="write two quotas"
                )
        return self

    @model_validator(mode="after")
    def one_measure(self) -> Self:
        given = self.given
        if len(given) != 1:
            raise wrong(
                "policy-missing-key" if not given else "policy-value",
                "a quota has exactly one of hours, months, amount and money",
                *given[1:2],
            )
        if given == ["money"]:
            return self
        if self.meter is None:
            raise wrong("policy-missing-key", f"a quota in {given[0]} needs a meter", hint="add meter: gpu, or another")
        fitting = ("amount",) if METERS[self.meter].flow else ("hours", "months")
        if given[0] not in fitting:
            raise wrong(
                "policy-value",
                f"a quota of {self.meter} is given as {fitting[0]}",
                given[0],
                hint=f"write {fitting[0]}: ...",
                key=True,
            )
        return self

    @model_validator(mode="after")
    def whole_months(self) -> Self:
        """Months have no part of a day or week, and what is left of one is settled when months are closed."""
        for name in ("months", "rollover"):
            if getattr(self, name) is not None and self.per not in MONTHLY:
                hint = "write per: month, quarter or year"
                raise wrong("policy-value", f"{name} and per: {self.per} do not go together", name, hint=hint, key=True)
        return self

    @model_validator(mode="after")
    def soft_below_hard(self) -> Self:
        if self.soft is None:
            return self
        if self.kind == "soft":
            raise wrong("policy-value", "the quota is soft as a whole", "soft", hint="remove soft, or kind", key=True)
        if self.soft > self.size:
            raise wrong(
                "policy-value", f"the soft limit is above the quota itself, {self.size}", "soft", hint="lower it"
            )
        return self

    @field_validator("warn", mode="after")
    @classmethod
    def rising(cls, warn: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
        for step in range(1, len(warn)):
            if warn[step] <= warn[step - 1]:
                raise wrong("policy-value", "warnings rise from one to the next", step, hint="write them as [80, 95]")
        return warn


def named(quota: Quota) -> str:
    """`vision/seg`, `department research`, `user ann of vision`."""
    if quota.department:
        return f"department {quota.department}"
    path = f"{quota.team}/{quota.project}" if quota.project else quota.team
    return f"user {quota.user} of {path}" if quota.user else path


def twice(quotas: tuple[Quota, ...]) -> Iterator[tuple[int, int]]:
    """The places of quotas that say the same thing twice: the later one and the earlier one."""
    seen: dict[tuple[Owner, tuple[str, ...]], list[int]] = {}
    for step, quota in enumerate(quotas):
        before = seen.setdefault((quota.owner, quota.what[:3]), [])
        yield from [(step, other) for other in before if together(quota, quotas[other])][:1]
        before.append(step)


def together(one: Quota, other: Quota) -> bool:
    """Whether there is a day on which both hold."""
    first = max(one.from_ or date.min, other.from_ or date.min)
    return first <= min(one.until or date.max, other.until or date.max)


def too_many(quotas: tuple[Quota, ...], departments: dict[str, str]) -> Iterator[tuple[int, str, Fraction]]:
    """Quotas whose children must fit and do not: where, of what kind these are, and what they add up to on the first day on which it is too much."""
    strict = [(step, one, level) for step, one in enumerate(quotas) if one.children == "fit" for level in LEVELS]
    for step, parent, level in strict:
        below = [one for one in quotas if one.what == parent.what and is_child(one, parent, level, departments)]
        sums = [adding(below, day) for day in days_of(parent, below)]
        yield from [(step, level, found) for found in sums if found > parent.size][:1]


def is_child(one: Quota, parent: Quota, level: str, departments: dict[str, str]) -> bool:
    """One step below: teams of a department, projects of a team, users of a team or project."""
    if parent.department:
        return (
            level == "team" and one.owner == ("", one.team, "", "") and departments.get(one.team) == parent.department
        )
    own = ("", parent.team, one.project, "") if level == "project" else ("", parent.team, parent.project, one.user)
    return level != "team" and not parent.user and one.owner == own and one.owner != parent.owner


def days_of(parent: Quota, below: list[Quota]) -> list[date]:
    """Those on which a sum can grow: it is enough to look at them."""
    days = sorted({one.from_ or date.min for one in (parent, *below)})
    first, last = parent.from_ or date.min, parent.until or date.max
    return [day for day in days if first <= day <= last]


def adding(below: list[Quota], day: date) -> Fraction:
    return sum((one.size for one in below if one.holds_on(day)), Fraction(0))
