"""The official validator over the export, where a Python 3.12 is there for it; and the recipes of ../shared."""

import json
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests import processes
from tests.checked import tally
from tests.checked.tally import Outcome
from tests.servers import VALIDATOR_HERE, has_validator

SHARED = Path(__file__).parents[2] / ".." / "shared"
RULES = SHARED / "data/bills/focus/model-1.4-patched"
RECIPES = SHARED / "recipes/focus"
LEAST = 400  # rules that must pass


@dataclass
class Verdict:
    passed: int
    failed: set[str] = field(default_factory=set)
    skipped: int = 0


class Validating:
    """One run of the validator: it looks for a file of its own below the folder that it runs in, and exits with 0 whatever it finds."""

    def __init__(self, file: Path, scratch: Path, dataset: str = "CostAndUsage") -> None:
        scratch.mkdir()
        (package,) = VALIDATOR_HERE.glob("lib/python3*/site-packages/focus_validator")
        (scratch / "focus_validator").symlink_to(package)
        self.report = scratch / "report.xml"
        command = [
            str(VALIDATOR_HERE / "bin/python"), "-m", "focus_validator.main", "--data-file", str(file), "--validate-version", "1.4",
            "--rule-set-path", str(RULES.resolve()), "--focus-dataset", dataset, "--block-download", "--applicability-criteria", "ALL",
            "--output-type", "unittest", "--output-destination", str(self.report),
        ]  # fmt: skip
        self.process = processes.Process(command, cwd=scratch)

    def verdict(self) -> Verdict:
        assert self.process.wait(timeout=300) == 0
        root = ET.parse(self.report).getroot()
        counts = [int(root.get(name, "0")) for name in ("tests", "failures", "skipped")]
        failed = {
            case.get("name", "").split(" ::")[0] for case in root.iter("testcase") if case.find("failure") is not None
        }
        return Verdict(counts[0] - counts[1] - counts[2], failed, counts[2])


BROKEN = {  # rules that the validator holds, and what breaks each
    "CAU-ConsumedQuantity-C-004-C": ("ChargeCategory", "Transfer"),
    "CAU-BilledCost-C-003-M": ("BilledCost", None),
    "CAU-ListUnitPrice-C-008-M": ("ListUnitPrice", -1),
    "CAU-ListCost-C-011-C": ("ListCost", 12345),
    "CAU-AllocatedMethodDetails-C-007-C": ("AllocatedMethodDetails", '{"Elements":[{"AllocatedRatio":1.5}]}'),
    "CAU-ServiceName-C-008-C": ("ServiceSubcategory", "Nonsense"),
}


def break_all(good: Path, bad: Path) -> None:
    table = pq.read_table(good)
    for row, (column, value) in enumerate(BROKEN.values()):
        place = table.schema.get_field_index(column)
        cells = table[column].to_pylist()
        cells[row] = value
        table = table.set_column(place, table.schema.field(place), pa.array(cells, table.schema.field(place).type))
    pq.write_table(table, bad)


def needed() -> None:
    if not has_validator():
        pytest.skip("no focus-validator: it needs a Python 3.12, which `make test` did not find")
    if not RULES.exists():
        pytest.skip("no ../shared/data/bills/focus beside this checkout")


@pytest.fixture(scope="module")
def verdicts(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Verdict]:
    """Side by side: most of a run is the start."""
    needed()
    scratch = tmp_path_factory.mktemp("validator")
    break_all(folder / "cost_and_usage.parquet", scratch / "broken.parquet")
    runs = {
        "charges": Validating(folder / "cost_and_usage.parquet", scratch / "a"),
        "broken": Validating(scratch / "broken.parquet", scratch / "c"),
    }
    return {name: run.verdict() for name, run in runs.items()}


def test_no_rule_fails(verdicts: dict[str, Verdict], record_property: Callable[[str, object], None]) -> None:
    assert verdicts["charges"].failed == set()
    assert verdicts["charges"].passed >= LEAST
    record_property("rules of FOCUS 1.4 passed", verdicts["charges"].passed)


def test_the_tally_is_the_one_that_the_page_tells(
    verdicts: dict[str, Verdict], record_property: Callable[[str, object], None], update_golden: bool
) -> None:
    found = verdicts["charges"]
    why = f"{found.skipped} more rules are skipped by the validator itself"
    one = Outcome(
        "CostAndUsage",
        "Rules of FOCUS 1.4 that it holds over an export of ours.",
        found.passed + len(found.failed),
        found.passed,
        why,
    )
    tally.hold("focus-validator", [one], record_property, update_golden)


@pytest.mark.parametrize("rule", BROKEN)
def test_it_finds_what_is_broken(verdicts: dict[str, Verdict], rule: str) -> None:
    assert rule in verdicts["broken"].failed


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_split_invariants(folder: Path, kind: str) -> None:
    if not RECIPES.exists():
        pytest.skip("no ../shared/recipes/focus beside this checkout")
    files = [str(folder / f"{name}.{kind}") for name in ("cost_and_usage", "origin_charges")]
    done = processes.run([sys.executable, str(RECIPES / "split_invariants.py"), *files], text=True)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == 8
    assert [one["check"] for one in found if one["violations"]] == []
    assert done.returncode == 0


@pytest.mark.long
def test_the_billing_period(folder: Path, tmp_path: Path) -> None:
    needed()
    assert Validating(folder / "billing_period.parquet", tmp_path / "b", "BillingPeriod").verdict().failed == set()
