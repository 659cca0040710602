"""A workbook: leaves that are read, and one flat table that is pivoted."""

import io
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType
from typing import Any

import pyarrow as pa

from apportion.errors import ProjectError
from apportion.render.excel.flat import MOST_ROWS, write_flat
from apportion.render.excel.leaf import write_leaf
from apportion.render.excel.looks import Looks
from apportion.render.sheet import Sheet

# Text stays text: what begins with = is no formula, what looks like an address no link, what looks like a number no number.
AS_WRITTEN = {"strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False, "in_memory": True}
DATA = "Data"


@dataclass(frozen=True, slots=True)
class Leaf:
    """`drawn`: with bars for its first table of owners."""

    name: str
    sheet: Sheet
    drawn: bool = False


@dataclass(frozen=True, slots=True)
class Workbook:
    """`data` comes before the leaf `after`. `made` is told as the time at which the file was made, so that the same books give the same bytes."""

    title: str
    leaves: tuple[Leaf, ...]
    data: pa.Table
    after: str
    made: datetime


def render(workbook: Workbook) -> bytes:
    out = io.BytesIO()
    book: Any = library().Workbook(out, AS_WRITTEN)
    book.set_properties({"title": workbook.title, "created": workbook.made, "comments": "Made by Apportion."})
    looks = Looks(book)
    for leaf in workbook.leaves:
        if leaf.name == workbook.after:
            write_flat(book.add_worksheet(DATA), looks, workbook.data)
        write_leaf(book.add_worksheet(leaf.name), looks, leaf.sheet, drawn=leaf.drawn)
    book.close()
    return out.getvalue()


def library() -> ModuleType:
    try:
        import xlsxwriter  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise ProjectError(
            "excel-missing",
            f"a workbook is asked for, and the Python package that makes it is not installed ({error})",
            hint='pip install "apportion[excel]"',
        ) from error
    found: ModuleType = xlsxwriter
    return found


def check_size(rows: int) -> None:
    if rows > MOST_ROWS:
        raise ProjectError(
            "too-many-rows",
            f"the month has {rows:,} rows, and a sheet of Excel holds {MOST_ROWS:,}",
            hint="write it as FOCUS (apportion export focus), for Tableau (apportion export tableau), or read the views (apportion views)",
        )
