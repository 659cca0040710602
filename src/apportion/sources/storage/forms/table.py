"""CSV with a header: `name`, `used`, and where there are such `quota`, `kind`, `volume` and `time`. Instead of `kind` and `name`
a column may be called `user`, `group` and so on. Each time is a report of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from zoneinfo import ZoneInfo

import pyarrow as pa

from apportion.errors import InputError, Problem
from apportion.sources.cells.clock_changes import clock_change
from apportion.sources.cells.instants import instants
from apportion.sources.cells.text import text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet, missing_columns
from apportion.sources.storage.report import KINDS, Level, Part, Said, gathered, limit, size

COLUMNS = ("name", "used", "quota", "kind", "volume", "time", *KINDS)


@dataclass(frozen=True, slots=True)
class Moment:
    """Levels of one time; None where the file has no column of times."""

    at_s: int | None
    parts: tuple[Part, ...]


def parse_table(file: InputFile, said: Said, columns: dict[str, str], zone: ZoneInfo) -> tuple[Sheet, list[Moment]]:
    sheet = read_sheet(file, partial(wanted, file, columns))
    said.problems += [Problem(bad.where, "malformed-row", bad.message) for bad in sheet.bad_rows]
    cells = {name: text(joined(sheet.table, columns.get(name, name))) for name in COLUMNS
             if columns.get(name, name) in sheet.table.column_names}  # fmt: skip
    times: list[int | None] = [None] * sheet.table.num_rows
    if "time" in cells:
        parsed = instants(cells["time"], zone)
        times = parsed.values.to_pylist()
        said.problems += [
            clock_change(sheet.where(row), cells["time"][row].as_py(), code) for row, code in parsed.clock_changes
        ]
    rows = {name: values.to_pylist() for name, values in cells.items()}
    found: dict[int | None, dict[tuple[str, str], list[Level]]] = {}
    for row, at_s in enumerate(times):
        one = {name: values[row] or "" for name, values in rows.items()}
        key, level = owner(one, said), measured(one, said)
        if key is None or level is None or ("time" in rows and at_s is None):
            said.problems.append(
                Problem(sheet.where(row), "malformed-row", "the row names nobody, no size or no time, and is left out")
            )
            continue
        found.setdefault(at_s, {}).setdefault(key, []).append(level)
    return sheet, [
        Moment(at_s, tuple(gathered(volume, kind, levels) for (volume, kind), levels in sorted(groups.items())))
        for at_s, groups in found.items()
    ]


def wanted(file: InputFile, columns: dict[str, str], header: Sequence[str]) -> list[str]:
    names = [columns.get(name, name) for name in COLUMNS]
    missing = [name for name in ("used", *columns) if columns.get(name, name) not in header]
    if missing:
        raise missing_columns([columns.get(name, name) for name in missing], header, file)
    if not any(columns.get(name, name) in header for name in ("name", *KINDS)):
        raise InputError(
            "missing-columns", f"{file.name} names no owner", where=file.name, hint=f"a column must be called name, or {', '.join(KINDS)}"
        )  # fmt: skip
    return [name for name in dict.fromkeys(names) if name in header]


def joined(table: pa.Table, name: str) -> pa.Array:
    found = table[name].combine_chunks()
    return pa.concat_arrays(found.chunks) if isinstance(found, pa.ChunkedArray) else found


def owner(cells: dict[str, str], said: Said) -> tuple[str, str] | None:
    kind = next((kind for kind in KINDS if cells.get(kind)), cells.get("kind", "") or said.kind)
    volume = said.volume or cells.get("volume", "").strip("/")
    if kind not in KINDS or not (cells.get(kind) or cells.get("name")):
        return None
    return (volume or said.own_volume(), kind)


def measured(cells: dict[str, str], said: Said) -> Level | None:
    kind = next((kind for kind in KINDS if cells.get(kind)), "")
    used = size(cells["used"], said.unit)
    if used is None:
        return None
    return Level(cells.get(kind) or cells.get("name", ""), used, limit(cells.get("quota", ""), unit=said.unit))
