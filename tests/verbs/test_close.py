"""Close a month, and what comes late: refused with reasons, closed once, corrected in the next open month."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.errors import BooksError, ProjectError
from apportion.verbs.apply import Applied
from apportion.verbs.months import months
from apportion.verbs.project import Project
from tests.sources import making

SETTINGS = '[[sources]]\nname = "cloud"\nkind = "focus"\npath = "bills/*.csv"\n'
POLICY = """\
policy: small
effective: 2026-01-01
currency: USD
time_zone: UTC
teams: {vision: {cost_centre: "1"}, speech: {cost_centre: "2"}}
owners:
  - {when: {tag.team: [vision, speech]}, team: "{tag.team}"}
pools:
  all: {costs: otherwise, method: direct}
"""
MONTHS = {"2026-09": "2026-10", "2026-10": "2026-11", "2026-11": "2026-12"}


def bill(folder: Path, month: str, amounts: Mapping[str, str], **columns: str) -> None:
    times = {
        "BillingPeriodStart": f"{month}-01T00:00:00Z", "BillingPeriodEnd": f"{MONTHS[month]}-01T00:00:00Z",
        "ChargePeriodStart": f"{month}-05T00:00:00Z", "ChargePeriodEnd": f"{month}-06T00:00:00Z",
    }  # fmt: skip
    rows = [
        {**times, "EffectiveCost": amount, "BilledCost": amount, "Tags": f'{{"team":"{team}"}}', **columns}
        for team, amount in amounts.items()
    ]
    making.put(folder / "bills" / f"{month}.csv", making.bill_text(*rows))


def post(project: Project, month: str) -> Applied:
    apportion.ingest(project)
    apportion.plan(project, month)
    return apportion.apply(project, month)


def owed(project: Project, month: str) -> dict[str, Decimal]:
    rows = project.books.posted(month)
    return dict(zip(rows["team"].to_pylist(), rows["amount"].to_pylist(), strict=True))


@pytest.fixture
def project(tmp_path: Path) -> Project:
    (tmp_path / "apportion.toml").write_text(SETTINGS, "utf-8")
    (tmp_path / "policy.yaml").write_text(POLICY, "utf-8")
    bill(tmp_path, "2026-09", {"vision": "60.004", "speech": "39.993"})
    found = apportion.open_project(tmp_path)
    post(found, "2026-09")
    return found


def test_a_month_is_closed_in_minor_units(project: Project) -> None:
    done = apportion.close(project, "2026-09")
    assert done.closed is not None
    assert not done.against
    amounts = done.closed.minor.to_pylist()
    assert {row["team"]: row["amount"] for row in amounts} == {"vision": 6001, "speech": 3999}
    again = apportion.close(project, "2026-09")
    assert again.again
    assert again.closed == done.closed
    assert apportion.verify(project).sound


def test_every_reason_against_is_told_and_an_override_is_kept(project: Project) -> None:
    bill(project.folder, "2026-09", {"vision": "60.004", "nobody": "5"})
    apportion.ingest(project)
    refused = apportion.close(project, "2026-09")
    assert refused.closed is None
    assert [look.name for look in refused.against] == ["posted", "reconciled"]
    post(project, "2026-09")
    assert [look.name for look in apportion.close(project, "2026-09").against] == ["owned"]
    done = apportion.close(project, "2026-09", override="agreed with finance")
    assert done.closed is not None
    assert done.closed.why == "agreed with finance"
    assert done.closed.checks["owned"].startswith("no: 5.00 USD")
    assert project.books.audit()[-1].why == "agreed with finance"


@pytest.mark.parametrize(
    ("rules", "against"),
    [("{change: 10}", ["steady"]), ("{change: 100}", []), ("{grace_days: 30000}", ["over"]), ("{unowned: 5}", [])],
)
def test_bounds_of_the_policy(project: Project, rules: str, against: list[str]) -> None:
    apportion.close(project, "2026-09")
    (project.folder / "policy.yaml").write_text(
        POLICY.replace("2026-01-01", "2026-10-01") + f"close: {rules}\n", "utf-8"
    )
    bill(project.folder, "2026-10", {"vision": "90", "speech": "40"})
    again = apportion.open_project(project.folder)
    post(again, "2026-10")
    assert [look.name for look in apportion.close(again, "2026-10").against] == against


def test_where_each_month_stands(project: Project) -> None:
    apportion.close(project, "2026-09", override="agreed")
    (project.folder / "policy.yaml").write_text(POLICY + "close: {grace_days: 30000}\n", "utf-8")
    bill(project.folder, "2026-09", {"vision": "55", "speech": "39.993"})
    later = apportion.open_project(project.folder)
    post(later, "2026-09")
    first, second = months(later)
    assert (first.period, first.status, first.corrections, first.why) == ("2026-09", "closed", 0, "agreed")
    assert (second.period, second.corrections, second.amounts) == ("2026-10", 1, {"USD": Decimal("-5.00")})
    assert (second.status, second.day) == ("in review", "2108-12-21")


def test_months_are_closed_in_their_order(project: Project) -> None:
    bill(project.folder, "2026-10", {"vision": "90"})
    post(project, "2026-10")
    assert [look.name for look in apportion.close(project, "2026-10").against] == ["in order"]
    with pytest.raises(BooksError, match="nothing-posted"):
        apportion.close(project, "2026-11")


def test_what_is_late_is_corrected_in_the_next_open_month(project: Project) -> None:
    apportion.close(project, "2026-09")
    closed = project.books.posted("2026-09")
    bill(project.folder, "2026-09", {"vision": "55", "speech": "39.993"})
    done = post(project, "2026-09")
    assert (done.period, done.booked, done.posted) == ("2026-09", "2026-10", True)
    assert owed(project, "2026-10") == {"vision": Decimal("-5.004")}
    assert project.books.posted("2026-09").equals(closed)
    last = project.books.runs()[-1]
    assert (last.kind, last.about, last.cause) == (
        "correction", "2026-09", "delivered after 2026-09 was closed: cost lines (cloud)",
    )  # fmt: skip
    assert not post(project, "2026-09").posted
    bill(project.folder, "2026-10", {"speech": "10"})
    post(project, "2026-10")
    assert owed(project, "2026-10") == {"vision": Decimal("-5.004"), "speech": Decimal(10)}
    october = apportion.close(project, "2026-10")
    assert october.closed is not None
    assert {row["bill"]: row["amount"] for row in october.closed.minor.to_pylist()} == {
        "Nimbus 2026-09 USD": -500, "Nimbus 2026-10 USD": 1000,
    }  # fmt: skip
    bill(project.folder, "2026-09", {"vision": "60.004", "speech": "39.993"})
    assert post(project, "2026-09").booked == "2026-11"
    assert owed(project, "2026-11") == {"vision": Decimal("5.004")}
    assert apportion.verify(project).sound


def test_what_was_believed_then(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    apportion.close(project, "2026-09")
    bill(project.folder, "2026-09", {"vision": "55", "speech": "39.993"})
    then = datetime.now(UTC)
    monkeypatch.setattr("apportion.books.post.time.time", lambda: then.timestamp() + 3 * 86_400)
    post(project, "2026-09")
    tomorrow, later = (str((then + timedelta(days=days)).date()) for days in (1, 4))
    with pytest.raises(ProjectError, match="nothing-posted"):
        apportion.report(project, "showback", "2026-10", as_of=tomorrow)
    now = apportion.report(project, "showback", "2026-10", as_of=later)
    assert now.sections[0].bill == Decimal("-5.00")
    september = apportion.report(project, "showback", "2026-09", as_of=tomorrow)
    assert september.head == project.books.closed("2026-09").head  # type: ignore[union-attr]
    assert f"As the books stood at the end of {tomorrow}." in september.notes
    with pytest.raises(ProjectError, match="invalid-day"):
        apportion.report(project, "showback", "2026-09", as_of="yesterday")


def test_a_policy_edited_later_changes_nothing_in_a_closed_month(project: Project) -> None:
    apportion.close(project, "2026-09")
    (project.folder / "policy.yaml").write_text(POLICY.replace("[vision, speech]", "[vision]"), "utf-8")
    again = apportion.open_project(project.folder)
    assert not apportion.plan(again, "2026-09").pending
    assert not apportion.apply(again, "2026-09").posted
