"""Lists of assets, one in a row, whose columns are an asset's keys: CSV, or the first sheet of an xlsx file.

A column `tag.KEY` is a tag; an empty cell is a key that is left out. What has parts of its own (upgrades, moves, weights) is written in the document.
"""

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from python_calamine import CalamineError, CalamineWorkbook

from apportion.errors import InputError
from apportion.sources.files.delimited import read_delimited
from apportion.sources.files.paths import InputFile
from apportion.sources.files.stream import Stream
from apportion.sources.tco.written import texts

TAG = "tag."
LISTS = ("nodes", "shared_by")
Row = tuple[str, dict[str, Any]]  # where it stands, and what it says


def rows_of(file: InputFile) -> tuple[list[Row], str]:
    """The assets of a list, and the digest of the file."""
    if file.format == "xlsx":
        return from_sheet(file)
    sheet = read_delimited(file, lambda header: header)
    if sheet.bad_rows:
        bad = sheet.bad_rows[0]
        raise InputError("inventory-text", bad.message, where=bad.where, hint="quote cells that hold a comma")
    columns = [sheet.table[name].to_pylist() for name in sheet.header]
    rows = zip(*columns, strict=True)
    return list(named(sheet.header, rows, sheet.where)), sheet.sha256


def from_sheet(file: InputFile) -> tuple[list[Row], str]:
    with Stream(file) as stream:
        data = stream.read_all()
        digest = stream.sha256
    try:
        rows = CalamineWorkbook.from_filelike(io.BytesIO(data)).get_sheet_by_index(0).to_python(skip_empty_area=False)
    except (CalamineError, ValueError) as error:
        raise InputError(
            "corrupt-file", f"{file.name} cannot be read: {error}", where=file.name, hint="save it as CSV"
        ) from error
    header = [str(cell).strip() for cell in rows[0]] if rows else []
    body = [[cell_text(cell) for cell in row] for row in rows[1:]]
    return list(named(header, body, lambda row: f"{file.name}: row {row + 2}")), digest


def cell_text(cell: Any) -> str | None:
    """Spreadsheets keep binary numbers: the shortest text that means the same, whole ones without a point."""
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return texts(cell) or None


def named(header: Sequence[str], rows: Iterable[Sequence[str | None]], where: Any) -> Iterator[Row]:
    for number, cells in enumerate(rows):
        given = {name: cell.strip() for name, cell in zip(header, cells, strict=False) if cell and cell.strip()}
        if not given:
            continue
        tags = {name.removeprefix(TAG): cell for name, cell in given.items() if name.startswith(TAG)}
        asset: dict[str, Any] = {name: cell for name, cell in given.items() if not name.startswith(TAG)}
        asset |= {name: asset[name].split() for name in LISTS if name in asset}
        yield where(number), asset | ({"tags": tags} if tags else {})
