"""What a run cost: the page says what `apportion cost` says, to those who may see all of its owners."""

from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.render.cost import cost_sheet
from apportion.verbs.dispute import Doubt, Settlement
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.reading import links, same_answer, table

VISION, ZEBRA, RUNNING = "11003", "zjob1003", "11101"


def test_title_figures_and_attempts_are_those_of_cost(clients: Clients, small: Project) -> None:
    for run, role in ((VISION, "viewer"), ("21003", "lead"), (ZEBRA, "finance")):
        found = apportion.cost(small, run)
        page = clients(role).get(f"/runs/{run}.json").json()
        assert page["title"] == cost_sheet(found).title
        (line,) = found.totals
        (rows,) = (one["rows"] for one in page["tables"] if one["heading"] == "Attempts and tasks")
        assert [(row["workload"], Decimal(row["owed"])) for row in rows] == [(run, line.owed)]
        assert Decimal(page["totals"][0]["owed"]) == line.owed
        parts = page["tables"][0]["rows"]
        assert sum(Decimal(row["amount"]) for row in parts) == line.owed
        assert page["owners"] == list(found.owners)


def test_held_and_used_and_what_others_paid(clients: Clients, small: Project) -> None:
    (line,) = apportion.cost(small, "21003").totals
    assert line.adjustments < 0
    page = clients("lead").get("/runs/21003.json").json()
    (held,) = table(page, "Held and used")
    assert (held["unit"], held["held"], held["used"]) == ("GPU", "25", "12.5")
    assert Decimal(held["waste"]) == line.waste
    (paid,) = (one["text"] for one in page["figures"] if one["label"] == "others paid")
    assert paid == f"{-line.adjustments:,.2f} USD"


def test_it_says_by_which_rule_it_is_theirs(clients: Clients) -> None:
    reads = "by the owner rule that reads slurm.account = vis-core, slurm.user = ada, slurm.wckey = detect"
    assert reads in clients("viewer").get(f"/runs/{VISION}").text
    assert reads.replace("rule that", "rule (policy.yaml:12) that") in clients("finance").get(f"/runs/{VISION}").text


def test_every_step_is_one_click_away(clients: Clients) -> None:
    found = dict(links(clients("viewer").get(f"/runs/{VISION}").text))
    assert found["Every step of the calculation"] == f"/explain?period=2026-10&what=job%3A{VISION}"
    assert found["vision"].startswith("/teams/vision?")


def test_a_run_of_the_running_month_is_there_before_its_bill(clients: Clients) -> None:
    text = clients("viewer").get(f"/runs/{RUNNING}").text
    assert "(estimated)" in text
    assert "nobody yet: nothing is charged for it" in text


@pytest.mark.parametrize("role", ["viewer", "lead"])
def test_another_s_run_is_no_run(clients: Clients, role: str) -> None:
    client = clients(role)
    for run in (ZEBRA, "zjob1101", "41003", "zebra-data"):  # also of the running month, of nobody, and a volume
        assert same_answer(client, f"/runs/{run}", "/runs/nosuch")
    for run in (VISION, "21003", RUNNING):
        text = client.get(f"/runs/{run}").text
        assert not [word for word in world.SECRET if word in text]


@pytest.fixture(scope="module")
def shared(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """A run with an attempt of vision and one of zebra, and one with two attempts of vision."""
    project = world.copied(small, tmp_path_factory.mktemp("shared") / "project")
    file = project.folder / "usage" / "jobs-2026-10.csv"
    head, *rows = file.read_text("utf-8").splitlines()
    names = head.split(",")
    first = dict(zip(names, rows[0].split(","), strict=True))
    for job, run, account in (
        ("both.1", "both", "vis-core"),
        ("both.2", "both", "zbr-run"),
        ("mine.1", "mine", "vis-core"),
        ("mine.2", "mine", "vis-core"),
    ):
        rows.append(
            ",".join((first | {"job": job, "run": run, "account": account, "name": f"n-{run}"})[name] for name in names)
        )
    file.write_text("\n".join([head, *rows]) + "\n", "utf-8")
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    yield project
    project.books.close()


def test_all_owners_of_a_run_must_be_theirs(shared: Project) -> None:
    clients = clients_of(Path(shared.folder))
    client = clients("viewer")
    for name in ("both", "both.1", "both.2"):
        assert same_answer(client, f"/runs/{name}", "/runs/nosuch")
    assert client.get("/search.json?q=both").json()["counts"] == {}
    assert client.get("/runs/mine.1").status_code == 200
    assert clients("finance").get("/runs/both").status_code == 200


TRACKER = """
[[sources]]
name = "tracker"
kind = "usage"
path = "usage/seen-*.csv"
columns = { workload = "job", run = "run", name = "name", resource = "node", start = "start", end = "end" }
meters = { cpu = "cpus" }
"""


def test_a_run_that_two_sources_saw_is_counted_once(small: Project, tmp_path: Path) -> None:
    project = world.copied(small, tmp_path / "project")
    toml = project.folder / "apportion.toml"
    toml.write_text(toml.read_text("utf-8") + TRACKER, "utf-8")
    row = "11007,11007,,node-1,2026-10-07T00:00:00Z,2026-10-07T20:30:00Z,4"
    (project.folder / "usage" / "seen-2026-10.csv").write_text(f"job,run,name,node,start,end,cpus\n{row}\n", "utf-8")
    seen = apportion.open_project(project.folder)
    apportion.ingest(seen)
    assert seen.books.scan("workloads")["workload"].to_pylist().count("11007") == 2
    (attempt,) = apportion.cost(seen, "11007").attempts
    before = apportion.cost(small, "11007")
    assert (attempt.outcome, attempt.line.owed) == ("failed", before.totals[0].owed)
    assert before.attempts == (attempt,)


def test_a_source_that_only_counts_makes_no_run_of_an_attempt(shared: Project, tmp_path: Path) -> None:
    project = world.copied(shared, tmp_path / "project")
    toml = project.folder / "apportion.toml"
    toml.write_text(
        toml.read_text("utf-8") + TRACKER.replace('"tracker"', '"counter"').replace(' run = "run", name = "name",', ""),
        "utf-8",
    )
    rows = [f"{job},node-1,2026-10-07T00:00:00Z,2026-10-07T20:30:00Z,4" for job in ("mine.2", "both.1")]
    (project.folder / "usage" / "seen-2026-10.csv").write_text(
        "\n".join(["job,node,start,end,cpus", *rows, ""]), "utf-8"
    )
    seen = apportion.open_project(project.folder)
    apportion.ingest(seen)
    assert {"mine.2", "both.1"} <= set(seen.books.scan("workloads")["run"].to_pylist())
    assert apportion.cost(seen, "mine.2") == apportion.cost(seen, "mine")
    client = clients_of(project.folder)("viewer")
    assert client.get("/runs/mine.2.json").json()["title"] == client.get("/runs/mine.json").json()["title"]
    assert "/runs/mine.2?" not in client.get("/idle").text + client.get("/teams/vision").text
    assert client.get("/search.json?q=both").json()["counts"] == {}
    assert same_answer(client, "/runs/both.1", "/runs/nosuch")


def test_attempts_of_a_run_add_up(shared: Project) -> None:
    found = apportion.cost(shared, "mine")
    page = clients_of(Path(shared.folder))("viewer").get("/runs/mine.2.json").json()
    rows = table(page, "Attempts and tasks")
    assert [row["workload"] for row in rows] == ["mine.1", "mine.2"]
    assert sum(Decimal(row["owed"]) for row in rows) == found.totals[0].owed
    team = clients_of(Path(shared.folder))("viewer").get("/teams/vision").text
    assert "/runs/mine?" in team
    assert "/runs/both?" not in team  # charged to them, too: named, without a link


@pytest.fixture(scope="module")
def moved(small: Project, tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A job of vision stands with zebra now, whom vision's viewer does not see."""
    made = world.copied(small, tmp_path_factory.mktemp("moved") / "project")
    opened = apportion.open_dispute(made, "2026-10", Doubt(f"job:{VISION}", "not ours")).dispute
    apportion.settle(made, opened.number, Settlement("reclassed", "zebra asked for it", "zebra"))
    return made


@pytest.mark.parametrize(
    "path", [f"/runs/{VISION}", f"/runs/{VISION}.json", f"/api/v1/runs/{VISION}", "/api/v1/statements/2026-10/vision", "/statements/2026-10/vision"]
)  # fmt: skip
def test_who_has_a_job_now_is_named_to_those_who_may_know(moved: Project, path: str) -> None:
    client = clients_of(moved.folder)
    shown = {role: client(role).get(path) for role in ("viewer", "finance")}
    assert {one.status_code for one in shown.values()} == {200}
    assert "zebra" in shown["finance"].text
    assert "another" in shown["viewer"].text
    assert "to zebra" not in shown["viewer"].text
    assert "zebra asked" not in shown["viewer"].text
