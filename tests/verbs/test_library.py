"""`import apportion`: the verbs as functions that return values."""

from pathlib import Path

import pytest

import apportion
from apportion.model.money import plain
from tests.cli.tiny import write_tiny


def test_every_public_name_is_there_and_no_other() -> None:
    for name in apportion.__all__:
        assert callable(getattr(apportion, name))
    assert set(apportion.__all__) <= set(dir(apportion))
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        apportion.nonsense  # noqa: B018 - the look-up is the test


def test_the_main_job_in_python(tmp_path: Path) -> None:
    project = apportion.open_project(write_tiny(tmp_path))
    assert [one.changed for one in apportion.ingest(project)] == [1, 1, 1]
    planned = apportion.plan(project, "2026-10")
    assert planned.pending
    applied = apportion.apply(project, "2026-10", made=planned.plan)
    assert applied.posted
    report = apportion.report(project, "showback", "2026-10")
    table = report.to_arrow()
    assert table.column_names[:2] == ["currency", "owner"]
    assert (
        dict(zip(table["owner"].to_pylist(), map(plain, table["amount"].to_pylist()), strict=True))["_idle"] == "117.5"
    )
    assert apportion.verify(project, report.head).sound
    assert apportion.cost(project, "j2").status == "final"
    assert apportion.explain(project, "vision", "2026-10").kind == "team"
    assert apportion.gc(project) == []
    with pytest.raises(apportion.ApportionError, match="there is no report"):
        apportion.report(project, "shoback", "2026-10")


def test_bills_booked_by_the_middle_of_their_billing_period(tmp_path: Path) -> None:
    """A vendor whose October begins at midnight in Berlin, two hours before UTC's, bills October."""
    folder = write_tiny(tmp_path)
    bill = folder / "bills/acme.csv"
    text = bill.read_text("utf-8").replace(
        "2026-10-01T00:00:00Z,2026-11-01T00:00:00Z,", "2026-09-30T22:00:00Z,2026-10-31T23:00:00Z,"
    )
    bill.write_text(text, "utf-8")
    project = apportion.open_project(folder)
    apportion.ingest(project)
    assert plain(apportion.plan(project, "2026-10").equation[0].total) == "270"


def test_references_are_compared_never_posted(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path)
    file = folder / "apportion.toml"
    second = file.read_text("utf-8").replace(
        'path = "bills/acme.csv"', 'path = "bills/acme.csv"\nrole = "reference"', 1
    )
    file.write_text(second, "utf-8")
    project = apportion.open_project(folder)
    apportion.ingest(project)
    with pytest.raises(apportion.ApportionError, match="there are no cost lines billed in 2026-10"):
        apportion.plan(project, "2026-10")
