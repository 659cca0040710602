"""A sheet as text that can be read back: what was shown is shown again as it was, whatever later releases compute."""

import json
from datetime import date
from decimal import Decimal
from typing import Any

from apportion.model.money import plain
from apportion.render.json import portable
from apportion.render.sheet import Sheet, Table
from apportion.reports.report import Cell, Column


def packed(sheet: Sheet) -> str:
    """Its value becomes what `-o json` prints."""
    said = {
        "title": sheet.title,
        "notes": list(sheet.notes),
        "value": portable(sheet.value),
        "tables": [packed_table(table) for table in sheet.tables],
    }
    return json.dumps(said, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def packed_table(table: Table) -> dict[str, Any]:
    return {
        "columns": [[column.name, column.title, column.kind, column.quiet] for column in table.columns],
        "rows": [[packed_cell(cell) for cell in row] for row in table.rows],
        "totals": [packed_cell(cell) for cell in table.totals],
        "currency": table.currency,
        "heading": table.heading,
    }


def packed_cell(cell: Cell) -> Any:
    """Texts and whole numbers are themselves; others say what they are."""
    if isinstance(cell, Decimal):
        return {"decimal": plain(cell)}
    return {"day": cell.isoformat()} if isinstance(cell, date) else cell


def unpacked(text: str) -> Sheet:
    said = json.loads(text)
    return Sheet(said["title"], tuple(map(table_of, said["tables"])), said["value"], tuple(said["notes"]))


def table_of(said: dict[str, Any]) -> Table:
    rows = tuple(tuple(map(cell_of, row)) for row in said["rows"])
    columns = tuple(Column(*column) for column in said["columns"])
    return Table(columns, rows, tuple(map(cell_of, said["totals"])), said["currency"], said["heading"])


def cell_of(said: Any) -> Cell:
    if isinstance(said, dict):
        return Decimal(said["decimal"]) if "decimal" in said else date.fromisoformat(said["day"])
    cell: Cell = said
    return cell
