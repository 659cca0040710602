"""Is the data whole and fresh: by the books' deliveries; and work that nobody owns, with a rule for it and what that does."""

import re
from decimal import Decimal
from pathlib import Path

import apportion
from apportion.model.times import parse_period
from apportion.reports.sums import grouped, total
from apportion.verbs.brought import brought
from apportion.verbs.check import check, check_sheet
from apportion.verbs.health import Freshness, health, title_of, unmapped
from apportion.verbs.project import Project
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.forms import sent

OCTOBER = parse_period("2026-10")


def test_each_day_of_each_source_is_told(clients: Clients, small: Project) -> None:
    made = health(small, OCTOBER)
    assert set(made.days) == {"cloud", "slurm", "disks", "nodes"}
    days = {source: [day.day for day, status in days if status == "complete"] for source, days in made.days.items()}
    whole = list(range(1, 32))
    assert days == {"cloud": whole, "slurm": [1, 3, 5, 7, 9, 11, 13], "disks": whole, "nodes": whole}
    assert {status for _, status in made.days["slurm"]} == {"complete", "no row"}
    rows = clients("finance").get("/health.json?period=2026-10").json()["tables"][0]["rows"]
    assert {row["source"]: row["complete"] for row in rows} == {name: len(some) for name, some in days.items()}
    assert made.title == "Everything is in the books, but slurm has no row on 24 days of 2026-10."


def test_a_month_without_files_is_a_hole_and_in_the_title(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    text = (own.folder / "apportion.toml").read_text("utf-8")
    (own.folder / "apportion.toml").write_text(text + EXTRA, "utf-8")
    for month in ("2026-09", "2026-11"):
        (own.folder / "usage" / f"late-{month}.csv").write_bytes(
            (own.folder / "usage" / f"jobs-{month}.csv").read_bytes()
        )
    own = apportion.open_project(own.folder)
    apportion.ingest(own, ["late"])
    made = health(own, OCTOBER)
    jobs = {day for day, status in made.days["late"] if status == "no row"}
    assert len(jobs) == 31
    assert {status for _, status in health(own, parse_period("2027-01")).days["late"]} == {"not due"}
    assert made.title.startswith("Everything is in the books, but ")
    assert "late has no row on 31 days of 2026-10" in made.title


EXTRA = """
[[sources]]
name = "late"
kind = "usage"
path = "usage/late-*.csv"
columns = { workload = "job", resource = "node", start = "start", end = "end" }
meters = { gpu = "gpus" }
"""


def test_the_title_names_what_is_behind() -> None:
    fine = Freshness("cloud", "focus", 0, 86_400, 0, 0)
    late = Freshness("slurm", "slurm", 0, 86_400, 2, 0)
    never = Freshness("power", "usage", 0, 0, 0, 0)
    assert title_of([fine]) == "Everything is fresh: 1 source without a gap."
    assert title_of([fine, late]) == "slurm is 2 days behind."
    assert title_of([late, never, late]) == "slurm is 2 days behind, power has brought nothing yet, and 1 more such."


def test_what_nobody_owns_adds_up_to_what_is_posted(clients: Clients, small: Project) -> None:
    gaps = unmapped(small, OCTOBER)
    posted = grouped(small.books.posted("2026-10"), ("team", "cause"))
    assert total(gap.amount for gap in gaps) == posted["_unallocated", "no owner"]
    assert [(dict(gap.labels), gap.count) for gap in gaps] == [({"slurm.account": "odd-one"}, 7)]
    table = next(
        one
        for one in clients("admin").get("/health.json?period=2026-10").json()["tables"]
        if one["heading"].startswith("Work that")
    )
    assert sum(Decimal(row["amount"]) for row in table["rows"]) == posted["_unallocated", "no owner"]


def test_an_owner_is_given_previewed_and_kept_as_a_draft(small: Project, tmp_path: Path) -> None:
    own = world.copied(small, tmp_path / "own")
    before = (own.folder / "policy.yaml").read_bytes()
    finance = clients_of(own.folder)("finance")
    link = re.search(r'href="(/health/owner[^"]+)"', finance.get("/health?period=2026-10").text)
    assert link
    page = link[1].replace("&amp;", "&").replace("odd-one", "odd-*") + "&team=vision&project=strays"
    text = finance.get(page).text
    rule = '- {when: {slurm.account: "odd-*"}, team: vision, project: strays}'
    assert rule in text.replace("&#34;", '"')
    assert "It would be line 15 of policy.yaml" in text
    assert "Computed again over 2026-10" in text
    answer = finance.get(page.replace("?", ".json?")).json()
    rows = {row["owner"]: Decimal(row["change"]) for row in answer["tables"][0]["rows"]}
    assert rows["vision"] > 0 > rows["_unallocated"]
    assert (own.folder / "policy.yaml").read_bytes() == before
    fields = {"label": "slurm.account", "value": "odd-*", "team": "vision", "project": "strays"}
    assert sent(finance, page, "/drafts/owner", **fields, why="").status_code == 422
    assert sent(finance, page, "/drafts/owner", **fields, why="they are vision's").status_code == 303
    draft = apportion.drafts(own)[-1]
    lines = before.decode().splitlines(keepends=True)
    assert draft.text == "".join([*lines[:14], f"  {rule}\n", *lines[14:]])


def test_a_rule_that_cannot_be_written_is_told_on_the_page(clients: Clients) -> None:
    text = clients("finance").get("/health/owner?label=slurm.account&value=odd-*&team=vision&project=%7Bopen").text
    assert "That rule cannot be written" in text
    assert "policy.yaml:15:" in text


def test_pages_api_and_command_line_count_the_same(small: Project, tmp_path: Path) -> None:
    """A row that cannot be read, two that contradict each other, and a source that apportion.toml no longer names."""
    own = world.copied(small, tmp_path / "own")
    jobs = own.folder / "usage" / "jobs-2026-10.csv"
    head, first, *rest = jobs.read_text("utf-8").splitlines()
    end = head.split(",").index("end")
    unread = [*first.split(",")[:end], "soon", *first.split(",")[end + 1 :]]
    gpus = head.split(",").index("gpus")
    other = [*first.split(",")[:gpus], "7", *first.split(",")[gpus + 1 :]]
    jobs.write_text("\n".join([head, first, ",".join(other), ",".join(unread), *rest, ""]), "utf-8")
    text = (own.folder / "apportion.toml").read_text("utf-8")
    keyed = text.replace('name = "slurm"\n', f'name = "slurm"\nkey = ["{head.split(",")[0]}"]\n')
    assert keyed != text, "rows of one key that differ contradict each other"
    (own.folder / "apportion.toml").write_text(keyed, "utf-8")
    own, text = apportion.open_project(own.folder), keyed
    apportion.ingest(own, ["slurm"])
    kept, gone = text.split('[[sources]]\nname = "disks"')
    (own.folder / "apportion.toml").write_text(kept + "[[sources]]" + gone.split("[[sources]]")[1], "utf-8")
    own = apportion.open_project(own.folder)
    clients = clients_of(own.folder)

    sources = {one.source: one for one in brought(own)}
    assert (sources["slurm"].doubtful, sources["slurm"].quarantined) == (len(own.books.problems("slurm")), 2)
    assert sources["slurm"].doubtful == 2
    assert (sources["disks"].kind, sources["disks"].deliveries) == ("", 1)
    told = clients("finance").get("/api/v1/health").json()["sources"]
    assert {one["name"]: (one["deliveries"], one["problems"], one["quarantined"]) for one in told} == {
        name: (one.deliveries, one.problems, one.quarantined) for name, one in sources.items()
    }
    figures = {
        one["label"]: one["text"] for one in clients("finance").get("/health.json?period=2026-10").json()["figures"]
    }
    assert (figures["rows with a problem"], figures["rows held back"]) == ("2", "2")
    (table,) = clients("admin").get("/admin/sources.json").json()["tables"]
    assert {row["source"]: (row["deliveries"], row["problems"]) for row in table["rows"]} == {
        name: (one.deliveries, one.doubtful) for name, one in sources.items() if one.kind
    }
    value = check_sheet(check(own, OCTOBER)).value
    assert isinstance(value, dict)
    assert value["sources"] == tuple(sources.values())
