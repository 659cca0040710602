"""Rows that somebody pushes rather than us reading them: JSON lines or an Arrow stream, looked at row by row.

It is no kind of source that reads: a stanza with `kind = "push"` says that such rows are welcome under its name.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pyarrow as pa
from pydantic import ValidationError
from pydantic_core import from_json

from apportion.client.rows import ROWS, Amounts, UsageRow
from apportion.errors import InputError, Problem
from apportion.model.meters import METERS, Meter
from apportion.model.numbers import parse_fraction
from apportion.model.rows import TABLES
from apportion.model.times import Interval
from apportion.model.unusual import unusual_amounts
from apportion.sources.clusters import SETTING
from apportion.sources.settings import stanza

KIND = "push"
LINES, ARROW = "application/x-ndjson", "application/vnd.apache.arrow.stream"
SHOWN = 200  # characters of a row that is listed
PLAIN = (pa.string(), pa.large_string(), pa.null(), pa.map_(pa.string(), pa.string()))
MOST = 1_000_000  # rows of an Arrow stream, in which many can take no room at all
LARGEST = 10**18
BASE = ("allocated_base_units", "used_base_units", "amount_base_units")
AMOUNTS = {"meter", *BASE, *METERS, *(f"{name}_used" for name in METERS)}
Given = tuple[str, Any, str]  # where it stands, what was read of it, and how it looks


@dataclass(frozen=True, slots=True)
class Welcome:
    """What is taken: rows of one source and table, within the window if there is one."""

    source: str
    table: str
    window: Interval | None = None


@dataclass(frozen=True, slots=True)
class Taken:
    """`problems` are of rows that were left out, `doubts` of rows that were taken."""

    table: pa.Table
    problems: tuple[Problem, ...]
    doubts: tuple[Problem, ...] = ()


def read_cluster(settings: Mapping[str, Any]) -> str:
    """The cluster that a stanza names, "" for none. It knows no other setting; any other is refused."""
    return stanza(settings, (SETTING,)).text(SETTING, "")


def read_rows(body: bytes, form: str, welcome: Welcome) -> Taken:
    """Those that can be taken, in the model's schema, what is wrong with the others, and which amounts are hard to believe."""
    rows: list[dict[str, Any]] = []
    problems: list[Problem] = []
    for where, given, looks in lines_of(body) if form == LINES else stream_of(body):
        wrong = given if isinstance(given, str) else take(given, welcome, rows)
        if wrong:
            problems.append(Problem(where, "malformed-row", wrong, looks[:SHOWN]))
    table = pa.Table.from_pylist(rows, TABLES[welcome.table])
    return Taken(table, tuple(problems), tuple(unusual_amounts(table, f"push {welcome.table}")))


def take(given: Any, welcome: Welcome, rows: list[dict[str, Any]]) -> str:
    """What is wrong with it; nothing where it was taken."""
    if not isinstance(given, Mapping):
        return "a row is an object with the columns of the table"
    if given.get("source", welcome.source) != welcome.source:
        return f"it is of another source than {welcome.source}"
    try:
        made = ROWS[welcome.table].model_validate({key: value for key, value in given.items() if key != "source"})
    except ValidationError as error:
        return "; ".join(said(one) for one in error.errors(include_url=False, include_input=False)[:3])
    window = welcome.window
    if window and not window.start_s <= made.start_s <= made.end_s <= window.end_s:
        return "it does not lie in the window of this push"
    row = {"source": welcome.source, **made.model_dump(exclude=AMOUNTS)}
    if welcome.table == "workloads":
        row["run"] = row["run"] or row["workload"]
    if "labels" in row:
        row["labels"] = list(row["labels"].items())
    try:
        rows += [row | part for part in amounts_of(made)] if isinstance(made, Amounts) else [row]
    except InputError as error:
        return error.message
    return ""


def amounts_of(row: Amounts) -> list[dict[str, Any]]:
    """A part for each meter that the row names: `meter`, and `allocated` and `used`, or `amount`."""
    given = {name: value for name, value in row.model_dump(include=AMOUNTS).items() if value is not None}
    natural = [meter for meter in METERS.values() if meter.name in given or f"{meter.name}_used" in given]
    based = [name for name in ("meter", *BASE) if name in given]
    if natural and based:
        raise refuse_row(f"it has {natural[0].name} in natural units and {based[0]} beside it: state each amount once")
    if natural:
        return [in_base_units(meter, given, row) for meter in natural]
    if "meter" not in given or len(based) < 2:
        raise refuse_row('it states no amount: write "gpu": 4 for 4 GPUs, "cpu": 16 for 16 cores and so on')
    if not isinstance(row, UsageRow):
        return [{"meter": given["meter"], "amount": given["amount_base_units"]}]
    return [{"meter": given["meter"], "allocated": given.get(BASE[0]), "used": given.get(BASE[1])}]


def in_base_units(meter: Meter, given: dict[str, Any], row: Amounts) -> dict[str, Any]:
    held, used = (whole_units(meter, name, given) for name in (meter.name, f"{meter.name}_used"))
    return {"meter": meter.name} | (
        {"allocated": held, "used": used} if isinstance(row, UsageRow) else {"amount": held}
    )


def whole_units(meter: Meter, name: str, given: dict[str, Any]) -> int | None:
    """The nearest whole base units; a binary number is taken at its shortest text."""
    if name not in given:
        return None
    value = given[name]
    try:
        amount = parse_fraction(str(value) if isinstance(value, float) else value)
    except InputError as error:
        hint = "; the name of the node belongs into resource" if meter.name == "node" else ""
        raise refuse_row(f"{name} is {value!r}, which is no number of {meter.unit}{hint}") from error
    units = round(Fraction(amount * meter.base))
    if amount < 0 or units > LARGEST or (amount and not units):
        raise refuse_row(f"{name} cannot be {value} {meter.unit}")
    return units


def refuse_row(message: str) -> InputError:
    return InputError("malformed-row", message)


def said(one: Mapping[str, Any]) -> str:
    place, message = ".".join(str(part) for part in one["loc"]), str(one["msg"]).removeprefix("Value error, ")
    return f"{place}: {message}" if place else message


def lines_of(body: bytes) -> Iterator[Given]:
    """A row that is no JSON comes as the sentence that says so."""
    for number, line in enumerate(body.split(b"\n"), 1):
        if not line.strip():
            continue
        looks = line[: 4 * SHOWN].decode("utf-8", "replace").strip()
        try:
            yield f"line {number}", from_json(line), looks
        except ValueError as error:
            yield f"line {number}", f"it is not JSON: {str(error).partition(' at line')[0]}", looks


def stream_of(body: bytes) -> Iterator[Given]:
    try:
        with pa.ipc.open_stream(body) as stream:
            refuse_odd(stream.schema)
            rows = (row for batch in few(stream) for row in plain_rows(batch))
            yield from ((f"row {number}", row, str(row)) for number, row in enumerate(rows, 1))
    except (pa.ArrowException, ValueError, OSError, OverflowError) as error:
        said = str(error).partition("\n")[0][:SHOWN] or type(error).__name__
        message = f"the body is not an Arrow stream that can be read: {said}"
        raise InputError("push-unreadable", message, hint="write it with pyarrow.ipc.new_stream") from error


def refuse_odd(schema: pa.Schema) -> None:
    """Types in which few bytes stand for much: one text or list that every row points at."""
    for column in schema:
        if not is_plain(column.type):
            said = f"column {column.name[:40]!r} is of type {str(column.type)[:40]}"
            raise ValueError(f"{said}, not a number, a text or a map of texts")


def is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return all(is_plain(part.type) for part in kind)
    return pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or kind in PLAIN


def few(stream: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    count = 0
    for batch in stream:
        count += batch.num_rows
        if count > MOST:
            raise ValueError(f"it has more than {MOST:,} rows; push some of them at a time")
        yield batch


def plain_rows(batch: pa.RecordBatch) -> Iterable[dict[str, Any]]:
    """A map is a list of pairs in Arrow; a key that comes twice is no label."""
    batch.validate(full=True)
    for row in batch.to_pylist():
        labels = row.get("labels", ())
        if isinstance(labels, list) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in labels):
            row["labels"] = dict(labels) if len(dict(labels)) == len(labels) else labels
        elif "labels" in row and labels is None:
            del row["labels"]
        yield row
