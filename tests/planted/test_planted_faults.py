"""Each of these faults in the engine is noticed by the comparison with the oracle; the engine as it is passes the same worlds.

Every run plants half of them, drawn anew; `make test-long` plants all. A fault is looked for in the one world that is known to show
it, then in those of FIRST to LAST: where the generator or the engine changed, a slow test says that the fault's seed needs a new number.
"""

import random
from pathlib import Path

import pytest

from tests.property.faults import FAULTS
from tests.property.faults_of_money import FAULTS_OF_MONEY
from tests.property.hunt import CAUGHT
from tests.property.planting import Fault, plant, run_with

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "src" / "apportion"
HUNT, FIRST, LAST = "tests.property.hunt", 1, 60
ALL = (*FAULTS, *FAULTS_OF_MONEY)

HALF = random.SystemRandom().randrange(2)
DRAWN = [
    pytest.param(fault, id=fault.name, marks=() if number % 2 == HALF else pytest.mark.long)
    for number, fault in enumerate(ALL)
]

ADDS = "def total(numbers):\n    return sum(numbers)\n"
CHECKS = "import sys, sums\nsys.exit(0 if sums.total([1, 2]) == 3 else 10)\n"


@pytest.mark.parametrize("fault", DRAWN)
def test_a_planted_fault_is_caught(fault: Fault, tmp_path: Path) -> None:
    plant(PACKAGE, tmp_path, fault)
    hunt = [str(FIRST), str(LAST), "--before", str(fault.seed), "--methods", *fault.methods]
    ran = run_with(tmp_path, HUNT, hunt, ROOT)
    assert ran.code == CAUGHT, ran.said


def test_without_a_fault_nothing_is_caught(tmp_path: Path) -> None:
    plant(PACKAGE, tmp_path, None)
    seeds = sorted({fault.seed for fault in ALL})
    ran = run_with(tmp_path, HUNT, ["1", "0", "--before", *map(str, seeds)], ROOT)
    assert ran.code == 0, ran.said


def test_faults_are_told_apart() -> None:
    assert len({fault.name for fault in ALL}) == len(ALL) == len({(fault.module, fault.new) for fault in ALL})


@pytest.mark.parametrize(("new", "code"), [("sum(numbers)", 0), ("sum(numbers[1:])", CAUGHT), ("1 / 0", 1)])
def test_planting_works(new: str, code: int, tmp_path: Path) -> None:
    source = tmp_path / "original" / "sums"
    source.mkdir(parents=True)
    (source / "__init__.py").write_text(ADDS)
    (tmp_path / "check.py").write_text(CHECKS)
    target = tmp_path / "planted"
    plant(source, target, Fault("any", "__init__.py", "sum(numbers)", new))
    assert run_with(target, "check", [], tmp_path).code == code
    with pytest.raises(LookupError, match="occurs 0 times"):
        plant(source, tmp_path / "other", Fault("gone", "__init__.py", "no such text", ""))
