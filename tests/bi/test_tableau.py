"""The extract as Tableau's own library reads it back: every row, every digit."""

import random
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pantab
import pyarrow as pa
import pytest

import apportion
from apportion.model.money import total_of
from apportion.model.times import parse_period
from apportion.render.hyper import render
from apportion.reports.flat import FLAT
from apportion.verbs.project import Project
from apportion.verbs.tableau import export_tableau, tables
from tests.web import world

NEAR_ZERO = ("0", "0.1", "0.099999999999999999", "0.09", "0.01", "0.000000000000000001", "0.999999999999999999")
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


def test_every_amount_of_a_drawn_ledger_is_read_back(tmp_path: Path) -> None:
    drawn, near = random.Random(7), [f"{sign}{text}" for text in NEAR_ZERO for sign in ("", "-")]
    size = 4_000
    amounts = [Decimal(text) for text in near] + [drawn_amount(drawn) for _ in range(size - len(near))]
    teams = [drawn.choice(["vision", "l'équipe", 'the "ops"', ""]) for _ in range(size)]
    blank: dict[str, list[Any]] = {name: ["x"] * size for name in FLAT.names}
    blank |= {"day": [date(2026, 10, 1)] * size, "team": teams, "amount": amounts}
    made = pa.table(blank, schema=FLAT)
    assert sum(1 for amount in amounts if Decimal("-0.1") < amount < 0) > 300
    file = tmp_path / "drawn.hyper"
    file.write_bytes(render({'it\'s "drawn"': made}))
    (found,) = pantab.frames_from_hyper(file, return_type="pyarrow", process_params={"log_dir": str(tmp_path)}).values()
    key = [("team", "ascending"), ("amount", "ascending")]
    assert found.cast(made.schema).sort_by(key).to_pylist() == made.sort_by(key).to_pylist()


def drawn_amount(drawn: random.Random) -> Decimal:
    """Of any size that the ledger holds, one as likely as another."""
    digits = drawn.randint(1, 38)
    return Decimal(drawn.choice([-1, 1]) * drawn.randrange(10**digits)).scaleb(-18)
