"""Wherever what a team owes meets what its statement says, the way from one to the other is told, in the same words: `platform` carries for all."""

from decimal import Decimal

import pytest

import apportion
from apportion.model.times import parse_period
from apportion.render.statement import render
from apportion.reports.bridge import bridge
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.web import world
from tests.web.conftest import Clients

OPEN, SHUT = "2026-10", "2026-09"
SYSTEM = ("_idle", "_unallocated", "_residual")


@pytest.fixture(scope="module")
def told(small: Project) -> str:
    """From the postings, added up here."""
    sums: dict[str, Decimal] = {}
    for row in small.books.posted(OPEN).to_pylist():
        sums[row["team"]] = sums.get(row["team"], Decimal(0)) + row["amount"]
    own = round(sums["platform"], 2)
    carried = {owner: amount for owner in SYSTEM if (amount := round(sums.get(owner, Decimal(0)), 2))}
    assert set(carried) >= {"_idle", "_unallocated"}
    idle, nobody = (f"{carried[owner]:,}" for owner in ("_idle", "_unallocated"))
    whole = own + sum(carried.values())
    return f"{own:,} of its own, {idle} that it carries for _idle and {nobody} for _unallocated: {whole:,} USD"


def test_on_the_page_of_the_team(clients: Clients, told: str) -> None:
    text = clients("finance").get(f"/teams/platform?period={OPEN}").text
    assert told in text
    assert "that it carries" not in clients("viewer").get(f"/teams/vision?period={OPEN}").text


def test_beside_the_list_of_teams(clients: Clients, told: str) -> None:
    assert f"Statement of platform: {told}." in clients("finance").get(f"/teams?period={OPEN}").text
    for other in (
        clients("viewer").get(f"/teams?period={OPEN}"),
        clients("finance").get(f"/teams?period={OPEN}&where=team=vision"),
    ):
        assert other.status_code == 200
        assert "that it carries" not in other.text


def test_on_the_statement_while_its_month_is_open(small: Project, told: str) -> None:
    (draft,) = statements(small, Wanted(OPEN, "team", "platform"))
    assert f"{told}." in render(draft, "html").decode()
    assert told.endswith(f"{Decimal(draft.owed) / 100:,} USD")
    (issued,) = statements(small, Wanted(SHUT, "team", "platform"))
    assert issued.issued
    assert b"of its own" not in render(issued, "html")


def test_where_the_team_is_explained(small: Project, told: str) -> None:
    assert apportion.explain(small, "platform", OPEN).title.endswith(f" Its statement: {told}.")
    assert "statement" not in apportion.explain(small, "vision", OPEN).title


def test_below_the_showback(small: Project, told: str) -> None:
    assert f"Statement of platform: {told}." in apportion.report(small, "showback", OPEN).notes
    for made in (
        apportion.report(small, "showback", OPEN, by="pool"),
        apportion.report(small, "showback", OPEN, ["team=vision"]),
        apportion.report(small, "showback", [parse_period(month) for month in world.BILLED]),
    ):
        assert not any("that it carries" in note for note in made.notes)


def test_nothing_carried_is_no_bridge() -> None:
    assert bridge(Decimal(5), {"_idle": Decimal(0), "_residual": Decimal("0.000000001")}, "USD") == ""
    assert (
        bridge(Decimal("-1.5"), {"_idle": Decimal("2.005")}, "USD")
        == "-1.50 of its own and 2.00 that it carries for _idle: 0.50 USD"
    )
    three = {"_idle": Decimal(1000), "_unallocated": Decimal(2), "_residual": Decimal("0.01")}
    assert (
        bridge(Decimal(0), three, "JPY")
        == "0 of its own, 1,000 that it carries for _idle and 2 for _unallocated: 1,002 JPY"
    )
