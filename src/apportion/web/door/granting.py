"""What somebody may give to a token: nothing that they do not have themselves."""

from collections.abc import Iterable
from dataclasses import dataclass

from apportion.books.audit import user
from apportion.books.tokens import BY, DAY_S, Grant
from apportion.errors import BooksError
from apportion.verbs.toml import nearest
from apportion.verbs.web_settings import ROLES
from apportion.web.ask import NotThereError
from apportion.web.viewer import MAY, Deed, Role, Viewer

DAYS = 90


@dataclass(frozen=True, slots=True)
class Wanted:
    """As it was typed. No role is the maker's own; no teams are the maker's own; no deeds are reading."""

    label: str
    role: str = ""
    teams: tuple[str, ...] = ()
    deeds: tuple[str, ...] = ()
    days: int = DAYS


def at_the_terminal() -> Viewer:
    """Whoever can write the books' files is their admin."""
    return Viewer(user(), Role.admin, None, "terminal", frozenset(Deed))


def granted(maker: Viewer, wanted: Wanted, known_teams: Iterable[str]) -> Grant:
    if maker.by == BY:
        raise BooksError("token-too-wide", "a token makes no tokens: they would outlast it", hint="log in and make it")
    role = Role(known(wanted.role, ROLES, "role")) if wanted.role else maker.role
    deeds = frozenset(Deed(known(deed, [*Deed], "deed")) for deed in wanted.deeds or (Deed.read,))
    beyond = sorted(deeds - (maker.deeds & MAY[role]))
    if ROLES.index(role) > ROLES.index(maker.role) or beyond:
        what = f"may {', '.join(beyond)}" if beyond else f"is {role}"
        raise BooksError(
            "token-too-wide",
            f"a token that {what} is more than you may give",
            hint=f"as {maker.role} you may give: {', '.join(sorted(maker.deeds & MAY[maker.role]))}",
        )
    teams = teams_for(maker, role, wanted.teams, known_teams)
    return Grant(wanted.label, maker.name, role, teams, frozenset(map(str, deeds)), wanted.days * DAY_S)


def teams_for(maker: Viewer, role: Role, wanted: tuple[str, ...], known_teams: Iterable[str]) -> frozenset[str] | None:
    """A team that is not theirs to see is answered like one that does not exist."""
    if role in (Role.finance, Role.admin):
        if wanted:
            raise BooksError(
                "token-teams", f"{role} sees all teams", hint="leave the teams out, or give the role viewer or lead"
            )
        return None
    there = set(known_teams)
    for team in wanted:
        if team not in there or not maker.sees(team):
            raise NotThereError("such team")
    if not wanted and maker.teams is None:
        raise BooksError("token-teams", f"a {role} sees only the teams it is given", hint="name one or more teams")
    return frozenset(wanted) if wanted else maker.teams


def known(word: str, words: Iterable[str], what: str) -> str:
    there = [str(one) for one in words]
    if word not in there:
        raise BooksError("token-word", f"there is no {what} {word!r}", hint=nearest(word, there))
    return word
