"""Who asks, and what they may see and do. Whoever may not see a team learns nothing of it: to them it is not there."""

from dataclasses import dataclass, replace
from enum import StrEnum

from apportion.books.doors import Person
from apportion.books.tokens import BY, Token
from apportion.verbs.web_settings import ROLES


class Role(StrEnum):
    viewer = "viewer"  # reads what is theirs
    lead = "lead"  # speaks for their teams
    finance = "finance"  # reads all teams, settles and adjusts
    admin = "admin"


class Deed(StrEnum):
    """What can be asked of us. A token may be limited to some of them."""

    read = "read"
    dispute = "dispute"  # open one, add to it
    budget = "budget"
    propose = "propose"  # a draft of the policy
    settle = "settle"  # a dispute
    adjust = "adjust"  # a one-off credit
    push = "push"  # usage
    whole = "whole"  # read what is about no single team: the policy's text, data health, the ledger's chain
    adopt = "adopt"  # a draft
    admin = "admin"  # users, tokens, webhooks, audit, sources, runs


NO_TEAM = "team=(none)"
VIEWS = frozenset({Deed.read})
LEADS = VIEWS | {Deed.dispute, Deed.budget, Deed.propose}
FINANCE = LEADS | {Deed.settle, Deed.adjust, Deed.whole}
MAY = {Role.viewer: VIEWS, Role.lead: LEADS, Role.finance: FINANCE, Role.admin: frozenset(Deed)}


@dataclass(frozen=True, slots=True)
class Viewer:
    """`teams` None is all of them: finance and admins."""

    name: str
    role: Role
    teams: frozenset[str] | None
    by: str
    deeds: frozenset[Deed]

    def may(self, deed: Deed) -> bool:
        return deed in self.deeds

    def sees(self, team: str) -> bool:
        return self.teams is None or team in self.teams

    @property
    def where(self) -> tuple[str, ...]:
        """The filter that everything they read goes through; the same as `--where` on the command line."""
        if self.teams is None:
            return ()
        return tuple(f"team={team}" for team in sorted(self.teams)) or (
            NO_TEAM,
        )  # no filter at all would be everything


def viewer_of(person: Person) -> Viewer:
    """Finance and admins see all teams, whatever they were given."""
    role = Role(person.role)
    teams = None if role in (Role.finance, Role.admin) else person.teams or frozenset()
    return Viewer(person.name, role, teams, person.by, MAY[role])


def token_viewer(token: Token, owner: Person | None) -> Viewer:
    """What the token was given, cut to what its owner may now: whoever loses a role or a team loses it in their tokens, too."""
    made = viewer_of(Person(token.owner, token.role, token.teams, BY))
    if owner is not None:
        now = viewer_of(owner)
        role = min(made.role, now.role, key=ROLES.index)
        made = viewer_of(Person(token.owner, role, both(made.teams, now.teams), BY))
    return replace(made, deeds=frozenset(deed for deed in made.deeds if deed.value in token.deeds))


def both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    return other if one is None else one if other is None else one & other
