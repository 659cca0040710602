"""Capacity that counts once though it is stated eight times is a finding of its source."""

from decimal import Decimal
from pathlib import Path

from apportion.model.delivery import Delivery
from apportion.model.meters import GPU
from apportion.verbs.findings import findings_now
from apportion.verbs.project import open_project
from tests.books.rows import capacity
from tests.findings.conftest import MONTH, OCTOBER


def test_gpus_that_are_stated_one_by_one_are_a_finding(sound: Path) -> None:
    """8 rows of 1 GPU for g01 and one of 2 for g02, all of the month (744 h): 7 GPUs do not count, beside 3 that do."""
    gpu = ("g01", "gpu", OCTOBER.start_s, OCTOBER.end_s, GPU, "up")
    rows = capacity([gpu] * 8 + [("g02", *gpu[1:4], 2 * GPU, "up")], "inventory")
    open_project(sound).books.ingest(Delivery("inventory", OCTOBER, {"capacity": rows}))
    (found,) = [one for one in findings_now(open_project(sound), MONTH) if one.finding.code == "repeated-capacity"]
    assert (found.finding.rows, found.finding.hours, found.finding.unit) == (7, Decimal(7 * 744), "GPU")
    assert (found.finding.share, found.stops) == (Decimal(1), True)


def test_a_row_told_again_among_many_touches_little(sound: Path) -> None:
    nodes = [(f"g{n:03}", "gpu", OCTOBER.start_s, OCTOBER.end_s, GPU, "up") for n in range(200)]
    rows = capacity([*nodes, nodes[0]], "inventory")
    open_project(sound).books.ingest(Delivery("inventory", OCTOBER, {"capacity": rows}))
    (found,) = [one for one in findings_now(open_project(sound), MONTH) if one.finding.code == "repeated-capacity"]
    assert found.finding.share == Decimal("0.005")  # of 200 GPUs
