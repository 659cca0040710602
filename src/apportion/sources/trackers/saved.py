"""Documents that were saved from a tracker: JSON files, or lines of JSON."""

import json
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.sources.files.paths import input_files
from apportion.sources.files.stream import Stream
from apportion.sources.settings import Stanza


def documents(found: Stanza, base: Path, form: str) -> Iterator[tuple[FileDigest, Any]]:
    """Each file with what it holds: the value of a `json` file, the list of a `jsonl` file's lines."""
    for file in input_files(found.text("path"), base, (form,), found.where):
        with Stream(file) as stream:
            body, digest = stream.read_all(), stream.sha256
        lines = [body] if form == "json" else body.split(b"\n")
        values = [parsed(line, f"{file.name}:{number}") for number, line in enumerate(lines, 1) if line.strip()]
        yield FileDigest(file.name, digest, len(values), "0"), values[0] if form == "json" and values else values


def parsed(text: bytes, where: str) -> Any:
    try:
        return json.loads(text, parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise InputError(
            "corrupt-file", f"{where} is not JSON: {error}", where=where, hint="save the answer again"
        ) from error
