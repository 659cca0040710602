"""Little worlds whose postings were worked out by hand (why.md in each folder says how)."""

import csv
import re
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.engine.backend import Backend
from apportion.engine.plan import make_plan
from apportion.errors import ApportionError
from apportion.model.money import plain
from tests.engine.golden_world import CASES, EXPECTED, GOLDEN, Row, found_postings, read_expected, read_world, rows_of

TREATMENTS = Path(__file__).parents[2] / "docs/reference/treatments.md"


def in_order(rows: list[Row]) -> list[list[str]]:
    return sorted([f"{key}={value}" for key, value in sorted(row.items())] for row in rows)


@pytest.mark.parametrize("case", [case for case in CASES if (GOLDEN / case / "postings.csv").exists()])
def test_postings_are_those_worked_out_by_hand(case: str, backend: Backend, update_golden: bool) -> None:
    folder = GOLDEN / case
    plan = make_plan(read_world(folder), backend)
    expected = read_expected(folder)
    columns = tuple(expected[0])
    found = found_postings(plan, columns)
    if update_golden and in_order(found) != in_order(expected):
        write(folder / "postings.csv", found, columns)
    assert set(columns) >= set(EXPECTED)
    assert len(plan.bills) == 1 or "bill" in columns, "with several bills the postings say which"
    assert in_order(found) == in_order(read_expected(folder))
    listed = folder / "problems.txt"
    assert [problem.code for problem in plan.problems] == (listed.read_text().split() if listed.exists() else [])
    told = {problem.code for problem in plan.problems}  # a problem is told among the findings, too
    assert {finding.code for finding in plan.findings} <= told or (folder / "findings.csv").exists()


@pytest.mark.parametrize("case", [case for case in CASES if (GOLDEN / case / "findings.csv").exists()])
def test_findings_are_those_counted_by_hand(case: str, backend: Backend) -> None:
    expected = rows_of(GOLDEN / case / "findings.csv")
    found = make_plan(read_world(GOLDEN / case), backend).findings
    told = [{name: said(getattr(finding, name)) for name in row} for finding, row in zip(found, expected, strict=True)]
    assert told == expected
    assert all(finding.message and finding.remedy for finding in found)


def said(value: object) -> str:
    return plain(value) if isinstance(value, Decimal) else str(value)


def write(path: Path, rows: list[Row], columns: tuple[str, ...]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize("case", [case for case in CASES if (GOLDEN / case / "error.txt").exists()])
def test_what_is_refused_says_why_and_where(case: str, backend: Backend) -> None:
    code, *parts = (GOLDEN / case / "error.txt").read_text(encoding="utf-8").splitlines()
    with pytest.raises(ApportionError) as refused:
        make_plan(read_world(GOLDEN / case), backend)
    assert refused.value.code == code
    assert [part for part in parts if part not in str(refused.value)] == []


@pytest.mark.parametrize("case", CASES)
def test_every_case_says_why(case: str) -> None:
    assert 0 < len((GOLDEN / case / "why.md").read_text(encoding="utf-8").splitlines()) <= 15


def test_the_treatments_page_names_every_case_and_no_other() -> None:
    cells = [line.split("|")[3] for line in TREATMENTS.read_text(encoding="utf-8").splitlines() if line.count("|") == 4]
    assert {case for cell in cells for case in re.findall(r"`([^`]+)`", cell)} == set(CASES)
