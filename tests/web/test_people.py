"""Teams, projects and users: their figures are those of the command line, and nobody reads of a team that is not theirs."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.model.times import parse_period
from apportion.reports.report import Cell
from apportion.verbs.moved import teams_moved
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.reading import links, same_answer, table

MONTH, BEFORE = world.BILLED[1], world.BILLED[0]


def reported(project: Project, by: str, *where: str, month: str = MONTH) -> dict[str, Decimal]:
    made = apportion.report(project, "showback", month, where, by=by)
    place = [column.name for column in made.columns].index("amount")
    return {str(row[0]): amount(row[place]) for section in made.sections for row in section.rows}


def amount(cell: Cell) -> Decimal:
    assert isinstance(cell, Decimal)
    return cell


def figure(page: dict[str, list[dict[str, str]]], label: str) -> str:
    return next(one["text"] for one in page["figures"] if one["label"] == label)


def test_all_teams_with_amount_share_and_change(clients: Clients, small: Project) -> None:
    now, past = (reported(small, "team", month=month) for month in (MONTH, BEFORE))
    bill = sum(now.values())
    (rows,) = (one["rows"] for one in clients("finance").get(f"/teams.json?period={MONTH}").json()["tables"])
    teams = {team: value for team, value in now.items() if not team.startswith("_")}
    assert {row["owner"]: Decimal(row["amount"]) for row in rows} == teams
    assert all(Decimal(row["change"]) == now[row["owner"]] - past[row["owner"]] for row in rows)
    assert all(abs(Decimal(row["share"]) - now[row["owner"]] / bill) < Decimal("0.000001") for row in rows)
    held = apportion.report(small, "held", MONTH).sections[0].rows
    wastes = {str(row[0]): row[-1] for row in held if row[-1] and row[0] in teams}
    assert {row["owner"]: Decimal(row["waste"]) for row in rows if Decimal(row["waste"] or 0)} == wastes


def test_a_team_s_title_and_tables_are_those_of_showback(clients: Clients, small: Project) -> None:
    page = clients("viewer").get(f"/teams/vision.json?period={MONTH}").json()
    assert (
        page["title"]
        == "vision owes 1,017.64 USD for 2026-10, 15.02 USD more than the month before; most of it is disks."
    )
    owed = reported(small, "team")["vision"]
    for by in ("pool", "project", "user", "reason"):
        first = "owner" if by in ("project", "user") else by
        rows = {row[first]: Decimal(row["amount"]) for row in table(page, f"By {by}")}
        assert rows == reported(small, by, "team=vision")
        assert sum(rows.values()) == owed
    days = page["tables"][0]["rows"]
    assert [row["day"] for row in days] == [f"{day:02}" for day in range(1, 32)]
    assert Decimal(days[-1][MONTH]) == owed
    by_day = reported(small, "day", "team=vision")
    assert Decimal(days[9][MONTH]) == sum(value for day, value in by_day.items() if day <= f"{MONTH}-10")


def test_what_moved_is_what_the_statement_says(clients: Clients, small: Project) -> None:
    (said,) = statements(small, Wanted(MONTH, "team", "speech"))
    assert said.before is not None
    page = clients("lead").get(f"/teams/speech.json?period={MONTH}").json()
    rows = page["tables"][1]["rows"]
    assert sum(Decimal(row["amount"]) for row in rows) == Decimal(said.owed - said.before) / 100
    assert [(row["pool"], Decimal(row["amount"])) for row in rows] == [
        (one.pool, Decimal(one.amount) / 100) for one in said.changes
    ]


@pytest.mark.parametrize("month", world.BILLED)
def test_moves_of_every_team_are_those_of_their_statements(small: Project, month: str) -> None:
    told = {one.owner: (one.owed, one.before, one.changes) for one in teams_moved(small, parse_period(month))}
    assert told == {one.owner: (one.owed, one.before, one.changes) for one in statements(small, Wanted(month))}


def test_what_a_team_carries_for_others_stands_beside_what_it_owes(clients: Clients, small: Project) -> None:
    (said,) = statements(small, Wanted(MONTH, "team", "platform"))
    page = clients("finance").get(f"/teams/platform.json?period={MONTH}").json()
    assert figure(page, "on its statement") == f"{Decimal(said.owed) / 100:,f} USD"
    assert page["title"].startswith(f"platform owes {reported(small, 'team')['platform']:,.2f} USD")


def test_costliest_runs_are_their_charges(clients: Clients, small: Project) -> None:
    page = clients("viewer").get(f"/teams/vision.json?period={MONTH}").json()
    charges = small.books.scan("charges").to_pylist()
    sums: dict[str, Decimal] = {}
    for row in charges:
        if (row["period"], row["team"]) == (MONTH, "vision"):
            sums[row["workload"]] = sums.get(row["workload"], Decimal(0)) + row["amount"]
    rows = table(page, "Runs that cost most")
    assert {row["run"]: Decimal(row["amount"]) for row in rows} == sums
    assert Decimal(rows[0]["amount"]) == max(sums.values())


def test_a_project_and_a_user_come_to_what_showback_says(clients: Clients, small: Project) -> None:
    client = clients("viewer")
    project = client.get(f"/projects/vision/detect.json?period={MONTH}").json()
    owed = reported(small, "project", "team=vision")["vision/detect"]
    assert f"vision/detect owes {owed:,.2f} USD" in project["title"]
    user = client.get(f"/users/ada.json?period={MONTH}").json()
    assert f"The work of ada comes to {owed:,.2f} USD" in user["title"]
    assert {row["owner"]: Decimal(row["amount"]) for row in table(user, "By team")} == {"vision": owed}


def test_my_costs_are_those_of_my_name(clients: Clients) -> None:
    client = clients("viewer")
    answer = client.get("/me?period=2026-10", follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/users/ada?period=2026-10")
    assert client.get("/me.json?period=2026-10").json()["user"] == "ada"
    assert "Nothing is posted for the work of root for 2026-10." in clients("admin").get("/me").text


def test_filters_narrow_a_page_and_stay_in_its_links(clients: Clients, small: Project) -> None:
    client = clients("viewer")
    text = client.get(f"/teams/vision?period={MONTH}&where=pool%3Ddisks").text
    disks = reported(small, "pool", "team=vision")["disks"]
    assert f"vision owes {disks:,.2f} USD" in text
    permalink = dict(links(text))["Permalink"]
    assert client.get(permalink).text == text
    assert "where=pool%3Ddisks" in permalink
    whole = client.get(f"/teams/vision.json?period={MONTH}&where=team%3Dspeech").json()
    assert whole["title"] == client.get(f"/teams/vision.json?period={MONTH}").json()["title"]


def test_every_link_between_these_pages_leads_somewhere(clients: Clients) -> None:
    client, seen = clients("viewer"), set()
    todo = ["/teams", "/users/ada"]
    while todo:
        path = todo.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = client.get(path)
        assert answer.status_code == 200, path
        found = [href for _, href in links(answer.text)]
        todo += [href for href in found if href.startswith(("/teams/", "/projects/", "/users/", "/runs/"))]
    assert {path.split("/")[1].partition("?")[0] for path in seen} == {"teams", "projects", "users", "runs"}


@pytest.mark.parametrize("role", ["viewer", "lead", "nobody"])
def test_no_word_of_another_team(clients: Clients, role: str) -> None:
    client = clients(role)
    for month in world.BILLED:
        for path in (
            "/teams",
            "/teams/vision",
            "/teams/speech",
            "/projects/vision/detect",
            "/users/ada",
            "/users/grace",
        ):
            for form in ("", ".json", ".csv"):
                text = client.get(f"{path}{form}?period={month}").text
                assert not [word for word in world.SECRET if word in text], (path, form)


def test_another_s_and_nobody_s_are_the_same(clients: Clients) -> None:
    for role in ("viewer", "lead"):
        client = clients(role)
        assert same_answer(client, "/teams/zebra", "/teams/nosuch")
        assert same_answer(client, "/projects/zebra/halcyon", "/projects/zebra/nosuch")
        assert same_answer(client, "/projects/zebra/halcyon", "/projects/nosuch/nosuch")
        assert same_answer(client, "/users/quagga", "/users/nosuch")
    assert same_answer(clients("finance"), "/teams/_idle", "/teams/nosuch")


@pytest.fixture(scope="module")
def budgeted(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = world.copied(small, tmp_path_factory.mktemp("budgeted") / "project")
    apportion.set_budget(project, "vision", "1000", MONTH)
    apportion.set_budget(project, "zebra", "99999", MONTH)
    yield project
    project.books.close()


def test_a_budget_stands_beside_what_is_owed(budgeted: Project) -> None:
    page = clients_of(Path(budgeted.folder))("viewer").get(f"/teams/vision.json?period={MONTH}").json()
    owed = reported(budgeted, "team")["vision"]
    assert figure(page, "over budget by") == f"{owed - 1000:,.2f} USD"
    assert {row["budget"] for row in page["tables"][0]["rows"]} == {"1000"}
    assert "99,999" not in str(page)


def test_as_of_a_day_before_anything_was_posted_there_is_nothing(clients: Clients) -> None:
    answer = clients("viewer").get(f"/teams/vision?period={MONTH}&as_of=2020-01-01")
    assert answer.status_code == 404
