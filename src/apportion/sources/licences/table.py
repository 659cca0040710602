"""CSV, known by its columns: check-outs, or lists of who has a seat and of how many were bought.

Check-outs have `feature`, `user`, `out`, and where there are such `host`, `in`, `count` and `daemon`. A row without `in` is still out.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal
from zoneinfo import ZoneInfo

from apportion.errors import Problem
from apportion.sources.cells.clock_changes import clock_change
from apportion.sources.cells.instants import instants
from apportion.sources.cells.text import text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.read import read_sheet
from apportion.sources.files.sheet import Sheet, missing_columns
from apportion.sources.licences.events import Event, Told
from apportion.sources.licences.lists import parse_list

Form = Literal["check-outs", "assigned", "bought"]

FORMS = {
    "check-outs": ("feature", "user", "host", "out", "in", "count", "daemon"),
    "assigned": ("feature", "user", "team", "from", "until", "seats"),
    "bought": ("feature", "seats", "from", "until"),
}
NEEDED = {
    "check-outs": ("feature", "user", "out"),
    "assigned": ("feature", "from"),
    "bought": ("feature", "seats", "from"),
}
COLUMNS = tuple(dict.fromkeys(name for names in FORMS.values() for name in names))
PRODUCT = "product"  # another word for a feature


def parse_table(file: InputFile, columns: Mapping[str, str], zone: ZoneInfo) -> tuple[Told, Sheet]:
    sheet = read_sheet(file, partial(wanted, file, columns))
    form, names = form_of(columns, sheet.header)
    if form != "check-outs":
        return parse_list(sheet, names, form, zone), sheet
    return check_outs(sheet, names, zone), sheet


def check_outs(sheet: Sheet, names: Mapping[str, str], zone: ZoneInfo) -> Told:
    told = Told(rows=sheet.table.num_rows)
    told.problems += [Problem(bad.where, "malformed-row", bad.message) for bad in sheet.bad_rows]
    for first, part in sheet.parts():
        cells = {name: text(part[column].chunk(0)) for name, column in names.items()}
        times = {name: instants(cells[name], zone) for name in ("out", "in") if name in cells}
        rows = {name: values.to_pylist() for name, values in cells.items()}
        seconds = {name: parsed.values.to_pylist() for name, parsed in times.items()}
        bad = {row for parsed in times.values() for row in parsed.bad}
        for name, parsed in times.items():
            told.problems += [
                clock_change(sheet.where(first + row), rows[name][row], code) for row, code in parsed.clock_changes
            ]
        for row in range(part.num_rows):
            one = {name: values[row] or "" for name, values in rows.items()}
            taken, given = seconds["out"][row], seconds["in"][row] if "in" in seconds else None
            add(told, sheet.where(first + row), one, None if row in bad else taken, given)
    told.events.sort(key=lambda event: (event.at_s, event.action != "in"))
    moments = [event.at_s for event in told.events]
    told.first_s, told.last_s = (min(moments), max(moments)) if moments else (None, None)
    return told


def form_of(columns: Mapping[str, str], header: Sequence[str]) -> tuple[Form, dict[str, str]]:
    """Which table it is, and which of the file's columns are which."""
    named = {name: columns.get(name, name) for name in COLUMNS}
    if "feature" not in columns and "feature" not in header and PRODUCT in header:
        named["feature"] = PRODUCT
    there = {name: column for name, column in named.items() if column in header}
    form: Form = "check-outs"
    if "out" not in there and "from" in there:
        form = "assigned" if {"user", "team"} & set(there) else "bought"
    return form, {name: column for name, column in there.items() if name in FORMS[form]}


def wanted(file: InputFile, columns: Mapping[str, str], header: Sequence[str]) -> list[str]:
    form, names = form_of(columns, header)
    mapped = [name for name in columns if name in FORMS[form]]
    missing = [columns.get(name, name) for name in (*NEEDED[form], *mapped) if name not in names]
    if missing:
        raise missing_columns(missing, header, file)
    return list(names.values())


def add(told: Told, where: str, cells: Mapping[str, str], taken: int | None, given: int | None) -> None:
    count = cells.get("count") or "1"
    if taken is None or not cells["feature"] or not cells["user"] or not count.isdecimal() or (given or taken) < taken:
        told.problems.append(
            Problem(
                where, "malformed-row", "the row has no feature, user, time or count that can be read, and is left out"
            )
        )
        return
    who = (cells.get("daemon", ""), where, cells["feature"], cells["user"], cells.get("host", ""), int(count))
    told.events.append(Event(taken, "out", *who))
    if given is not None:
        told.events.append(Event(given, "in", *who))
