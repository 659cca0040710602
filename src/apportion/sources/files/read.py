"""One door for all formats."""

from apportion.sources.files.columnar import read_columnar
from apportion.sources.files.delimited import read_delimited
from apportion.sources.files.json_document import read_json_document
from apportion.sources.files.json_lines import read_json_lines
from apportion.sources.files.paths import InputFile
from apportion.sources.files.sheet import Choose, Sheet


def read_sheet(file: InputFile, choose: Choose, delimiter: str = ",") -> Sheet:
    if file.format == "parquet":
        return read_columnar(file, choose)
    if file.format == "jsonl":
        return read_json_lines(file, choose)
    if file.format == "json":
        return read_json_document(file, choose)
    return read_delimited(file, choose, delimiter)
