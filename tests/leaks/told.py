"""The leak matrix as Markdown: a row for each page, file, form and endpoint, a column for each role."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

KINDS = ("seen", "to login", "refused", "not there", "not in order")
SHORT = {"seen": "✓", "to login": "→", "refused": "✗", "not there": "∅", "not in order": "!"}
LEGEND = """\
# Who is told what

Every page, file, form and endpoint, asked by everyone about what is theirs, what is another team's, and what nobody has.

✓ seen, → sent to the login, ✗ refused, ∅ not there, ! not in order. Before the bar: about what is theirs; behind it: about another team's.
= the answers about another's and about nobody's are the same, headers and all, but for the name that was asked with, and no answer has a word or
an amount of the other team. **≠** they are not: as it should be for those who see all teams, and a leak for the others.

The viewer sees `vision`, the lead `speech`, nobody no team yet; the token is the viewer's. The other team is `zebra`.
"""


@dataclass
class Row:
    """One path, and what came of all questions to it."""

    method: str
    pattern: str
    kinds: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    telling: set[str] = field(default_factory=set)

    def add(self, role: str, kinds: tuple[str, str], *, told: bool) -> None:
        self.kinds.setdefault(role, []).append(kinds)
        self.telling |= {role} if told else set()

    def tells(self, role: str) -> bool:
        return role in self.telling

    def cell(self, role: str) -> str:
        sides = (dict.fromkeys(SHORT[one[side]] for one in self.kinds[role]) for side in (0, 1))
        return "".join((" / ".join("".join(side) for side in sides), " **≠**" if self.tells(role) else " ="))


def written(counts: Mapping[str, Counter[str]], rows: Collection[Row], see_all: Collection[str]) -> str:
    roles = list(counts)
    leaks = [
        f"{row.method} {row.pattern} to {role}"
        for row in rows
        for role in roles
        if role not in see_all and row.tells(role)
    ]
    lines = [
        LEGEND,
        f"{len(rows)} paths. " + ("No leak." if not leaks else f"LEAKS: {'; '.join(leaks)}."),
        "",
        *summed(counts),
        "",
    ]
    lines += ["| path | " + " | ".join(roles) + " |", "|---|" + "---|" * len(roles)]
    lines += [f"| {row.method} `{row.pattern}` | " + " | ".join(map(row.cell, roles)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def summed(counts: Mapping[str, Counter[str]]) -> list[str]:
    lines = ["| role | asked | " + " | ".join(KINDS) + " |", "|---|" + "---:|" * (len(KINDS) + 1)]
    for role, count in counts.items():
        lines.append(f"| {role} | {count.total()} | " + " | ".join(str(count[kind]) for kind in KINDS) + " |")
    return lines
