"""The evidence as other tools read it: DuckDB over the files, pyiceberg over the metadata; sums to the last digit."""

import re
from decimal import Decimal
from pathlib import Path

import duckdb
import pyarrow.compute as pc
import pytest
from pyiceberg.table import StaticTable
from sqlalchemy import text

import apportion
from apportion.books.database import reading
from apportion.books.tables import EVIDENCE
from apportion.books.views.evidence import ABOUT, FOCUS, KEYS_OF_HOURS, meaning
from apportion.model.times import parse_period
from apportion.verbs.erase import erase
from apportion.verbs.project import Project
from apportion.verbs.views import duckdb_views, write_duckdb_views
from tests.web import world

OPEN = world.BILLED[1]


@pytest.fixture
def lake(small: Project, tmp_path: Path) -> duckdb.DuckDBPyConnection:
    """DuckDB as it comes, and the file that the command writes."""
    file = write_duckdb_views(small, tmp_path / "evidence.sql")
    connection = duckdb.connect(config={"autoinstall_known_extensions": False, "autoload_known_extensions": False})
    connection.execute(file.read_text("utf-8"))
    return connection


def test_every_table_is_there_with_its_columns_and_rows(small: Project, lake: duckdb.DuckDBPyConnection) -> None:
    for name, schema in EVIDENCE.items():
        found = lake.sql(f"SELECT * FROM apportion_{name}").to_arrow_table()
        assert found.column_names[: len(schema)] == schema.names
        assert [found.schema.field(one.name).type for one in schema] == [one.type for one in schema]
        assert len(found) == len(small.books.scan(name))
        assert ABOUT[name]
        assert [column for column in schema.names if not meaning(name, column) and column not in FOCUS] == []


def test_cost_lines_come_to_the_bills_and_charges_to_what_is_posted(
    small: Project, lake: duckdb.DuckDBPyConnection
) -> None:
    bills = lake.sql("""
        SELECT strftime(billing_start_at, '%Y-%m') AS period, SUM(EffectiveCost) FROM apportion_cost_lines GROUP BY ALL ORDER BY ALL""")
    posted = {month: pc.sum(small.books.posted(month)["amount"]).as_py() for month in world.BILLED}
    assert dict(bills.fetchall()) == posted
    charged = lake.sql(
        f"SELECT team, SUM(amount) FROM apportion_charges WHERE period = '{OPEN}' AND pool = 'gpus' AND reason = 'usage' GROUP BY ALL"
    )
    mine = small.books.posted(OPEN).filter((pc.field("pool") == "gpus") & (pc.field("reason") == "usage"))
    sums = mine.group_by("team").aggregate([("amount", "sum")])
    found = dict(charged.fetchall())
    said = dict(zip(sums["team"].to_pylist(), sums["amount_sum"].to_pylist(), strict=True))
    assert set(found) == set(said)
    assert {team for team in said if found[team] != said[team]} == {"speech"}  # whose reservation is settled afterwards
    assert all(isinstance(amount, Decimal) for amount in posted.values())


def test_hours_and_utilisation_are_those_of_the_report(small: Project, lake: duckdb.DuckDBPyConnection) -> None:
    names = ("held", "used", "unmeasured")
    for month in world.BILLED:
        report = apportion.report(small, "held", month)
        (section,) = report.sections
        place = {column.name: n for n, column in enumerate(report.columns)}
        said = {
            (row[0], row[place["unit"]]): [row[place[name]] for name in (*names, "utilisation")] for row in section.rows
        }
        sums = ", ".join(f"SUM({name}_hours)" for name in names)
        found = {
            (team, unit): told
            for team, unit, *told in lake.sql(
                f"SELECT team, unit, {sums}, SUM(used_hours) / NULLIF(SUM(held_hours - unmeasured_hours), 0)"
                f" FROM apportion_hours WHERE period = '{month}' GROUP BY team, unit"
            ).fetchall()
        }
        assert found.keys() == said.keys() != set()
        cells = [
            (told, cell) for key in said for told, cell in zip(found[key], said[key], strict=True) if cell is not None
        ]
        assert all(told == pytest.approx(float(str(cell)), abs=1e-3) for told, cell in cells)
    columns = lake.sql("SELECT * FROM apportion_hours").columns
    assert columns == [*KEYS_OF_HOURS, "held_hours", "used_hours", "unmeasured_hours", "utilisation"]
    off = "MAX(ABS(utilisation - used_hours / NULLIF(held_hours - unmeasured_hours, 0)))"
    (most,) = lake.sql(f"SELECT {off} FROM apportion_hours").fetchall()
    assert most[0] < 1e-5


def test_iceberg_readers_find_the_published_state_by_a_view(small: Project) -> None:
    with reading(small.books.engine) as connection:
        places = {row.table_name: row.metadata for row in connection.execute(text("SELECT * FROM apportion_evidence"))}
    assert set(places) == set(EVIDENCE)
    found = StaticTable.from_metadata(places["charges"]).scan().to_arrow()
    assert pc.sum(found["amount"]) == pc.sum(small.books.scan("charges")["amount"])


def test_after_an_erasure_old_views_fail_instead_of_telling(small: Project, tmp_path: Path) -> None:
    mine = world.copied(small, tmp_path / "mine")
    connection = duckdb.connect()
    connection.execute(duckdb_views(mine))
    told = "SELECT DISTINCT \"user\" FROM apportion_charges WHERE period = '2026-09'"
    assert ("ada",) in connection.sql(told).fetchall()
    erase(mine, parse_period(OPEN), why="retention", yes=True)
    mine.books.gc(0)
    with pytest.raises(duckdb.IOException):
        connection.sql(told).fetchall()
    connection.execute(duckdb_views(mine))
    found = connection.sql(told).fetchall()
    assert found
    assert ("ada",) not in found


def test_the_recipe_for_the_top_runs_gives_runs(small: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the page has it. What stands for several runs, or for none, is no run that costs much."""
    monkeypatch.setattr("apportion.reports.runs.FEW", 3)
    page = (Path(__file__).parents[2] / "docs/how-to/use-it-from-python.md").read_text("utf-8")
    (own,) = re.findall(r'own = "(.+)"', page)
    (recipe,) = re.findall(r'duckdb\.sql\(f"(select run.+?)"\)', page)
    runs = apportion.runs(small, OPEN).to_arrow()
    assert {"(others)", "(of no workload)"} <= set(runs["run"].to_pylist())
    connection = duckdb.connect()
    connection.register("runs", runs)
    found = [row[0] for row in connection.sql(recipe.replace("{own}", own)).fetchall()]
    jobs = {row["run"] for row in small.books.scan("workloads").to_pylist()}
    assert len(found) == 3
    assert set(found) <= jobs
