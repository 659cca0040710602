"""The dashboards as they are written, a Prometheus that has what the exporter wrote, and the ledger in PostgreSQL with its views."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest

from apportion.books.open import restore
from apportion.integrations.grafana.files import files
from apportion.verbs.project import Project
from tests import processes
from tests.books import postgres
from tests.books.conftest import postgres_socket
from tests.metrics.scraping import at, make, told
from tests.prometheus.server import backfill, cannot_start, served

__all__ = ["postgres_socket"]
ROOT = Path(__file__).resolve().parents[2]
HERE, INSTALLED = ROOT / "tests/grafana_schema", ROOT / ".servers/grafana_schema"
STEP_S = 30
Json = dict[str, Any]


@pytest.fixture(scope="session")
def dashboards() -> dict[str, Json]:
    """By name, as people get them."""
    made = {name: text for name, text in files("USD").items() if name.startswith("dashboards/")}
    return {Path(name).stem: json.loads(text) for name, text in made.items()}


@pytest.fixture(scope="session")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Json:
    """Made of Grafana's own types: of the dashboard, and of the options of each kind of panel."""
    if not (INSTALLED / "node_modules").exists():
        pytest.skip("no Grafana schema is installed")
    to = tmp_path_factory.mktemp("schema") / "schema.json"
    program = INSTALLED / "node_modules/ts-json-schema-generator/bin/ts-json-schema-generator.js"
    options = ("--no-type-check", "--additional-properties", "--expose", "none", "--type", "Checked")
    given = ("--tsconfig", HERE / "tsconfig.json", "--path", HERE / "checked.ts", "-o", to)
    processes.run(["node", program, *options, *given], check=True, text=True)
    made: Json = json.loads(to.read_text("utf-8"))
    return made


@pytest.fixture(scope="session")
def project(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    made = make(tmp_path_factory.mktemp("small") / "project")
    yield made
    made.books.close()


@dataclass(frozen=True)
class Prometheus:
    url: str
    now_s: int


@pytest.fixture(scope="session")
def prometheus(project: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Prometheus]:
    """With what the exporter says now, as if it had been scraped three times."""
    if reason := cannot_start():
        pytest.skip(reason)
    text = told(project)
    now_s = int(float(next(line for line in text.splitlines() if line.startswith("apportion_collected")).split()[1]))
    folder = tmp_path_factory.mktemp("prometheus")
    (folder / "metrics.om").write_text("\n".join(at(text, range(now_s - 2 * STEP_S, now_s + 1, STEP_S))) + "\n")
    backfill(folder / "metrics.om", folder / "data")
    with served(folder / "data") as url:
        yield Prometheus(url, now_s)


@pytest.fixture(scope="session")
def ledger(
    project: Project, postgres_socket: Path, tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[psycopg.Connection[tuple[Any, ...]]]":
    """The same books, moved to PostgreSQL as people would, read by a role that sees the views alone."""
    url, folder = postgres.new_database(postgres_socket, "grafana"), tmp_path_factory.mktemp("postgres")
    project.books.backup(folder / "books.backup")
    books = restore(folder / "books.backup", url, str(folder / "warehouse"), key=project.names_key())
    books.views.create()
    with psycopg.connect(f"host={postgres_socket} user=apportion dbname=grafana", autocommit=True) as owner:
        owner.execute("CREATE ROLE reader LOGIN")
    books.views.grant("reader", names=False)
    books.close()
    with psycopg.connect(f"host={postgres_socket} user=reader dbname=grafana", autocommit=True) as connection:
        yield connection
