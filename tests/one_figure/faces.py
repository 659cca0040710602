"""What each face prints of a month, read back from what it printed: owner, pool, component, reason or cause, with its figure as text."""

import csv
import io
import re
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, redirect_stderr, redirect_stdout
from decimal import Decimal
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from fastapi.testclient import TestClient

import apportion
from apportion.books.shapes import PLAN
from apportion.cli.main import main
from apportion.model.currencies import MINOR_DIGITS
from apportion.model.rows import SYSTEM_OWNERS
from apportion.verbs.project import Project
from apportion.web.app import create_app
from tests.web.conftest import clients_at

Key = tuple[str, str, str]  # dimension, name and currency
Figures = dict[Key, str]
Face = Callable[[Project, str, Path], Figures]
DIMENSIONS = ("team", "department", "cost_centre", "project", "user", "pool", "component", "reason", "cause")
MONEY = re.compile(r"-?[\d,]+(?:\.\d+)?")


def written(amount: Decimal | str, currency: str) -> str:
    """The figure as people read it. One that has more digits than its currency keeps them, and so differs."""
    amount = Decimal(str(amount).replace(",", ""))
    places = MINOR_DIGITS.get(currency, 2)
    return f"{amount:,.{places}f}" if amount == round(amount, places) else f"{amount:,f}"


def command(project: Project, *arguments: str) -> str:
    """What the command line prints."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()), pytest.raises(SystemExit) as stop:
        main(["--project", str(project.folder), *arguments])
    assert not stop.value.code, (arguments, out.getvalue())
    return out.getvalue()


def of_reports(project: Project, month: str, _: Path) -> Figures:
    """`report showback`, by every dimension, as CSV."""
    found: Figures = {}
    for by in DIMENSIONS:
        text = command(project, "report", "showback", "--period", month, "--by", by, "-o", "csv")
        for row in csv.DictReader(io.StringIO(text)):
            name = row.get("owner") or row.get(by) or ""
            found[by, name, row["currency"]] = written(row["amount"], row["currency"])
    return found


def of_tables(project: Project, month: str, _: Path) -> Figures:
    """The same as a person reads it in the terminal, by team."""
    found, currency = Figures(), ""
    for line in command(project, "report", "showback", "--period", month).splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if cells[0] == "team":
            currency = next(cell.split()[-1] for cell in cells if cell.startswith("amount"))
            place = -2  # the last but one: after it comes the share
        elif currency and len(cells) > 2 and MONEY.fullmatch(cells[place]) and cells[0] not in ("", "total"):
            found["team", cells[0], currency] = cells[place]
    return found


def of_the_library(project: Project, month: str, _: Path) -> Figures:
    found: Figures = {}
    for by in DIMENSIONS:
        for row in apportion.report(project, "showback", month, by=by).to_arrow().to_pylist():
            name = row.get("owner", row.get(by))
            found[by, name, row["currency"]] = written(row["amount"], row["currency"])
    return found


def of_the_api(project: Project, month: str, _: Path) -> Figures:
    client, found = admin(project), Figures()
    for by in DIMENSIONS:
        answer = client.get(f"/api/v1/reports/showback?period={month}&by={by}").raise_for_status().json()
        found |= of_answer(answer, by)
    return found


def of_answer(answer: Mapping[str, Any], by: str) -> Figures:
    found: Figures = {}
    for section in answer["sections"]:
        for row in section["rows"]:
            currency = section["currency"]
            found[by, row.get("owner", row.get(by)), currency] = written(row["amount"], currency)
    return found


def of_team_pages(project: Project, month: str, _: Path) -> Figures:
    """The list of teams, and of each team its headline and its pools, as CSV."""
    client, found = admin(project), Figures()
    for row in page_rows(client, f"/teams.csv?period={month}"):
        if row.get("amount"):
            found["team", row["owner"], row["currency"]] = written(row["amount"], row["currency"])
    return found


def of_pool_pages(project: Project, month: str, _: Path) -> Figures:
    found: Figures = {}
    for row in page_rows(admin(project), f"/pools.csv?period={month}"):
        if row["amount"]:
            found["pool", row["pool"], row["currency"]] = written(row["amount"], row["currency"])
    return found


def of_idle_pages(project: Project, month: str, _: Path) -> Figures:
    """What stood idle, by its cause: all of it is the system's here."""
    sums: dict[Key, Decimal] = defaultdict(Decimal)
    for row in page_rows(admin(project), f"/idle.csv?period={month}"):
        sums["team", row["owner"], row["currency"]] += Decimal(row["amount"])
    return {key: written(amount, key[2]) for key, amount in sums.items()}


def of_ledgers(project: Project, month: str, _: Path) -> Figures:
    """The sum that stands above the postings of a team, a pool or a reason."""
    found: Figures = {}
    for by in ("team", "pool", "reason"):
        for name in project.books.posted(month)[by].unique().to_pylist():
            title = command(project, "ledger", "--period", month, "--where", f"{by}={name or '(none)'}").splitlines()[0]
            for amount, currency in re.findall(r"(-?[\d,]+(?:\.\d+)?) ([A-Z]{3})\b", title.rpartition(": ")[2]):
                found[by, name or "(none)", currency] = amount
    return found


def of_plans(project: Project, month: str, _: Path) -> Figures:
    """`plan` of a month that is posted. It is about the month's own bills: of one that holds corrections or credits it says another thing."""
    if any(run.period == month and run.kind != PLAN for run in project.books.runs()):
        return {}
    made = apportion.plan(project, month)
    return {("team", row.owner, row.currency): written(row.before, row.currency) for row in made.rows}


def of_statements(project: Project, month: str, _: Path) -> Figures:
    """Statements of teams, projects and users: what is their own, without what they carry for others."""
    found: Figures = {}
    for level in ("team", "project", "user"):
        for one in apportion.statements(project, apportion.StatementWish(month, level)):
            carried = sum(line.amount for line in one.summary if "carried" in line.name or line.name in SYSTEM_OWNERS)
            if not carried and one.owed:
                found[level, one.owner, one.currency] = written(one.owed, one.currency)
    return found


def of_workbooks(project: Project, month: str, folder: Path) -> Figures:
    """Sheets Teams and Pools, and the sums of the rows that a pivot table adds up."""
    file = folder / "month.xlsx"
    apportion.export_excel(project, month, file)
    book = openpyxl.load_workbook(file, read_only=True, data_only=True)
    found: Figures = {}
    head, *rows = [[str(cell or "") for cell in row] for row in book["Data"].iter_rows(values_only=True)]
    places = {name.lower().replace(" ", "_"): place for place, name in enumerate(head)}
    for by in ("team", "pool", "component", "reason", "cause"):
        sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
        for row in rows:
            sums[row[places[by]] or "(none)", row[places["currency"]]] += Decimal(row[places["exact_amount"]])
        found |= {(by, name, currency): written(amount, currency) for (name, currency), amount in sums.items()}
    return found


def of_metrics(project: Project, month: str, _: Path) -> Figures:
    """The samples that Prometheus scrapes, added up by team and by pool."""
    text = admin(project).get("/metrics").text
    sums: dict[Key, Decimal] = defaultdict(Decimal)
    for line in text.splitlines():
        if not line.startswith("apportion_month_cost{"):
            continue
        labels, value = dict(re.findall(r'(\w+)="([^"]*)"', line)), line.rsplit(" ", 1)[1]
        if (labels["period"], labels["state"]) == (month, "posted"):
            for by in ("team", "pool"):
                sums[by, labels[by], labels["currency"]] += Decimal(repr(float(value)))
    return {key: written(amount, key[2]) for key, amount in sums.items()}


def of_views(project: Project, month: str, _: Path) -> Figures:
    """What a BI tool reads of the database."""
    project.books.views.create()
    found: Figures = {}
    with closing(sqlite3.connect(project.folder / ".apportion" / "books.db")) as database:
        for by in ("team", "department", "cost_centre", "pool", "component", "reason", "cause"):
            sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
            query = f"SELECT {by}, currency, amount, team FROM apportion_amounts WHERE period = ?"
            for name, currency, amount, team in database.execute(query, [month]):
                system = by in ("department", "cost_centre") and team in SYSTEM_OWNERS
                sums[team if system else name or "(none)", currency] += Decimal(amount)
            found |= {(by, name, currency): written(amount, currency) for (name, currency), amount in sums.items()}
    return found


def of_api_months(project: Project, month: str, _: Path) -> Figures:
    """What the API, and so an assistant, says that a month comes to."""
    found: Figures = {}
    for row in admin(project).get("/api/v1/periods").raise_for_status().json()["items"]:
        if row["period"] == month:
            found |= {("all", "", one["currency"]): written(one["amount"], one["currency"]) for one in row["amounts"]}
    return found


def of_months(project: Project, month: str, _: Path) -> Figures:
    (mine,) = (one for one in apportion.months(project) if one.period == month)
    return {("all", "", currency): written(amount, currency) for currency, amount in mine.amounts.items()}


def of_explanations(project: Project, month: str, _: Path) -> Figures:
    """The headline of every team: what it owes, with corrections and credits where the month holds some."""
    found: Figures = {}
    rows = apportion.report(project, "showback", month).to_arrow().to_pylist()
    for team in sorted({row["owner"] for row in rows} - set(SYSTEM_OWNERS)):
        title = apportion.explain(project, team, month).title
        said = title.rpartition(" beside that, ")[2].partition(" in all")[0] if " in all" in title else title
        for amount, currency in re.findall(r"(-?[\d,]+(?:\.\d+)?) ([A-Z]{3})\b", said.partition(" for ")[0]):
            found["team", team, currency] = amount
    return found


def admin(project: Project) -> TestClient:
    return clients_at(create_app(project.folder))("admin")


def page_rows(client: TestClient, path: str) -> Iterator[dict[str, str]]:
    answer = client.get(path).raise_for_status()
    yield from csv.DictReader(io.StringIO(answer.text))


FACES: Mapping[str, Face] = {
    "report, as CSV": of_reports,
    "report, as a table": of_tables,
    "library": of_the_library,
    "API": of_the_api,
    "pages of teams": of_team_pages,
    "pages of pools": of_pool_pages,
    "page of idle": of_idle_pages,
    "ledger": of_ledgers,
    "plan": of_plans,
    "statements": of_statements,
    "workbook": of_workbooks,
    "metrics": of_metrics,
    "views": of_views,
    "months of the API": of_api_months,
    "months": of_months,
    "explain": of_explanations,
}
