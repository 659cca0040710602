"""JSON lines as columns of text. One object a line, numbers kept as they are written.

Read line by line on purpose: pyarrow's JSON reader guesses types per block, turns numbers to binary and names no line.
"""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.sources.files.delimited import not_text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import BadRow, Choose, Sheet, unique_columns
from apportion.sources.files.stream import CHUNK, Stream

LONGEST_LINE = 2**24
BLOCK_ROWS = 2**16
DEEPEST = 100
ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def read_json_lines(file: InputFile, choose: Choose) -> Sheet:
    """Every key of every object is a column; objects and lists become compact JSON text, true and false their words."""
    bad: list[BadRow] = []
    lines: list[int] = []
    with Stream(file) as stream:
        blocks = list(tables(objects(stream, bad, lines)))
        if not stream.size:
            raise InputError(
                "empty-file", f"{file.name} is empty", where=file.name, hint="fetch the file again, or remove it"
            )
        whole = pa.concat_tables(blocks, promote_options="default") if blocks else pa.table({})
        header = whole.column_names
        wanted = list(dict.fromkeys(choose(header))) if blocks else []
        unique_columns(header, wanted, file)
        return Sheet(
            file,
            tuple(header),
            whole.select(wanted),
            stream.sha256,
            stream.content_sha256,
            lambda row: f"{file.name}:{lines[row]}",
            tuple(bad),
            stream.packed or stream.last == b"\n",  # gzip has a checksum of its own
        )


def objects(stream: Stream, bad: list[BadRow], lines: list[int]) -> Iterator[dict[str, Any]]:
    """The objects, in order; `lines` receives the number of each one's line and `bad` the lines that hold none."""
    number = 0
    for data in whole_lines(stream):
        text = as_text(data, number, stream.file)
        halves = "\\ud" in text.lower()
        for number, line in enumerate(text.split("\n"), number + 1):  # noqa: B020 - the count goes on
            if not (stripped := line.strip()):
                continue
            try:
                found = decode(stripped, halves=halves)
            except (ValueError, RecursionError) as error:
                bad.append(BadRow(f"{stream.file.name}:{number}", f"the line is no JSON object ({str(error)[:120]})"))
                continue
            lines.append(number)
            yield found


def decode(line: str, *, halves: bool) -> dict[str, Any]:
    found, end = DECODER.raw_decode(line)
    if end != len(line) or not isinstance(found, dict):
        raise ValueError("more than one object, or none")
    if halves:  # half of a surrogate pair is no character
        json.dumps(found, ensure_ascii=False).encode()
    refuse_deep(found, line)
    return found


def refuse_deep(found: Any, written: str) -> None:
    """Python's own bound is that of its stack, which depends on who asks; ours is the same everywhere."""
    if written.count("[") + written.count("{") <= DEEPEST:
        return
    level = [found]
    for _ in range(DEEPEST):
        level = [inner for value in level for inner in insides(value)]
        if not level:
            return
    raise ValueError(f"it is nested over {DEEPEST} deep")


def insides(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [inner for inner in value.values() if isinstance(inner, dict | list)]
    return [inner for inner in value if isinstance(inner, dict | list)]


def as_text(data: bytes, before: int, file: InputFile) -> str:
    if (at := data.find(b"\0")) >= 0:
        raise not_text(
            file, before + data.count(b"\n", 0, at) + 1, "it holds NUL bytes, as UTF-16 and damaged files do"
        )
    try:
        return data.decode("utf-8-sig" if before == 0 else "utf-8")
    except UnicodeDecodeError as error:
        raise not_text(file, before + data.count(b"\n", 0, error.start) + 1, "it is not UTF-8") from error


def whole_lines(stream: Stream) -> Iterator[bytes]:
    """Blocks that end where a line ends, without the last line end."""
    rest = b""
    while data := stream.read(CHUNK):
        whole, found, after = data.rpartition(b"\n")
        if found:
            yield rest + whole
            rest = after
        else:
            rest += data
        if len(rest) > LONGEST_LINE:
            raise InputError(
                "corrupt-file",
                f"a line of {stream.file.name} is over 16 MiB long",
                where=stream.file.name,
                hint="is the file JSON lines, one object a line?",
            )
    if rest:
        yield rest


def tables(rows: Iterator[dict[str, Any]]) -> Iterator[pa.Table]:
    while block := list(islice(rows, BLOCK_ROWS)):
        names = sorted(set().union(*block))
        yield pa.table({name: column([row.get(name) for row in block]) for name in names})


def column(cells: list[Any]) -> pa.Array:
    try:
        found = pa.array(cells, pa.string())
    except (pa.ArrowTypeError, pa.ArrowInvalid):  # objects, lists, true and false among them
        found = pa.array([cell(value) for value in cells], pa.string())
    return pc.if_else(pc.equal(found, ""), None, found)


def cell(value: object) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return ENCODER.encode(value)
