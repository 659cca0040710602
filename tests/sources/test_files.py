"""Files stay inside the project, are hashed as they are read, and never make the reader wait or swell."""

import gzip
import hashlib
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from apportion.errors import InputError
from apportion.sources.files.paths import InputFile, input_files, open_file
from apportion.sources.files.read import read_sheet
from apportion.sources.files.stream import FREE_BYTES, Stream
from tests.sources import making

FORMATS = ("csv", "parquet")


def code(base: Path, path: str) -> str:
    with pytest.raises(InputError) as caught:
        read_all(base, path)
    return caught.value.code


def read_all(base: Path, path: str) -> None:
    for file in input_files(path, base, FORMATS):
        read_sheet(file, list)


def names(base: Path, path: str) -> list[str]:
    return [file.name for file in input_files(path, base, FORMATS)]


def test_a_file_a_folder_and_a_glob(tmp_path: Path) -> None:
    for name in (
        "b/2.csv",
        "b/1.csv.gz",
        "b/deep/3.parquet",
        "b/_SUCCESS",
        "b/.hidden.csv",
        "b/notes.txt",
        "b/_x/4.csv",
    ):
        making.put(tmp_path / name, "a\n1\n")
    assert names(tmp_path, "b/2.csv") == ["b/2.csv"]
    assert names(tmp_path, "b") == ["b/1.csv.gz", "b/2.csv", "b/deep/3.parquet"]
    assert names(tmp_path, "b/*.csv*") == ["b/.hidden.csv", "b/1.csv.gz", "b/2.csv"]
    assert names(tmp_path, "**/*.parquet") == ["b/deep/3.parquet"]
    assert names(tmp_path, str(tmp_path / "b/2.csv")) == ["b/2.csv"]
    assert code(tmp_path, "b/notes.txt") == "unknown-format"
    assert code(tmp_path, "b/*.tsv") == "no-such-file"
    assert code(tmp_path, "nowhere.csv") == "no-such-file"
    assert code(tmp_path, "a\0b.csv") == "unreadable-file"


def test_a_file_with_glob_letters_in_its_name_is_that_file(tmp_path: Path) -> None:
    making.put(tmp_path / "bill[1].csv", "a\n1\n")
    assert names(tmp_path, "bill[1].csv") == ["bill[1].csv"]


@pytest.mark.parametrize(
    "path",
    [
        "../secret.csv",
        "../*.csv",
        "inside/../../secret.csv",
        "link.csv",
        "folder/secret.csv",
        "folder/*.csv",
        "/etc/hostname",
        "/dev/zero",
    ],
)
def test_nothing_outside_the_project_is_read(path: str, tmp_path: Path) -> None:
    secret = making.put(tmp_path / "secret.csv", "a\n1\n")
    base = tmp_path / "project"
    (base / "inside").mkdir(parents=True)
    (base / "link.csv").symlink_to(secret)
    (base / "folder").symlink_to(tmp_path)
    assert code(base, path) == "path-outside"


def test_a_link_out_of_the_project_in_a_folder_is_refused_not_passed_over(tmp_path: Path) -> None:
    secret = making.put(tmp_path / "secret.csv", "a\n1\n")
    making.put(tmp_path / "project/bills/1.csv", "a\n1\n")
    (tmp_path / "project/bills/2.csv").symlink_to(secret)
    assert code(tmp_path / "project", "bills") == "path-outside"


def test_links_inside_the_project_count_once(tmp_path: Path) -> None:
    making.put(tmp_path / "1.csv", "a\n1\n")
    (tmp_path / "2.csv").symlink_to(tmp_path / "1.csv")
    assert names(tmp_path, "*.csv") == ["1.csv"]


def test_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    assert code(tmp_path, "pipe.csv") == "not-a-file"
    with pytest.raises(InputError) as caught:  # put there after the look-up
        open_file(InputFile("pipe.csv", tmp_path / "pipe.csv", "csv"))
    assert caught.value.code == "not-a-file"


def test_a_link_put_there_after_the_look_up_is_not_followed(tmp_path: Path) -> None:
    making.put(tmp_path / "1.csv", "a\n1\n")
    (file,) = input_files("1.csv", tmp_path, FORMATS)
    (tmp_path / "1.csv").unlink()
    (tmp_path / "1.csv").symlink_to("/etc/hostname")
    with pytest.raises(InputError) as caught:
        open_file(file)
    assert caught.value.code == "unreadable-file"


def test_a_loop_of_links_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").symlink_to(tmp_path / "b.csv")
    (tmp_path / "b.csv").symlink_to(tmp_path / "a.csv")
    assert code(tmp_path, "a.csv") == "unreadable-file"


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz"])
def test_the_digest_is_of_the_file_as_it_lies_there(name: str, tmp_path: Path) -> None:
    text = b"a,b\n" + b"1,2\n" * 100_000
    making.put(tmp_path / name, gzip.compress(text) + gzip.compress(b"3,4\n") if name.endswith("gz") else text)
    (file,) = input_files(name, tmp_path, FORMATS)
    sheet = read_sheet(file, list)
    assert sheet.sha256 == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()
    assert sheet.table.num_rows == 100_000 + name.endswith("gz")


def test_a_packed_bomb_is_refused_before_it_goes_off(tmp_path: Path) -> None:
    making.put(tmp_path / "bomb.csv.gz", gzip.compress(b"a\n" + b"0\n" * 200_000_000))
    assert code(tmp_path, "bomb.csv.gz") == "too-large"
    (file,) = input_files("bomb.csv.gz", tmp_path, FORMATS)
    with Stream(file) as stream, pytest.raises(InputError):
        stream.read_all()
    assert stream.size < 4 * FREE_BYTES


def test_a_parquet_file_that_promises_too_much_is_refused(tmp_path: Path) -> None:
    table = pa.table({"a": pa.repeat(pa.scalar(7), 40_000_000)})
    pq.write_table(table, tmp_path / "runs.parquet", row_group_size=40_000_000)
    assert (tmp_path / "runs.parquet").stat().st_size < 200_000
    assert code(tmp_path, "runs.parquet") == "too-large"
    text = pa.table({"a": pa.DictionaryArray.from_arrays(pa.repeat(pa.scalar(0), 3_000_000), pa.array(["x" * 1000]))})
    pq.write_table(text, tmp_path / "text.parquet")
    assert code(tmp_path, "text.parquet") == "too-large"


def test_rows_are_named_by_their_line_even_after_line_ends_in_quotes(tmp_path: Path) -> None:
    making.put(tmp_path / "x.csv", 'a,b\n1,"two\nlines"\n\n2,x\n3\n4,"y"\n')
    (file,) = input_files("x.csv", tmp_path, FORMATS)
    sheet = read_sheet(file, list)
    assert sheet.table["a"].to_pylist() == ["1", "2", "4"]
    assert [sheet.where(row) for row in range(3)] == ["x.csv:2", "x.csv:5", "x.csv:7"]
    assert [bad.where for bad in sheet.bad_rows] == ["x.csv:6"]


def test_quotes_that_come_late_still_hold_their_line_ends(tmp_path: Path) -> None:
    many = "1,2\n" * 400_000
    making.put(tmp_path / "x.csv", f'a,b\n{many}3,"two\nlines"\n4,5\n')
    (file,) = input_files("x.csv", tmp_path, FORMATS)
    sheet = read_sheet(file, list)
    assert sheet.table.num_rows == 400_002
    assert sheet.table["b"].to_pylist()[-2:] == ["two\nlines", "5"]
    assert sheet.where(400_001) == "x.csv:400004"
    assert sheet.sha256 == hashlib.sha256((tmp_path / "x.csv").read_bytes()).hexdigest()


@pytest.mark.parametrize("name", [b"caf\xe9.csv", b"a\nb.csv", b"\x1b[31m.csv"])
def test_a_name_that_cannot_be_printed_is_refused(name: bytes, tmp_path: Path) -> None:
    with open(os.fsencode(tmp_path) + b"/" + name, "wb") as file:  # noqa: PTH123 - a name that is no text
        file.write(b"a\n1\n")
    assert code(tmp_path, "*.csv") == "unreadable-file"
