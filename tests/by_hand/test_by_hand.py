"""What a newcomer gets for a bill, a log and a policy: the shares that are plain by hand, and a word of what was not plain."""

from collections import defaultdict
from decimal import Decimal
from pathlib import Path

import pytest

from apportion import ingest, open_project, plan
from tests.by_hand.cases import CASES


@pytest.mark.parametrize("name", CASES)
def test_the_shares_are_those_by_hand(name: str, tmp_path: Path) -> None:
    world = CASES[name]
    project = open_project(world.write(tmp_path))
    ingest(project)
    planned = plan(project, "2026-10")
    owed: dict[str, Decimal] = defaultdict(Decimal)
    for row in planned.rows:
        owed[row.owner] += row.after
    cents = {owner: amount.quantize(Decimal("0.01")) for owner, amount in owed.items()}
    assert {owner: amount for owner, amount in cents.items() if amount} == {
        owner: Decimal(amount).quantize(Decimal("0.01")) for owner, amount in world.expected.items()
    }, world.why
    assert {one.finding.code for one in planned.findings} == set(world.findings)
