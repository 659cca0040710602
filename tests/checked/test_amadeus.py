"""AmadeusITGroup/cloud-cost-allocation: bills, keys and expected amounts of its own tests."""

from pathlib import Path

import pytest

from tests.checked import amadeus
from tests.checked.conftest import Keep


def test_amadeus(tmp_path: Path, keep: Keep) -> None:
    if not amadeus.FOLDER.exists():
        pytest.skip("no ../shared/data/outside/amadeus beside this checkout")
    keep("amadeus", amadeus.outcomes(tmp_path))
