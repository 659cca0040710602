"""What to ask of each page: a table that knows every path, so that a page which nobody tries cannot exist.

Names in braces are filled by whoever asks: with what is theirs (OWN), with what is another team's (FOREIGN), with what nobody has (ABSENT).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from string import Formatter
from urllib.parse import quote

from apportion.web.routes import Route

PERIOD = "period=2026-10"
OWN = {
    "team": "vision",
    "owner": "vision",
    "project": "detect",
    "user": "ada",
    "run": "11001",
    "number": "1",
    "pool": "gpus",
    "period": "2026-09",
    "name": "proportional",
    "version": "1",
}
FOREIGN = {
    **OWN,
    "team": "zebra",
    "owner": "zebra",
    "project": "halcyon",
    "user": "quagga",
    "run": "99411001",
    "number": "2",
}
ABSENT = {
    **OWN,
    "team": "nosuch",
    "owner": "nosuch",
    "project": "nothing",
    "user": "noone",
    "run": "55555555",
    "number": "77",
}
WHOSE = ("team", "owner", "project", "user", "run", "number")  # names that belong to somebody


@dataclass(frozen=True)
class Example:
    """`path` with its names in braces; `queries` are other questions of the same page that name somebody."""

    path: str
    query: str = PERIOD
    queries: Sequence[str] = field(default=())

    def url(self, names: Mapping[str, str] = OWN, form: str = "", query: str | None = None) -> str:
        safe = {name: quote(value, safe="") for name, value in names.items()}
        asked = self.query if query is None else query
        path = "/overview" if self.path == "/" and form else self.path
        return path.format_map(safe) + form + ("?" + asked.format_map(safe) if asked else "")

    def named(self) -> set[str]:
        """Whose names it can be asked with."""
        texts = (self.path, self.query, *self.queries)
        return {name for text in texts for _, name, _, _ in Formatter().parse(text) if name in WHOSE}


WHERE = f"{PERIOD}&where=team%3D{{team}}"
EXAMPLES: dict[str, Example] = {
    one.path: one
    for one in (
        Example("/", queries=(WHERE, f"{PERIOD}&where=user%3D{{user}}", f"{PERIOD}&where=project%3D{{project}}")),
        Example("/overview", queries=(WHERE,)),
        Example("/teams", queries=(WHERE,)),
        Example("/teams/{team}"),
        Example("/projects/{team}/{project}"),
        Example("/users/{user}"),
        Example("/me"),
        Example("/runs/{run}"),
        Example("/pools", queries=(WHERE,)),
        Example("/pools/{pool}", queries=(WHERE,)),
        Example("/idle", queries=(WHERE,)),
        Example("/explain", f"{PERIOD}&what={{team}}", (f"{PERIOD}&what=job:{{run}}", f"{PERIOD}&what=project:{{project}}")),
        Example("/quotas"),
        Example("/health"),
        Example("/policy"),
        Example("/methods"),
        Example("/methods/{name}"),
        Example("/statements"),
        Example("/statements/{period}/{owner}"),
        Example("/disputes"),
        Example("/disputes/{number}"),
        Example("/ledger", WHERE, (f"{PERIOD}&where=user%3D{{user}}",)),
        Example("/search", "q={team}", ("q={user}", "q={project}", "q={run}")),
        Example("/live"),
        Example("/admin"),
        Example("/admin/tokens"),
        Example("/api"),
    )
}  # fmt: skip


def missing(routes: Sequence[Route]) -> list[str]:
    """Paths that nobody tries."""
    return [route.path for route in routes if route.path not in EXAMPLES]


def questions(example: Example, names: Mapping[str, str]) -> Iterator[str]:
    """Every question of a page, filled."""
    for query in (example.query, *example.queries):
        yield example.url(names, query=query)
