"""What is to differ, as people write it: prices, capacity, idle rules, methods, departments; each for itself, or several as one variant.

Idle rules, methods and departments are rules, so the policy's text is changed; prices and capacity are what happened, so the evidence is.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.policy.document import Policy
from apportion.policy.edit import with_setting, worded
from apportion.policy.load import load_policy
from apportion.policy.tree import Path as Place
from apportion.verbs.draft import draft, read_text
from apportion.verbs.pools import refuse_unknown
from apportion.verbs.project import Project
from apportion.verbs.repriced import Instead, NewPrice, read_prices
from apportion.verbs.resized import NewCapacity, read_capacity
from apportion.verbs.settings import nearest
from apportion.verbs.whatif import instead

RULE = re.compile(r"\w+|\{[\w\s:,]+\}")
FORM = "write NAME: KIND WHAT=VALUE; KIND WHAT=VALUE, such as 'lean: capacity gpus=-20%; idle gpus=proportional'"


@dataclass(frozen=True, slots=True)
class Changes:
    """`gpus=+10%` of prices and capacity, `gpus=even` of idle rules and methods, `vision=research` of teams and their departments."""

    price: tuple[str, ...] = ()
    capacity: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    method: tuple[str, ...] = ()
    move: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return any(getattr(self, kind) for kind in KINDS)

    def __add__(self, other: "Changes") -> "Changes":
        return Changes(*((*getattr(self, kind), *getattr(other, kind)) for kind in KINDS))


KINDS = tuple(one.name for one in fields(Changes))


@dataclass(frozen=True, slots=True)
class Supposed:
    """The same, read."""

    prices: tuple[NewPrice, ...] = ()
    sizes: tuple[NewCapacity, ...] = ()
    rules: tuple[tuple[Place, str], ...] = ()
    moves: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Variation:
    """A policy (each month's own, where `text` is empty) and what differs beside it."""

    name: str
    text: str = ""
    changes: Changes = field(default_factory=Changes)


def read_changes(given: Changes) -> Supposed:
    """Only how it is written; whether there are such pools and teams depends on a month's policy."""
    rules = [
        (("pools", pool, kind), value)
        for kind in ("idle", "method")
        for pool, value in pairs(kind, getattr(given, kind))
    ]
    for (_, pool, kind), value in rules:
        if not RULE.fullmatch(value):
            raise wrong(f"{value!r} is no {kind} rule of {pool}" if kind == "idle" else f"{value!r} is no method")
    return Supposed(
        read_prices(given.price), read_capacity(given.capacity), tuple(rules), tuple(pairs("move", given.move))
    )


def pairs(kind: str, given: Iterable[str]) -> list[tuple[str, str]]:
    """What stands on both sides of the sign; once for each."""
    found: dict[str, str] = {}
    for text in given:
        what, _, value = (part.strip() for part in text.partition("="))
        if not what or not value:
            raise wrong(
                f"{text!r} does not say {'whose department' if kind == 'move' else f'which {kind} of which pool'}"
            )
        if what in found:
            raise wrong(f"{what} has two {'departments' if kind == 'move' else f'{kind} rules'}")
        found[what] = value
    return list(found.items())


def supposed(old: Policy, period: Period, text: str, what: Supposed, teams: Collection[str] = ()) -> Instead:
    """What would hold in a month. `teams`: those that are known beside the policy's own, since owner rules may name any."""
    new = load_policy(text, "draft") if text else old
    for size in what.sizes:
        refuse_unknown(size.pool, period, new)
    edited = moved(reruled(new, period, what.rules), period, what.moves, teams)
    made = (
        instead(old, period, edited, what.prices)
        if edited != new.text or text
        else instead(old, period, "", what.prices)
    )
    return replace(made, sizes=what.sizes)


def reruled(policy: Policy, period: Period, rules: Iterable[tuple[Place, str]]) -> str:
    text = policy.text
    for place, value in rules:
        refuse_unknown(str(place[1]), period, policy)
        text = with_setting(text, policy.file, place, value).text
    return text


def moved(text: str, period: Period, moves: Iterable[tuple[str, str]], teams: Collection[str]) -> str:
    """A team that is declared by its name alone gets a place for it."""
    for team, department in moves:
        known = load_policy(text, "draft").teams
        if team not in known and team not in teams:
            hint = nearest(team, sorted({*known, *teams}), "teams")
            raise ProjectError("unknown-team", f"{team!r} is no team of {period}", hint=hint)
        bare = team not in known or not known[team].model_fields_set
        place: Place = ("teams", team) if bare else ("teams", team, "department")
        value = worded(department)
        text = with_setting(text, "draft", place, f"{{department: {value}}}" if bare else value).text
    return text


def read_variation(project: Project, text: str) -> Variation:
    """`lean: capacity gpus=-20%; idle gpus=proportional`; also `policy FILE` and `draft NUMBER`."""
    name, _, said = (part.strip() for part in text.partition(":"))
    if not name or not said:
        raise wrong(f"{text!r} has no name or says nothing", FORM)
    policy, changes = "", Changes()
    for each in said.split(";"):
        kind, _, value = each.strip().partition(" ")
        if kind in KINDS and value:
            changes += Changes(**{kind: (value.strip(),)})
        elif kind == "policy" and value:
            policy = read_text(Path(value.strip()))
        elif kind == "draft" and value.strip().isdecimal():
            policy = draft(project, int(value)).text
        else:
            raise wrong(
                f"{each.strip()!r} of variant {name} is no change",
                f"{FORM}; kinds: {', '.join((*KINDS, 'policy', 'draft'))}",
            )
    return Variation(name, policy, changes)


def wrong(why: str, hint: str = "") -> ProjectError:
    forms = "write gpus=proportional, gpus=capacity_rate or vision=research"
    return ProjectError("invalid-change", why, hint=hint or forms)
