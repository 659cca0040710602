"""Our own export, read into a fresh project by the policy of the how-to, makes every team owe what was exported: adjustments, credits and corrections too."""

import csv
import re
from collections import defaultdict
from decimal import Decimal, localcontext
from pathlib import Path

import pytest

import apportion
from apportion.verbs.focus import Form, export_focus
from apportion.verbs.project import Project
from tests.focus_export import world

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "read-a-focus-bill.md"
SETTINGS = '[[sources]]\nname = "exported"\nkind = "focus"\npath = "cost_and_usage.{kind}"\n'
HEAD = "policy: chargeback\neffective: 2026-01-01\ncurrency: USD\ntime_zone: Europe/Berlin\n"
NANOS = Decimal("0.0000001")
IDLE = "ml-platform"  # to whom the page gives what the split leaves to nobody


def page_rules() -> str:
    found = re.search(r"```yaml\n(owners:\n.*?pools:\n.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert found, "the page shows owner rules and the pool"
    return found[1]


def exported(path: Path) -> dict[tuple[str, str], Decimal]:
    """By team and currency; what is nobody's in one sum."""
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    with path.open(encoding="utf-8", newline="") as file, localcontext() as context:
        context.prec = 60
        for row in csv.DictReader(file):
            team = row["x_TeamName"] if row["AllocatedResourceId"] else IDLE
            sums[team, row["BillingCurrency"]] += Decimal(row["EffectiveCost"])
    return {key: amount for key, amount in sums.items() if amount}


def posted(project: Project, period: str) -> dict[tuple[str, str], Decimal]:
    sums: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    with localcontext() as context:
        context.prec = 60
        for row in project.books.posted().to_pylist():
            if row["period"] == period:
                sums[IDLE if row["team"].startswith("_") else row["team"], row["currency"]] += row["amount"]
    return {key: amount for key, amount in sums.items() if amount}


def read_back(source: Path, folder: Path) -> dict[tuple[str, str], Decimal]:
    """What a fresh project posts of an export, by the rules of the page."""
    folder.mkdir()
    (folder / source.name).write_bytes(source.read_bytes())
    owners = {team for team, _ in exported(source.with_suffix(".csv"))} | {IDLE}
    teams = "".join(f"  {team!r}: {{}}\n" for team in sorted(owners))
    (folder / "apportion.toml").write_text(SETTINGS.format(kind=source.suffix[1:]), encoding="utf-8")
    (folder / "policy.yaml").write_text(f"{HEAD}teams:\n{teams}{page_rules()}", encoding="utf-8")
    fresh = apportion.open_project(folder)
    world.post(fresh, "2026-10")
    return posted(fresh, "2026-10")


def agree(found: dict[tuple[str, str], Decimal], expected: dict[tuple[str, str], Decimal]) -> None:
    """To the last digit in all, and for each team but for nanos: what takes effect over the month is posted day by day, each in whole nanos."""
    with localcontext() as context:
        context.prec = 60
        assert found.keys() == expected.keys()
        for currency in {currency for _, currency in expected}:
            sums = [sum(amount for key, amount in one.items() if key[1] == currency) for one in (found, expected)]
            assert sums[0] == sums[1]
        apart = {key: found[key] - amount for key, amount in expected.items()}
        assert all(abs(amount) <= NANOS for amount in apart.values()), apart


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_team_by_team(folder: Path, tmp_path: Path, kind: str) -> None:
    with (folder / "cost_and_usage.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["ChargeCategory"] for row in rows} == {"Usage", "Adjustment"}
    assert {row["x_Reason"] for row in rows} >= {"usage", "adjustment", "subsidy", "credit"}
    assert {row["ChargeClass"] for row in rows} == {"", "Correction"}
    agree(read_back(folder / f"cost_and_usage.{kind}", tmp_path / "fresh"), exported(folder / "cost_and_usage.csv"))


def test_the_vendors_own_lines(settled: Project, tmp_path: Path) -> None:
    """With `--per-line` taxes and credits of the vendor are split as well."""
    export_focus(settled, "2026-10", tmp_path / "made", Form("csv", per_line=True))
    source = tmp_path / "made" / "2026-10" / "cost_and_usage.csv"
    agree(read_back(source, tmp_path / "fresh"), exported(source))
