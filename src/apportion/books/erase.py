"""The names of users are taken out of what lies before a month, once it is closed: out of the record and out of every file of evidence.

Links, sums and digests stay what they were. What each file was and is stands in an append-only table, whose digest is in the audit chain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, delete, func, insert, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.catalog import Commit, Evidence, NewFile
from apportion.books.chain import TOKENS, rows_digest
from apportion.books.database import reading, writing
from apportion.books.erase_texts import erase_texts, found_texts, vacuum
from apportion.books.gc import sweep
from apportion.books.locks import Locks
from apportion.books.names import TOKEN, Names
from apportion.books.post import is_closed
from apportion.books.pseudonyms import Asked, Pseudonyms, columns_of, users_in
from apportion.books.publish import publish, published
from apportion.books.rewrite import rewrite
from apportion.books.tables import EVIDENCE
from apportion.errors import BooksError
from apportion.model.result import Result
from apportion.model.times import parse_period

FACTS = ("path", "sha256", "rows", "control", "content")
NOW = 2**62  # whatever its age: no writer is under way
Done = tuple[Commit, list[dict[str, Any]]]


@dataclass(frozen=True, slots=True, repr=False)
class Erased(Result):
    """How many values of each table hold a name that is to go; `number` is that of the erasure, 0 where none was made.

    `left` are values that keep a name, by table: ids, what rules tell things apart by, and what was posted before there were tokens.
    """

    before: str
    users: int
    found: dict[str, int]
    left: dict[str, int] = field(default_factory=dict)
    number: int = 0


def look(evidence: Evidence, names: Names, asked: Asked) -> Erased:
    """What would be erased; changes nothing."""
    with reading(evidence.engine) as connection:
        return survey(connection, evidence, pseudonyms(connection, evidence, names, asked))


def erase(evidence: Evidence, locks: Locks, names: Names, asked: Asked) -> Erased:
    """The same again changes nothing, and finishes what was cut short."""
    with locks.hold(["gc"]), locks.hold(EVIDENCE):
        with reading(evidence.engine) as connection:
            words = pseudonyms(connection, evidence, names, asked)
            seen = survey(connection, evidence, words)
            tables = {name: published(connection, name).metadata for name in sorted(EVIDENCE) if seen.found.get(name)}
            files = {name: data_files(connection, name) for name in tables}
        if seen.found:
            done = [rewritten(evidence, tables[name], files[name], words) for name in tables]
            with writing(evidence.engine) as connection:
                check_closed(connection, asked)
                names.keep_key(connection)
                seen = replace(seen, number=recorded(connection, words, done))
        for name in EVIDENCE:
            sweep(evidence, name, NOW)
        vacuum(evidence.engine)
    return seen


def survey(connection: Connection, evidence: Evidence, words: Pseudonyms) -> Erased:
    asked = words.asked
    check_closed(connection, asked)
    found = {"names": count_names(connection, words), **found_texts(connection, words)}
    left = {"ledger": in_chain(connection, asked)}
    for name in EVIDENCE:
        for row in data_files(connection, name):
            rows, count = words.rewritten(name, evidence.read_file(name, row.path))
            found[name] = found.get(name, 0) + count
            left[name] = left.get(name, 0) + words.left(name, rows)
    found, left = ({name: count for name, count in counts.items() if count} for counts in (found, left))
    return Erased(asked.before, len(words.tokens), found, left)


def check_closed(connection: Connection, asked: Asked) -> None:
    """An open month is still computed and stated by name."""
    runs = record.runs
    posted = set(connection.scalars(select(runs.c.period).where(runs.c.period < asked.before)))
    closed = {month for month in posted if is_closed(connection, month)}
    first = min(posted - closed, default=str(parse_period(max(closed)).next) if closed else "")
    if not first or first < asked.before:
        raise BooksError(
            "period-open",
            f"{first or 'every month'} before {asked.before} is open: names are erased in closed months only",
            hint=f"close it first, or erase before {first}" if closed else "close a month first",
        )


def pseudonyms(connection: Connection, evidence: Evidence, names: Names, asked: Asked) -> Pseudonyms:
    """All users that the record or the evidence names before the month."""
    names.check_key(connection)
    if asked.user:
        return Pseudonyms({asked.user: names.token(asked.user)}, asked)
    table, entries = record.names, record.entries
    known = set(connection.scalars(select(table.c.name).where(table.c.period < asked.before).distinct()))
    known |= set(connection.scalars(select(entries.c.user).where(*plainly_posted(asked)).distinct()))
    for name in EVIDENCE:
        for row in data_files(connection, name) if asked.labels else ():
            known |= users_in(asked, name, evidence.read_file(name, row.path))
    return Pseudonyms({name: names.token(name) for name in sorted(known) if not TOKEN.fullmatch(name)}, asked)


def plainly_posted(asked: Asked) -> list[ColumnElement[bool]]:
    """Entries of runs that were posted before there were tokens."""
    entries, runs = record.entries, record.runs
    plain = entries.c.run_id.in_(select(runs.c.run_id).where(runs.c.rule != TOKENS))
    return [entries.c.user != "", entries.c.period < asked.before, plain]


def in_chain(connection: Connection, asked: Asked) -> int:
    own = [record.entries.c.user == asked.user] if asked.user else []
    return connection.scalar(select(func.count()).select_from(record.entries).where(*plainly_posted(asked), *own)) or 0


def mine(words: Pseudonyms) -> list[ColumnElement[bool]]:
    """The rows of `names` that go."""
    table, asked = record.names, words.asked
    own = [table.c.token == words.tokens[asked.user]] if asked.user else []
    return [table.c.period < asked.before, *own]


def count_names(connection: Connection, words: Pseudonyms) -> int:
    return connection.scalar(select(func.count()).select_from(record.names).where(*mine(words))) or 0


def data_files(connection: Connection, name: str) -> Sequence["Row[Any]"]:
    """Of all snapshots, old ones too; not those that an erasure replaced and that are still to be swept up."""
    files = record.files.c
    if not columns_of(name):
        return []
    kept = (files.table == name) & (files.kind == "data") & files.path.not_in(select(record.rewritten.c.was_path))
    return connection.execute(select(record.files).where(kept).order_by(files.path)).all()


def rewritten(evidence: Evidence, metadata: str, files: Sequence["Row[Any]"], words: Pseudonyms) -> Done:
    """A table with new files, and what each was and is."""
    name = files[0].table
    table = evidence.open(name, metadata)
    made: dict[str, NewFile] = {}
    for row in files:
        rows, count = words.rewritten(name, evidence.read_file(name, row.path))
        if count:
            file, stored = evidence.write_file(table, [(rows.cast(EVIDENCE[name]), None)], row.part)
            made[row.path] = file, replace(stored, live=row.live)
    live = [row.path for row in files if row.live and row.path in made]
    commit = rewrite(evidence, table, made, live)
    was = {row.path: row for row in files}
    facts = [
        {
            "table": name,
            **{fact: getattr(stored, fact) for fact in FACTS},
            **{f"was_{fact}": getattr(was[path], fact) for fact in FACTS},
        }
        for path, (_, stored) in sorted(made.items())
    ]
    return commit, facts


def recorded(connection: Connection, words: Pseudonyms, done: list[Done]) -> int:
    """Part of the transaction that publishes the new files: before it commits nothing has happened."""
    asked = words.asked
    number = (connection.scalar(select(func.max(record.erasures.c.number))) or 0) + 1
    publish(connection, [commit for commit, _ in done], made_by(number))
    facts = [{"erasure": number, **fact} for _, rows in done for fact in rows]
    if facts:
        connection.execute(insert(record.rewritten), facts)
    token = words.tokens[asked.user] if asked.user else ""
    connection.execute(insert(record.erasures).values(number=number, before=asked.before, token=token))
    connection.execute(delete(record.names).where(*mine(words)))
    erase_texts(connection, words)
    note(connection, "erase", detail(connection, number), words.text(asked.why))
    return number


def made_by(number: int) -> str:
    return f"erase-{number:06d}"


def detail(connection: Connection, number: int) -> str:
    """What the audit log says of an erasure: all that it did to files, as one hash, and no name."""
    row = connection.execute(select(record.erasures).where(record.erasures.c.number == number)).one()
    table = record.rewritten
    files = connection.execute(select(table).where(table.c.erasure == number)).all()
    whose = f"of {row.token}" if row.token else "of users"
    return f"{made_by(number)}: names {whose} before {row.before}, {rows_digest([tuple(row), *map(tuple, files)])}"


def all_details(connection: Connection) -> Iterator[str]:
    for number in connection.scalars(select(record.erasures.c.number).order_by(record.erasures.c.number)).all():
        yield detail(connection, number)
