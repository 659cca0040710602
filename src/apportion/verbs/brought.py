"""What came of each source, counted once: for `apportion check`, the pages and the API."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from apportion.verbs.project import Project


@dataclass(frozen=True, slots=True)
class Brought:
    """`received_s` is when it last brought something, `reaches_s` the end of its latest window; 0 where it never did.

    `problems` are counted by code. `kind` is empty where apportion.toml no longer names the source: what it brought still counts.
    """

    source: str
    kind: str
    deliveries: int
    received_s: int
    reaches_s: int
    problems: Mapping[str, int]
    quarantined: int

    @property
    def doubtful(self) -> int:
        """Rows with a problem."""
        return sum(self.problems.values())


def brought(project: Project) -> tuple[Brought, ...]:
    """Those of apportion.toml in its order, then those that it no longer names."""
    kinds = {source.name: source.kind for source in project.sources}
    rows = project.books.deliveries()
    held = Counter(row["source"] for row in project.books.quarantine())
    found = []
    for name in dict.fromkeys([*kinds, *sorted(row["source"] for row in rows)]):
        own = [row for row in rows if row["source"] == name]
        found.append(
            Brought(
                source=name,
                kind=kinds.get(name, ""),
                deliveries=len(own),
                received_s=max((row["received_s"] for row in own), default=0),
                reaches_s=max((row["end_s"] for row in own), default=0),
                problems=dict(sorted(Counter(one.code for one in project.books.problems(name)).items())),
                quarantined=held[name],
            )
        )
    return tuple(found)
