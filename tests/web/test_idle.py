"""Idle and waste: what the reports say, priced by the hour it stood idle, run by run; and only one's own for a viewer."""

from decimal import Decimal
from fractions import Fraction
from typing import Any

import apportion
from apportion.verbs.periods import as_period
from apportion.verbs.project import Project
from apportion.verbs.waste import waste
from tests.cli.conftest import Run, run  # noqa: F401  # a fixture
from tests.web import world
from tests.web.conftest import Clients

MONTH = "2026-10"


def tables(clients: Clients, role: str, where: str = "") -> dict[str, list[dict[str, Any]]]:
    page = clients(role).get(f"/idle.json?period={MONTH}{where}").json()
    return {table["heading"]: table["rows"] for table in page["tables"]}


def test_idle_and_held_are_those_of_the_reports(clients: Clients, small: Project) -> None:
    found = tables(clients, "admin")
    idle, held = (apportion.report(small, name, MONTH) for name in ("idle", "held"))
    rows = found["What stood idle, why, and who carries it"]
    place = [column.name for column in idle.columns].index("amount")
    assert [Decimal(row["amount"]) for row in rows] == [row[place] for row in idle.sections[0].rows]
    assert {row["carried_by"] for row in rows if row["owner"] == "_idle"} == {"platform"}
    own = found["Held and used, by team, in USD"]
    assert sum(Decimal(row["waste"]) for row in own if row["waste"]) == held.sections[0].bill
    assert idle.title in clients("admin").get(f"/idle?period={MONTH}").text


def test_the_hours_of_the_week_come_to_what_was_posted(clients: Clients, small: Project) -> None:
    hours = tables(clients, "finance")["When it stood idle"]
    assert len(hours) == 7 * 24
    posted = apportion.report(small, "idle", MONTH).sections[0].bill
    assert abs(sum(Decimal(row["amount"]) for row in hours) - posted) < Decimal("0.01")


def test_runs_that_wasted_most_by_a_plain_count(clients: Clients, small: Project) -> None:
    """A unit costs (384.37 + 399.99) / 24 / 16 in every hour."""
    price = Fraction(38437 + 39999, 100 * 24 * 16)
    hours = {"vision": Fraction(41, 2), "speech": Fraction(25, 2), "zebra": Fraction(19, 2), "": Fraction(5, 2)}
    teams = {account: team for team, account in world.ACCOUNTS.items()}
    expected = {
        job["job"]: (int(job["gpus"]) - int(job["gpus_used"])) * hours[teams[job["account"]]] * price
        for job in world.jobs(MONTH)
    }
    rows = tables(clients, "admin")["Runs that held the most without using it"]
    for row in rows[:-1]:
        assert abs(Fraction(row["waste"]) - expected[row["run"]]) < Fraction(1, 10**6)
    whole = sum((Fraction(row["waste"]) for row in rows), Fraction(0))
    assert abs(whole - sum(expected.values(), Fraction(0))) < Fraction(1, 10**5)
    held = apportion.report(small, "held", MONTH).sections[0].bill
    assert sum(Decimal(row["waste"]) for row in rows) == held
    assert rows[0]["waste"] == max((row["waste"] for row in rows), key=Decimal)


def test_the_terminal_says_the_same(clients: Clients, small: Project, run: Run) -> None:  # noqa: F811
    page = clients("admin").get(f"/idle.json?period={MONTH}&where=pool=gpus").json()
    printed = run("--project", small.folder, *page["command"].split()[1:], "-o", "json").value()
    assert printed["title"] == page["title"]
    shown = run("--project", small.folder, "report", "waste", "--where", "team=speech", "--period", MONTH, "-o", "json")
    assert shown.value()["bill"] == f"{waste(small, [as_period(MONTH)], ['team=speech']).sections[0].bill:f}".rstrip(
        "0"
    )
    assert {row["owner"] for row in shown.value()["rows"]} == {"speech/asr/grace"}


def test_a_viewer_sees_their_own_and_no_word_of_another(clients: Clients) -> None:
    for role in ("viewer", "lead"):
        for form in ("", ".json", ".csv"):
            answer = clients(role).get(f"/idle{form}?period={MONTH}")
            assert answer.status_code == 200
            assert not [word for word in world.SECRET if word in answer.text], (role, form)
    found = tables(clients, "lead")
    assert {row["owner"] for row in found["What stood idle, why, and who carries it"]} == {"speech"}
    assert {row["owner"] for row in found["Held and used, by team, in USD"]} == {"speech"}
    assert "When it stood idle" not in found
    assert clients("viewer").get(f"/idle?period={MONTH}&where=team=zebra").status_code == 404
