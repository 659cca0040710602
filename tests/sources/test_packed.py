"""Every text that a source reads may be packed with gzip: the golden folders, packed file by file, give the same rows."""

import gzip
import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.model.times import parse_period
from apportion.model.times import zone_named as zone
from apportion.sources.files.paths import format_of
from apportion.sources.registry import reader, source_named
from tests.sources import making
from tests.sources.test_golden import CASES

BINARY = ("parquet", "xlsx")
OWN = ("settings.toml", "expected.json")


def texts(case: Path) -> list[Path]:
    found = (path for path in sorted(case.rglob("*")) if path.is_file() and path.name not in OWN)
    return [path for path in found if format_of(path.name) not in (*BINARY, "") and path.suffix != ".gz"]


def packed(value: Any, folder: Path) -> Any:
    """Settings that name a file or files by their ending, with the new ending."""
    if isinstance(value, dict):
        return {key: packed(inner, folder) for key, inner in value.items()}
    if isinstance(value, str) and format_of(value) and not (folder / value).is_dir():
        return f"{value}.gz"
    return value


def rows(found: list[dict[str, Any]]) -> list[Any]:
    """Tables and windows; digests and the names of files are those of the packed ones."""
    return [{key: one[key] for key in ("source", "tables", "window")} for one in found]


LISTED = ("inventory",)  # its manifest lists its parts by name, and a part that is packed has the name that it says
PACKED = [case for case in CASES if texts(case) and case.name not in LISTED]


@pytest.mark.parametrize("case", PACKED, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_a_packed_text_says_the_same(case: Path, tmp_path: Path) -> None:
    folder = tmp_path / case.name
    shutil.copytree(case, folder)
    for path in texts(folder):
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes(), mtime=0))
        path.unlink()
    settings: dict[str, Any] = tomllib.loads((case / "settings.toml").read_text(encoding="utf-8"))
    asked = settings.pop("period", None)
    window = parse_period(asked).interval(zone("UTC")) if asked else None
    read = reader(source_named(case.parent.name))
    told = read({"kind": case.parent.name, **packed(settings, case)}, folder, window)
    found = making.canonical(item for item in told if isinstance(item, Delivery))
    assert rows(json.loads(json.dumps(found))) == rows(json.loads((case / "expected.json").read_text(encoding="utf-8")))
