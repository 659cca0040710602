"""Books of every schema, as the version that had it made them: its tables, a copy of its books, and what it printed of a closed month.

`python -m tests.books.versions` writes them for the schema of now, once: what a version printed is what later ones are held to.
"""

import base64
import hashlib
import json
import os
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyiceberg.catalog.sql import SqlCatalogBaseTable
from sqlalchemy import Connection, LargeBinary, create_mock_engine, make_url, text

from apportion.books import record
from apportion.books.backup import FILES, ROWS, all_tables
from apportion.books.database import connect, writing
from apportion.books.evolve import current_schema
from apportion.books.restore import advance
from apportion.books.tables import EVIDENCE
from tests import processes, warm
from tests.cli.tiny import SUPPORT, edit, write_tiny

VERSIONS = Path(__file__).with_name("schemas")
MADE_IN = Path("/srv/books")  # Iceberg's metadata keeps the place that files were written in
URLS = {"sqlite": "sqlite://", "postgresql": "postgresql+psycopg://"}
MONTH = "2026-10"
LATE = SUPPORT.replace("30.00", "31.00")
FILLED: tuple[tuple[str, ...], ...] = (
    ("ingest",),
    ("plan", "--period", MONTH),
    ("apply", "--period", MONTH),
    ("budget", "set", "vision", "150", "--since", MONTH, "--why", "agreed for the quarter"),
    ("token", "new", "ci", "--role", "finance"),
    ("dispute", "open", "j2.1", "--period", MONTH, "--why", "the node failed, not the job"),
    ("dispute", "settle", "1", "--credit", "5.00", "--sponsor", "vision", "--why", "the node was at fault", "--approver", "ann"),
    ("adjust", "--team", "speech", "--sponsor", "vision", "--amount", "2.50", "--why", "a shared trial", "--period", MONTH),
    ("close", "--period", MONTH, "--override", "jobs without an owner are known"),
)  # fmt: skip
CORRECTED: tuple[tuple[str, ...], ...] = (("ingest",), ("plan", "--period", MONTH), ("apply", "--period", MONTH))
FORMATS = ("csv", "json", "md", "html", "pdf")


def call(project: Path, *words: str, code: int = 0) -> str:
    command = ["apportion", "--project", str(project), *words, "--quiet"]
    done = processes.run(command, env={**os.environ, **warm.environment()}, text=True)
    if done.returncode != code:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr}")
    return done.stdout


def fill(project: Path) -> None:
    """A month with a dispute, a credit, a budget and a token, closed; then something late for it."""
    for words in FILLED:
        call(project, *words)
    edit(project / "bills/acme.csv", SUPPORT, LATE)
    for words in CORRECTED:
        call(project, *words)


def prints(project: Path, folder: Path) -> dict[str, str]:
    """What a closed month prints, by the digest of each file."""
    for form in FORMATS:
        for level in ("team", "user"):
            to = str(folder / form / level)
            call(project, "statement", "--period", MONTH, "--level", level, "--format", form, "--to", to)
    call(project, "export", "journal", "--period", MONTH, "--to", str(folder / "journal.csv"))
    for name, options in (("focus", ()), ("per-line", ("--per-line",))):
        call(project, "export", "focus", "--period", MONTH, "--format", "csv", *options, "--to", str(folder / name))
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def statements(dialect: str) -> list[str]:
    """All that makes the tables of new books, one line each."""
    said: list[str] = []
    dialect_of = make_url(URLS[dialect]).get_dialect()()
    engine = create_mock_engine(
        URLS[dialect], lambda sql, *_, **__: said.append(" ".join(str(sql.compile(dialect=dialect_of)).split()) + ";")
    )
    for metadata in (record.record, SqlCatalogBaseTable.metadata):
        metadata.create_all(engine, checkfirst=False)
    return said


def evidence() -> list[str]:
    """The columns of the evidence, one line each."""
    return [f"{table}: {field}" for table, schema in sorted(EVIDENCE.items()) for field in schema]


def make_tables(url: str, number: int) -> None:
    """An empty database as the version with that schema made it."""
    engine = connect(url)
    with writing(engine) as connection:
        for line in (VERSIONS / str(number) / f"{engine.dialect.name}.sql").read_text("utf-8").splitlines():
            connection.exec_driver_sql(line.removesuffix(";"))
        connection.execute(text("INSERT INTO meta VALUES ('schema', :number)"), {"number": str(number)})
    engine.dispose()


def make_books(url: str, warehouse: Path, number: int, copy: Path) -> None:
    """The books of a copy in tables of that schema, without any code of now that restores."""
    make_tables(url, number)
    engine = connect(url)
    with tarfile.open(copy) as archive, writing(engine) as connection:
        connection.execute(text("DELETE FROM meta"))
        for member in archive:
            body = archive.extractfile(member).read()  # type: ignore[union-attr] # all are plain files
            if member.name.startswith(FILES):
                path = warehouse / member.name.removeprefix(FILES)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(body)
            elif member.name.startswith(ROWS):
                put_rows(connection, Path(member.name).stem, [json.loads(line) for line in body.splitlines()])
    engine.dispose()


def members(copy: Path) -> dict[str, bytes]:
    """All that is in a copy."""
    with tarfile.open(copy) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr] # all are plain files


def put_rows(connection: Connection, name: str, rows: list[dict[str, Any]]) -> None:
    table = next(table for table in all_tables() if table.name == name)
    binary = {column.name for column in table.columns if isinstance(column.type, LargeBinary)}
    for row in rows:
        values = {key: base64.b64decode(value) if key in binary else value for key, value in row.items()}
        columns = ", ".join(f'"{key}"' for key in values)
        places = ", ".join(f":{key}" for key in values)
        connection.execute(text(f"INSERT INTO {name} ({columns}) VALUES ({places})"), values)
    advance(connection, table)


def write(folder: Path) -> Iterator[Path]:
    for dialect in URLS:
        (folder / f"{dialect}.sql").write_text("\n".join([*statements(dialect), ""]), "utf-8")
        yield folder / f"{dialect}.sql"
    (folder / "evidence.txt").write_text("\n".join([*evidence(), ""]), "utf-8")
    yield folder / "evidence.txt"
    write_tiny(MADE_IN)
    fill(MADE_IN)
    call(MADE_IN, "backup", str(folder / "books.tar.gz"))
    (folder / "books.tar.gz").chmod(0o644)
    yield folder / "books.tar.gz"
    printed = prints(MADE_IN, MADE_IN / "printed")
    (folder / "printed.json").write_text(json.dumps(printed, indent=1) + "\n", "utf-8")
    yield folder / "printed.json"


def main() -> None:
    folder = VERSIONS / str(current_schema())
    if (folder / "printed.json").exists():
        sys.exit(f"{folder} is there already: what a version made stays as it is. A changed schema takes a new number.")
    if MADE_IN.exists():
        sys.exit(f"{MADE_IN} is in the way: remove it first")
    folder.mkdir(exist_ok=True)
    for path in write(folder):
        print(path.relative_to(VERSIONS))


if __name__ == "__main__":
    main()
