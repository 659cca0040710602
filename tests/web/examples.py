"""What to ask of each page: a table that knows every path, so that a page which nobody tries cannot exist.

Names in braces are filled by whoever asks: with what is theirs (OWN), with what is another team's (FOREIGN), with what nobody has (ABSENT).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from apportion.policy.load import load_policy
from apportion.web.routes import Route
from tests.web import world

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
    "version": load_policy(world.POLICY).version[:12],
    "draft": "1",
    "posting": "350",
    "saved": world.SAVED,
}
FOREIGN = {
    **OWN,
    "team": "zebra",
    "owner": "zebra",
    "project": "halcyon",
    "user": "quagga",
    "run": "zjob1001",
    "number": "2",
    "posting": "351",
}
ABSENT = {
    **OWN,
    "team": "nosuch",
    "owner": "nosuch",
    "project": "nothing",
    "user": "noone",
    "run": "55555555",
    "number": "77",
    "draft": "77",
    "posting": "999999",
}
WHOSE = ("team", "owner", "project", "user", "run", "number", "draft", "posting")  # names that belong to somebody


@dataclass(frozen=True)
class Example:
    """`path` with its names in braces; `queries` are other questions of the same page that name somebody."""

    path: str
    query: str = PERIOD
    queries: Sequence[str] = field(default=())
    asked: str = ""  # the path with the names of this table, where the page calls them otherwise

    def pattern(self, form: str = "") -> str:
        return "/overview" if self.path == "/" and form else self.asked or self.path

    def url(self, names: Mapping[str, str] = OWN, form: str = "") -> str:
        safe = {name: quote(value, safe="") for name, value in names.items()}
        return (self.pattern(form) + form + ("?" + self.query if self.query else "")).format_map(safe)


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
        Example("/prices", ""),
        Example("/estimate", "team={team}&hours=2&gpus=1&pool=gpus"),
        Example("/idle", queries=(WHERE,)),
        Example("/advice", queries=(WHERE,)),
        Example("/facets", queries=(WHERE, f"{PERIOD}&by=size&value=1%20GPU&where=team%3D{{team}}")),
        Example("/explain", f"{PERIOD}&what={{team}}", tuple(f"{PERIOD}&what={what}" for what in ("job:{run}", "project:{project}", "posting:{posting}"))),
        Example("/quotas"),
        Example("/health"),
        Example("/health/owner", f"{PERIOD}&label=slurm.account&value=odd-one&team={{team}}"),
        Example("/adjustments"),
        Example("/policy"),
        Example("/policy/diff", f"{PERIOD}&from={{version}}&to=file"),
        Example("/policy/{version}"),
        Example("/review"),
        Example("/what-if", f"{PERIOD}&draft={{draft}}", (f"{PERIOD}&pool=gpus&method=proportional",)),
        Example("/what-if/saved", ""),
        Example("/what-if/saved/{saved}", ""),
        Example("/drafts", ""),
        Example("/drafts/{number}", "", asked="/drafts/{draft}"),
        Example("/methods"),
        Example("/methods/{name}"),
        Example("/statements"),
        Example("/statements/{period}/{owner}"),
        Example("/disputes"),
        Example("/disputes/{number}"),
        Example("/ledger", WHERE, (f"{PERIOD}&where=user%3D{{user}}",)),
        Example("/search", "q={team}", ("q={user}", "q={project}", "q={run}")),
        Example("/live"),
        Example("/forecast", "", ("where=team%3D{team}",)),
        Example("/anomalies", ""),
        Example("/admin"),
        Example("/admin/tokens"),
        Example("/admin/sources"),
        Example("/admin/runs"),
        Example("/admin/audit"),
        Example("/admin/webhooks"),
        Example("/tokens"),
        Example("/api"),
    )
}  # fmt: skip


# Questions that the command line does not have: it has no search, and a policy of the past is read from its page or from version control; the
# API is described where it is.
NO_COMMAND = {"/search", "/policy/{version}", "/api"}


def missing(routes: Sequence[Route]) -> list[str]:
    """Paths that nobody tries."""
    return [route.path for route in routes if route.path not in EXAMPLES]
