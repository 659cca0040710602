"""A statement: what one owner owes for one period, in whole minor units, and why.

Its canonical JSON is kept when the period is closed; every format is a pure function of it. `template` names the layout that it was
made for: a later layout gets another, so that an earlier statement prints as it did.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass
from decimal import Decimal
from types import NoneType, UnionType
from typing import Any, get_args, get_origin, get_type_hints

TEMPLATE = "1"
LEVELS = (
    "cost_centre",
    "department",
    "team",
    "project",
    "user",
)  # from the top; each level's children are the next one's
LATER = ("preview", "accepted", "moves", "other_hours")  # what earlier statements do not have
DRIVERS = (
    "volume",
    "price",
    "mix",
    "direct",
    "idle",
    "policy",
    "overhead",
    "adjustments",
    "late",
    "corrections",
    "reclasses",
    "other",
)


@dataclass(frozen=True, slots=True)
class Line:
    """A name and its amount, with that of the period before where there was one."""

    name: str
    amount: int
    before: int | None = None


@dataclass(frozen=True, slots=True)
class Part:
    """The whole amount once more, by one dimension: component, pool, project, user, a facet ... Its lines add up to what is owed."""

    by: str
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """By how much one driver moved what is owed in one pool. Together they are what is owed less what was owed before."""

    driver: str
    pool: str
    amount: int


@dataclass(frozen=True, slots=True)
class Use:
    """Hours of one unit in one pool, as decimal text; `used` and `waste` are None where nothing was measured.

    `amount` is the pool's money of the month itself. `other_hours` is what else is owed in the pool: late lines, corrections, and what was moved
    or credited; None where there is nothing of it, and on earlier statements, whose `amount` has all of it.
    """

    pool: str
    unit: str
    held: str
    used: str | None
    unmeasured: str
    amount: int
    waste: int | None
    other_hours: int | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """One of those that cost most. The last two lines of a statement's list have no workload: the others, and what is of no workload."""

    workload: str
    name: str
    project: str
    user: str
    unit: str
    held: str
    used: str | None
    amount: int
    waste: int | None


@dataclass(frozen=True, slots=True)
class Budget:
    """What was agreed for a month, quarter or year (`per`), and where it stands at the end of the period."""

    per: str
    pool: str
    amount: int
    spent: int
    left: int


@dataclass(frozen=True, slots=True)
class Adjustment:
    """`side` is `received` (an amount below 0: somebody else pays) or `given`; `other` is the owner on the other side."""

    side: str
    other: str
    pool: str
    amount: int
    why: str
    approver: str
    until: str


@dataclass(frozen=True, slots=True)
class Move:
    """A reclass: what stood with another owner stands here (`side` is `in`, an amount above 0), or the other way round (`out`)."""

    side: str
    other: str
    pool: str
    amount: int
    why: str
    approver: str


@dataclass(frozen=True, slots=True)
class Correction:
    """Of a closed period, booked in this one: the figure that it had, the one that it has now, and the runs that said so."""

    about: str
    cause: str
    was: int
    now: int
    amount: int
    runs: tuple[str, str]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a pool's money was shared, in a sentence, and where the policy says so. `pool` is empty for what holds for all of them."""

    pool: str
    sentence: str
    clause: str
    line: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be owed and booked by rules to come, which are shown until the month `until`; nothing of it is.

    `changes` add up to this `owed` less the statement's own. Both figures are None where the rules cannot be applied to the period.
    """

    policy: str
    version: str
    until: str
    owed: int | None
    charged: int | None
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """What could not be taken as it is and somebody let stand: `text` says it in words. `hours` and `money` are decimal text, empty where none."""

    code: str
    source: str
    pool: str
    rows: int
    hours: str
    unit: str
    money: str
    currency: str
    who: str
    why: str
    text: str


@dataclass(frozen=True, slots=True)
class Statement:
    """`number` is that of the invoice, empty where nothing is charged or the period is still open (`issued` is empty then too).

    `charged` is what is booked: the part of `owed` that is not only shown, and what this owner carries (`carried`) for owners who are only
    shown their cost. `summary` and each of `parts` and `children` add up to `owed`.
    """

    template: str
    number: str
    period: str
    level: str
    owner: str
    mode: str
    currency: str
    digits: int
    issuer: str
    issued: str
    head: str
    policy: str
    basis: str
    owed: int
    charged: int
    carried: int
    before: int | None
    summary: tuple[Line, ...]
    changes: tuple[Change, ...]
    parts: tuple[Part, ...]
    children: tuple[Line, ...]
    workloads: tuple[Workload, ...]
    usage: tuple[Use, ...]
    budgets: tuple[Budget, ...]
    adjustments: tuple[Adjustment, ...]
    corrections: tuple[Correction, ...]
    quantities: tuple[tuple[str, str], ...]  # what is no money, such as ("gCO2e", "5120")
    how: tuple[Rule, ...]
    dispute: str
    preview: Preview | None = None
    accepted: tuple[AcceptedFinding, ...] | None = None
    moves: tuple[Move, ...] | None = None

    @property
    def is_draft(self) -> bool:
        return not self.issued


def to_json(statement: Statement) -> str:
    """Canonical: the same statement is the same bytes."""
    return json.dumps(statement, sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=by_name)


def by_name(made: Any) -> dict[str, Any]:
    """A dataclass as its fields, and so those in its lists, without the deep copies of `asdict`. What came later is not said where it is not there."""
    found = {field.name: listed(getattr(made, field.name)) for field in fields(made)}
    return {name: value for name, value in found.items() if name not in LATER or value is not None}


def listed(value: Any) -> Any:
    is_list = isinstance(value, tuple) and value and is_dataclass(value[0])
    return [by_name(one) for one in value] if is_list else value


def from_json(text: str) -> Statement:
    made: Statement = revived(Statement, json.loads(text))
    return made


def revived(kind: Any, given: Any) -> Any:
    """A value of JSON as the dataclass, tuple or plain value that its type says."""
    if isinstance(kind, UnionType) and isinstance(given, Mapping | list):
        kind = next(one for one in get_args(kind) if one is not NoneType)
    if isinstance(given, Mapping):
        hints = get_type_hints(kind)
        names = (field.name for field in fields(kind) if field.name in given or field.name not in LATER)
        return kind(**{name: revived(hints[name], given[name]) for name in names})
    if isinstance(given, list) and get_origin(kind) is tuple:
        inner = get_args(kind)
        kinds = [inner[0]] * len(given) if inner[1:] == (...,) else inner
        return tuple(revived(one, item) for one, item in zip(kinds, given, strict=True))
    return given


def money(amount: int, digits: int) -> Decimal:
    """Minor units as the currency writes them: 12345 of 2 digits is 123.45."""
    return Decimal(amount).scaleb(-digits)
