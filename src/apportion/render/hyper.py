"""Tables as a .hyper file, which Tableau opens as it is. Amounts keep every digit: decimal(38,18), which version 3 of the format has."""

import hashlib
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pyarrow as pa
import pyarrow.parquet as pq

from apportion.errors import ProjectError

FORMAT = "3"
NAME = "extract.hyper"
QUOTE, TICK = '"', "'"


def render(tables: Mapping[str, pa.Table]) -> bytes:
    """Its bytes differ from one time to the next although its rows do not: Tableau's library writes them so."""
    pantab = library()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / NAME
        process = {"log_dir": folder, "default_database_version": FORMAT}
        pantab.frames_to_hyper({name: rows.slice(0, 0) for name, rows in tables.items()}, file, process_params=process)
        parquet = Path(folder) / "rows.parquet"
        for name, rows in tables.items():
            pq.write_table(rows, parquet)
            pantab.frame_from_hyper_query(file, fill(name, parquet), return_type="pyarrow", process_params=process)
        return file.read_bytes()


def fill(name: str, parquet: Path) -> str:
    """Hyper reads Parquet itself, since the writer of pantab cannot write an amount between -0.1 and 0."""
    return f"INSERT INTO {quoted(name, QUOTE)} SELECT * FROM external({quoted(str(parquet), TICK)})"  # noqa: S608


def quoted(text: str, mark: str) -> str:
    return mark + text.replace(mark, mark * 2) + mark


def content_sha256(tables: Mapping[str, pa.Table]) -> str:
    """Of names, types and rows."""
    found = hashlib.sha256()
    for name, rows in tables.items():
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_table(rows.combine_chunks())
        found.update(name.encode() + b"\0" + sink.getvalue())
    return found.hexdigest()


def library() -> ModuleType:
    try:
        import pantab  # noqa: PLC0415  # an extra
    except ImportError as error:
        raise ProjectError(
            "tableau-missing",
            f"a file for Tableau is asked for, and the Python package that makes it is not installed ({error})",
            hint='pip install "apportion[tableau]"',
        ) from error
    found: ModuleType = pantab
    return found
