"""Books that an earlier version made: opened, widened, and everything in them as it was."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.compute as pc
import pytest
from sqlalchemy import select

from apportion.books import record
from apportion.books.database import reading
from apportion.books.evolve import SHAPE
from apportion.model.rows import ADDED
from apportion.model.times import Interval
from apportion.sources.focus import read
from tests.books.conftest import Place

EARLIER = Path(__file__).with_name("earlier")  # a backup by the version before the columns of ADDED, and the bill in it
HEAD = "181cddc7a25adadbffc56712b2cb0cb4db0c564cdab08337106604bc72bfdc83"
SETTINGS = {"name": "cloud", "kind": "focus", "path": "bill.csv"}


@pytest.fixture
def place(place_of: Callable[[str], Place], kind: str) -> Place:
    return place_of(kind)


def test_earlier_books_are_what_they_were_and_have_the_new_columns(place: Place) -> None:
    books = place.restore(EARLIER / "books.tar.gz")
    lines = books.scan("cost_lines")
    assert lines.num_rows == 3
    assert all(lines[name].null_count == 3 for name in ADDED)
    assert books.verify() == []
    assert books.head() == HEAD
    books.close()
    again = place.open()
    assert [note.what for note in again.audit()].count("evolve") == 2
    assert again.verify() == []
    again.close()


def test_the_same_bill_changes_nothing_and_a_fuller_one_replaces_it(place: Place, tmp_path: Path) -> None:
    books = place.restore(EARLIER / "books.tar.gz")
    (known,) = read(SETTINGS, EARLIER)
    assert not books.ingest(known).changed
    header, *rows = (EARLIER / "bill.csv").read_text(encoding="utf-8").splitlines()
    fuller = [f"{header},InvoiceDetailId", *(f"{row},D-{number}" for number, row in enumerate(rows))]
    (tmp_path / "bill.csv").write_text("\n".join([*fuller, ""]), encoding="utf-8")
    (later,) = read(SETTINGS, tmp_path)
    assert later.window == Interval(known.window.start_s, known.window.end_s)
    assert books.ingest(later).changed
    lines = books.scan("cost_lines")
    assert sorted(lines["InvoiceDetailId"].to_pylist()) == ["D-0", "D-1", "D-2"]
    assert pc.sum(lines["BilledCost"]).as_py() == pc.sum(known.tables["cost_lines"]["BilledCost"]).as_py()
    assert books.verify() == []
    with reading(books.engine) as connection:
        assert connection.scalar(select(record.meta.c.value).where(record.meta.c.key == SHAPE))
    books.close()
