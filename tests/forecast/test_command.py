"""`apportion forecast` over a small organisation: two months posted, a third that has usage and no bill yet."""

import csv
import io
from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal

import pyarrow.compute as pc
import pytest

import apportion
from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.reports.forecast.made import forecast_of
from apportion.reports.forecast.shares import WHOLE
from apportion.reports.sums import total
from apportion.verbs.forecast import Asked, known_beside
from apportion.verbs.live import live
from apportion.verbs.project import Project
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # noqa: PLC0414 - a fixture

THROUGH = "2026-11-12"  # later jobs may still come


def test_posted_months_and_the_estimate_of_the_running_one_lead_to_its_end(small: Project) -> None:
    made = apportion.forecast(small, through=THROUGH)
    assert (str(made.known.month), made.known.days, made.known.estimated_from) == ("2026-11", 12, date(2026, 11, 1))
    rows = live(small, date(2026, 11, 14)).rows.to_pylist()
    rows = [row for row in rows if row["currency"] == "USD" and str(row["day"]) <= THROUGH]
    so_far = {
        team: total(row["amount"] for row in rows if row["team"] == team) for team in ("vision", "speech", "zebra")
    }
    found = {one.outlook.name: one.outlook for one in made.groups}
    assert {team: found[team].spent for team in so_far} == so_far
    [whole] = made.wholes
    assert whole.outlook.amount == total(one.amount for one in found.values())
    assert whole.outlook.range(80).low < whole.outlook.amount < whole.outlook.range(80).high
    assert whole.score is not None
    assert (whole.score.months, whole.score.day) == (1, 7)


def test_a_posted_month_as_if_it_ran(small: Project) -> None:
    made = apportion.forecast(small, period="2026-10", through="2026-10-21")
    posted = small.books.posted("2026-10").to_pylist()
    for one in made.groups:
        mine = [row for row in posted if (row["team"], row["currency"]) == (one.outlook.name, "USD")]
        assert one.outlook.spent == total(row["amount"] for row in mine if row["day"] <= date(2026, 10, 21))
    assert made.known.estimated_from is None
    over = apportion.forecast(small, period="2026-10")
    assert over.known.is_over
    assert over.wholes[0].outlook.amount == total(row["amount"] for row in posted if row["currency"] == "USD")


def test_one_team_is_foreseen_as_among_all_and_sees_nothing_of_them(small: Project) -> None:
    every = {one.outlook.name: one for one in apportion.forecast(small, through=THROUGH).groups}
    [alone] = apportion.forecast(small, "speech", through=THROUGH).groups
    assert alone == every["speech"]
    running = live(small, date(2026, 11, 14))
    seen = known_beside(small, Asked(seen=frozenset({"speech"})), running, date(2026, 11, 14))
    assert seen.head == ""
    mine = forecast_of(replace(seen, through=date.fromisoformat(THROUGH)))
    assert {one.outlook.name for one in mine.groups} == {"speech"}
    assert mine.wholes[0].outlook.amount == total(one.outlook.amount for one in mine.groups)
    pools = forecast_of(seen, "pool")
    own = set(small.books.posted("2026-10").filter(pc.field("team") == "speech")["pool"].to_pylist())
    assert {one.outlook.name for one in pools.groups} <= own | {"(none)"}


def test_the_sentence_holds_all_that_one_must_know(run: Run, small: Project) -> None:
    shown = run("--project", small.folder, "forecast", "vision", "--through", THROUGH)
    assert shown.code == 0
    text = " ".join(shown.out.split())
    assert text.startswith("vision will have spent ")
    for part in (
        "USD by the end of 2026-11 (80 %: ",
        "; its budget of 1,500.00 is exceeded in ",
        " for 'same as last month'",
    ):
        assert part in text
    assert "12 of 30 days are known, through 2026-11-12; known days count as they are." in text
    assert "From 2026-11-01 on they are not posted but estimated" in text


def test_json_csv_and_markdown_are_what_the_verb_says(run: Run, small: Project) -> None:
    ask = ["--project", small.folder, "forecast", "--through", THROUGH]
    made = apportion.forecast(small, through=THROUGH)
    told = run(*ask, "-o", "json").value()
    assert (told["period"], told["through"], told["known_days"], told["days"]) == ("2026-11", THROUGH, 12, 30)
    assert Decimal(told["bill"]) == made.wholes[0].outlook.amount
    amounts = {one.outlook.name: one.outlook.amount for one in made.groups}
    assert {row["owner"]: Decimal(row["amount"]) for row in told["rows"]} == amounts
    rows = list(csv.DictReader(io.StringIO(run(*ask, "--by", "pool", "-o", "csv").out)))
    assert {row["pool"] for row in rows} >= {"gpus", "disks", "rest"}
    assert total(Decimal(row["amount"]) for row in rows) == made.wholes[0].outlook.amount
    for row in rows:
        ends = [
            Decimal(row[name]) for name in ("low_95", "low_80", "low_50", "amount", "high_50", "high_80", "high_95")
        ]
        assert ends == sorted(ends)
    assert "| vision |" in run(*ask, "-o", "md").out


def test_a_back_test_says_whether_it_is_better(run: Run, small: Project) -> None:
    told = run("--project", small.folder, "forecast", "--backtest", "--through", "2026-10-31", "-o", "json").value()
    assert told["months"] == ["2026-10"]
    assert told["better"] in (True, False)
    named = {(row["owner"], row["day"]) for row in told["rows"]}
    assert {(name, day) for name in ("every one", WHOLE, "vision", "speech", "zebra") for day in (7, 14, 21)} <= named
    beats = "beats" if told["better"] else "does not beat"
    assert told["title"].startswith(f"Over 1 month the forecast {beats} 'same as last month'")


def test_days_that_are_posted_count_before_estimates(small: Project) -> None:
    """A month that was posted while it runs: its days as they are, then those that are estimated."""
    running = live(small, date(2026, 10, 20))
    assert str(running.period) == "2026-10"
    seen = known_beside(small, Asked(), running, date(2026, 10, 20))
    assert (seen.month, seen.through) == (Period(2026, 10), running.complete_to)
    posted = [row for row in small.books.posted("2026-10").to_pylist() if row["day"] <= seen.through]
    mine = [row for row in seen.rows.to_pylist() if row["period"] == "2026-10"]
    assert total(row["amount"] for row in mine) == total(row["amount"] for row in posted)


@pytest.mark.parametrize(
    ("asked", "code", "said"),
    [
        (["--period", "2027-06", "--through", THROUGH], "period-ahead", "ask for 2026-11"),
        (["--period", "2026-07"], "nothing-posted", "nothing is known of 2026-07"),
        (["visoin"], "unknown-owner", "vision"),
        (["--through", "2026-11-31"], "invalid-day", "write it as 2026-11-05"),
        (["--through", "2026-01-31"], "nothing-posted", "nothing is known of"),
    ],
)
def test_what_cannot_be_foreseen_is_said(run: Run, small: Project, asked: list[str], code: str, said: str) -> None:
    shown = run("--project", small.folder, "forecast", *asked)
    assert (shown.code, shown.out) == (1, "")
    assert f"error[{code}]" in shown.err
    assert said in shown.err


def test_a_project_without_any_month_says_so(run: Run, tiny_files: str) -> None:
    shown = run("--project", tiny_files, "forecast")
    assert (shown.code, shown.out) == (1, "")
    assert "error[nothing-posted]" in shown.err


@pytest.fixture
def tiny_files(tmp_path_factory: pytest.TempPathFactory) -> str:
    from tests.cli.tiny import write_tiny

    return str(write_tiny(tmp_path_factory.mktemp("tiny")))


def test_a_day_that_is_not_complete_is_not_known(small: Project) -> None:
    running = live(small, date(2026, 11, 14))
    assert running.complete_to is not None
    seen = known_beside(small, Asked(), running, date(2026, 11, 14))
    assert seen.through == running.complete_to
    with pytest.raises(ProjectError):
        known_beside(small, Asked(period=Period(2026, 12)), running, date(2026, 11, 14) + timedelta(days=1))
