"""A conversion that is told can be checked with what is told."""

from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.verbs.reconcile import reconciled
from tests.corrections.world import DIRECT, POLICY, bill, line, put, tagged, write

HEAD = POLICY.replace("time_zone: UTC\n", "time_zone: UTC\nfx: {table: fx.csv, rate: month_end}\n")


@pytest.mark.parametrize(
    ("euros", "said"),
    [
        ("100.005", "100.005 EUR at 1.115 are 111.51 USD"),  # 111.505575; 100.00 would be 111.50
        ("1234.5", "1,234.50 EUR at 1.115 are 1,376.47 USD"),
        ("-0.0001", "-0.0001 EUR at 1.115 are 0.00 USD"),
    ],
)
def test_the_amount_has_the_digits_that_the_rate_was_applied_to(tmp_path: Path, euros: str, said: str) -> None:
    folder = write(tmp_path, DIRECT, head=HEAD)
    (folder / "fx.csv").write_text("day,from,to,rate\n2026-10-31,EUR,USD,1.115\n")
    bill(folder, "2026-10", line("2026-10", euros, BillingCurrency="EUR", Tags=tagged("vision")))
    project = apportion.open_project(folder)
    apportion.ingest(project)
    put(project, "2026-10")
    (note,) = (note for note in reconciled(project, "2026-10").notes if "EUR" in note)
    assert said in note
    given, rate, made = (said.replace(",", "").split()[n] for n in (0, 3, 5))
    assert abs(Decimal(given) * Decimal(rate) - Decimal(made)) <= Decimal("0.005")
