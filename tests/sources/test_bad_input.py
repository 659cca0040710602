"""Whatever lies in the folder: a clear refusal or counted problems, never a traceback, a wait or a lost cent."""

import csv
import gzip
import io
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from apportion.errors import ApportionError
from apportion.model.delivery import Delivery
from tests import processes
from tests.conftest import LONG
from tests.sources import making

BILL = making.bill_text(
    *({"EffectiveCost": f"{number}.25", "ChargeDescription": 'a "quoted", text'} for number in range(8))
)
LOG = making.log_text(*({"job": str(number)} for number in range(8)))
PACKED = gzip.compress(BILL.encode())


def parquet() -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(csv.DictReader(io.StringIO(BILL)))), out)
    return out.getvalue()


def wide_text(header: str, row: str) -> str:
    return f"{header}\n{row}\n"


CORPUS: dict[str, tuple[str, str | bytes, str]] = {
    "empty file": ("bill.csv", "", "empty-file"),
    "empty gzip": ("bill.csv.gz", gzip.compress(b""), "empty-file"),
    "empty parquet": ("bill.parquet", b"", "empty-file"),
    "header only": ("bill.csv", BILL.splitlines()[0] + "\n", "no-rows"),
    "blank lines only": ("bill.csv", "\n\n\n", "missing-columns"),
    "truncated parquet": ("bill.parquet", parquet()[:-20], "corrupt-file"),
    "half a parquet": ("bill.parquet", parquet()[: len(parquet()) // 2], "corrupt-file"),
    "csv named parquet": ("bill.parquet", BILL, "corrupt-file"),
    "parquet named csv": ("bill.csv", parquet(), "wrong-encoding"),
    "truncated gzip": ("bill.csv.gz", PACKED[:-10], "corrupt-file"),
    "damaged gzip": ("bill.csv.gz", PACKED[:60] + b"\xff\xff\xff" + PACKED[63:], "corrupt-file"),
    "rubbish after gzip": ("bill.csv.gz", PACKED + b"rubbish", "corrupt-file"),
    "gzip of the wrong thing": ("bill.parquet.gz", gzip.compress(b"hello"), "corrupt-file"),
    "cut in a row": ("bill.csv", BILL[: BILL.rindex("Compute")], "corrupt-file"),
    "cut in quotes": ("bill.csv", BILL[: BILL.rindex("quoted")], "corrupt-file"),
    "utf-16": ("bill.csv", BILL.encode("utf-16"), "wrong-encoding"),
    "utf-16 without mark": ("bill.csv", BILL.encode("utf-16-le"), "wrong-encoding"),
    "latin-1 cell": ("bill.csv", BILL.replace("Nimbus", "Nimbüs").encode("latin-1"), "wrong-encoding"),
    "latin-1 header": ("bill.csv", ("Größe," + BILL).encode("latin-1"), "wrong-encoding"),
    "NUL bytes": ("bill.csv", BILL.replace("node-1", "node\0"), "wrong-encoding"),
    "NUL tail": ("bill.csv", BILL.encode() + b"\0" * 4096, "wrong-encoding"),
    "double column": ("bill.csv", BILL.replace("ListCost", "BilledCost", 1), "duplicate-column"),
    "too many cells": ("bill.csv", BILL + "1," * 40 + "\n", "corrupt-file"),
    "semicolons": ("bill.csv", BILL.replace(",", ";"), "missing-columns"),
    "no header": ("bill.csv", "".join(BILL.splitlines(keepends=True)[1:]), "missing-columns"),
    "html": ("bill.csv", "<html><body>Sign in</body></html>\n", "missing-columns"),
    "one huge row": ("bill.csv", BILL + "x" * 40_000_000, "corrupt-file"),
    "no time at all": ("bill.csv", BILL.replace("2026-", "26/"), "shifted-columns"),
}


@pytest.mark.parametrize("what", CORPUS)
def test_a_bill_that_cannot_be_read_is_refused(what: str, tmp_path: Path) -> None:
    name, content, code = CORPUS[what]
    with pytest.raises(ApportionError) as caught:
        making.read_bill(tmp_path, content, name)
    assert caught.value.code == code
    assert name in caught.value.where
    assert caught.value.message


@pytest.mark.parametrize(
    "cell", ["=cmd|'/C calc'!A0", "+1", "-1", "@sum", "\ttab", "'; DROP TABLE x; --", "👩‍🔬", "a\u200bb", "\u202eabc"]
)
def test_strange_text_is_kept_as_it_is(cell: str, tmp_path: Path) -> None:
    (delivery,) = making.read_bill(tmp_path, making.bill_text({"ResourceName": cell}))
    assert [row["ResourceName"] for row in making.lines([delivery])] == [cell]
    assert delivery.problems == ()


def test_a_line_number_is_given_for_the_first_letter_that_is_no_utf_8(tmp_path: Path) -> None:
    text = making.bill_text({}, {}, {"ServiceName": "Größe"}).encode("latin-1")
    with pytest.raises(ApportionError) as caught:
        making.read_bill(tmp_path, text)
    assert caught.value.where == "bill.csv:4"


JSON_LINES: dict[str, tuple[bytes, list[str]]] = {
    "bad line": (b"{]", ["malformed-row"]),
    "a list": (b"[1]", ["malformed-row"]),
    "two objects": (b"{}{}", ["malformed-row"]),
    "deep": (b'{"a":' * 100_000, ["malformed-row"]),
    "half a surrogate": (rb'{"job":"\ud800"}', ["malformed-row"]),
    "NaN": (json.dumps({**making.JOB, "gpus": float("nan")}).encode(), ["invalid-number"]),
    "infinity": (json.dumps({**making.JOB, "gpus": float("inf")}).encode(), ["invalid-number"]),
    "5000 digits": (json.dumps(making.JOB).replace('"4"', "9" * 5000).encode(), ["invalid-number"]),
    "huge exponent": (json.dumps(making.JOB).replace('"4"', "1e30000000").encode(), ["invalid-number"]),
    "other types": (json.dumps({**making.JOB, "job": ["x"], "gpus": True}).encode(), ["invalid-number"]),
    "nothing known": (b'{"b":1}', ["invalid-time", "missing-workload"]),
}


@pytest.mark.parametrize("what", JSON_LINES)
def test_json_lines_that_cannot_be_taken_are_problems(what: str, tmp_path: Path) -> None:
    line, expected = JSON_LINES[what]
    good = json.dumps({**making.JOB, "job": "good"}).encode()
    delivery = making.read_log(tmp_path, b"\n".join([good, line, good.replace(b"good", b"fine"), b""]), "log.jsonl")
    assert [row["workload"] for row in delivery.tables["usage"].to_pylist()] == ["good", "fine"]
    assert set(making.codes(delivery)) <= set(expected)
    assert delivery.problems
    assert all(problem.where == "log.jsonl:2" for problem in delivery.problems)


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"", "empty-file"),
        (b"\xff\xfe{", "wrong-encoding"),
        (b'{"a":"\xe9"}', "wrong-encoding"),
        (b"\0" * 100, "wrong-encoding"),
        (b"not json", "no-rows"),
    ],
)
def test_json_lines_that_are_none(content: bytes, code: str, tmp_path: Path) -> None:
    with pytest.raises(ApportionError) as caught:
        making.read_log(tmp_path, content, "log.jsonl")
    assert caught.value.code == code


def mutate(data: bytes, cuts: list[tuple[int, int, bytes]]) -> bytes:
    for place, length, new in cuts:
        at = place % (len(data) + 1)
        data = data[:at] + new + data[at + length :]
    return data


EVERY_BYTE = """
import sys
from pathlib import Path
from apportion.errors import InputError
from apportion.sources.files.paths import input_files
from apportion.sources.files.read import read_sheet
folder = Path(sys.argv[1])
good = (folder / "good.parquet").read_bytes()
refused = 0
for place in range(4, len(good)):
    bad = bytearray(good)
    bad[place] ^= 1 << place % 8
    (folder / "bad.parquet").write_bytes(bad)
    try:
        read_sheet(input_files("bad.parquet", folder, ["parquet"])[0], list)
    except InputError:
        refused += 1
print(refused, len(good) - 4)
"""


def test_no_single_changed_bit_of_a_parquet_file_ends_the_process(tmp_path: Path) -> None:
    """In a process of its own: pyarrow aborts on some damage to a footer when it is asked the wrong way."""
    rows = [{"job": str(number), "gpus": number, "start": "2026-10-05T00:00:00Z"} for number in range(5)]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "good.parquet", write_page_checksum=True, compression="none")
    done = processes.run([sys.executable, "-c", EVERY_BYTE, str(tmp_path)], text=True)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    refused, changed = map(int, done.stdout.split())
    assert changed > 1000
    assert refused > changed // 2


MUTATIONS = st.lists(
    st.tuples(
        st.integers(0, 10**6),
        st.integers(0, 40),
        st.one_of(
            st.binary(max_size=6), st.sampled_from([b",", b'"', b"\n", b"\r", b"\0", b"-", b"e9", b"NaN", b"\xff"])
        ),
    ),
    min_size=1,
    max_size=4,
)


def attempt(read: Callable[[], list[Delivery]]) -> list[Delivery] | None:
    try:
        return read()
    except ApportionError:
        return None


@settings(
    max_examples=60 if LONG else 30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(cuts=MUTATIONS, form=st.sampled_from(["csv", "csv.gz", "parquet"]))
def test_a_damaged_bill_is_refused_or_read_without_losing_a_cent(
    cuts: list[tuple[int, int, bytes]], form: str, tmp_path: Path
) -> None:
    good = {"csv": BILL.encode(), "csv.gz": PACKED, "parquet": parquet()}[form]
    damaged = mutate(good, cuts)
    found = attempt(lambda: making.read_bill(tmp_path, damaged, f"bill.{form}"))
    if found is not None and form == "csv":
        rows = list(csv.DictReader(io.StringIO(damaged.decode("utf-8-sig"), newline="")))
        names = {name.strip().casefold(): name for name in rows[0] if name}
        column = names.get("effectivecost") or names["billedcost"]  # which is taken where the damage is in the header
        wanted = sum((Decimal(cell) for row in rows if (cell := row[column]) and cell.lower() != "null"), Decimal(0))
        assert making.total(found) == wanted


@settings(
    max_examples=40 if LONG else 20, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(cuts=MUTATIONS, form=st.sampled_from(["csv", "jsonl"]))
def test_a_damaged_log_is_refused_or_read(cuts: list[tuple[int, int, bytes]], form: str, tmp_path: Path) -> None:
    good = LOG if form == "csv" else "\n".join(json.dumps(row) for row in csv.DictReader(io.StringIO(LOG)))
    found = attempt(lambda: [making.read_log(tmp_path, mutate(good.encode(), cuts), f"log.{form}")])
    if found is not None:
        rows = found[0].tables["usage"].to_pylist()
        assert len(rows) <= 8 + 2 * len(cuts)
        assert all(row["allocated"] >= 0 and row["end_s"] >= row["start_s"] for row in rows)
