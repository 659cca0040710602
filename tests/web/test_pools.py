"""Pools: hours counted by the engine against a plain count of the rows, prices against plain sums, pages against reports, and what a viewer sees."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

import apportion
from apportion.books.doors import Person
from apportion.engine.capacity import spent_of
from apportion.reports.capacity import PARTS
from apportion.reports.report import Report
from apportion.verbs.ground import afresh
from apportion.verbs.periods import as_period
from apportion.verbs.pools import computed_month, pool, pools
from apportion.verbs.project import Project
from apportion.web.door.session import COOKIE
from tests.cli.conftest import Run, run  # noqa: F401  # a fixture
from tests.web import world
from tests.web.conftest import OUR_HOST, Clients

MONTH = "2026-10"
HOUR = timedelta(hours=1)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)


def overlap(row: dict[str, str], hour: datetime) -> Fraction:
    """Which part of an hour a row covers."""
    start, end = max(moment(row["start"]), hour), min(moment(row["end"]), hour + HOUR)
    return Fraction(max(0, int((end - start).total_seconds())), 3600)


def hours_of_month() -> Iterator[datetime]:
    hour = datetime(2026, 10, 1, tzinfo=UTC)
    while hour.month == 10:
        yield hour
        hour += HOUR


def plain_count(hour: datetime) -> dict[str, Fraction]:
    """What became of the GPUs of an hour, straight from the rows that the sources read."""
    jobs, nodes = list(world.jobs(MONTH)), list(world.nodes(MONTH))
    offered = sum(overlap(row, hour) * int(row["amount"]) for row in nodes)
    broken = sum(overlap(row, hour) * int(row["amount"]) for row in nodes if row["state"] == "down")
    held = sum(overlap(row, hour) * int(row["gpus"]) for row in jobs)
    used = sum(overlap(row, hour) * int(row["gpus_used"]) for row in jobs)
    speech = sum(overlap(row, hour) * int(row["gpus"]) for row in jobs if row["account"] == world.ACCOUNTS["speech"])
    promised = 2 if 10 <= hour.day <= 12 else 0
    free = offered - held
    down = min(free, broken)
    reserved = min(free - down, max(Fraction(0), promised - speech))
    sums = {"used": used, "unmeasured": 0, "held": held - used, "reserved": reserved, "down": down}
    return {name: Fraction(value) for name, value in {**sums, "unsold": free - down - reserved}.items()}


def rows_of(made: Report) -> list[dict[str, Any]]:
    names = [column.name for column in made.columns]
    return [dict(zip(names, row, strict=True)) for row in made.sections[0].rows]


@pytest.fixture(scope="module")
def hourly(small: Project) -> list[dict[str, Any]]:
    return rows_of(pool(small, "gpus", MONTH, "hour"))


def test_every_hour_is_spent_as_a_plain_count_of_the_rows_says(hourly: list[dict[str, Any]]) -> None:
    assert [row["hour"] for row in hourly] == [f"{hour:%Y-%m-%d %H:%M}" for hour in hours_of_month()]
    for row, hour in zip(hourly, hours_of_month(), strict=True):
        expected = plain_count(hour)
        assert {name: Fraction(row[name]) for name in PARTS} == expected, hour
        assert row["capacity"] == sum(row[name] for name in PARTS) == 16


def test_a_unit_costs_the_bill_of_its_hour_over_what_was_offered(hourly: list[dict[str, Any]]) -> None:
    expected = (Decimal("384.37") + Decimal("399.99")) / 24 / 16
    assert {abs(row["price"] - expected) < Decimal("1e-9") for row in hourly} == {True}


def test_idle_hours_are_those_that_the_engine_priced(small: Project) -> None:
    plan = computed_month(afresh(), small, as_period(MONTH)).plan
    (spent,), priced = spent_of(plan, "gpus"), plan.trace.pools["gpus"].priced
    assert priced is not None
    hour = 3600 / spent.market.scale.natural
    for cause in ("reserved", "unsold", "down"):
        assert sum(spent.parts[cause]) == sum(step.idle.get(cause, Fraction(0)) for step in priced.curve) / hour
    assert sum(map(sum, spent.parts.values())) == sum(step.units for step in priced.curve) / hour


def test_days_add_up_to_what_was_posted(small: Project) -> None:
    made = pool(small, "gpus", MONTH)
    posted = apportion.report(small, "showback", MONTH, ["pool=gpus"]).sections[0].bill
    assert made.sections[0].totals[-2] == made.sections[0].bill == posted
    assert abs(sum(row["amount"] for row in rows_of(made)) - posted) < Decimal("0.02")
    assert len(rows_of(made)) == 31


def test_pools_add_up_to_the_bill_and_their_idle_to_the_idle_report(small: Project) -> None:
    made = pools(small, MONTH)
    rows = rows_of(made)
    assert sum(row["amount"] for row in rows) == apportion.report(small, "showback", MONTH).sections[0].bill
    assert sum(row["idle"] for row in rows) == apportion.report(small, "idle", MONTH).sections[0].bill
    assert {row["pool"]: row["method"] for row in rows} == {
        "gpus": "capacity rate",
        "disks": "proportional",
        "rest": "cost",
    }


def test_the_pages_say_what_the_command_line_says(clients: Clients, small: Project, run: Run) -> None:  # noqa: F811
    admin = clients("admin")
    for path, made in (("/pools", pools(small, MONTH)), ("/pools/gpus", pool(small, "gpus", MONTH))):
        page = admin.get(f"{path}.json?period={MONTH}").json()
        assert page["title"] == made.title
        assert made.title in admin.get(f"{path}?period={MONTH}").text
        printed = run("--project", small.folder, *page["command"].split()[1:], "-o", "json").value()
        assert printed["title"] == made.title
    tables = {
        table["heading"]: table["rows"] for table in admin.get(f"/pools/gpus.json?period={MONTH}").json()["tables"]
    }
    days = tables["What became of the capacity"]
    printed = {row["day"]: row for row in pool_rows(run, small)}
    assert days
    for row in days:
        assert {part: row[part] for part in PARTS} == {part: printed[row["day"]][part] for part in PARTS}


def pool_rows(run: Run, small: Project) -> list[dict[str, str]]:  # noqa: F811
    rows: list[dict[str, str]] = run(
        "--project", small.folder, "report", "pool", "gpus", "--period", MONTH, "-o", "json"
    ).value()["rows"]
    return rows


def test_a_page_quotes_the_rule_for_those_who_may_read_the_policy(clients: Clients) -> None:
    text = clients("finance").get(f"/pools/gpus?period={MONTH}").text
    assert "policy.yaml line 19" in text
    assert "idle: {unsold: central, reserved: holder" in text
    assert "62 cost lines: 24,315.16 USD" in text
    assert 'href="/methods/capacity_rate' in text


def test_a_viewer_sees_prices_and_sums_and_no_word_of_another(clients: Clients) -> None:
    viewer = clients("viewer")
    for path in ("/pools", "/pools/gpus", "/pools/disks", "/pools/rest"):
        for form in ("", ".json", ".csv"):
            answer = viewer.get(f"{path}{form}?period={MONTH}")
            assert answer.status_code == 200
            assert not [word for word in world.SECRET if word in answer.text], path
    page = viewer.get(f"/pools/gpus.json?period={MONTH}").json()
    charged = next(table for table in page["tables"] if table["heading"] == "What your teams were charged")
    assert [row["owner"] for row in charged["rows"]] == ["vision"]
    assert "GPU-hour" in viewer.get(f"/pools/gpus?period={MONTH}").text


def test_a_pool_that_one_is_not_charged_from_is_not_there(clients: Clients) -> None:
    app = clients("viewer").app
    desk = app.state.desk  # type: ignore[attr-defined]
    key = desk.books.doors.open_session(Person("pat", "viewer", frozenset({"platform"}), "link"), 3600)
    sponsor = TestClient(app, OUR_HOST, cookies={COOKIE: key}, raise_server_exceptions=False)
    index = sponsor.get(f"/pools.json?period={MONTH}").json()["tables"][0]["rows"]
    assert {row["pool"] for row in index} == {"gpus", "rest"} & {row["pool"] for row in index}
    foreign, missing = (sponsor.get(f"/pools/{name}?period={MONTH}") for name in ("disks", "nothing"))
    assert foreign.status_code == missing.status_code == 404
    assert foreign.text == missing.text


def test_who_has_no_team_sees_nothing_yet(clients: Clients) -> None:
    assert clients("nobody").get(f"/pools/gpus?period={MONTH}").status_code == 404


@pytest.fixture(scope="module")
def by_use(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Charged by what was used; the owner rules stand on one line, so that a quoted line names everybody."""
    project = world.copied(small, tmp_path_factory.mktemp("use") / "project")
    file = Path(project.folder, "policy.yaml")
    text = file.read_text("utf-8").replace("    meter: gpu\n", "    meter: gpu\n    driver: used\n")
    start, end = text.index("owners:\n"), text.index("reservations:\n")
    rules = [line.strip().removeprefix("- ") for line in text[start:end].splitlines()[1:]]
    file.write_text(f"{text[:start]}owners: [{', '.join(rules)}]\n{text[end:]}", "utf-8")
    project = apportion.open_project(project.folder)
    apportion.plan(project, MONTH)
    apportion.apply(project, MONTH)
    return project


def test_where_use_is_charged_what_was_held_beside_it_is_priced_as_idle(by_use: Project) -> None:
    week = rows_of(pool(by_use, "gpus", MONTH, "week"))
    posted = apportion.report(by_use, "idle", MONTH).sections[0].bill
    assert len(week) == 7 * 24
    assert abs(sum(row["idle_cost"] for row in week) - posted) < Decimal("0.01")
    held = sum(plain_count(hour)["held"] for hour in hours_of_month())
    assert sum(Fraction(row["held"]) for row in week) == held
