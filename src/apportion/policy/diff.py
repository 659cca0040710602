"""What changes between two policies, rule by rule, and for which days."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from difflib import SequenceMatcher
from typing import Any, Literal

from apportion.policy.clause import Clause
from apportion.policy.document import Policy
from apportion.policy.pools import Pool
from apportion.policy.rules import Dated, Team
from apportion.policy.tree import Path, plain
from apportion.policy.version import order_counts

Effect = Literal["no effect", "forward", "restates"]
ABSENT = None  # no key of a policy is ever null, so None stands for "not there"
OTHER_NAMES = {"policy": "name", "class": "class_", "from": "from_", "blend": "alpha", "by": "method"}
TOLD = (
    "policy",
    "sizes",
    "quotas",
    "statements",
    "journal",
    "preview",
    "findings",
)  # sections that no figure depends on
TOLD_OF_RULES = (("adjustments", ("why",)), ("adjustments", ("approver",)), ("facets", ("sure",)))
ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Change:
    """One difference. `old` or `new` is None where the rule is added or removed; `since` is the first day it concerns.

    An item of a list has its place in the new policy as the last step of its path, or in the old one where it is removed.
    """

    path: Path
    old: Any
    new: Any
    effect: Effect
    since: date | None

    @property
    def sentence(self) -> str:
        name = path_text(self.path)
        if self.old is ABSENT:
            what = f"{name} is added: {words(self.new)}"
        elif self.new is ABSENT:
            what = f"{name} is removed: {words(self.old)}"
        else:
            what = f"{name} changes from {words(self.old)} to {words(self.new)}"
        if self.effect == "no effect":
            return f"{what}; no figure changes"
        if _is_mode(self.path):
            return f"{what}; months from {self.since} on are charged by it unless they are closed"
        if self.effect == "forward":
            return f"{what}; from {self.since} on"
        return f"{what}; restates figures since {self.since}"


def diff(old: Policy, new: Policy, *, posted_until: date | None = None) -> tuple[Change, ...]:
    """Changes in document order.

    A change restates when it concerns days up to `posted_until`, the last day that has been posted; without one, when it
    concerns the first day of the old policy.
    """
    settled = posted_until if posted_until is not None else old.effective
    changes = []
    for difference in _compare((), _stated(old), _stated(new)):
        since = _since(difference, old, new)
        effect: Effect = "no effect" if since is None else "forward" if since > settled else "restates"
        changes.append(Change(difference.path, difference.old, difference.new, effect, since))
    return tuple(changes)


@dataclass(frozen=True, slots=True)
class _Difference:
    """`old_path` is where the old value stands in the old policy: lists shift."""

    path: Path
    old_path: Path
    old: Any
    new: Any
    order: bool = False


def _stated(policy: Policy) -> dict[str, Any]:
    """The document without sections that are empty; a team that is declared by its name alone has no keys."""
    given = {key: value for key, value in plain(policy.root).items() if value is not None}
    teams = {name: team or {} for name, team in given.get("teams", {}).items()}
    return given | ({"teams": teams} if teams else {})


def _compare(path: Path, old: Any, new: Any, old_path: Path | None = None) -> Iterator[_Difference]:
    before = path if old_path is None else old_path
    if isinstance(old, dict) and isinstance(new, dict):
        yield from _compare_keys(path, before, old, new)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _compare_items(path, before, old, new)
    elif old != new:
        yield _Difference(path, before, old, new)


def _compare_keys(path: Path, before: Path, old: dict[str, Any], new: dict[str, Any]) -> Iterator[_Difference]:
    for key in [*new, *(key for key in old if key not in new)]:
        yield from _compare((*path, key), old.get(key), new.get(key), (*before, key))
    stayed = [key for key in old if key in new]
    moved = [key for key in new if key in old]
    if order_counts(path) and stayed != moved:
        yield _Difference(path, before, stayed, moved, order=True)


def _compare_items(path: Path, before: Path, old: list[Any], new: list[Any]) -> Iterator[_Difference]:
    """Equal items are found wherever they moved to; as many others side by side are compared in pairs."""
    matcher = SequenceMatcher(None, [repr(item) for item in old], [repr(item) for item in new], autojunk=False)
    for _, old_start, old_end, new_start, new_end in matcher.get_opcodes():
        for step in range(max(old_end - old_start, new_end - new_start)):
            was, now = old_start + step, new_start + step
            if was < old_end and now < new_end:
                yield from _compare((*path, now), old[was], new[now], (*before, was))
            elif was < old_end:
                yield _Difference((*path, was), (*before, was), old[was], ABSENT)
            else:
                yield _Difference((*path, now), (*before, was), ABSENT, new[now])


def _since(difference: _Difference, old: Policy, new: Policy) -> date | None:
    """The first day whose figures may differ; None where no figure does."""
    path = difference.path
    told_only = path[0] in TOLD or (path[0], path[2:]) in TOLD_OF_RULES
    if told_only or (not difference.order and _meaning(old, difference.old_path) == _meaning(new, path)):
        return None
    if _is_mode(path) and path[0] == "teams":
        return _mode_differs(old, new, str(path[1]))
    rules = [rule for rule in (_dated_rule(old, difference.old_path), _dated_rule(new, path)) if rule is not None]
    if not rules:
        return new.effective
    if all(rule.until is not None and rule.until < new.effective for rule in rules):
        return None
    if path[-1] == "until":  # the rule is the same up to the earlier of its two ends
        ends = [rule.until for rule in rules if rule.until is not None]
        starts = [rule.from_ for rule in rules if rule.from_ is not None]
        return max([new.effective, min(ends) + ONE_DAY, *starts])
    return max(new.effective, min(rule.from_ or new.effective for rule in rules))


def _meaning(policy: Policy, path: Path) -> Any:
    """What the words at `path` come to, with short forms and usual values filled in: as far down as there is a meaning of its own."""
    value: Any = policy
    for step in path:
        name = OTHER_NAMES.get(str(step), str(step))
        if isinstance(value, Pool) and step == "costs":
            return value.costs, value.otherwise
        if isinstance(value, Clause) and name in type(value).model_fields:
            value = getattr(value, name)
        elif isinstance(value, dict):
            value = value.get(str(step), ABSENT)
        elif isinstance(value, tuple) and isinstance(step, int):
            value = value[step] if step < len(value) else ABSENT
        else:
            break
    return value


def _dated_rule(policy: Policy, path: Path) -> Dated | None:
    match path:
        case ("owners" | "adjustments" | "reservations" as section, int(step), *_):
            rules = getattr(policy, section)
        case ("pools", str(name), "prices", int(step), *_):
            rules = policy.pools[name].prices if name in policy.pools else ()
        case _:
            return None
    return rules[step] if step < len(rules) else None


def _is_mode(path: Path) -> bool:
    """It changes who is charged, and nothing that is posted."""
    return (path[0], *path[2:]) in (("teams", "mode"), ("teams", "from"), ("pools", "mode"))


def _mode_differs(old: Policy, new: Policy, name: str) -> date | None:
    before, after = (policy.teams.get(name, Team()) for policy in (old, new))
    turns = {new.effective, *(team.from_ for team in (before, after) if team.from_ and team.from_ > new.effective)}
    return next((day for day in sorted(turns) if before.mode_on(day) != after.mode_on(day)), None)


def path_text(path: Path) -> str:
    """`pools.h100.idle`, `owners[3]`; lists are counted from 1, as people do."""
    text = ""
    for step in path:
        text += f"[{step + 1}]" if isinstance(step, int) else f".{step}" if text else step
    return text


def words(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {words(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(words(item) for item in value) + "]"
    return "nothing" if value is None else str(value)
