"""Prices that are told ahead, by hand: what is listed, what follows from a rule, what is expected."""

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.reports.prices import days_called
from apportion.verbs.prices import Wish
from apportion.verbs.project import Project
from tests.cli.conftest import Run
from tests.web.conftest import clients_of

WEEK = Wish(first="2026-11-16")  # a Monday


def rows(project: Project, wish: Wish = WEEK) -> list[tuple[Any, ...]]:
    """Pool, labels, unit, days, hours, price, least, most, kind."""
    return [row for section in apportion.prices(project, wish).sections for row in section.rows]


def edited(folder: Path, old: str, new: str) -> Project:
    policy = folder / "policy.yaml"
    text = policy.read_text("utf-8")
    assert old in text
    policy.write_text(text.replace(old, new), "utf-8")
    return apportion.open_project(folder)


def test_hours_as_they_came_to(small: Project) -> None:
    """The first of October was a Thursday: 1.00 until noon, 2.00 after it. Of weekends nothing is known but the whole."""
    big = [row[3:] for row in rows(small) if row[:2] == ("big", "")]
    assert big == [
        ("2026-11-16..2026-11-20", "00:00-12:00", 1, None, None, "expected"),
        ("2026-11-16..2026-11-20", "12:00-24:00", 2, None, None, "expected"),
        ("2026-11-21..2026-11-22", "all day", Decimal("1.5"), 1, 2, "expected"),
    ]


def test_discounts_of_labels(small: Project) -> None:
    """60 % off for preemptible work, on top of the list; low work has a price of its own, batch work weighs half."""
    made = {row[:2] + row[4:6]: row for row in rows(small)}
    assert made["big", "qos=preemptible", "12:00-24:00", Decimal("0.8")]
    assert made["small", "qos=preemptible", "all day", Decimal("0.2")][3] == "every day"
    assert made["small", "qos=low", "all day", Decimal("0.25")][-1] == "listed"
    cores = {row[1]: row[5] for row in rows(small) if row[0] == "cpu" and row[2] == "core-hour"}
    assert cores["class=batch"] * 2 == cores[""]


def test_a_price_list_that_changes(own: Path) -> None:
    project = edited(own, "{price: 0.5}]", "{price: 0.5, until: 2026-11-18}, {price: 0.7}]")
    listed = [row[3:6] for row in rows(project, Wish(first="2026-11-16", pool="small")) if not row[1]]
    assert listed == [
        ("2026-11-16..2026-11-18", "all day", Decimal("0.5")),
        ("2026-11-19..2026-11-22", "all day", Decimal("0.7")),
    ]


def test_times_of_use(own: Path) -> None:
    """Nights count 1 and days 3. October: 288.00 over 4 GPUs for six hours of each, 24 x 3 + 24 = 96 weighed hours: 3.00 for one."""
    times = "method: time_of_use, times: [{from: '08:00', until: '18:00', weight: 3}]"
    project = edited(own, "method: capacity_rate, idle: proportional", times)
    jobs, later = own / "jobs.csv", "j5,vision,seg,n1,2026-10-01T18:00:00Z,2026-10-02T00:00:00Z,4,,,,\n"
    text = jobs.read_text().replace("j1,vision,seg,n1,2026-10-01T06:00:00Z", "j1,vision,seg,n1,2026-10-01T12:00:00Z")
    jobs.write_text(text.replace("j2,speech", f"{later}j2,speech"))
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    big = [row[3:] for row in rows(project, Wish(first="2026-11-16", pool="big")) if not row[1]]
    assert [row[1:3] for row in big] == [("00:00-08:00", 3), ("08:00-18:00", 9), ("18:00-24:00", 3)]
    assert {row[-1] for row in big} == {"by rule"}
    cheaper = edited(own, "weight: 3", "weight: 2")
    changed = [row[4:6] for row in rows(cheaper, Wish(first="2026-11-16", pool="big")) if not row[1]]
    assert changed == [("00:00-08:00", 3), ("08:00-18:00", 6), ("18:00-24:00", 3)]


def test_whose_labels_are_no_way_out(own: Path) -> None:
    """A rule for a team is told to that team alone."""
    rule = '  - {team: speech, percent: -10, sponsor: robots, why: "young"}\n  - {when: {team: robots}, percent: -20, sponsor: vision, why: "x"}\n'
    project = edited(own, "quotas:", rule + "quotas:")
    anybody, speech = (rows(project, Wish(first="2026-11-16", pool="small", team=team)) for team in ("", "speech"))
    assert {row[1] for row in anybody} == {"", "qos=low", "qos=preemptible"} == {row[1] for row in speech}
    assert [row[5] * Decimal("0.9") for row in anybody] == [row[5] for row in speech]


@pytest.mark.parametrize(
    ("wish", "code"),
    [
        (Wish(days=0), "invalid-amount"),
        (Wish(days=93), "invalid-amount"),
        (Wish(first="soon"), "invalid-day"),
        (Wish(first="9999-12-31", days=2), "invalid-day"),
        (Wish(pool="bigg"), "unknown-figure"),
        (Wish(team="nobody"), "unknown-owner"),
    ],
)
def test_wishes_that_are_not_in_order(small: Project, wish: Wish, code: str) -> None:
    with pytest.raises(ApportionError) as refused:
        apportion.prices(small, wish)
    assert refused.value.code == code
    assert refused.value.hint


def test_days_are_called_by_their_stretches() -> None:
    days = [date(2026, 11, day) for day in (16, 17, 20)]
    assert days_called(days, 7) == "2026-11-16..2026-11-17, 2026-11-20"
    assert days_called(days, 3) == "every day"


def test_the_command_and_the_api_say_the_same(run: Run, small: Project, small_once: Path) -> None:
    """Whoever is not charged from a pool does not hear of it."""
    said = run("--project", str(small_once), "prices", "--from", "2026-11-16", "-o", "csv")
    served = clients_of(small_once)
    whole = served("finance").get("/api/v1/prices?from=2026-11-16").json()
    assert said.code == 0
    assert [row["pool"] for row in whole["sections"][0]["rows"]] == [
        line.split(",")[1] for line in said.out.splitlines()[1:]
    ]
    mine = served("viewer").get("/api/v1/prices?from=2026-11-16")
    assert {row["pool"] for row in mine.json()["sections"][0]["rows"]} == {"big", "cpu"}
    assert "small" not in mine.text
    assert served("viewer").get("/api/v1/prices?team=speech").status_code == 404
    assert served("viewer").get("/api/v1/prices?days=0").status_code == 422
    assert "expected" in served("viewer").get("/prices").text
    assert len(rows(small)) == len(whole["sections"][0]["rows"])
