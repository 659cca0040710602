"""A month delivered again and again, in any order, in part and twice: the books end as after one clean delivery of the newest version."""

import json
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from apportion.books.open import Books, open_books
from apportion.errors import InputError
from tests.aws import month as m
from tests.sources import making

PERIOD = "BILLING_PERIOD=2026-10"


@dataclass(frozen=True)
class Write:
    """A file that arrives; with `upto` only its beginning, as when a copy was interrupted."""

    name: str
    data: bytes
    upto: int | None = None

    def do(self, base: Path) -> None:
        m.put(base / self.name, self.data[: self.upto])


def version(number: int, invoice: str = "") -> list[Write]:
    """An execution: two parts and, last, the manifest that lists them."""
    rows = m.Month(number, invoice).rows
    run = f"2026-11-0{number}T00:00:00.000Z-{number:04}"
    parts = [
        Write(f"cur/data/{PERIOD}/{run}/cur-{part}.snappy.parquet", m.cur2_parquet(rows[part::2])) for part in range(2)
    ]
    listed = json.dumps({"dataFiles": [f"s3://bucket/{one.name}" for one in parts]}).encode()
    return [*parts, Write(f"cur/metadata/{PERIOD}/{run}/cur-Manifest.json", listed)]


def books_in(folder: Path) -> Books:
    return open_books(f"sqlite:///{folder}/books.db", str(folder / "warehouse"), create=True)


def ingest(books: Books, base: Path) -> None:
    for delivery in making.read("aws", base, path="cur"):
        books.ingest(delivery)


def told(books: Books) -> list[tuple[str, ...]]:
    return sorted(tuple(map(str, row.values())) for row in books.scan("cost_lines").to_pylist())


def clean(folder: Path) -> list[tuple[str, ...]]:
    for write in version(3, "2026-0042"):
        write.do(folder)
    books = books_in(folder)
    ingest(books, folder)
    found = told(books)
    books.close()
    return found


@pytest.mark.parametrize("seed", range(2))
def test_any_order_ends_in_the_same_books(seed: int, tmp_path: Path) -> None:
    (tmp_path / "clean").mkdir()
    (tmp_path / "mixed").mkdir()
    expected = clean(tmp_path / "clean")
    assert {row[-1] for row in expected} == {"final"}
    dice = Random(seed)
    writes = [*version(1), *version(2), *version(3, "2026-0042")]
    writes += dice.sample(writes, 3)  # some twice
    dice.shuffle(writes)
    broken = dice.choice(writes)
    books = books_in(tmp_path / "mixed")
    Write(broken.name, broken.data, len(broken.data) // 2).do(tmp_path / "mixed")
    for write in writes:
        write.do(tmp_path / "mixed")
        if dice.random() < 0.5:
            with suppress(InputError):  # a part is still to come, or was cut off: nothing of it is taken
                ingest(books, tmp_path / "mixed")
    ingest(books, tmp_path / "mixed")
    assert told(books) == expected
    ingest(books, tmp_path / "mixed")
    assert told(books) == expected
    books.close()


def test_a_final_bill_replaces_the_estimate_and_an_older_version_does_not_come_back(tmp_path: Path) -> None:
    books = books_in(tmp_path)
    states = []
    for found in (version(1), version(3, "2026-0042"), version(2)):
        for write in found:
            write.do(tmp_path)
        ingest(books, tmp_path)
        lines = books.scan("cost_lines")
        states.append((set(lines["status"].to_pylist()), lines.num_rows))
    assert states[0][0] == {"estimated"}
    assert states[1] == states[2] == ({"final"}, len(m.Month(3).rows))
    books.close()
