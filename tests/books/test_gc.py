"""What a dead writer leaves is invisible, does not hinder the next one, and is swept up."""

import os
import time
from pathlib import Path

import pytest

from apportion.books.open import Books
from tests.books.conftest import Place
from tests.books.rows import charges, delivery, gpu_hours, jobs, run

HOUR_S = 3600


class PowerCut(BaseException):
    """Not an Exception: nobody may catch it and tidy up."""


def die(*_: object) -> None:
    raise PowerCut


def warehouse_files(place: Place) -> set[str]:
    return {str(path) for path in Path(place.warehouse).rglob("*") if path.is_file() and path.suffix != ".lock"}


def age(place: Place, hours: int = 48) -> None:
    then = time.time() - hours * HOUR_S
    for path in warehouse_files(place):
        os.utime(path, (then, then))


def interrupted(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    """An ingest that dies after Iceberg's commit and before its publication."""
    with monkeypatch.context() as patch:
        patch.setattr("apportion.books.ingest.publish", die)
        with pytest.raises(PowerCut):
            books.ingest(delivery(usage=gpu_hours(9)))


def test_an_unpublished_snapshot_is_seen_by_nobody(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    books.ingest(delivery(usage=gpu_hours(3)))
    before, rows = books.inputs(), jobs(books.scan("usage"))
    interrupted(books, monkeypatch)
    assert (books.inputs(), jobs(books.scan("usage"))) == (before, rows)
    assert books.deliveries()[-1]["rows"] == {"usage": 3}
    assert books.verify() == []


def test_the_next_writer_goes_on_from_the_published_snapshot(books: Books, monkeypatch: pytest.MonkeyPatch) -> None:
    books.ingest(delivery(usage=gpu_hours(3)))
    interrupted(books, monkeypatch)
    books.ingest(delivery(usage=gpu_hours(4, source="k8s"), source="k8s"))
    assert sorted(books.scan("usage")["source"].to_pylist()) == ["k8s"] * 4 + ["slurm"] * 3
    assert books.ingest(delivery(usage=gpu_hours(9))).changed
    assert books.scan("usage").num_rows == 13
    assert books.verify() == []


def test_orphans_are_removed_and_nothing_else(books: Books, made_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    books.ingest(delivery(usage=gpu_hours(3)))
    old = books.inputs()["usage"].snapshot_id
    books.post(run(books, [("a", "1")], "1", charges=charges("2026-10", [("j", "1")])))
    books.ingest(delivery(usage=gpu_hours(4)))
    age(made_place)
    assert all(path.endswith(".metadata.json") for path in books.gc(24 * HOUR_S))  # those that later ones replaced
    settled = warehouse_files(made_place)
    interrupted(books, monkeypatch)
    left = warehouse_files(made_place) - settled
    assert {Path(path).suffix for path in left} == {".parquet", ".avro", ".json"}
    assert books.gc(24 * HOUR_S) == []  # young ones may belong to a write under way
    age(made_place)
    assert set(books.gc(24 * HOUR_S)) == left
    assert warehouse_files(made_place) == settled
    assert books.verify() == []
    assert (books.scan("usage").num_rows, books.scan("usage", old).num_rows) == (4, 3)
    assert books.scan("charges").num_rows == 1


def test_books_go_on_after_a_sweep(books: Books, made_place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    interrupted(books, monkeypatch)
    age(made_place)
    assert books.gc(HOUR_S)
    assert books.ingest(delivery(usage=gpu_hours(9))).changed
    age(made_place)
    books.gc(HOUR_S)
    assert books.gc(HOUR_S) == []
    assert books.ingest(delivery(usage=gpu_hours(2))).changed
    assert books.verify() == []


def test_a_file_of_someone_else_is_swept_only_inside_the_tables(books: Books, made_place: Place) -> None:
    mine = Path(made_place.warehouse, "notes.txt")
    stray = Path(made_place.warehouse, "usage", "data", "stray.parquet")
    for path in (mine, stray):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x")
    age(made_place)
    assert str(stray) in books.gc(HOUR_S)
    assert mine.exists()
    assert not stray.exists()
