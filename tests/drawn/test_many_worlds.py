"""The engine against the oracle on drawn worlds, beside those of tests/property: a block of its own, so that each keeps its limit."""

import secrets
from typing import Any

import pytest

from tests.property.hunt import hunt
from tests.property.many import compare_many

MANY = 10_000


def test_a_hunt_ends_with_its_tally(capsys: pytest.CaptureFixture[str]) -> None:
    assert hunt([101, 102, 103], 1) == 0
    assert capsys.readouterr().out.startswith("3 worlds, 0 differ; ")


@pytest.mark.long
def test_many_other_worlds_agree(record_property: Any) -> None:
    tally, said = compare_many(10**9 + secrets.randbelow(10**9), MANY)
    record_property("drawn worlds", str(tally))
    assert not tally.differing, f"{tally}; the first:\n{said}"
