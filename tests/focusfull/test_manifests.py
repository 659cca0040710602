"""A manifest says which files count: those that it lists, and they are what it says they are."""

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import InputError
from tests.sources import making

ONE = making.bill_text({"ResourceId": "n1"}, {"ResourceId": "n2"})
TWO = making.bill_text({"ResourceId": "n3"})
OLD = making.bill_text({"ResourceId": "old"})


def write(base: Path, manifest: Any, name: str = "manifest.json") -> None:
    making.put(base / "run/1.csv", ONE)
    making.put(base / "run/2.csv.gz", gzip.compress(TWO.encode()))
    making.put(base / "run/left-over.csv", OLD)
    making.put(base / f"run/{name}", manifest if isinstance(manifest, str) else json.dumps(manifest))


def refused(base: Path, manifest: Any) -> InputError:
    write(base, manifest)
    with pytest.raises(InputError) as caught:
        making.read("focus", base, path="run")
    return caught.value


@pytest.mark.parametrize(
    "manifest",
    [
        {"files": ["1.csv", "2.csv.gz"]},
        {"dataFiles": ["s3://bucket/exports/run/1.csv", "s3://bucket/exports/run/2.csv.gz"]},
        {
            "blobs": [
                {"blobName": "container/run/1.csv", "byteCount": len(ONE), "dataRowCount": 2},
                {"blobName": "container/run/2.csv.gz", "byteCount": len(TWO), "dataRowCount": 1},
            ]
        },
        {"files": [{"path": "run/1.csv", "sha256": hashlib.sha256(ONE.encode()).hexdigest()}, {"path": "2.csv.gz"}]},
    ],
)
def test_what_is_listed_counts(manifest: Any, tmp_path: Path) -> None:
    write(tmp_path, manifest)
    found = making.read("focus", tmp_path, path="run")
    assert sorted(line["ResourceId"] for line in making.lines(found)) == ["n1", "n2", "n3"]


def test_without_a_manifest_all_files_count_and_files_beside_one_do_too(tmp_path: Path) -> None:
    write(tmp_path, {"files": ["1.csv"]}, "export-Manifest.json")
    making.put(tmp_path / "other/3.csv", making.bill_text({"ResourceId": "n4"}))
    assert making.total(making.read("focus", tmp_path, path="run")) == 20
    assert making.total(making.read("focus", tmp_path, path="run/*.csv*")) == 40
    making.put(tmp_path / "all/run/1.csv", ONE)
    making.put(tmp_path / "all/run/manifest.json", '{"files": ["1.csv"]}')
    making.put(tmp_path / "all/3.csv", making.bill_text({"ResourceId": "n4"}))
    assert making.total(making.read("focus", tmp_path, path="all")) == 30


def test_the_longest_tail_decides_which_file_is_meant(tmp_path: Path) -> None:
    for run, text in (("a", ONE), ("b", TWO)):
        making.put(tmp_path / f"exports/{run}/part.csv", text)
    making.put(tmp_path / "exports/manifest.json", json.dumps({"files": ["s3://x/exports/b/part.csv"]}))
    assert making.total(making.read("focus", tmp_path, path="exports")) == 10


def test_an_absent_part_refuses_the_delivery(tmp_path: Path) -> None:
    found = refused(tmp_path, {"files": ["1.csv", "run/3.csv"]})
    assert (found.code, found.where) == ("manifest-part-missing", "run/manifest.json")
    assert "names run/3.csv, which is not there" in found.message


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({"rows": 3}, "2 rows, where its manifest says 3"),
        ({"size": 7}, f"{len(ONE)} bytes, where its manifest says 7"),
        ({"sha256": "0" * 64}, "the SHA-256"),
    ],
)
def test_another_file_than_the_one_listed_is_refused(stated: dict[str, Any], words: str, tmp_path: Path) -> None:
    found = refused(tmp_path, {"files": [{"path": "1.csv", **stated}]})
    assert (found.code, found.where) == ("manifest-mismatch", "run/1.csv")
    assert words in found.message


@pytest.mark.parametrize(
    ("manifest", "code"),
    [
        ("{", "corrupt-file"),
        ("[]", "unknown-manifest"),
        ({"a": 1}, "unknown-manifest"),
        ({"files": [{"x": 1}]}, "unknown-manifest"),
    ],
)
def test_a_manifest_that_says_nothing_is_refused(manifest: Any, code: str, tmp_path: Path) -> None:
    assert refused(tmp_path, manifest).code == code


def test_a_part_may_not_leave_the_place(tmp_path: Path) -> None:
    making.put(tmp_path / "secret.csv", OLD)
    assert refused(tmp_path, {"files": ["../secret.csv"]}).code == "manifest-part-missing"
