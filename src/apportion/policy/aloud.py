"""The policy in sentences, each with its line: all of it, or what it says about some teams and the pools that they pay for.

Who may not see a team is not told of it: for them a clause that names others, or the labels of others, is left out or cut.
"""

from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from apportion.policy.diff import words
from apportion.policy.document import Policy
from apportion.policy.match import literal
from apportion.policy.pool_parts import Cause, IdleRule
from apportion.policy.tree import Path, plain

POOL = {
    "costs": "Its money is that of cost lines with {}.", "from": "Its money is also what {} would owe.", "usage": "Use counts where {}.",
    "meter": "It is counted in {}.", "driver": "Of each use it counts what was {}.",
    "over": "It is shared over {}.", "scope": "It has one price for each {}.", "slot": "A price holds for one {}.",
    "idle_slot": "Idle is settled once each {}.", "weights": "Use weighs {}.", "free": "Free of charge: {}.",
    "shares": "The shares are {} percent.", "members": "Its members are {}.", "k": "It counts the {} highest hours.",
    "weighted": "Weighted: {}.", "times": "Hours weigh {}.", "burst_price": "Use above a reservation costs {}.",
    "lend_credit": "Lending what is reserved is credited: {}.", "static_share": "The part that is shared by what is held: {}.",
    "serves": "It serves {}.", "component": "Its money counts as {}.", "basis": "It counts {} cost.", "mode": "It is for {}.",
    "on_zero": "Where nobody used it: {}.",
}  # fmt: skip
EACH = {"credit": "A credit: {}.", "prices": "A price: {}."}
IDLE_CAUSES = {
    "unsold": "what nobody used",
    "reserved": "what was reserved and not used",
    "held": "what was held without use",
    "down": "what was down",
}
IDLE_ENDS = {
    "central": "stays idle",
    "proportional": "is shared over those who used the pool",
    "even": "is shared evenly",
    "holder": "is its holder's",
}
CARRIED = {
    "_idle": "What stands idle",
    "_unallocated": "What is nobody's",
    "_residual": "What rounding leaves",
    "showback": "What is only shown",
}
ADJUSTED = {"percent": "", "smooth": "At most another", "cap": "At most", "floor": "At least", "grant": "A grant of"}
UNITS = {"percent": " %", "smooth": " % than last month"}
QUOTA = {"hours": "hours", "months": "whole months", "amount": "units", "money": "of money"}
OPEN_KEYS = frozenset(POOL) - {"costs", "from", "usage", "over", "weights", "shares", "members", "serves", "free"}
OF_OTHERS = ("sponsor", "approver", "paid_by", "when")
SECTIONS = {
    "teams": "Teams", "carried_by": "Who carries what is nobody's", "decides": "Which source decides", "owners": "Whose work it is",
    "facets": "What kind of work it is", "sizes": "How large work is", "nodes": "Which node a cost line paid for", "reservations": "Promises", "pools": "Pools",
    "adjustments": "Adjustments, in this order", "quotas": "Quotas", "fx": "Exchange rates", "close": "Closing a month",
    "findings": "What findings may touch",
    "preview": "Rules to come, shown beside", "statements": "Statements", "journal": "Journal",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Said:
    """`line` is 0 where the place is not told."""

    text: str
    line: int = 0
    parts: tuple["Said", ...] = ()


@dataclass(frozen=True, slots=True)
class Ears:
    """Whose they are: None hears everything."""

    teams: Container[str] | None = None
    pools: Container[str] = ()

    def hears(self, team: Any) -> bool:
        return self.teams is None or (isinstance(team, str) and team in self.teams)


def read_aloud(policy: Policy, ears: Ears | None = None) -> tuple[Said, ...]:
    """Section by section, in the order in which one asks."""
    said = _Reader(policy, ears or Ears()).sections()
    return tuple(sorted(said, key=lambda one: one.text != SECTIONS["pools"]))


@dataclass(frozen=True, slots=True)
class _Reader:
    policy: Policy
    ears: Ears

    def sections(self) -> Iterator[Said]:
        document = plain(self.policy.root)
        for key, heading in SECTIONS.items():
            parts = tuple(self.clauses(key, document.get(key)))
            if parts:
                yield Said(heading, self.line(key), parts)

    def line(self, *path: str | int) -> int:
        return self.policy.line(*path) if self.ears.teams is None else 0

    def clauses(self, key: str, given: Any) -> Iterator[Said]:
        if key == "pools":
            yield from (self.pool(name, pool) for name, pool in (given or {}).items() if self.pays(name))
        elif isinstance(given, dict):
            for name, value in given.items():
                if self.ears.hears(name if key == "teams" else value if key == "carried_by" else None):
                    yield Said(self.entry(key, name, value), self.line(key, name))
        else:
            yield from self.rules(key, given or [])

    def entry(self, key: str, name: str, value: Any) -> str:
        if key == "carried_by":
            return f"{CARRIED[name]} ends with {value}."
        if key == "sizes":
            return f"Work that held {value} GPUs or more at once is {name}."
        return team_sentence(name, value) if key == "teams" else pair(name, value)

    def pays(self, pool: str) -> bool:
        return self.ears.teams is None or pool in self.ears.pools

    def rules(self, key: str, given: list[Any]) -> Iterator[Said]:
        """A rule that is about a team is told to it, without whom else it names."""
        for step, rule in enumerate(given):
            if self.ears.hears(literal(rule["team"]) if isinstance(rule, dict) and "team" in rule else None):
                own = self.own(rule, key)
                yield Said(RULES[key](own) if key in RULES else pairs(own), self.line(key, step))

    def own(self, rule: dict[str, Any], key: str = "") -> dict[str, Any]:
        if self.ears.teams is None or key == "owners":
            return rule
        hidden = [name for name in OF_OTHERS if name in rule and not self.ears.hears(rule[name])]
        return {name: value for name, value in rule.items() if name not in hidden}

    def pool(self, name: str, given: dict[str, Any]) -> Said:
        parts: list[Said] = []
        for key, value in given.items():
            parts += self.setting(("pools", name, key), value)
        return Said(
            f"{name} is shared by {self.policy.pools[name].method.removeprefix('by_')}",
            self.line("pools", name),
            tuple(parts),
        )

    def setting(self, path: Path, value: Any) -> Iterator[Said]:
        key = str(path[-1])
        if key in EACH:
            items = value if isinstance(value, list) else [value]
            open_to_all = [item for item in items if self.ears.teams is None or key == "credit" or "when" not in item]
            yield from (
                Said(EACH[key].format(pairs(self.own(item))), self.line(*path, items.index(item)))
                for item in open_to_all
            )
        elif key == "idle":
            yield Said(idle_sentence(self.policy.pools[str(path[1])].idle), self.line(*path))
        elif key in POOL and (self.ears.teams is None or key in OPEN_KEYS):
            meant = "whatever no other pool takes" if value == "otherwise" else pairs(value)
            yield Said(POOL[key].format(meant), self.line(*path))
        elif key == "shares":
            mine = {team: share for team, share in value.items() if self.ears.hears(team)}
            yield from [Said(POOL[key].format(pairs(mine)))] if mine else []


def idle_sentence(rules: Mapping[Cause, IdleRule]) -> str:
    """Causes that end alike are named together."""
    by_end: dict[str, list[str]] = {}
    for cause, rule in rules.items():
        by_end.setdefault(IDLE_ENDS[rule], []).append(IDLE_CAUSES[cause])
    if len(by_end) == 1:
        return f"What stands idle {next(iter(by_end))}."
    return begun("; ".join(f"{' and '.join(causes)} {end}" for end, causes in by_end.items())) + "."


def begun(text: str) -> str:
    return text[:1].upper() + text[1:]


def team_sentence(name: str, given: Any) -> str:
    rest = dict(given or {})
    mode = {"chargeback": "is charged", "showback": "is shown what it costs"}[rest.pop("mode", "showback")]
    since = f" from {rest.pop('from')} on" if "from" in rest else ""
    return f"{name} {mode}{since}{': ' + pairs(rest) if rest else ''}."


def owner_sentence(rule: dict[str, Any]) -> str:
    rest = {name: value for name, value in rule.items() if name not in ("when", "team")}
    return f"Work with {pairs(rule['when']) or 'anything'} is {rule['team']}'s{', ' + pairs(rest) if rest else ''}."


def facet_sentence(rule: dict[str, Any]) -> str:
    sets = {name: value for name, value in rule.items() if name not in ("when", "sure")}
    return f"Work with {pairs(rule['when'])} has {pairs(sets)}{' (' + rule['sure'] + ')' if 'sure' in rule else ''}."


def promise_sentence(rule: dict[str, Any]) -> str:
    return f"{rule['team']} is promised {rule['amount']} {rule['meter']} of {rule['pool']}{days(rule)}."


def adjustment_sentence(rule: dict[str, Any]) -> str:
    kinds = " and ".join(
        f"{word} {rule[name]}".strip() + UNITS.get(name, "") for name, word in ADJUSTED.items() if name in rule
    )
    whom = f"for {rule['team']}" if "team" in rule else "for work" if "when" in rule else "for all"
    when = f" with {pairs(rule['when'])}" if "when" in rule else ""
    pool = f" in {rule['pool']}" if "pool" in rule else ""
    paid = f", paid by {rule['sponsor']}" if "sponsor" in rule else ""
    approved = f", approved by {rule['approver']}" if "approver" in rule else ""
    return f"{kinds} {whom}{when}{pool}{days(rule)}{paid}{approved}: {rule['why']}."


def quota_sentence(rule: dict[str, Any]) -> str:
    measure = next(f"{rule[name]} {word}" for name, word in QUOTA.items() if name in rule)
    of = " of " + " in ".join(str(rule[name]) for name in ("meter", "pool") if name in rule) if "meter" in rule else ""
    told = f", told at {' and '.join(rule['warn'])} percent" if rule.get("warn") else ""
    held = f", enforced by {rule['enforce']}" if rule.get("enforce", "none") != "none" else ""
    soft = (
        f", told above {rule['soft']}"
        if "soft" in rule
        else ", which is told and stops nobody"
        if rule.get("kind") == "soft"
        else ""
    )
    rolled = f", what is left is rolled over{rolled_on(rule['rollover'])}" if "rollover" in rule else ""
    fit = ", and those below it must fit in it" if rule.get("children") == "fit" else ""
    return f"{whose_quota(rule)} has {measure}{of} a {rule['per']}{days(rule)}{soft}{told}{held}{rolled}{fit}."


def whose_quota(rule: dict[str, Any]) -> str:
    if "department" in rule:
        return f"Department {rule['department']}"
    path = f"{rule['team']}/{rule['project']}" if "project" in rule else str(rule["team"])
    return f"{rule['user']} of {path}" if "user" in rule else path


def rolled_on(rule: dict[str, Any] | None) -> str:
    """What bounds it."""
    bounds = {"cap": "at most {}", "expires": "for {} windows"}
    said = [text.format(rule[name]) for name, text in bounds.items() if rule and name in rule]
    return f" ({', '.join(said)})" if said else ""


def days(rule: dict[str, Any]) -> str:
    return "".join(f" {name} {rule[name]}" for name in ("from", "until") if name in rule)


def pairs(value: Any) -> str:
    """`node h100-*, site on-premises`: keys and values without braces at the top."""
    if isinstance(value, list):
        return ", ".join(pairs(item) for item in value)
    return ", ".join(pair(name, one) for name, one in value.items()) if isinstance(value, dict) else words(value)


def pair(name: str, value: Any) -> str:
    return name if value in (None, {}) else f"{name.replace('_', ' ').strip()} {pairs(value)}"


RULES: Mapping[str, Callable[[dict[str, Any]], str]] = {
    "owners": owner_sentence, "facets": facet_sentence, "reservations": promise_sentence, "adjustments": adjustment_sentence,
    "quotas": quota_sentence,
}  # fmt: skip
