"""The first page: what was spent, on whom, and that it adds up; for everyone what they may see."""

import csv
import io
import sqlite3
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.verbs.billed import Billed
from apportion.verbs.project import Project
from apportion.web.pages.overview import differs
from tests.web import world
from tests.web.conftest import Clients, clients_of


def test_title_and_figures_are_those_of_the_command_line(clients: Clients, small: Project) -> None:
    made = apportion.report(small, "showback", "2026-10")
    text = clients("admin").get("/?period=2026-10").text
    assert made.title in text
    for row in made.sections[0].rows:
        assert f"{row[0]}" in text


def test_page_json_and_csv_have_every_digit(clients: Clients, small: Project) -> None:
    made = apportion.report(small, "showback", "2026-10")
    client = clients("admin")
    tables = client.get("/overview.json?period=2026-10").json()["tables"]
    amounts = {row["owner"]: row["amount"] for row in tables[1]["rows"]}
    place = [column.name for column in made.columns].index("amount")
    assert amounts == {row[0]: f"{row[place]:f}".rstrip("0").rstrip(".") for row in made.sections[0].rows}
    days = list(csv.DictReader(io.StringIO(client.get("/overview.csv?period=2026-10").text)))
    assert len(days) == 31


def test_a_viewer_sees_their_own_team_and_no_word_of_another(clients: Clients) -> None:
    text = clients("viewer").get("/").text
    assert "vision" in text
    assert not [word for word in world.SECRET if word in text]


def test_without_a_session_the_login_is_shown(clients: Clients) -> None:
    client = clients("admin")
    client.cookies.clear()
    answer = client.get("/?period=2026-10", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?to=%2F%3Fperiod%3D2026-10")


def figure(clients: Clients, role: str, query: str = "period=2026-10") -> Any:
    return clients(role).get(f"/overview.json?{query}").json()["figures"][0]


def test_the_tick_says_what_the_bills_say(clients: Clients) -> None:
    asked = sum(Decimal(line["EffectiveCost"]) for line in world.lines("2026-10"))
    assert figure(clients, "finance") == {
        "label": "bill",
        "text": f"{asked:,.2f} USD",
        "note": "= what the bills say ✓",
    }
    assert figure(clients, "finance", "period=2026-Q4")["note"] == "= what the bills say ✓"


@pytest.mark.parametrize(
    ("role", "query"),
    [("viewer", ""), ("lead", ""), ("finance", "where=team%3Dvision"), ("admin", "where=pool%3Dgpus")],
)
def test_of_a_part_nothing_is_said(clients: Clients, role: str, query: str) -> None:
    assert figure(clients, role, f"period=2026-10&{query}")["note"] == ""


def test_broken_books_lose_their_tick(small: Project, tmp_path: Path) -> None:
    """What is gone is told with where to look for it, and to nobody who sees only a part."""
    broken = world.copied(small, tmp_path / "broken")
    with sqlite3.connect(broken.folder / ".apportion" / "books.db") as books:
        books.execute("DROP TRIGGER entries_no_delete")
        only = "WHERE period = '2026-10' AND team = 'zebra' AND day = '2026-10-03' AND pool = 'gpus'"
        gone = sum(Decimal(amount) for (amount,) in books.execute(f"SELECT amount FROM entries {only}"))
        books.execute(f"DELETE FROM entries {only}")
    assert gone > 0
    asked = sum(Decimal(line["EffectiveCost"]) for line in world.lines("2026-10"))
    clients = clients_of(broken.folder)
    assert figure(clients, "finance")["note"] == f"the bills say {asked:,.2f} USD: {-gone:,.2f} USD apart"
    for period in ("2026-10", "2026-Q4"):
        assert '<a href="/health?period=2026-10">' in clients("finance").get(f"/?period={period}").text
    tables = clients("finance").get("/health.json?period=2026-10").json()["tables"]
    (row,) = next(one["rows"] for one in tables if one["heading"] == "1 bill not posted as they say")
    assert (row["bill"], Decimal(row["says"]), Decimal(row["difference"])) == ("Nimbus 2026-10 USD", asked, -gone)
    assert figure(clients, "finance", "period=2026-09")["note"] == "= what the bills say ✓"
    assert figure(clients, "viewer") == figure(clients_of(small.folder), "viewer")


def test_too_much_of_one_bill_does_not_make_up_for_another() -> None:
    some = [Billed("2026-10", name, "USD", Decimal(5), Decimal(posted)) for name, posted in (("a", "7"), ("b", "3"))]
    assert differs(some, "USD") == "2 bills not posted as they say"
    assert differs([*some[:1], replace(some[1], posted=Decimal(4))], "USD") == "the bills say 10.00 USD: 1.00 USD apart"
    dust = replace(some[1], posted=Decimal("3.000000000000000001"))
    assert differs([some[0], dust], "USD").endswith(": 0.000000000000000001 USD apart")
    assert not differs([replace(one, posted=one.says) for one in some], "USD")
