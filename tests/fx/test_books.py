"""Rates are evidence as any other: replaced by the day, verified, backed up; and books that never had them gain the table."""

from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest
from sqlalchemy import delete, select, update

from apportion.books import evolve, record
from apportion.books.catalog import NAMESPACE
from apportion.books.database import writing
from apportion.books.open import Books, open_books, restore
from apportion.errors import BooksError
from apportion.model.delivery import Delivery
from apportion.model.rows import RATES
from apportion.model.times import Interval

DAY_S = 86_400
FIRST = (date(2026, 10, 1) - date(1970, 1, 1)).days


def delivery(first: int, *rates: str, source: str = "fx") -> Delivery:
    """A rate a day from a day of October on."""
    days = range(FIRST + first - 1, FIRST + first - 1 + len(rates))
    rows = [
        {
            "source": source, "currency": "USD", "base": "EUR", "day": date.fromordinal(date(1970, 1, 1).toordinal() + day),
            "rate": Decimal(rate),
        }
        for day, rate in zip(days, rates, strict=True)
    ]  # fmt: skip
    window = Interval(days[0] * DAY_S, (days[-1] + 1) * DAY_S)
    return Delivery(source, window, {"rates": pa.Table.from_pylist(rows, RATES)})


def stated(books: Books, source: str = "fx") -> dict[int, str]:
    rows = [row for row in books.scan("rates").to_pylist() if row["source"] == source]
    return {row["day"].day: f"{row['rate'].normalize():f}" for row in sorted(rows, key=lambda row: row["day"])}


def opened(folder: Path, *, create: bool = True) -> Books:
    return open_books(f"sqlite:///{folder / 'books.db'}", str(folder / "warehouse"), create=create)


@pytest.fixture
def books(tmp_path: Path) -> Books:
    return opened(tmp_path)


def test_a_later_table_replaces_its_own_days(books: Books) -> None:
    assert books.ingest(delivery(1, "1", "2", "3", "4")).rows == {"rates": 4}
    assert books.ingest(delivery(1, "9", source="other")).changed
    before = books.inputs()["rates"]
    assert not books.ingest(delivery(1, "1", "2", "3", "4")).changed
    assert books.inputs()["rates"] == before
    receipt = books.ingest(delivery(2, "2.5", "3"))
    assert (receipt.changed, receipt.replaced) == (True, {"rates": 2})
    assert stated(books) == {1: "1", 2: "2.5", 3: "3", 4: "4"}
    assert stated(books, "other") == {1: "9"}
    assert books.inputs()["rates"].digest != before.digest
    assert [row["rate"] for row in books.scan("rates", before.snapshot_id).sort_by("rate").to_pylist()] == [
        1,
        2,
        3,
        4,
        9,
    ]
    assert books.verify() == []


def test_order_of_deliveries_does_not_count_beyond_the_last_word(tmp_path: Path) -> None:
    digests = set()
    for n, order in enumerate(([1, 2], [2, 1])):
        made = opened(tmp_path / str(n))
        for part in order:
            made.ingest(delivery(1, "1", "2") if part == 1 else delivery(3, "3", "4"))
        digests.add(made.inputs()["rates"].digest)
    assert len(digests) == 1


@pytest.mark.parametrize("rate", ["0", "-1"])
def test_a_rate_that_is_none_is_refused(books: Books, rate: str) -> None:
    with pytest.raises(BooksError, match="invalid-delivery"):
        books.ingest(delivery(1, "1", rate))


def without_rates(folder: Path) -> Books:
    """Books as they were before there was a table of rates."""
    made = opened(folder)
    made.evidence.catalog.drop_table((NAMESPACE, "rates"))
    with writing(made.engine) as connection:
        for table in (record.files, record.snapshots, record.published):
            connection.execute(delete(table).where(table.c.table == "rates"))
        connection.execute(update(record.meta).where(record.meta.c.key == evolve.SHAPE).values(value="earlier"))
    return made


@pytest.mark.parametrize("create", [True, False])
def test_books_that_never_had_the_table_gain_it(tmp_path: Path, *, create: bool) -> None:
    without_rates(tmp_path).close()
    books = opened(tmp_path, create=create)
    with books.engine.connect() as connection:
        assert "rates" in set(connection.scalars(select(record.published.c.table)))
    assert books.inputs()["rates"].rows == 0
    books.ingest(delivery(1, "1"))
    assert stated(books) == {1: "1"}
    assert books.verify() == []


def test_a_backup_of_them_is_restored_with_it(tmp_path: Path) -> None:
    old = without_rates(tmp_path / "old")
    old.backup(tmp_path / "old.tar")
    books = restore(tmp_path / "old.tar", f"sqlite:///{tmp_path / 'new.db'}", str(tmp_path / "new"))
    books.ingest(delivery(1, "1", "2"))
    books.backup(tmp_path / "new.tar")
    again = restore(tmp_path / "new.tar", f"sqlite:///{tmp_path / 'again.db'}", str(tmp_path / "again"))
    assert stated(again) == {1: "1", 2: "2"}
    again.gc(0)
    assert again.verify() == []
    assert stated(again) == {1: "1", 2: "2"}
