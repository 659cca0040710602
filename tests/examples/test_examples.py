"""Every example does what its README works out by hand, from its files to the report."""

import csv
import json
import shutil
from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from tests.snippets import shell

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PROJECTS = sorted(path.parent for path in EXAMPLES.glob("*/apportion.toml"))


@pytest.mark.parametrize("example", PROJECTS, ids=lambda path: path.name)
def test_the_example_comes_out_as_worked_out(example: Path, tmp_path: Path) -> None:
    project = shutil.copytree(example, tmp_path / example.name)
    for verb in ("ingest", "plan --period 2026-10", "apply --period 2026-10"):
        done = shell(f"apportion {verb}", project)
        assert done.returncode == 0, done.stdout
    done = shell("apportion report showback --period 2026-10 -o json 2>/dev/null", project)
    assert done.returncode == 0, done.stdout
    report = json.loads(done.stdout)
    found: defaultdict[str, Decimal] = defaultdict(Decimal)
    for row in report["rows"]:
        found[row["owner"]] += Decimal(row["amount"])
    with (example / "expected.csv").open(encoding="utf-8") as file:
        expected = {row["owner"]: Decimal(row["amount"]) for row in csv.DictReader(file)}
    # Postings are by day and whole nanos, so a month may be a few nanos off; the sum is exact.
    assert {owner: round(amount, 6) for owner, amount in found.items() if amount} == expected
    assert sum(found.values()) == Decimal(report["bill"]) == sum(expected.values())


def test_there_are_examples() -> None:
    assert {project.name for project in PROJECTS} >= {"two-teams", "idle-and-reservation", "rate-card"}
