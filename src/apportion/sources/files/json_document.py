"""One JSON document as columns of text: an array's objects are the rows, a single object is one row (the setting `explode` makes rows of an array in it)."""

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from apportion.errors import InputError
from apportion.sources.files.json_lines import DECODER, as_text, refuse_deep, tables
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import BadRow, Choose, Sheet, unique_columns
from apportion.sources.files.stream import Stream, corrupt, too_large

LARGEST = 2**28  # it is decoded as a whole; larger logs are better written as lines


def read_json_document(file: InputFile, choose: Choose) -> Sheet:
    with Stream(file) as stream:
        parts = []
        while part := stream.read():
            parts.append(part)
            if stream.size > LARGEST:
                raise too_large(file, "a JSON document over 256 MiB; JSON lines (.jsonl) may be larger")
        text = as_text(b"".join(parts), 0, file)
        if not text.strip():
            raise InputError(
                "empty-file", f"{file.name} is empty", where=file.name, hint="fetch the file again, or remove it"
            )
        found = decoded(text, file)
        items = found if isinstance(found, list) else [found]
        bad = tuple(
            BadRow(place(file, number), "is no JSON object") for number, item in enumerate(items) if not row(item)
        )
        numbers = [number for number, item in enumerate(items) if row(item)]
        blocks = list(tables(objects(items)))
        whole = pa.concat_tables(blocks, promote_options="default") if blocks else pa.table({})
        wanted = list(dict.fromkeys(choose(whole.column_names))) if blocks else []
        unique_columns(whole.column_names, wanted, file)
        return Sheet(
            file,
            tuple(whole.column_names),
            whole.select(wanted),
            stream.sha256,
            stream.content_sha256,
            lambda at: place(file, numbers[at]),
            bad,
        )


def decoded(text: str, file: InputFile) -> Any:
    try:
        found = DECODER.decode(text)
        if "\\ud" in text.lower():  # half of a surrogate pair is no character
            json.dumps(found, ensure_ascii=False).encode()
        if isinstance(found, dict | list):
            refuse_deep(found, text)
    except ValueError as error:
        raise corrupt(file, f"it is no JSON document ({str(error)[:120]})") from error
    except RecursionError as error:
        raise corrupt(file, "its JSON is nested too deeply") from error
    return found


def row(item: Any) -> bool:
    return isinstance(item, dict)


def objects(items: list[Any]) -> Iterator[dict[str, Any]]:
    yield from (item for item in items if row(item))


def place(file: InputFile, number: int) -> str:
    return f"{file.name} item {number}"
