"""Sessions, one-time tickets and tokens: kept as hashes, over when they are over, and not in a copy of the books."""

import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from apportion.books import record
from apportion.books.audit import acting
from apportion.books.database import reading, writing
from apportion.books.doors import Person
from apportion.books.evolve import current_schema
from apportion.books.open import Books
from apportion.books.tokens import LONGEST_S, Grant
from apportion.errors import BooksError
from tests.books.conftest import Place

ADA = Person("ada", "viewer", frozenset({"vision", "sp,ch"}), "oidc")
FIN = Person("fin", "finance", None, "link")
GRANT = Grant("nightly", "ada", "viewer", frozenset({"vision"}), frozenset({"read"}), 3600)


def stored(books: Books) -> str:
    """Everything that the tables about doors hold."""
    tables = (record.sessions, record.tickets, record.logins, record.tokens, record.audit)
    with reading(books.engine) as connection:
        return repr([connection.execute(select(table)).all() for table in tables])


def test_a_session_is_whose_it_was_until_it_ends(books: Books) -> None:
    keys = [books.doors.open_session(person, 3600) for person in (ADA, FIN, ADA)]
    assert [books.doors.session(key) for key in keys] == [ADA, FIN, ADA]
    assert len(set(keys)) == 3
    assert not [key for key in keys if key in stored(books)]
    books.doors.end_session(keys[0])
    assert [books.doors.session(key) for key in keys] == [None, FIN, ADA]
    assert books.doors.session("") is None
    assert books.doors.end_sessions_of("ada") == 1
    assert books.doors.end_sessions_of("ada") == 0
    assert [books.doors.session(key) for key in keys] == [None, FIN, None]
    assert books.verify() == []


def test_an_old_session_is_over(books: Books) -> None:
    key = books.doors.open_session(ADA, 3600)
    with writing(books.engine) as connection:
        connection.execute(update(record.sessions).values(until_s=int(time.time())))
    assert books.doors.session(key) is None


def test_logins_tell_who_came_last_and_how(books: Books) -> None:
    books.doors.open_session(ADA, 3600)
    books.doors.open_session(Person("ada", "lead", frozenset(), "oidc"), 3600)
    (login,) = books.doors.logins()
    assert (login.person.role, login.person.teams, login.sessions) == ("lead", frozenset(), 1)
    assert login.first_s <= login.last_s


def test_a_ticket_is_good_once_and_for_its_kind_alone(books: Books) -> None:
    key = books.doors.give_ticket("link", "value", 60)
    assert key not in stored(books)
    assert books.doors.take_ticket("oidc", key) is None
    assert books.doors.take_ticket("link", key) == "value"
    assert books.doors.take_ticket("link", key) is None
    old = books.doors.give_ticket("link", "value", -1)
    assert books.doors.take_ticket("link", old) is None


def test_a_token_is_what_it_was_made_as(books: Books) -> None:
    with acting("root"):
        made, key = books.tokens.make(GRANT)
    assert key not in stored(books)
    known = books.tokens.known(key)
    assert known
    assert known[0] == made
    assert known[1] is None
    books.doors.open_session(ADA, 60)
    assert books.tokens.known(key) == (made, ADA)
    assert books.tokens.known(key + "x") is None
    assert books.tokens.listed("ada") == [made]
    assert books.tokens.listed("fin") == []
    note = [one for one in books.audit() if one.what == "token"][-1]
    assert (note.who, note.detail) == ("root", f"{made.id} 'nightly' of ada as viewer: read")


def test_a_revoked_token_is_nobodys(books: Books) -> None:
    made, key = books.tokens.make(GRANT)
    with pytest.raises(BooksError, match="unknown-token"):
        books.tokens.revoke(made.id, "somebody else")
    books.tokens.revoke(made.id, "ada")
    assert books.tokens.known(key) is None
    books.tokens.revoke(made.id)
    assert [note.what for note in books.audit()].count("token revoked") == 1
    assert books.verify() == []


@pytest.mark.parametrize(
    ("grant", "code"),
    [
        (Grant(" ", "ada", "viewer", None, frozenset(), 60), "token-label"),
        (Grant("x", "ada", "viewer", None, frozenset(), 0), "token-expiry"),
        (Grant("x", "ada", "viewer", None, frozenset(), LONGEST_S + 1), "token-expiry"),
    ],
)
def test_a_token_needs_a_label_and_an_end(books: Books, grant: Grant, code: str) -> None:
    with pytest.raises(BooksError, match=code):
        books.tokens.make(grant)
    assert books.tokens.listed() == []


def test_a_copy_has_tokens_and_logins_but_nobody_is_in(
    books: Books, tmp_path: Path, place_of: Callable[[str], Place]
) -> None:
    session, ticket = books.doors.open_session(ADA, 3600), books.doors.give_ticket("link", "value", 3600)
    made, key = books.tokens.make(GRANT)
    books.backup(tmp_path / "copy.tar")
    with tarfile.open(tmp_path / "copy.tar") as archive:
        names = archive.getnames()
    assert "record/tokens.jsonl" in names
    assert not {"record/sessions.jsonl", "record/tickets.jsonl"} & set(names)
    copy = place_of("sqlite").restore(tmp_path / "copy.tar")
    assert copy.doors.session(session) is None
    assert copy.doors.take_ticket("link", ticket) is None
    assert copy.tokens.listed() == [made]
    assert copy.tokens.known(key)
    assert copy.doors.logins()[0].sessions == 0
    assert copy.verify() == []
    assert copy.doors.session(copy.doors.open_session(ADA, 60)) == ADA


NEW = (
    "sessions",
    "tickets",
    "logins",
    "tokens",
    "budgets",
    "pledges",
    "proposals",
    "pushes",
    "hooks",
    "tellings",
    "whatifs",
    "previews",
)


def test_books_of_the_schema_before_get_the_tables(made_place: Place) -> None:
    books = made_place.open(create=False)
    with writing(books.engine) as connection:
        for name in NEW:
            connection.execute(text(f"DROP TABLE {name}"))
        connection.execute(update(record.meta).where(record.meta.c.key == "schema").values(value="3"))
    books.close()
    again = made_place.open(create=False)
    assert again.doors.session(again.doors.open_session(FIN, 60)) == FIN
    assert again.tokens.known(again.tokens.make(GRANT)[1])
    assert again.audit()[-3].detail == f"the record, from schema 3 to {current_schema()}"
    assert again.verify() == []
