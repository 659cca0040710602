"""litellm from PyPI: its own writer of FOCUS."""

from pathlib import Path

import pytest

from tests.checked import litellm_export
from tests.checked.conftest import Keep
from tests.servers import has_peer


def test_litellm(tmp_path: Path, keep: Keep) -> None:
    if not has_peer("litellm"):
        pytest.skip("no LiteLLM: `make test` could not install it")
    keep("litellm", list(litellm_export.outcomes(tmp_path)))
