"""Days that a source had not delivered all of are hatched, marked in tables and said in a sentence, wherever days are drawn."""

import json
import re
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.model.times import Interval, parse_period
from apportion.sources.pushed import LINES
from apportion.verbs.incomplete import incomplete_days
from apportion.verbs.project import Project
from apportion.verbs.push import Push, push
from apportion.verbs.reaches import reaches
from apportion.verbs.world import pins_of
from tests.sources import making
from tests.web import world
from tests.web.conftest import Clients, clients_of
from tests.web.pushing import ROW, STANZA
from tests.web.reading import table

OCTOBER = parse_period("2026-10")
LATE = [f"2026-10-{day}" for day in range(13, 32)]  # the last job of October ends within the 13th
CHARTS = {
    "/overview": "incomplete: slurm",
    "/teams/vision": "incomplete: slurm",
    "/projects/vision/detect": "incomplete: slurm",
    "/users/ada": "incomplete: slurm",
    "/pools/gpus": "incomplete",
}


@pytest.fixture(scope="module")
def cut_off(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """September and October are posted, and no source has told of November yet."""
    folder = tmp_path_factory.mktemp("cut-off") / "project"
    folder.mkdir()
    (folder / "apportion.toml").write_text(world.SETTINGS, "utf-8")
    (folder / "policy.yaml").write_text(world.POLICY, "utf-8")
    for month in world.BILLED:
        world.write_month(folder, month)
    project = apportion.open_project(folder)
    apportion.ingest(project)
    for month in world.BILLED:
        apportion.plan(project, month)
        apportion.apply(project, month)
    return project


@pytest.fixture(scope="module")
def people(cut_off: Project) -> Clients:
    return clients_of(cut_off.folder)


def days(project: Project) -> list[str]:
    return [str(day) for day in incomplete_days(project, OCTOBER)]


def test_days_after_the_last_that_a_file_tells_of_are_not_complete(cut_off: Project) -> None:
    found = incomplete_days(cut_off, OCTOBER)
    assert [str(day) for day in found] == LATE
    assert set(found.values()) == {("slurm",)}
    assert not incomplete_days(cut_off, parse_period("2026-09"))  # October's rows came after it
    live = {one.source: one.complete_to for one in reaches(cut_off, OCTOBER, pins_of(cut_off), date(2026, 11, 1))}
    assert live["slurm"] == date(2026, 10, 12)


def test_rows_that_are_only_pushed_hold_no_month_back(cut_off: Project, tmp_path: Path) -> None:
    own = world.copied(cut_off, tmp_path / "own")
    settings = own.folder / "apportion.toml"
    settings.write_text(settings.read_text("utf-8") + STANZA, "utf-8")
    project = apportion.open_project(own.folder)
    early = 1_790_900_000  # 2026-10-02
    row = json.dumps({**ROW, "start_s": early, "end_s": early + 3600}).encode()
    before = reaches(project, OCTOBER, pins_of(project), date(2026, 11, 1))
    assert push(project, "me", Push("pushed", "usage", LINES, row, "k")).rows == 1
    assert reaches(project, OCTOBER, pins_of(project), date(2026, 11, 1)) == before
    assert set(incomplete_days(project, OCTOBER).values()) == {("slurm",)}
    window = Interval(early, early + 7200)
    assert push(project, "me", Push("pushed", "usage", LINES, row, "w", window=window)).rows == 1
    assert {one.source for one in reaches(project, OCTOBER, pins_of(project), date(2026, 11, 1))} == {
        "cloud",
        "pushed",
        "slurm",
        "disks",
    }


def test_a_source_that_goes_on_had_nothing_to_say_and_one_that_comes_back_had(cut_off: Project, tmp_path: Path) -> None:
    own = world.copied(cut_off, tmp_path / "own")
    world.write_month(own.folder, "2026-11", billed=False)
    apportion.ingest(own)
    assert not days(own)
    late = [{**row, "job": f"9{row['job']}", "run": "late"} for row in world.jobs("2026-10")]
    making.put(own.folder / "usage" / "jobs-2026-10.csv", making.csv_text([*world.jobs("2026-10"), *late]))
    apportion.ingest(own)
    assert days(own) == LATE  # what is posted does not hold what came
    apportion.plan(own, "2026-10")
    apportion.accept(own, "2026-10", ["used-above-capacity"], "every job is there twice")
    apportion.apply(own, "2026-10")
    assert not days(own)


def charts(page: str) -> list[Any]:
    return [json.loads(text) for text in re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page)]


def hatched(spec: Any) -> set[str]:
    layers = [spec, *spec.get("layer", ())]
    return {
        value["day"][-2:]
        for layer in layers
        for value in layer.get("data", {}).get("values", ())
        if value.get("complete") is False
    }


@pytest.mark.parametrize("path", CHARTS)
def test_they_are_hatched_marked_and_said(path: str, people: Clients) -> None:
    admin = people("admin")
    text = admin.get(f"{path}?period=2026-10").text
    assert "2026-10-13 to 2026-10-31 are incomplete and hatched" in text
    drawn = [found for spec in charts(text) if (found := hatched(spec))]
    assert drawn
    assert all(found == {day[-2:] for day in LATE} for found in drawn)
    answer = admin.get(f"{path}.json?period=2026-10").json()
    marked = [row for one in answer["tables"] for row in one["rows"] if "state" in row and "day" in row]
    assert {row["day"][-2:] for row in marked if row["state"] == CHARTS[path]} == {day[-2:] for day in LATE}
    assert {row["state"] for row in marked} == {CHARTS[path], ""}
    assert CHARTS[path] in admin.get(f"{path}.csv?period=2026-10").text


@pytest.mark.parametrize("path", CHARTS)
def test_a_complete_month_says_nothing_of_it(path: str, people: Clients) -> None:
    text = people("admin").get(f"{path}?period=2026-09").text
    assert "incomplete" not in text
    assert not any(hatched(spec) for spec in charts(text))


def test_who_does_not_see_data_health_learns_of_no_source(people: Clients) -> None:
    viewer = people("viewer")
    for path in CHARTS:
        text = viewer.get(f"{path}.json?period=2026-10").text
        assert "incomplete" in text
        assert "slurm" not in text


def test_reports_by_day_say_the_same_everywhere(cut_off: Project, people: Clients) -> None:
    for name in ("showback", "trend"):
        made = apportion.report(cut_off, name, "2026-10", by="day")
        names = [column.name for column in made.columns]
        rows = [dict(zip(names, row, strict=True)) for row in made.sections[0].rows]
        assert sorted(str(row["day"]) for row in rows if row["state"]) == LATE
        assert made.more["incomplete_days"] == LATE
        assert any(note.startswith("2026-10-13 to 2026-10-31 are incomplete: ") for note in made.notes)
        answer = people("viewer").get(f"/api/v1/reports/{name}?period=2026-10&by=day").json()
        assert sorted(row["day"] for row in answer["sections"][0]["rows"] if row["state"]) == LATE
    assert "state" not in {column.name for column in apportion.report(cut_off, "showback", "2026-10").columns}


def test_the_running_month_has_the_same_mark(clients: Clients) -> None:
    answer = clients("admin").get("/live.json").json()
    until = answer["complete_to"]
    rows = table(answer, "")
    assert {row["day"] > until: row["state"] for row in rows} == {False: "", True: "incomplete"}
