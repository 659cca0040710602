"""Costs pushed through Datadog's own client: what is there is the month, once, whatever was pushed before and wherever it broke off."""

import time
from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.compute as pc
import pytest

import apportion
from apportion.errors import ApportionError, InputError, ProjectError
from apportion.model.money import total_of
from apportion.reports.words import rounded
from apportion.verbs import datadog
from apportion.verbs.datadog import Pushed, export_datadog, push_gauges
from apportion.verbs.live import live
from apportion.verbs.project import Project
from tests.datadog_push.server import API_KEY, APP_KEY, COSTS, Datadog, serving
from tests.web import world

OPEN = world.BILLED[1]
TODAY = date(2026, 11, 20)
SECTION = """
[datadog]
url = "{url}"
api_key = "env:PUSH_API_KEY"
app_key = "env:PUSH_APP_KEY"
retries = {retries}
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return world.make(tmp_path_factory.mktemp("small") / "project")


@pytest.fixture(autouse=True)
def keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PUSH_API_KEY", API_KEY)
    monkeypatch.setenv("PUSH_APP_KEY", APP_KEY)
    monkeypatch.setattr(datadog, "AT_ONCE", 150)  # a month in several files


@pytest.fixture
def site() -> Iterator[Datadog]:
    with serving(Datadog(TODAY, now_s=int(time.time()))) as found:
        yield found


@pytest.fixture
def project(small: Project, site: Datadog, tmp_path: Path) -> Project:
    return reaching(world.copied(small, tmp_path / "mine"), site)


def reaching(project: Project, site: Datadog, retries: int = 1) -> Project:
    with (project.folder / "apportion.toml").open("a", encoding="utf-8") as file:
        file.write(SECTION.format(url=site.url, retries=retries))
    return apportion.open_project(project.folder)


def push(project: Project, month: str = OPEN, today: date = TODAY) -> Pushed:
    return export_datadog(project, month, today=today)


def items(site: Datadog, month: str = OPEN) -> list[dict[str, Any]]:
    return [one for file in site.files.values() for one in file if one["Tags"].get("apportion_period") == month]


def owed(project: Project, month: str = OPEN) -> Decimal:
    return total_of(project.books.posted(month)["amount"].to_pylist())


def costs_of(found: list[dict[str, Any]]) -> Decimal:
    """As the numbers were written on the wire."""
    return total_of(Decimal(repr(one["BilledCost"])) for one in found)


def check_whole(project: Project, site: Datadog, month: str = OPEN) -> None:
    assert costs_of(items(site, month)) == rounded(owed(project, month), "USD")


def test_a_month_is_there_in_whole_minor_units_and_team_by_team(project: Project, site: Datadog) -> None:
    done = push(project)
    assert (done.added, done.removed, done.again) == (len(done.push.parts), 0, False)
    assert done.added > 1
    check_whole(project, site)
    (section,) = apportion.report(project, "showback", OPEN).sections
    for row in section.rows:
        mine = [one for one in items(site) if one["Tags"]["team"] == row[0] and one["ChargeDescription"] != "rounding"]
        assert abs(costs_of(mine) - row[-2]) < Decimal("0.01")  # type: ignore[operator]
    first = items(site)[0]
    assert first["ProviderName"] == "Apportion"
    assert first["ChargePeriodStart"] == first["ChargePeriodEnd"]


def test_the_same_again_changes_nothing(project: Project, site: Datadog) -> None:
    push(project)
    files = dict(site.files)
    site.seen.clear()
    again = push(project)
    assert again.again
    assert site.files == files
    assert not [one for one in site.seen if one.startswith(("PUT", "DELETE"))]
    notes = [one.detail for one in project.books.audit() if one.detail.startswith("Datadog costs")]
    assert notes == [f"Datadog costs of {OPEN}, sha256 {again.push.costs.sha256}"]


def test_what_is_posted_later_takes_the_place_of_what_was_pushed(project: Project, site: Datadog) -> None:
    push(project)
    before = set(site.files)
    policy = project.folder / "policy.yaml"
    policy.write_text(policy.read_text("utf-8").replace("percent: -10", "percent: -20"), "utf-8")
    project = apportion.open_project(project.folder)
    apportion.plan(project, OPEN)
    apportion.apply(project, OPEN)
    done = push(project)
    assert (done.added, done.removed) == (len(done.push.parts), len(before))
    assert not before & set(site.files)
    check_whole(project, site)


def test_other_months_projects_and_people_keep_their_files(project: Project, site: Datadog) -> None:
    foreign = {
        "ProviderName": "Apportion", "ChargePeriodStart": "2026-10-01", "ChargePeriodEnd": "2026-10-31", "ChargeDescription": "by hand",
        "BilledCost": 5.0, "BillingCurrency": "USD", "Tags": {"team": "vision"},
    }  # fmt: skip
    other = {**foreign, "Tags": {"apportion_key": "another", "apportion_period": OPEN, "apportion_push": "x"}}
    site.take([foreign])
    site.take([other])
    push(project, world.BILLED[0])
    push(project)
    push(project, world.BILLED[0])
    assert [foreign] in site.files.values()
    assert [other] in site.files.values()
    check_whole(project, site, world.BILLED[0])


def test_many_files_are_found_page_by_page(project: Project, site: Datadog, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apportion.verbs.datadog_calls.PAGE", 2)
    push(project)
    assert push(project).again
    assert len(site.files) > 2


@pytest.mark.parametrize("failing", ["first", "last"])
def test_a_push_that_fails_leaves_the_month_as_it_was(project: Project, site: Datadog, failing: str) -> None:
    push(project, today=date(2026, 10, 20))
    before = dict(site.files)
    parts = len(export_datadog(project, OPEN, today=TODAY, dry_run=True).push.parts)
    site.faults["PUT"] = [*([""] * (0 if failing == "first" else parts - 1)), "400", "400", "400"]
    with pytest.raises(InputError, match="answered 400"):
        push(project)
    assert site.files == before
    site.faults.clear()
    push(project)
    check_whole(project, site)


def test_what_cannot_be_removed_is_said_and_removed_next_time(project: Project, site: Datadog) -> None:
    push(project, today=date(2026, 10, 20))
    site.faults["DELETE"] = ["", "403", "403", "403"]
    with pytest.raises(InputError, match="refused the keys") as told:
        push(project)
    assert "beside the new until it is pushed again" in told.value.hint
    site.faults.clear()
    site.seen.clear()
    assert push(project).added == 0  # all parts are there
    check_whole(project, site)


def test_an_answer_that_is_lost_doubles_nothing(project: Project, site: Datadog) -> None:
    site.faults["PUT"] = ["lost", "", "lost"]
    push(project)
    assert site.seen.count(f"PUT {COSTS}") == len(site.files) + 2
    check_whole(project, site)


def test_a_busy_server_is_waited_for(project: Project, site: Datadog) -> None:
    site.faults["PUT"] = ["429"]
    push(project)
    check_whole(project, site)


def test_days_to_come_wait(project: Project, site: Datadog) -> None:
    site.today = date(2026, 10, 10)
    done = push(project, today=site.today)
    assert done.push.costs.ahead["USD"] > 0
    posted = project.books.posted(OPEN).to_pylist()
    come = total_of(row["amount"] for row in posted if row["day"] <= site.today)
    assert costs_of(items(site)) == done.push.costs.totals["USD"] == rounded(come, "USD")
    assert total_of([come, done.push.costs.ahead["USD"]]) == owed(project)


def test_a_dry_run_asks_nothing(project: Project, site: Datadog) -> None:
    done = export_datadog(project, OPEN, dry_run=True, today=TODAY)
    assert (site.seen, done.dry_run, done.again) == ([], True, False)
    assert done.push.costs.totals == {"USD": rounded(owed(project), "USD")}


def test_wrong_keys_and_no_section_are_said_and_no_key_is_told(
    project: Project, small: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PUSH_APP_KEY", "another-secret")
    with pytest.raises(ApportionError, match="refused the keys") as told:
        push(project)
    assert "cloud_cost_management_write" in str(told.value)
    assert not any(key in str(told.value) for key in (API_KEY, "another-secret"))
    with pytest.raises(ProjectError, match="does not say how to reach Datadog"):
        push(small)


def test_gauges_are_the_running_month(project: Project, site: Datadog) -> None:
    made = push_gauges(project, date(2026, 11, 14))
    assert len(made) == len(site.series) > 5
    said = {(one["metric"], *sorted(one["tags"])): one["points"][0]["value"] for one in site.series}
    assert len(said) == len(site.series)  # no two are the same series
    assert {one["metric"] for one in site.series} == {
        "apportion.month_cost",
        "apportion.idle_cost",
        "apportion.pool_price",
    }
    cost = sum(one["points"][0]["value"] for one in site.series if one["metric"] == "apportion.month_cost")
    assert cost == pytest.approx(float(pc.sum(live(project, date(2026, 11, 14)).rows["amount"]).as_py()))
    assert all("period:2026-11" in one["tags"] and "state:estimated" in one["tags"] for one in site.series)
    assert {one["type"] for one in site.series} == {3}
