"""The extract as Tableau's own library reads it back: every row, every digit."""

from pathlib import Path
from typing import Any

import pantab
import pyarrow as pa
import pytest

import apportion
from apportion.model.money import total_of
from apportion.model.times import parse_period
from apportion.verbs.project import Project
from apportion.verbs.tableau import export_tableau, tables
from tests.web import world

MONTHS = [parse_period(month) for month in world.BILLED]


@pytest.fixture(scope="module")
def extract(small: Project, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tableau")
    done = export_tableau(small, MONTHS, folder / "both.hyper")
    assert [path.name for path in folder.iterdir()] == ["both.hyper"]
    found = pantab.frames_from_hyper(done.path, return_type="pyarrow", process_params={"log_dir": str(folder)})
    return {name[-1]: rows for name, rows in found.items()}


def test_what_is_read_back_is_what_was_written(small: Project, extract: dict[str, Any]) -> None:
    made = tables(small, MONTHS)
    assert set(extract) == set(made) == {"postings", "owners", "bills"}
    for name, rows in made.items():
        assert extract[name].cast(rows.schema).to_pylist() == rows.to_pylist()
        assert extract[name].schema.field(rows.schema.names[-1]).type == pa.decimal128(38, 18)


def test_its_sums_are_those_of_the_report(small: Project, extract: dict[str, Any]) -> None:
    for month in world.BILLED:
        (section,) = apportion.report(small, "showback", month).sections
        rows = [row for row in extract["owners"].to_pylist() if row["period"] == month]
        teams = {row[0]: row[-2] for row in section.rows}
        assert {team: total_of(row["amount"] for row in rows if row["team"] == team) for team in teams} == teams
        (bill,) = [row for row in extract["bills"].to_pylist() if row["period"] == month]
        assert (bill["total"], bill["difference"]) == (section.bill, 0)


def test_the_same_content_is_noted_once(small: Project, extract: dict[str, Any], tmp_path: Path) -> None:
    assert export_tableau(small, MONTHS, tmp_path / "again.hyper").again
    assert "user" not in extract["postings"].column_names
