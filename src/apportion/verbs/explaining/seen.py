"""What somebody may read of an explanation: all of their own figure, and of what is everybody's sums alone.

One place for it: whoever may not see a team finds no word of it in any sentence, not in the policy's lines either. What a node is, its facts say.
"""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

import pyarrow.compute as pc

from apportion.books.shapes import RECLASS
from apportion.model.times import Period
from apportion.render.json import dumps
from apportion.reports.report import Record
from apportion.verbs.explain import Explanation
from apportion.verbs.explaining.story import Node, revived
from apportion.verbs.explaining.target import HASH, KINDS, NUMBER
from apportion.verbs.explaining.walk import FROM
from apportion.verbs.job_clusters import jobs_named
from apportion.verbs.project import Project

MORE = "; the largest:"
ANOTHER = "another team"
DECIDED = ("run", "kind", "booked", "about", "amount", "currency", "owner", "other")
FOLLOW = "tax, credits and fees follow the charges that they belong to"


def visible(project: Project, what: str, period: Period, own: Record, teams: Collection[str]) -> str | None:
    """What is asked about by its full name; None where it is not theirs or not there, which is found without computing anything.

    `own` is what they may see of what is posted.
    """
    kind, colon, name = what.partition(":")
    exact = bool(colon) and kind in KINDS
    for known in (kind,) if exact else KINDS:
        found = of_kind(project, (known, name if exact else what), period, own, teams)
        if found:
            return found
    return None


def of_kind(
    project: Project, asked: tuple[str, str], period: Period, own: Record, teams: Collection[str]
) -> str | None:
    kind, name = asked
    if kind == "team":
        return f"team:{name}" if name in teams else None
    if kind == "pool":
        return f"pool:{name}" if name and name in set(pc.unique(own.posted["pool"]).to_pylist()) else None
    if kind == "job":
        owners = owners_of_run(project, name, period)
        return f"job:{name}" if owners and owners <= set(teams) else None
    return own_posting(project, name, period, teams)


def owners_of_run(project: Project, name: str, period: Period) -> frozenset[str]:
    """The teams that were charged for it, whole: an attempt is explained with all of its run."""
    found = jobs_named(project, name)
    return frozenset(team for job in found for team in job.charged(project, str(period))["team"].to_pylist())


def own_posting(project: Project, name: str, period: Period, teams: Collection[str]) -> str | None:
    """By its number or the beginning of its hash, among their own alone."""
    if not NUMBER.fullmatch(name) and not HASH.fullmatch(name):
        return None
    entries = project.books.entries(period=str(period), account=[f"team:{team}" for team in sorted(teams)])
    mask = pc.equal(entries["seq"], int(name)) if NUMBER.fullmatch(name) else pc.starts_with(entries["hash"], name)
    found = entries.filter(mask)["seq"].to_pylist()
    return f"posting:{found[0]}" if len(found) == 1 else None


def seen_by(found: Explanation, teams: Collection[str]) -> Explanation:
    """For those who see only some teams: without what everything was computed from, and without any other thing of the same name."""
    cut = pool_part if found.kind == "pool" else own_part
    return replace(
        found,
        title=found.title.replace(f" from {found.evidence}", "", 1) if found.evidence else found.title,
        steps=tuple(kept for node in found.steps if (kept := cut(node, teams))),
        also=(),
        evidence="",
    )


def seen_evidence(text: str, teams: Collection[str] | None) -> str:
    """The same of an explanation that was kept as JSON; None sees all of it. Where nothing could be explained there is nothing to cut."""
    said = json.loads(text)
    if teams is None or "kind" not in said:
        return text
    return dumps(seen_by(Explanation(**{**said, "steps": tuple(map(revived, said["steps"]))}), teams))


def own_part(node: Node, teams: Collection[str]) -> Node:
    """A step on the way to somebody's own figure."""
    cut = next((cut for mark, cut in CUTS.items() if mark in node.facts), None)
    return cut(node, teams) if cut else replace(node, steps=below(node, teams))


def below(node: Node, teams: Collection[str]) -> tuple[Node, ...]:
    return tuple(own_part(step, teams) for step in node.steps)


def pool_part(node: Node, teams: Collection[str]) -> Node | None:
    """A step on the way to what a pool shares: its rules, its prices, and sums over everybody."""
    facts = set(node.facts)
    if not facts or facts == {"amount"} or facts & {"why", "team"}:
        return None
    alone = own_part(Node(node.text.removesuffix(MORE), node.facts), teams)
    steps = node.steps if facts & {"pool", "month", "measure"} else ()
    return replace(alone, steps=tuple(part for step in steps if (part := pool_part(step, teams))))


def without_quote(node: Node, teams: Collection[str]) -> Node:
    """Where the policy says it, without its line: that may name others. Why somebody else pays less is theirs to know."""
    place = f"{node.facts['file']}:{node.facts['line']}"
    whose = node.facts.get("team")
    said = node.text.partition(place)[0] if whose is None or whose in teams else "sponsors an adjustment: "
    return Node(said + place, {name: node.facts[name] for name in ("file", "line")})


def sums_alone(node: Node, teams: Collection[str]) -> Node:
    """Cost lines: how many and how much, none by itself."""
    del teams
    return Node(FOLLOW) if "kinds" in node.facts else Node(node.text, node.facts)


def rate_alone(node: Node, teams: Collection[str]) -> Node:
    """Without what the whole bill came to."""
    del teams
    return Node("converted from {currency} at {rate} ({rule} of {table})".format(**node.facts))


def late(node: Node, teams: Collection[str]) -> Node:
    """Without how many lines of the bills they are, and by which policy. What was kept before had no price."""
    text = node.text.partition(FROM)[0] if "amount" in node.facts else f"late for {node.facts['month']}"
    return replace(node, text=text, steps=below(node, teams))


def own_worth(node: Node, teams: Collection[str]) -> Node:
    worth = node.facts["worth"]
    parts = {team: part for team, part in worth.items() if team in teams} if isinstance(worth, Mapping) else {}
    text = ", ".join(f"{team} {part} %" for team, part in parts.items()) or "nothing"
    return Node(f"teams are compared; worth of all: {text}", {"worth": parts})


def decided(node: Node, teams: Collection[str]) -> Node:
    """A sponsor of what somebody gets may be named; any other team may not, nor why it gave or got something."""
    facts = dict(node.facts)
    names = {key: str(facts[key]).partition("/")[0] for key in ("owner", "other")}
    if names["owner"] in teams and (facts["kind"] != RECLASS or names["other"] in teams):
        return Node(node.text, facts)
    for key, team in names.items():
        facts[key] = facts[key] if team in teams else ANOTHER
    how = (
        "re-attributed from {owner} to {other}" if facts["kind"] == RECLASS else "credited to {owner}, paid by {other}"
    )
    money = node.text.partition(": ")[0]
    return Node(
        f"{money}: {how.format(**facts)}",
        {key: value for key, value in facts.items() if key in DECIDED},
    )


CUTS: Mapping[str, Callable[[Node, Collection[str]], Node]] = {
    "file": without_quote,
    "worth": own_worth,
    "other": decided,
    "sums": sums_alone,
    "rate": rate_alone,
    "month": late,
}
