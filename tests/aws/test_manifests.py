"""What AWS writes to a bucket: of each billing period the newest complete delivery counts, and of it what its manifest lists."""

import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import InputError
from apportion.sources.bills.manifests import current
from apportion.sources.files.places import Place
from apportion.sources.settings import stanza
from tests.aws import month as m
from tests.sources import making

EXPORT = "billing/cur2"
REPORT = "billing/daily"
OCTOBER = "BILLING_PERIOD=2026-10"
FIRST, SECOND = "8f14e45f-ceea-467f-a5b3-0b2c1d7e9a01", "c9f0f895-fb98-4ab9-8a4b-3f5d2c6e7b02"  # assemblies
RUNS = ("2026-10-02T03:04:05.000Z-aaaa", "2026-10-05T03:04:05.000Z-bbbb")


def rows(seed: int, parts: int = 2) -> list[list[m.Row]]:
    found = m.Month(seed).rows
    return [found[number::parts] for number in range(parts)]


def cash(*seeds: int) -> Decimal:
    return sum((m.Month(seed).truth.cash for seed in seeds), Decimal(0))


def manifest(path: Path, key: str, names: list[str], **more: Any) -> None:
    m.put(path, json.dumps({key: names, **more}).encode())


def export(base: Path, seed: int, run: str = "", *, done: bool = True, parts: int = 2, **more: Any) -> list[str]:
    """One execution of a Data Export; without `done` its manifest is still to come."""
    folder = f"{EXPORT}/data/{OCTOBER}/" + (f"{run}/" if run else "")
    names = []
    for number, part in enumerate(rows(seed, parts), 1):
        names.append(f"{folder}cur2-{number:05}.snappy.parquet")
        m.put(base / names[-1], m.cur2_parquet(part))
    if done:
        path = f"{EXPORT}/metadata/{OCTOBER}/" + (f"{run}/" if run else "") + "cur2-Manifest.json"
        manifest(base / path, "dataFiles", [f"s3://bucket/{name}" for name in names], **more)
    return names


def assembly(base: Path, seed: int, name: str, *, kept: bool = True) -> list[str]:
    """One assembly of the older report, in a folder of its own or overwritten."""
    folder = f"{REPORT}/20261001-20261101/"
    own = folder + (f"{name}/" if kept else "")
    names = []
    for number, part in enumerate(rows(seed), 1):
        names.append(f"{own}daily-{number:05}.csv.gz")
        m.put(base / names[-1], m.packed(m.legacy_csv(part)))
    for place in {own, folder}:
        manifest(base / f"{place}daily-Manifest.json", "reportKeys", names, assemblyId=name)
    return names


def billed(base: Path, path: str = "billing") -> Decimal:
    return making.total(making.read("aws", base, path=path), "BilledCost")


def refused(base: Path, path: str = "billing") -> InputError:
    with pytest.raises(InputError) as stop:
        making.read("aws", base, path=path)
    return stop.value


def test_an_overwritten_export_counts_what_its_manifest_lists(tmp_path: Path) -> None:
    export(tmp_path, 1, parts=3)
    export(tmp_path, 2, parts=2)  # the third file of the delivery before still lies there
    assert billed(tmp_path) == cash(2)


@pytest.mark.parametrize("order", [RUNS, RUNS[::-1]])
def test_of_several_executions_the_newest_counts_whenever_it_was_written(
    order: tuple[str, str], tmp_path: Path
) -> None:
    for run in order:
        export(tmp_path, RUNS.index(run) + 1, run)
    assert billed(tmp_path) == cash(2)


def test_executions_whose_manifests_say_when_they_were_made(tmp_path: Path) -> None:
    export(tmp_path, 1, "zzzz", executionCreatedAt="2026-10-02T03:04:05Z")
    export(tmp_path, 2, "aaaa", executionCreatedAt="2026-10-05T03:04:05Z")
    assert billed(tmp_path) == cash(2)


def test_executions_that_say_no_time_are_not_guessed(tmp_path: Path) -> None:
    export(tmp_path, 1, "aaaa")
    export(tmp_path, 2, "bbbb")
    assert refused(tmp_path).code == "ambiguous-delivery"


def test_an_execution_on_its_way_does_not_count_yet(tmp_path: Path) -> None:
    export(tmp_path, 1, RUNS[0])
    export(tmp_path, 2, RUNS[1], done=False)
    assert billed(tmp_path) == cash(1)


def test_the_first_delivery_of_a_month_is_refused_until_its_manifest_is_there(tmp_path: Path) -> None:
    export(tmp_path, 1)
    m.put(tmp_path / EXPORT / "data/BILLING_PERIOD=2026-11/cur2-00001.csv", m.cur2_csv(m.Month(2).rows))
    assert refused(tmp_path).code == "manifest-missing"


def test_without_manifests_the_newest_execution_counts(tmp_path: Path) -> None:
    for seed, run in enumerate(RUNS, 1):
        export(tmp_path, seed, run, done=False)
    assert billed(tmp_path) == cash(2)
    export(tmp_path, 3, "cccc", done=False)
    assert refused(tmp_path).code == "ambiguous-delivery"


def test_the_older_reports_top_manifest_names_the_assembly(tmp_path: Path) -> None:
    assembly(tmp_path, 1, FIRST)
    assembly(tmp_path, 2, SECOND)
    assert billed(tmp_path) == cash(2)
    assembly(tmp_path, 1, FIRST)  # AWS names the earlier one again
    assert billed(tmp_path) == cash(1)


def test_an_older_report_that_is_overwritten(tmp_path: Path) -> None:
    assembly(tmp_path, 1, FIRST, kept=False)
    m.put(tmp_path / REPORT / "20261001-20261101/daily-00003.csv.gz", m.packed(m.legacy_csv(m.Month(5).rows)))
    assert billed(tmp_path) == cash(1)


def test_several_assemblies_without_the_top_manifest_are_not_guessed(tmp_path: Path) -> None:
    assembly(tmp_path, 1, FIRST)
    assembly(tmp_path, 2, SECOND)
    (tmp_path / REPORT / "20261001-20261101/daily-Manifest.json").unlink()
    assert refused(tmp_path).code == "ambiguous-delivery"


def test_a_part_that_is_absent_refuses_all(tmp_path: Path) -> None:
    names = export(tmp_path, 1)
    (tmp_path / names[1]).unlink()
    error = refused(tmp_path)
    assert error.code == "manifest-part-missing"
    assert names[1] in error.message


def test_zip_is_named_as_what_it_is(tmp_path: Path) -> None:
    assembly(tmp_path, 1, FIRST)
    path = tmp_path / REPORT / "20261001-20261101/daily-Manifest.json"
    manifest(path, "reportKeys", ["billing/daily/20261001-20261101/x/daily-1.csv.zip"])
    assert refused(tmp_path).code == "unknown-format"


def test_a_focus_export_lies_in_the_same_folders(tmp_path: Path) -> None:
    root = tmp_path / "billing/focus"
    for number, (run, cost) in enumerate(zip(RUNS, ("3.00", "4.00"), strict=True)):
        bill = making.bill_text({"EffectiveCost": cost, "BilledCost": cost, "ChargeDescription": str(number)})
        name = f"data/{OCTOBER}/{run}/focus-00001.csv"
        m.put(root / name, bill.encode())
        manifest(root / f"metadata/{OCTOBER}/{run}/focus-Manifest.json", "dataFiles", [f"s3://b/billing/focus/{name}"])
    settings = {"name": "it", "kind": "focus", "path": "billing/focus"}
    with Place.of(stanza(settings, ()), tmp_path) as place:
        (file,) = current(place, ("csv",))
    assert RUNS[1] in file.name


def test_a_copy_of_a_part_of_the_bucket(tmp_path: Path) -> None:
    """Keys in manifests are whole; the copy begins further down."""
    export(tmp_path, 1, RUNS[0])
    (tmp_path / "billing/cur2").rename(tmp_path / "copied")
    assert billed(tmp_path, "copied") == cash(1)
