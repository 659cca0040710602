"""Of an export's runs the newest counts, whatever else lies there; what is incomplete is refused; the books end the same however files came."""

import random
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from apportion.errors import InputError
from apportion.sources.bills.manifests import current
from apportion.sources.files.places import Place
from apportion.sources.settings import Stanza
from apportion.verbs.ingest import ingest
from apportion.verbs.project import Project, open_project
from tests.azure import month
from tests.azure.runs import guid, run
from tests.clouds import Cloud, azurite
from tests.sources import making

CHARGES = month.made(11)
EA = month.WRITERS["EA, M/D/YYYY"]
HALF = {"part_0_0001.csv": EA.text(CHARGES[:80], "actual")}
WHOLE = {
    "part_0_0001.csv": EA.text(CHARGES[:150], "actual"),
    "part_1_0001.csv": EA.text(CHARGES[150:], "actual"),
}
AMORTISED = {"part_0_0001.csv": EA.text(CHARGES, "amortised")}


def put(base: Path, *files: Mapping[str, bytes]) -> None:
    for some in files:
        for key, data in some.items():
            making.put(base / key, data)


def code_of(base: Path, path: str = "costs/actual") -> str:
    with pytest.raises(InputError) as refused:
        making.read("azure", base, path=path)
    return refused.value.code


def names_of(base: Path, path: str = "costs/actual") -> set[str]:
    return {Path(file.name).name for delivery in making.read("azure", base, path=path) for file in delivery.files}


@pytest.mark.parametrize("timed", [True, False])
def test_only_the_newest_run_of_a_period_counts(timed: bool, tmp_path: Path) -> None:
    put(tmp_path, run(9, WHOLE, timed=timed), run(3, HALF, timed=timed), run(5, HALF, timed=timed))
    found = making.read("azure", tmp_path, path="costs/actual")
    assert making.total(found, "BilledCost") == month.total(CHARGES, "actual")
    assert names_of(tmp_path) == set(WHOLE)


def test_a_run_that_is_not_finished_does_not_count(tmp_path: Path) -> None:
    unfinished = {key: data for key, data in run(20, HALF).items() if not key.endswith("manifest.json")}
    put(tmp_path, run(9, WHOLE), unfinished)
    assert making.total(making.read("azure", tmp_path, path="costs"), "BilledCost") == month.total(CHARGES, "actual")


def test_runs_without_a_manifest_by_the_time_of_their_folder(tmp_path: Path) -> None:
    put(
        tmp_path,
        *(
            {key: data for key, data in run(number, parts).items() if "part" in key}
            for number, parts in ((9, WHOLE), (3, HALF))
        ),
    )
    assert making.total(making.read("azure", tmp_path, path="costs"), "BilledCost") == month.total(CHARGES, "actual")
    shutil.rmtree(tmp_path / "costs")
    put(
        tmp_path,
        *({key: data for key, data in run(number, HALF, timed=False).items() if "part" in key} for number in (3, 9)),
    )
    assert code_of(tmp_path) == "undated-runs"


def test_files_of_the_time_before_manifests(tmp_path: Path) -> None:
    text = EA.text(CHARGES, "actual")
    old = f"costs/actual/20261001-20261031/actual_{guid(1)}.csv"
    making.put(tmp_path / old, text)
    assert making.total(making.read("azure", tmp_path, path="costs"), "BilledCost") == month.total(CHARGES, "actual")
    making.put(tmp_path / old.replace(guid(1), guid(2)), HALF["part_0_0001.csv"])
    assert code_of(tmp_path) == "undated-runs"


def test_a_part_that_is_missing_or_another_one_is_refused(tmp_path: Path) -> None:
    put(tmp_path, run(9, WHOLE))
    part = next(tmp_path.rglob("part_1_0001.csv"))
    kept = part.read_text(encoding="utf-8")
    part.write_text(kept[: kept.rindex("\n", 0, -1) + 1], encoding="utf-8")
    assert code_of(tmp_path) == "manifest-mismatch"
    part.unlink()
    assert code_of(tmp_path) == "manifest-part-missing"
    put(tmp_path, run(9, WHOLE))
    manifest = next(tmp_path.rglob("manifest.json"))
    manifest.write_text(
        manifest.read_text(encoding="utf-8").replace('"dataRowCount": ', '"dataRowCount": 1'), encoding="utf-8"
    )
    assert code_of(tmp_path) == "manifest-mismatch"


def test_two_exports_of_the_same_costs_are_refused_and_other_months_are_not(tmp_path: Path) -> None:
    put(tmp_path, run(9, WHOLE), run(9, WHOLE, export="costs/actual-daily"))
    assert code_of(tmp_path, "costs") == "overlapping-exports"
    assert names_of(tmp_path, "costs/actual-daily") == set(WHOLE)
    september = {
        "part_0_0001.csv": EA.text(CHARGES[:9], "actual").replace(",10/", ",9/").replace(",9/31/2026", ",9/30/2026")
    }
    put(tmp_path, run(1, september, period="20260901-20260930"))
    assert len(making.read("azure", tmp_path, path="costs/actual")) == 2
    put(tmp_path, run(8, HALF, period="20261005-20261011"))
    assert code_of(tmp_path) == "overlapping-exports"


def test_an_export_that_lists_nothing_says_so(tmp_path: Path) -> None:
    put(tmp_path, run(9, {}))
    assert code_of(tmp_path) == "no-rows"


def held(project: Project) -> list[dict[str, object]]:
    lines = project.books.scan("cost_lines").sort_by("line_id")
    rows: list[dict[str, object]] = lines.to_pylist()
    return rows


def test_the_books_end_the_same_however_the_runs_came(tmp_path: Path) -> None:
    """Early and late, twice, half and interrupted, read after each: as one clean delivery."""
    steps = [
        [run(3, HALF), run(4, AMORTISED, export="costs/amortised")],
        [run(9, WHOLE), run(9, AMORTISED, export="costs/amortised")],
        [run(5, HALF), run(3, HALF)],
        [{next(iter(run(20, HALF))): HALF["part_0_0001.csv"].encode()}],
    ]
    ends = []
    for seed in (None, 0, 1):
        base = tmp_path / str(seed)
        stanza = '[[sources]]\nname = "azure"\nkind = "azure"\npath = "costs/actual"\namortised = "costs/amortised"\n'
        making.put(base / "apportion.toml", f'[project]\nname = "it"\n\n{stanza}')
        project = open_project(base)
        if seed is None:
            put(base, run(9, WHOLE), run(9, AMORTISED, export="costs/amortised"))
            ingest(project)
        else:
            put(base, run(1, HALF), run(1, AMORTISED, export="costs/amortised"))
            for step in random.Random(seed).sample(steps, len(steps)):
                put(base, *step)
                ingest(project)
        ends.append(held(project))
    assert len(ends[0]) == len(CHARGES)
    assert ends[1] == ends[0]
    assert ends[2] == ends[0]


@pytest.fixture(scope="module")
def az() -> Iterator[Cloud]:
    with azurite() as cloud:
        yield cloud


def test_runs_in_a_container(az: Cloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in az.environment.items():
        monkeypatch.setenv(name, value)
    runs = (run(3, HALF), run(9, WHOLE), run(9, AMORTISED, export="costs/amortised"))
    for files in runs:
        az.fill(files)
    put(tmp_path, *runs)
    paths = {"path": az.path("costs/actual/"), "amortised": az.path("costs/amortised/")}
    there = making.read("azure", tmp_path, **paths, **az.settings)
    here = making.read("azure", tmp_path, path="costs/actual", amortised="costs/amortised")
    assert making.total(there, "BilledCost") == month.total(CHARGES, "actual")
    assert making.total(there) == month.total(CHARGES, "amortised")
    ids = [{line["line_id"] for line in making.lines(found)} for found in (there, here)]
    assert ids[0] == ids[1]
    assert {file.name.rpartition("/")[0] for delivery in there for file in delivery.files} == {
        az.path(f"costs/{export}/20261001-20261031/202610090300/{guid(9)}") for export in ("actual", "amortised")
    }


def test_the_focus_export_in_the_same_folders(tmp_path: Path) -> None:
    texts = [making.bill_text(*({"ResourceId": f"n{number}"} for number in range(count))) for count in (2, 5)]
    put(
        tmp_path,
        *(run(number, {"part_0_0001.csv": text}, export="focus") for number, text in zip((3, 9), texts, strict=True)),
    )
    with Place.of(Stanza({"path": "focus"}, "it"), tmp_path) as place:
        (file,) = current(place, ("csv", "parquet"))
    assert len(making.lines(making.read("focus", tmp_path, path=file.name))) == 5
