"""A disk that is full or fails: a refusal in words, and nothing half done."""

import collections
import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import pytest

from apportion.books.open import open_books
from apportion.errors import BooksError
from apportion.model.delivery import Delivery
from tests import processes
from tests.books.rows import MONTH, delivery, run, usage
from tests.faults.actor import BROKE, DONE, REFUSED, UNHEARD
from tests.faults.conftest import NewStage
from tests.faults.injection import Actors, Fault
from tests.faults.story import Plot
from tests.faults.sweep import Sweep, spread

FULL = ("pwrite64", "write", "ftruncate", "mkdir", "openat")
SYNCING = ("fsync", "fdatasync")
NAMES = {DONE: "done", REFUSED: "refused", UNHEARD: "done, unheard", BROKE: "broke"}


@pytest.fixture(params=["go_on", "settle", "decide", "export"])
def sweep(
    request: pytest.FixtureRequest, company: Sequence[Actors], plots: dict[str, Plot], on_sqlite: NewStage
) -> Sweep:
    return Sweep(plots[request.param], company, on_sqlite)


@pytest.mark.parametrize(("error", "kinds", "most"), [("ENOSPC", FULL, 3), ("EIO", SYNCING, 2)])
def test_an_error_from_some_call_on_is_refused_in_words(
    error: str, kinds: tuple[str, ...], most: int, sweep: Sweep, request: pytest.FixtureRequest
) -> None:
    long_run, note = request.getfixturevalue("long_run"), request.getfixturevalue("record_property")
    calls = [call for call in sweep.calls() if call.call in kinds]
    faults = [
        Fault(call.call, call.number, f"error={error}", onwards=True)
        for call in (calls if long_run else spread(calls, most))
    ]
    endings = collections.Counter(ending.code for ending in sweep.suffer_all(faults))
    said = ", ".join(f"{NAMES.get(code, code)} {number}" for code, number in endings.most_common())
    name = f"{error} in {sweep.plot.name}"
    note(name, f"{len(faults)} points: {said}")
    print(f"{name}: {len(faults)} points: {said}")
    assert set(endings) <= {DONE, REFUSED, UNHEARD}
    assert endings[REFUSED] >= len(faults) // 2


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = processes.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", str(disk)], text=True)
    if os.geteuid() or mounted.returncode:
        pytest.skip(f"no tmpfs can be mounted here: {mounted.stderr.strip()[:100]}")
    yield disk
    processes.run(["umount", "--lazy", str(disk)], check=True)


def month(number: int) -> Delivery:
    """Names that no compression can shorten."""
    names = [hashlib.sha256(f"{number} {row}".encode()).hexdigest() for row in range(3000)]
    return delivery(
        usage=usage([(name, "gpu", "n", MONTH.start_s, MONTH.end_s, 1, None) for name in names], f"s{number}"),
        source=f"s{number}",
    )


def test_a_really_full_disk(small_disk: Path) -> None:
    with closing(open_books(f"sqlite:///{small_disk}/books.db", str(small_disk / "warehouse"), create=True)) as books:
        with pytest.raises(BooksError) as refused:
            collections.deque(map(books.ingest, map(month, range(100))), maxlen=0)
        assert refused.value.code in ("database-failed", "warehouse-failed")
        fitted = len(books.deliveries())
        assert fitted > 0
        assert books.scan("usage").num_rows == 3000 * fitted
        assert books.verify() == []
        processes.run(["mount", "-o", "remount,size=64m", str(small_disk)], check=True)
        assert books.ingest(month(fitted)).changed
        books.post(run(books, [("vision", "1")], "1"))
        assert books.verify(books.head()) == []
