"""Users are tokens in the ledger, under a key of the project; whoever reads the books sees names."""

import datetime as dt
import hashlib
import hmac
import stat
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

import apportion
from apportion.books import record
from apportion.books.database import reading
from apportion.books.names import TOKEN, Names
from apportion.books.open import Books, open_books
from apportion.books.words import Words
from apportion.errors import ProjectError
from apportion.verbs.erase import kept_until
from apportion.verbs.init import Wishes, init
from apportion.verbs.project import Project
from tests.books.rows import run
from tests.erasure import worlds
from tests.erasure.worlds import JULY_USERS, MONTHS

JULY = MONTHS[0]


def test_a_token_is_a_keyed_hash_and_stands_for_itself() -> None:
    names = Names(b"key")
    token = "user-" + hmac.new(b"key", "Zoë".encode(), hashlib.sha256).hexdigest()[:16]
    assert names.token("Zoë") == token == names.token(token)
    assert names.token("") == ""
    assert Names(b"other").token("Zoë") != token


def test_no_name_is_in_what_is_hashed(project: Project) -> None:
    with reading(project.books.engine) as connection:
        said = set(connection.scalars(select(record.entries.c.user)))
    assert {user for user in said if user and not TOKEN.fullmatch(user)} == set()
    assert set(project.books.posted(JULY)["user"].to_pylist()) - {""} == JULY_USERS
    assert set(project.books.entries(user="alice")["user"].to_pylist()) == {"alice"}
    assert project.books.entries(user="alice").num_rows == project.books.entries(user=["alice", "none"]).num_rows > 0
    plan = project.books.load_plan(JULY)
    assert plan is not None
    assert set(plan.postings["user"].to_pylist()) - {""} == JULY_USERS


def posted(folder: Path, key: bytes) -> Books:
    """Books of one run, in which two users owe."""
    books = open_books(f"sqlite:///{folder}/books.db", str(folder / "warehouse"), create=True, key=key)
    one = run(books, [("vision", "60"), ("speech", "40")], "100")
    users = pa.array(["ann", "ben"])
    place = one.postings.schema.get_field_index("user")
    books.post(replace(one, postings=one.postings.set_column(place, one.postings.schema.field(place), users)))
    return books


def test_the_same_key_gives_the_same_head_and_another_one_the_same_sums(tmp_path: Path) -> None:
    one, same, other = (posted(tmp_path / name, name[:3].encode()) for name in ("key-1", "key-2", "other"))
    assert one.head() == same.head() != other.head()
    assert one.posted().equals(same.posted())
    assert one.posted().equals(other.posted())
    assert dict(zip(*(one.posted()[name].to_pylist() for name in ("user", "amount")), strict=True)) == {
        "ann": 60,
        "ben": 40,
    }


def test_init_makes_a_key_for_its_user_alone_and_never_again(tmp_path: Path) -> None:
    init(tmp_path, Wishes("x", dt.date(2026, 1, 1)))
    file = tmp_path / "names.key"
    key = file.read_text("ascii")
    assert len(key.strip()) == 64
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert "names.key" in (tmp_path / ".gitignore").read_text("utf-8")
    assert apportion.open_project(tmp_path).names_key() == key.strip().encode()


def test_retention_is_counted_in_months(tmp_path: Path) -> None:
    project = worlds.start(tmp_path, settings='[retention]\nnames = "24 months"\n')
    assert str(kept_until(project, dt.date(2026, 11, 16))) == "2024-11"
    with pytest.raises(ProjectError, match="no-retention"):
        kept_until(worlds.start(tmp_path / "none"), dt.date(2026, 11, 16))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("alice", "A"), ("/data/alice/x", "/data/A/x"), ("malice alice2 alicex", "malice alice2 alicex"), ("alice,alice-dev", "A,A-dev"),
        ("train_alice", "train_A"), ("j.doe and j.doe-m", "J and M"), ("bo 12", "bo 12"), ("Zoë!", "Z!"),
    ],
)  # fmt: skip
def test_names_are_found_as_words(text: str, expected: str) -> None:
    tokens = {"alice": "A", "j.doe": "J", "j.doe-m": "M", "bo": "B", "12": "N", "Zoë": "Z"}
    assert Words(tokens).text(text) == expected


@given(st.lists(st.sampled_from(["", "ann", "ben", "a'b", 'q"uote', "Zoë", "x" * 90]), max_size=30))
def test_hidden_users_stay_apart(users: list[str]) -> None:
    names = Names(b"k")
    rows, known = names.hidden(pa.table({"user": pa.array(users, pa.string())}))
    assert [known.get(token, "") for token in rows["user"].to_pylist()] == users
    assert len(known) == len(set(users) - {""})
