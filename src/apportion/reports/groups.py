"""What a row of a report is: an owner at some level, a pool, a component, a reason."""

from collections.abc import Mapping

from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.report import Column

NOBODY = "(none)"
DIMENSIONS: Mapping[str, tuple[str, ...]] = {
    "team": ("team", "department", "cost_centre"),
    "department": ("team", "department"),
    "cost_centre": ("team", "cost_centre"),
    "project": ("team", "project"),
    "user": ("team", "user"),
    "pool": ("pool",),
    "component": ("component",),
    "reason": ("reason",),
}
OWNERS = ("team", "department", "cost_centre", "project", "user")


def first_column(by: str) -> Column:
    return Column("owner", by.replace("_", " ")) if by in OWNERS else Column(by, by)


def name_of(by: str, labels: Mapping[str, str]) -> str:
    if by not in OWNERS:
        return labels[by] or NOBODY
    team = labels["team"]
    if by == "team" or team in SYSTEM_OWNERS:
        return team
    if by in ("project", "user"):
        return f"{team}/{labels[by] or NOBODY}"
    return labels[by] or NOBODY


def system_rank(name: str) -> int:
    """The system's own owners come last, in their fixed order."""
    return SYSTEM_OWNERS.index(name) + 1 if name in SYSTEM_OWNERS else 0
