"""Statements that were issued show names until they are erased, and pseudonyms from then on; their digests stay."""

import hashlib
import zlib

from sqlalchemy import select

import apportion
from apportion.books import record
from apportion.books.database import reading
from apportion.model.times import parse_period
from apportion.reports.statement.shape import LEVELS, Statement, to_json
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.erasure.worlds import JULY_USERS, MONTHS

JULY = MONTHS[0]


def issued(project: Project) -> list[Statement]:
    return [one for level in LEVELS if level != "department" for one in statements(project, Wanted(JULY, level))]


def test_a_statement_reads_as_it_was_written_and_later_without_names(project: Project) -> None:
    before = issued(project)
    assert {one.owner for one in before if one.level == "user"} == JULY_USERS
    told = "".join(map(to_json, before))
    assert all(name in told for name in JULY_USERS)
    one = statements(project, Wanted(JULY, "user", "alice"))
    assert [found.owner for found in one] == ["alice"]
    apportion.erase(project, parse_period(MONTHS[2]), why="too old", yes=True)
    after = issued(project)
    hidden = "".join(map(to_json, after))
    assert not [name for name in JULY_USERS if name in hidden]
    assert sorted((one.level, one.owed) for one in after) == sorted((one.level, one.owed) for one in before)
    for name in JULY_USERS:
        told = told.replace(name, project.books.names.token(name))
    assert sorted(told) == sorted(hidden)
    token = project.books.names.token("alice")
    assert [found.owner for found in statements(project, Wanted(JULY, "user", token))] == [token]


def test_what_is_kept_is_what_its_digest_names(project: Project) -> None:
    with reading(project.books.engine) as connection:
        rows = connection.execute(select(record.documents)).all()
    assert rows
    for row in rows:
        text = zlib.decompress(row.body)
        assert hashlib.sha256(text).hexdigest() == row.sha256
        assert not [name for name in JULY_USERS if name.encode() in text]
