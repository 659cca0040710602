"""One folder of bills, here and in each store: the same rows, ids and digests; its money as the files' own text has it."""

import csv
import gzip
import io
from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.books.prepare import Prepared
from apportion.errors import InputError
from apportion.model.delivery import Delivery
from apportion.sources.files.places import Place
from apportion.sources.settings import Stanza
from tests.clouds import Cloud
from tests.sources import making

FOLDERS = (f"run-{number}" for number in count())


def bill_files() -> dict[str, bytes]:
    """CSV, gzip and Parquet over two billing periods, in folders with odd names, and what is passed over."""
    lines = [
        {"EffectiveCost": f"{number}.000000000000000{number % 10}7", "ResourceId": f"n{number}"} for number in range(40)
    ]
    november = {"BillingPeriodStart": "2026-11-01T00:00:00Z", "BillingPeriodEnd": "2026-12-01T00:00:00Z"}
    rows = [{**making.LINE, **line, **november} for line in lines[25:]]
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    return {
        "a.csv": making.bill_text(*lines[:10]).encode(),
        "2026 10/b+c.csv.gz": gzip.compress(making.bill_text(*lines[10:25], {"Tags": "no tags"}).encode(), mtime=0),
        "2026 10/ä/d.parquet": out.getvalue(),
        "_temporary/e.csv": b"not a bill",
        "notes.json": b"{}",
    }


@pytest.fixture
def folder(cloud: Cloud) -> Iterator[str]:
    """A prefix of the test's own."""
    name = next(FOLDERS)
    files = {f"{name}/{key}": data for key, data in bill_files().items()}
    cloud.fill(files)
    yield name
    for key in files:
        cloud.delete(key)


def put_here(base: Path) -> None:
    for key, data in bill_files().items():
        making.put(base / "bills" / key, data)


def said(delivery: Delivery) -> dict[str, Any]:
    """All of a delivery but the names of its files."""
    return {
        "window": delivery.window,
        "tables": {name: table.sort_by("line_id").to_pylist() for name, table in delivery.tables.items()},
        "problems": [(problem.code, problem.message, problem.row, problem.money) for problem in delivery.problems],
        "files": sorted((file.sha256, file.rows, file.control) for file in delivery.files),
        "scopes": delivery.scopes,
    }


def test_a_store_gives_what_the_folder_gives(cloud: Cloud, folder: str, tmp_path: Path) -> None:
    put_here(tmp_path)
    here = making.read("focus", tmp_path, path="bills")
    there = making.read("focus", tmp_path, path=cloud.path(f"{folder}/"), **cloud.settings)
    assert [said(delivery) for delivery in there] == [said(delivery) for delivery in here]
    assert len(there) == 2
    names = sorted({file.name for delivery in there for file in delivery.files})
    assert names == [cloud.path(f"{folder}/{key}") for key in sorted(bill_files())[:2]] + [
        cloud.path(f"{folder}/a.csv")
    ]
    plain = [delivery for delivery in there if not delivery.problems]
    assert {Prepared(delivery).digest for delivery in plain} <= {Prepared(delivery).digest for delivery in here}
    assert len(plain) == 1


def test_its_money_is_that_of_the_files_text(cloud: Cloud, folder: str, tmp_path: Path) -> None:
    files = bill_files()
    texts = files["a.csv"].decode(), gzip.decompress(files["2026 10/b+c.csv.gz"]).decode()
    rows = [row for text in texts for row in csv.DictReader(io.StringIO(text))]
    there = making.read("focus", tmp_path, path=cloud.path(f"{folder}/**/[abc]*.csv*"), **cloud.settings)
    lines = [line for delivery in there for line in delivery.tables["cost_lines"].to_pylist()]
    assert len(lines) == len(rows) == 26
    for metric in ("BilledCost", "ListCost"):
        assert sum(line[metric] for line in lines) == sum(Decimal(row[metric]) for row in rows)


def test_a_log_in_a_store_gives_what_the_file_gives(cloud: Cloud, tmp_path: Path) -> None:
    name = next(FOLDERS)
    text = making.log_text({}, {"job": "18", "gpus": "8"})
    cloud.put(f"{name}/jobs.csv", text.encode())
    making.put(tmp_path / "jobs.csv", text)
    (here,) = making.read("usage", tmp_path, path="jobs.csv", **making.STANZA)
    (there,) = making.read("usage", tmp_path, path=cloud.path(f"{name}/jobs.csv"), **making.STANZA, **cloud.settings)
    assert Prepared(there).digest == Prepared(here).digest
    cloud.delete(f"{name}/jobs.csv")


def place_of(cloud: Cloud, path: str, **settings: Any) -> Any:
    return Place.of(Stanza({"path": cloud.path(path), **cloud.settings, **settings}, "source 'it'"), Path())


def test_names_come_first_and_files_are_gone_afterwards(cloud: Cloud, folder: str) -> None:
    with place_of(cloud, folder) as place:
        keys = ["2026 10/b+c.csv.gz", "2026 10/ä/d.parquet", "a.csv", "notes.json"]
        assert list(place.names) == [cloud.path(f"{folder}/{key}") for key in keys]
        assert place.read(place.names[3]) == b"{}"
        (found,) = [file for file in place.files(["csv"]) if file.name.endswith("a.csv")]
        assert found.path.read_bytes() == bill_files()["a.csv"]
        assert place.file(found.name, ["csv"]) is found
        assert [file.name for file in place.picked(place.names[:2], ["csv", "parquet"])] == list(place.names[:2])
        with pytest.raises(InputError) as long:
            place.read(place.names[2], 100)
        assert long.value.code == "too-large"
    assert not found.path.exists()
    assert not found.path.parent.exists()


def test_a_manifest_may_name_what_lies_beside_it_and_nothing_elsewhere(cloud: Cloud, folder: str) -> None:
    with place_of(cloud, f"{folder}/notes.json") as place:
        file = place.file(cloud.path(f"{folder}/a.csv"), ["csv"])
        assert file.path.read_bytes() == bill_files()["a.csv"]
        for name, code in (
            (cloud.path(f"{folder}/none.csv"), "no-such-file"),
            (f"{cloud.scheme}://elsewhere/a.csv", "path-outside"),
            ("/etc/passwd", "path-outside"),
        ):
            with pytest.raises(InputError) as refused:
                place.file(name, ["csv"])
            assert refused.value.code == code


def test_what_is_not_there_is_told(cloud: Cloud, folder: str) -> None:
    for path, words in (
        (f"{folder}/none/", "there is nothing at"),
        (f"{folder}/none.csv", "there is nothing at"),
        (f"{folder}/*.parquet", "there is nothing at"),
    ):
        with pytest.raises(InputError) as refused, place_of(cloud, path):
            pass
        assert refused.value.code == "no-such-file"
        assert words in refused.value.message
        assert cloud.path(path) in refused.value.message
    with place_of(cloud, f"{folder}/notes.json") as place, pytest.raises(InputError) as refused:
        place.files(["csv"])
    assert refused.value.code == "no-such-file"
    with pytest.raises(InputError) as refused, place_of(replace(cloud, bucket="nobucket"), "x/"):
        pass
    assert refused.value.code == "no-such-file"
    assert "no bucket or container" in refused.value.message


def test_an_object_that_changes_or_goes_between_listing_and_fetching_is_refused(cloud: Cloud, folder: str) -> None:
    def code(change: Callable[[], None]) -> str:
        with place_of(cloud, f"{folder}/*.csv") as place:
            change()
            with pytest.raises(InputError) as refused:
                place.files(["csv"])
        return refused.value.code

    key, other = f"{folder}/a.csv", bill_files()["a.csv"].replace(b"n1", b"n9")
    assert code(lambda: cloud.put(key, other)) == "object-changed"
    # Azurite asks for the condition before it looks for the blob
    assert code(lambda: cloud.delete(key)) in ("no-such-file", "object-changed")
    cloud.put(key, b"for whoever tidies up")
