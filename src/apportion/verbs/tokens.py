"""The tokens of programs, as a list to read."""

import time
from collections.abc import Sequence

from apportion.books.tokens import Token
from apportion.model.times import instant_text
from apportion.render.listing import Listing
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.project import Project

COLUMNS = ("id", "label", "owner", "role", "teams", "may", "status", "until", "last_used")


def tokens(project: Project, owner: str | None = None) -> Listing[Token]:
    """Tokens of programs, newest first; of one owner or all. What is secret of them is not kept."""
    found = tuple(project.books.tokens.listed(owner))
    title = f"{counted(len(found), 'token')}."
    return Listing(found, lambda: Sheet(title, (token_table(found),), {"tokens": found}))


def token_table(found: Sequence[Token]) -> Table:
    return Table(tuple(Column(name, name.replace("_", " ")) for name in COLUMNS), tuple(map(token_row, found)))


def token_row(token: Token) -> tuple[str | None, ...]:
    return (
        token.id, token.label, token.owner, token.role, "all" if token.teams is None else ", ".join(sorted(token.teams)),
        ", ".join(sorted(token.deeds)), status_of(token), instant_text(token.until_s)[:10], minute(token.used_s) if token.used_s else "never",
    )  # fmt: skip


def minute(second: int) -> str:
    """`2026-11-16 11:10`, in UTC."""
    return instant_text(second)[:16].replace("T", " ")


def status_of(token: Token) -> str:
    if token.revoked_s:
        return "revoked"
    return "good" if token.is_good(int(time.time())) else "expired"
