"""How a suite ends: its tally is printed under the block, and is the one that is kept and that the page shows."""

from collections.abc import Callable, Sequence

import pytest

from tests.checked import tally
from tests.checked.tally import Outcome

Keep = Callable[[str, Sequence[Outcome]], None]


@pytest.fixture
def keep(record_property: Callable[[str, object], None], update_golden: bool) -> Keep:
    return lambda suite, outcomes: tally.hold(suite, outcomes, record_property, update_golden)
