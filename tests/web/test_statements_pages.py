"""Statements on pages: those of the command line, for whom they are, in every format; nothing of what is another's."""

import csv
import html
import io
import json
import re
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.cli.main import main
from apportion.render.statement import render
from apportion.reports.statement.told import told
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.web import world
from tests.web.conftest import Clients, clients_of

CLOSED, POSTED = world.BILLED


def test_the_list_has_every_team_with_what_it_owes(clients: Clients, small: Project) -> None:
    made = statements(small, Wanted(POSTED))
    tables = clients("finance").get(f"/statements.json?period={POSTED}").json()["tables"]
    assert {row["owner"]: row["owed"] for row in tables[0]["rows"]} == {
        one.owner: f"{one.owed / 100:.2f}".rstrip("0").rstrip(".") for one in made
    }
    months = {row["owner"]: row for row in tables[1]["rows"]}
    issued = {one.owner: one for one in statements(small, Wanted(CLOSED))}
    assert {owner: row[CLOSED] for owner, row in months.items()} == {
        owner: f"{one.owed / 100:,.2f}" for owner, one in issued.items()
    }
    assert all(row[POSTED].endswith(" draft") for row in months.values())


def test_issued_ones_have_their_numbers(clients: Clients, small: Project) -> None:
    rows = clients("finance").get(f"/statements.json?period={CLOSED}").json()["tables"][0]["rows"]
    numbers = {one.owner: one.number or None for one in statements(small, Wanted(CLOSED))}
    assert {row["owner"]: row["number"] for row in rows} == numbers
    assert any(numbers.values())


def test_a_statement_says_what_the_printed_one_says(clients: Clients, small: Project) -> None:
    (made,) = statements(small, Wanted(CLOSED, owner="vision"))
    page = clients("viewer").get(f"/statements/{CLOSED}/vision")
    assert page.status_code == 200
    assert f"{made.owed / 100:,.2f} USD" in page.text
    for part in ("Summary", "By pool", "By project"):
        assert f"<h2>{part}</h2>" in page.text
    for line in made.summary:
        assert f"{abs(line.amount) / 100:,.2f}" in page.text
    assert made.number in page.text


def test_rules_are_quoted_as_they_are_written(clients: Clients, small: Project) -> None:
    """Line by line on the page; in Markdown, where a cell is one line, without a trace of how deep they stood."""
    (made,) = statements(small, Wanted(CLOSED, owner="vision"))
    page = html.unescape(clients("viewer").get(f"/statements/{CLOSED}/vision").text)
    printed = clients("viewer").get(f"/statements/{CLOSED}/vision/download?format=md").text
    assert made.how
    for rule in made.how:
        assert all(line.strip() in page for line in rule.clause.splitlines())
    assert "u00a0" not in page + printed


@pytest.mark.parametrize(
    ("form", "kind"),
    [("json", "application/json"), ("csv", "text/csv"), ("md", "text/markdown"), ("html", "text/html")],
)
def test_downloads_are_byte_for_byte_those_of_the_command_line(
    clients: Clients, small: Project, form: str, kind: str
) -> None:
    (made,) = statements(small, Wanted(CLOSED, owner="vision"))
    got = clients("viewer").get(f"/statements/{CLOSED}/vision/download?format={form}")
    assert (got.status_code, got.content) == (200, render(made, form))
    assert got.headers["content-type"].startswith(kind)
    assert f"{CLOSED}-team-vision" in got.headers["content-disposition"]


@pytest.mark.parametrize("month", [CLOSED, POSTED])
def test_a_pdf_is_the_file_that_the_command_line_writes(
    clients: Clients, small: Project, tmp_path: Path, month: str
) -> None:
    """As issued, or as a draft."""
    asked = ["statement", "vision", "--period", month, "--to", str(tmp_path), "--format", "pdf", "--quiet"]
    with pytest.raises(SystemExit) as stop:
        main(["--project", str(small.folder), *asked])
    assert not stop.value.code
    (file,) = tmp_path.iterdir()
    got = clients("viewer").get(f"/statements/{month}/vision/download")
    assert (got.status_code, got.headers["content-type"]) == (200, "application/pdf")
    assert got.headers["content-disposition"].endswith(f"''{file.name}")
    assert got.content == file.read_bytes()


def test_where_no_pdf_can_be_made_an_admin_is_needed(small: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    got = clients_of(small.folder)("viewer").get(f"/statements/{CLOSED}/vision/download")
    assert (got.status_code, "tell an admin" in got.text) == (503, True)


def test_levels(clients: Clients, small: Project) -> None:
    made = statements(small, Wanted(POSTED, "project"))
    rows = clients("finance").get(f"/statements.json?period={POSTED}&level=project").json()["tables"][0]["rows"]
    assert [row["owner"] for row in rows] == [one.owner for one in made]
    assert clients("viewer").get(f"/statements/{POSTED}/vision%2Fdetect?level=project").status_code == 200
    assert clients("admin").get(f"/statements/{POSTED}/research?level=department").status_code == 200
    assert clients("admin").get("/statements?level=galaxy").status_code == 422


def test_others_statements_are_as_if_they_were_not_there(clients: Clients) -> None:
    client = clients("viewer")
    answers = [
        client.get(f"/statements/{POSTED}/{owner}{more}")
        for owner in ("zebra", "nobody-at-all")
        for more in ("", "/download?format=json", ".json", "%2Fhalcyon?level=project")
    ]
    assert {answer.status_code for answer in answers} == {404}
    half = len(answers) // 2
    assert [one.text for one in answers[:half]] == [one.text for one in answers[half:]]
    for level in ("department", "cost_centre", "user"):
        assert client.get(f"/statements?level={level}").status_code == 404
    text = client.get("/statements").text + client.get(f"/statements/{POSTED}/vision").text
    assert not [word for word in world.SECRET if word in text]


def test_whoever_has_no_team_has_no_statement(clients: Clients) -> None:
    assert "No statement" in clients("nobody").get("/statements").text


def test_the_pages_json_holds_the_statement_itself(clients: Clients, small: Project) -> None:
    (made,) = statements(small, Wanted(CLOSED, owner="vision"))
    (got,) = clients("viewer").get(f"/statements/{CLOSED}/vision.json").json()["statements"]
    assert got == json.loads(json.dumps(told(made)))


def test_csv_of_the_list(clients: Clients) -> None:
    rows = list(csv.DictReader(io.StringIO(clients("finance").get("/statements.csv").text)))
    assert {row["owner"] for row in rows} >= {"vision", "speech", "zebra", "platform"}


def test_each_line_is_the_sum_of_the_postings_that_it_leads_to(clients: Clients) -> None:
    client = clients("viewer")
    text = client.get(f"/statements/{POSTED}/vision").text
    found = re.findall(r'href="/ledger\?([^"]+)">([^<]+)</a>', text)
    assert len(found) > 10
    for query, shown in found:
        page = client.get(f"/ledger.json?{html.unescape(query)}").json()
        total = next(one["text"] for one in page["figures"] if one["label"] == "sum in USD")
        figures = [Decimal(one.replace(",", "").replace("\u2212", "-")) for one in (shown, total.removesuffix(" USD"))]
        assert abs(figures[0] - figures[1]) <= Decimal("0.01")
