"""JSON lines as columns of text. One object a line, numbers kept as they are written.

Read line by line on purpose: pyarrow's JSON reader guesses types per block, turns numbers to binary and names no line.
"""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from apportion.errors import InputError
from apportion.sources.files.delimited import not_text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import BadRow, Choose, Sheet, unique_columns
from apportion.sources.files.stream import CHUNK, Stream

LONGEST_LINE = 2**24
BLOCK_ROWS = 2**16
DECODER = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def read_json_lines(file: InputFile, choose: Choose) -> Sheet:
    """Every key of every object is a column; objects and lists become compact JSON text, true and false their words."""
    bad: list[BadRow] = []
    lines: list[int] = []
    with Stream(file) as stream:
        blocks = list(tables(objects(stream, bad, lines)))
        if not stream.size:
            raise InputError("empty-file", f"{file.name} is empty", where=file.name, hint="fetch the file again, or remove it")
        whole = pa.concat_tables(blocks, promote_options="default") if blocks else pa.table({})
        header = whole.column_names
        wanted = list(dict.fromkeys(choose(header))) if blocks else []
        unique_columns(header, wanted, file)
        return Sheet(file, tuple(header), whole.select(wanted), stream.sha256, stream.content_sha256, lambda row: f"{file.name}:{lines[row]}", tuple(bad))


def objects(stream: Stream, bad: list[BadRow], lines: list[int]) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(raw_lines(stream), 1):
        try:
            text = line.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            raise not_text(stream.file, number, "it is not UTF-8") from error
        if "\0" in text:
            raise not_text(stream.file, number, "it holds NUL bytes, as UTF-16 and damaged files do")
        if not (text := text.strip()):
            continue
        try:
            found = DECODER.decode(text)
            if "\\ud" in text.lower():  # half of a surrogate pair is no character
                json.dumps(found, ensure_ascii=False).encode()
        except (ValueError, RecursionError) as error:
            bad.append(BadRow(f"{stream.file.name}:{number}", f"the line is no JSON ({error})"[:200]))
            continue
        if not isinstance(found, dict):
            bad.append(BadRow(f"{stream.file.name}:{number}", "the line is no JSON object"))
            continue
        lines.append(number)
        yield found


def raw_lines(stream: Stream) -> Iterator[bytes]:
    rest = b""
    while data := stream.read(CHUNK):
        *whole, rest = (rest + data).split(b"\n")
        yield from whole
        if len(rest) > LONGEST_LINE:
            raise InputError("corrupt-file", f"a line of {stream.file.name} is over 16 MiB long", where=stream.file.name, hint="is the file JSON lines, one object a line?")
    if rest:
        yield rest


def tables(rows: Iterator[dict[str, Any]]) -> Iterator[pa.Table]:
    block: list[dict[str, Any]] = []
    for row in rows:
        block.append(row)
        if len(block) == BLOCK_ROWS:
            yield as_table(block)
            block = []
    if block:
        yield as_table(block)


def as_table(rows: list[dict[str, Any]]) -> pa.Table:
    names = list(dict.fromkeys(name for row in rows for name in row))
    return pa.table({name: pa.array([cell(row.get(name)) for row in rows], pa.string()) for name in names})


def cell(value: object) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
