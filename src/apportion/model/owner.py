"""Who owes: user, project, team; a team has a department and a cost centre. Names that begin with `_` are the system's."""

from dataclasses import dataclass

from apportion.model.rows import SYSTEM_OWNERS


@dataclass(frozen=True, order=True, slots=True)
class Owner:
    """One leaf of the hierarchy, written from its root: cost centre, department, team, project, user."""

    cost_centre: str
    department: str
    team: str
    project: str = ""
    user: str = ""

    @property
    def is_system(self) -> bool:
        return self.team in SYSTEM_OWNERS

    def at_team(self) -> "Owner":
        return Owner(self.cost_centre, self.department, self.team)


def system_owner(name: str) -> Owner:
    return Owner("", "", name)
