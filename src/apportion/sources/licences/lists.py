"""Lists as CSV: whose a seat is (`feature` or `product`, `user` or `team`, `from`, `until`), and how many were bought (`feature`, `seats`, `from`, `until`).

A day is a whole day, so `until` is the last one, as in a policy; a time is a moment. A row without `until` holds on.
"""

import re
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from apportion.errors import InputError, Problem
from apportion.model.times import day_start, parse_instant
from apportion.sources.cells.clock_changes import clock_changes
from apportion.sources.cells.instants import NEVER
from apportion.sources.cells.text import text
from apportion.sources.files.sheet import Sheet
from apportion.sources.licences.events import FOREVER, Assigned, Bought, Told

DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
COUNT = re.compile(r"\d{1,9}", re.ASCII)
ENDLESS = "9999-12-31"  # how some tools write that there is no end


def parse_list(sheet: Sheet, names: Mapping[str, str], form: Literal["assigned", "bought"], zone: ZoneInfo) -> Told:
    told = Told(rows=sheet.table.num_rows)
    told.problems += [Problem(bad.where, "malformed-row", bad.message) for bad in sheet.bad_rows]
    for where, cells in rows_of(sheet, names):
        try:
            start_s, end_s = held(cells, zone)
            times = (cells.get(name, "") for name in ("from", "until"))
            told.problems += [one for time in times for one in clock_changes(where, time, zone)]
            seats = count(cells)
            if form == "bought":
                told.bought.append(Bought(start_s, end_s, filled(cells, "feature"), seats))
            else:
                told.assigned.append(assigned(where, cells, Bought(start_s, end_s, filled(cells, "feature"), seats)))
        except InputError as error:
            told.problems.append(Problem(where, "malformed-row", f"{error.message}; the row is left out"))
    return told


def rows_of(sheet: Sheet, names: Mapping[str, str]) -> Iterator[tuple[str, dict[str, str]]]:
    for first, part in sheet.parts():
        columns = {name: text(part[column].chunk(0)).to_pylist() for name, column in names.items()}
        for row in range(part.num_rows):
            yield sheet.where(first + row), {name: (values[row] or "").strip() for name, values in columns.items()}


def assigned(where: str, cells: Mapping[str, str], row: Bought) -> Assigned:
    user, team = cells.get("user", ""), cells.get("team", "")
    if not user and not team:
        raise InputError("malformed-row", "neither a user nor a team is named")
    if user and row.amount != 1:
        raise InputError("malformed-row", f"a named user holds one seat, not {row.amount}")
    return Assigned(row.start_s, row.end_s, where, row.feature, user, team, row.amount)


def held(cells: Mapping[str, str], zone: ZoneInfo) -> tuple[int, int]:
    start, until = filled(cells, "from"), cells.get("until", "")
    start_s = moment(start, zone)
    if not until or until.casefold() in NEVER or until.startswith(ENDLESS):
        return start_s, FOREVER
    end_s = moment(until, zone, last=True)
    if end_s <= start_s:
        raise InputError("malformed-row", f"it ends ({until}) before it begins ({start})")
    return start_s, end_s


def filled(cells: Mapping[str, str], name: str) -> str:
    if not cells[name]:
        raise InputError("malformed-row", f"{name} is empty")
    return cells[name]


def count(cells: Mapping[str, str]) -> int:
    written = cells.get("seats") or "1"
    if not COUNT.fullmatch(written):
        raise InputError("malformed-row", f"seats is {written[:20]!r}, which is no whole number")
    return int(written)


@lru_cache(maxsize=4096)
def moment(cell: str, zone: ZoneInfo, *, last: bool = False) -> int:
    """The beginning of a day, or the end of the last one; a time is what it says."""
    at_s = parse_instant(cell, zone)  # refuses 30 February, too
    if not DAY.fullmatch(cell):
        return at_s
    try:
        return day_start(date.fromisoformat(cell) + timedelta(days=last), zone)
    except (ValueError, OverflowError) as error:  # at the ends of the calendar
        raise InputError("invalid-time", f"{cell!r} is no day that can be counted") from error
