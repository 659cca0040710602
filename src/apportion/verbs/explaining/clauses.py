"""Where the policy says so: file, line, and the line itself."""

import textwrap

from apportion.policy.document import Policy
from apportion.policy.rules import Adjustment
from apportion.verbs.explaining.story import Node

LONGEST = 110


def written(policy: Policy, *path: str | int) -> tuple[int, str]:
    """The line, and what it says."""
    line = policy.line(*path)
    return line, policy.text.split("\n")[line - 1].split(" #")[0].strip()


def block(policy: Policy, *path: str | int) -> str:
    """All that the policy says there, with the remarks above it: as written, moved to the margin."""
    lines = policy.text.split("\n")
    first = last = policy.line(*path) - 1
    depth = indent(lines[first])
    while first and indent(lines[first - 1]) == depth and lines[first - 1].lstrip().startswith("#"):
        first -= 1
    for place in range(last + 1, len(lines)):
        if lines[place].strip() and indent(lines[place]) <= depth:
            break
        last = place if lines[place].strip() else last
    return textwrap.dedent("\n".join(lines[first : last + 1]))


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def clause(policy: Policy, what: str, *path: str | int) -> Node:
    line, text = written(policy, *path)
    short = text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."
    return Node(f"{what}: {policy.file}:{line}  {short}", {"file": policy.file, "line": line, "text": text})


def of_adjustment(policy: Policy, what: str, number: int) -> Node:
    rule, node = policy.adjustments[number], clause(policy, what, "adjustments", number)
    return Node(node.text, {**node.facts, "why": rule.why, "team": rule.team})


def adjustment_clauses(policy: Policy, team: str | None, pool: str) -> tuple[Node, ...]:
    """The adjustments that may touch a team's charges in a pool, with their reasons."""
    return tuple(
        of_adjustment(policy, f"adjusted because of {rule.why!r}, paid by {rule.sponsor}{agreed(rule)}", number)
        for number, rule in enumerate(policy.adjustments)
        if rule.pool in (None, pool) and (team is None or rule.team in (None, team))
    )


def agreed(rule: Adjustment) -> str:
    """Who approved it, and the last day on which it holds."""
    approved = f", approved by {rule.approver}" if rule.approver else ""
    return approved + (f", until {rule.until}" if rule.until else "")


def sponsored_clauses(policy: Policy, team: str, pool: str) -> tuple[Node, ...]:
    """What a team pays for others."""
    rules = [
        of_adjustment(policy, f"sponsors {rule.why!r}{agreed(rule)}", number)
        for number, rule in enumerate(policy.adjustments)
        if rule.sponsor == team and rule.pool in (None, pool)
    ]
    given = policy.pools[pool].credit if pool in policy.pools else ()
    rules += [
        clause(policy, f"pays the credit for {rule.outcome}", "pools", pool, "credit", number)
        for number, rule in enumerate(given)
        if rule.paid_by == team
    ]
    return tuple(rules)
