"""The running month: what it comes to so far is usage times the last price, and it moves as data arrives."""

import sqlite3
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.reports.live import BILLED, ESTIMATED, UNKNOWN, Estimate, live_report
from apportion.reports.sums import grouped
from apportion.verbs.live import live
from apportion.verbs.periods import today
from apportion.verbs.project import Project
from apportion.verbs.reaches import asked_until, told_until
from tests.sources import making
from tests.web import world
from tests.web.conftest import Clients, clients_of

TODAY = date(2026, 11, 16)
RECEIVED_S = 1794823200  # 2026-11-16T10:00:00Z
GPU_HOUR = Fraction("784.36") / 16 / 24  # both nodes' cost of a day, over their sixteen GPUs
RAN = range(1, 15, 2)  # the days that have jobs


def as_received(project: Project) -> Project:
    """Whatever the clock says, the deliveries came on that day."""
    with sqlite3.connect(project.folder / ".apportion" / "books.db") as books:
        books.execute("UPDATE deliveries SET received_s = ?", (RECEIVED_S,))
    return project


@pytest.fixture(scope="module")
def running(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    return as_received(world.copied(small, tmp_path_factory.mktemp("running") / "project"))


@pytest.fixture
def mine(running: Project, tmp_path: Path) -> Project:
    """To write in."""
    return world.copied(running, tmp_path / "mine")


@pytest.fixture(scope="module")
def made(running: Project) -> Estimate:
    return live(running, TODAY)


def amounts(made: Estimate, *keys: str) -> dict[tuple[str, ...], Decimal]:
    return grouped(made.rows, keys)


def near(amount: Decimal, exact: Fraction) -> bool:
    """To the nano that postings are rounded to, for each of a month's days."""
    return abs(Fraction(amount) - exact) < Fraction(1, 10**6)


def hours(month: str, team: str) -> Fraction:
    """GPU-hours of a team's jobs, from the rows themselves."""
    own = [row for row in world.jobs(month) if row["account"] == world.ACCOUNTS[team]]
    return sum((int(row["gpus"]) * (int(row["end"][11:13]) + Fraction(1, 2)) for row in own), Fraction(0))


def test_each_owner_is_charged_usage_times_the_last_settled_price(made: Estimate) -> None:
    used = amounts(made, "pool", "reason", "team")
    for team in ("vision", "zebra", "speech"):  # speech's reservation ended in October: nothing of it is a burst
        assert near(used["gpus", "usage", team], hours("2026-11", team) * GPU_HOUR)
        share = {"vision": 5, "speech": 2, "zebra": 3}[team]
        assert near(used["disks", "usage", team], Fraction("41.13") * TODAY.day * share / 10)
    assert near(used["gpus", "usage", "_unallocated"], hours("2026-11", "") * GPU_HOUR)
    assert near(used["gpus", "adjustment", "speech"], -hours("2026-11", "speech") * GPU_HOUR / 10)
    assert {basis for (basis,) in amounts(made, "basis")} == {ESTIMATED, "carried over"}


def test_prices_say_where_they_come_from(made: Estimate) -> None:
    pools = {one.pool: one for one in made.pools}
    assert (pools["gpus"].price, pools["gpus"].unit, pools["gpus"].month) == (GPU_HOUR, "GPU-hour", "2026-10")
    assert pools["rest"].price is None
    assert "carried over" in pools["rest"].note


def test_what_stands_idle_is_estimated_on_complete_days_alone(made: Estimate) -> None:
    per_day = amounts(made, "pool", "day")
    for day in range(1, 13):
        assert near(per_day["gpus", f"2026-11-{day:02}"], Fraction("784.36"))
    ran = sum((hours("2026-11", team) for team in world.ACCOUNTS), Fraction(0)) / len(RAN)
    assert near(per_day["gpus", "2026-11-13"], ran * GPU_HOUR)
    assert ("gpus", "2026-11-14") not in per_day


def test_overheads_are_carried_over_day_by_day(made: Estimate, running: Project) -> None:
    posted = grouped(running.books.posted("2026-10", kinds=("plan",)), ("pool", "team"))
    for team in ("vision", "zebra"):
        assert near(amounts(made, "pool", "team")["rest", team], Fraction(posted["rest", team]) * 12 / 30)


def test_the_last_complete_day_is_that_of_the_slowest_source(made: Estimate) -> None:
    """The jobs' file is of a whole month, and its last row ends on the 13th; disks are held until the end of the month."""
    assert {one.source: one.complete_to for one in made.sources} == {
        "slurm": date(2026, 11, 12),
        "disks": date(2026, 11, 15),
    }
    assert made.complete_to == date(2026, 11, 12)
    assert "complete to 2026-11-12" in live_report(made).title
    assert "estimated at the prices of 2026-10" in live_report(made).title


def test_what_was_asked_for_is_known_to_its_end_or_to_the_first_gap() -> None:
    told = [{"start_s": start, "end_s": end, "received_s": 900} for start, end in ((0, 100), (100, 300), (400, 500))]
    assert asked_until(told, 0) == 300
    assert asked_until(told[2:], 0) == 0
    assert asked_until([{"start_s": 0, "end_s": 1000, "received_s": 900}], 0) == 900
    assert [told_until(told, last) for last in (250, 5000)] == [250, 900]


def test_the_projection_is_a_straight_line_over_complete_days(made: Estimate) -> None:
    report = live_report(made)
    place = [column.name for column in report.columns].index("projected")
    complete = sum(amount for (day,), amount in amounts(made, "day").items() if day <= "2026-11-12")
    whole = sum(Decimal(str(row[place])) for row in report.sections[0].rows)
    assert near(Decimal(whole), Fraction(complete) * 30 / 12)


def test_a_pool_is_billed_once_its_bill_has_come(mine: Project) -> None:
    compute = [row for row in world.lines("2026-11") if row["ServiceCategory"] == "Compute"]
    making.put(mine.folder / "bills" / "2026-11.csv", making.bill_text(*compute))
    apportion.ingest(mine, ["cloud"])
    after = live(as_received(mine), TODAY)
    bases = {one.pool: one.basis for one in after.pools}
    assert (bases["gpus"], bases["disks"]) == (BILLED, ESTIMATED)
    assert near(amounts(after, "pool", "basis")["gpus", BILLED], Fraction("784.36") * 16)
    assert near(amounts(after, "pool", "basis")["disks", ESTIMATED], Fraction("41.13") * 16)


def test_more_usage_moves_the_estimate(mine: Project, made: Estimate) -> None:
    client = clients_of(mine.folder)("admin")
    before = client.get("/live.json")
    more = [*world.jobs("2026-11"), {**next(world.jobs("2026-11")), "job": "777", "run": "777", "start": "2026-11-14T00:00:00Z",
                                     "end": "2026-11-15T10:00:00Z"}]  # fmt: skip
    making.put(mine.folder / "usage" / "jobs-2026-11.csv", making.csv_text(iter(more)))
    apportion.ingest(mine, ["slurm"])
    assert client.get(f"/live.json?since={before.json()['state']}").status_code == 200
    after = live(as_received(mine), TODAY)
    gained = amounts(after, "pool", "reason", "team")["gpus", "usage", "vision"]
    assert near(gained, (hours("2026-11", "vision") + 34) * GPU_HOUR)
    assert (made.complete_to, after.complete_to) == (date(2026, 11, 12), date(2026, 11, 14))


def test_a_pool_that_was_never_billed_has_no_price_and_is_not_taken_for_free(tmp_path: Path) -> None:
    (tmp_path / "apportion.toml").write_text(world.SETTINGS, "utf-8")
    (tmp_path / "policy.yaml").write_text(world.POLICY, "utf-8")
    world.write_month(tmp_path, "2026-11", billed=False)
    project = apportion.open_project(tmp_path)
    apportion.ingest(project, ["slurm", "disks", "nodes"])
    found = live(project, TODAY)
    assert {one.basis for one in found.pools} == {UNKNOWN}
    assert all("not in the estimate" in one.note for one in found.pools)
    assert live_report(found).title == "Nothing can be said of 2026-11 yet."
    assert "not in the estimate" in " ".join(live_report(found).notes)


def test_nothing_is_recorded(running: Project, made: Estimate) -> None:
    before = running.books.state()
    again = live(running, TODAY)
    assert again.rows.equals(made.rows)
    assert running.books.state() == before


def test_page_says_what_the_command_line_says(clients: Clients, small: Project) -> None:
    report = live_report(live(small, today()))
    answer = clients("admin").get("/live")
    assert report.title in answer.text
    rows = clients("admin").get("/live.json").json()["tables"][1]["rows"]
    place = [column.name for column in report.columns].index("amount")
    assert [row["owner"] for row in rows] == [row[0] for row in report.sections[0].rows]
    assert [Decimal(row["amount"]) for row in rows] == [row[place] for row in report.sections[0].rows]


def test_whoever_has_the_newest_is_told_so_without_a_word_more(clients: Clients) -> None:
    client = clients("viewer")
    first = client.get("/live.json")
    state = first.json()["state"]
    assert first.headers["etag"] == f'"{state}"'
    for again in (
        client.get(f"/live.json?since={state}"),
        client.get("/live", headers={"If-None-Match": f'"{state}"'}),
    ):
        assert (again.status_code, again.content) == (304, b"")


@pytest.fixture
def shown(clients: Clients) -> str:
    client = clients("viewer")
    return "".join(client.get(path).text for path in ("/live", "/live.json", "/live.csv", "/live?where=pool=gpus"))


def test_a_viewer_learns_nothing_of_other_teams(shown: str, clients: Clients) -> None:
    assert "vision" in shown
    assert not [word for word in (*world.SECRET, "slurm", "_idle") if word in shown]
    assert clients("viewer").get("/live?where=team=zebra").status_code == 404
    nobody = clients("nobody").get("/live")
    assert nobody.status_code == 200
    assert not [word for word in (*world.SECRET, "vision", "gpus") if word in nobody.text]
