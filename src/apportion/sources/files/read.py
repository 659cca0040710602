"""One door for all formats."""

from apportion.sources.files.columnar import columnar_header, read_columnar
from apportion.sources.files.delimited import Watched, read_delimited, read_header
from apportion.sources.files.json_document import read_json_document
from apportion.sources.files.json_lines import read_json_lines
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import Choose, Sheet
from apportion.sources.files.stream import Stream


def header_of(file: InputFile, delimiter: str = ",") -> tuple[str, ...]:
    """The columns of a CSV or Parquet file, without its rows: to tell what a file is before it is read."""
    if file.format == "parquet":
        return columnar_header(file)
    with Stream(file) as stream:
        return tuple(read_header(Watched(stream), delimiter)[0])


def read_sheet(file: InputFile, choose: Choose, delimiter: str = ",") -> Sheet:
    if file.format == "parquet":
        return read_columnar(file, choose)
    if file.format == "jsonl":
        return read_json_lines(file, choose)
    if file.format == "json":
        return read_json_document(file, choose)
    return read_delimited(file, choose, delimiter)
