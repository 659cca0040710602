"""ubccr/xdmod: figures of its own regression tests over real accounting."""

import pytest

from tests.checked import xdmod
from tests.checked.conftest import Keep


def test_xdmod(keep: Keep) -> None:
    if not xdmod.FOLDER.exists():
        pytest.skip("no ../shared/data/traces beside this checkout")
    keep("xdmod", list(xdmod.outcomes()))
