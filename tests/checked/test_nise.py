"""koku-nise from PyPI: months of AWS, Azure, GCP and OpenShift, generated anew."""

from pathlib import Path

import pytest

from tests.checked import nise_months
from tests.checked.conftest import Keep
from tests.servers import has_peer


def test_nise(tmp_path: Path, keep: Keep) -> None:
    if not has_peer("nise"):
        pytest.skip("no nise: `make test` could not install it")
    keep("nise", nise_months.outcomes(tmp_path))
