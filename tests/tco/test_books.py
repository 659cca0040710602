"""From an inventory through the books to who owes what, and the page's worked example computed once more without the code under test."""

from collections import defaultdict
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

from apportion.errors import BooksError
from apportion.model.times import parse_period
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from tests.snippets import snippets
from tests.tco import plainly

PAGE = Path(__file__).resolve().parents[2] / "docs/how-to/cost-of-own-hardware.md"
HOURS = {
    "2026-06": {"vision": 8 * 20 * 24, "speech": 4 * 20 * 24},
    "2026-07": {"vision": 8 * 30 * 24, "speech": 8 * 10 * 24},
}


def project_of_the_page(folder: Path, policy: int, months: tuple[str, str] = ("2026-06", "2026-07")) -> Project:
    """Its files, with the first or the second of its policies, over some of its months."""
    policies = []
    for snippet in snippets(PAGE.read_text("utf-8")):
        if snippet.file == "policy.yaml":
            policies.append(snippet.text)
        elif snippet.file:
            text = snippet.text.replace('since = "2026-06"', f'since = "{months[0]}"').replace(
                'until = "2026-07"', f'until = "{months[1]}"'
            )
            (folder / snippet.file).write_text(text, "utf-8")
    (folder / "policy.yaml").write_text(policies[policy], "utf-8")
    return open_project(folder)


def owed(project: Project, month: str) -> dict[str, Decimal]:
    found: dict[str, Decimal] = defaultdict(Decimal)
    for row in plan(project, month).plan.postings.to_pylist():
        found[row["team"]] += row["amount"]
    return {team: round(amount, 6) for team, amount in found.items()}


def worked(month: str) -> Fraction:
    """The page's month, by hand: what each asset and contract costs, added up."""
    last = {"2026-06": date(2026, 6, 30), "2026-07": date(2026, 7, 31)}[month]
    days = last.day
    book = plainly.read({"assets": [
        {"id": "dgx-01", "node": "dgx-01", "price": "300000", "bought": "2024-03-15", "life_months": 48, "salvage": "10%"},
        {"id": "dgx-02", "node": "dgx-02", "price": "280000", "bought": "2026-07-20", "life_months": 48, "salvage": "10%"},
        {"id": "leaf-1", "shared_by": ["dgx-*"], "price": "36000", "bought": "2024-03-01", "life_months": 60},
        {"id": "old-1", "node": "old-1", "price": "60000", "bought": "2023-01-10", "life_months": 48, "method": "declining", "rate": "double",
         "disposed": "2026-07-21", "proceeds": "4500"},
    ]}, last)  # fmt: skip
    hardware = sum((amount for key, amount in book.cost.items() if key[0] == month), Fraction(0))
    support = Fraction(43830, 1461) * days
    software = Fraction(3650, 365) * 8 * (days + (12 if month == "2026-07" else 0))  # dgx-02 from the 20th on
    return hardware + support + software + Fraction(84000 * 30, 100 * 12) + 1500


@pytest.mark.parametrize(("month", "price"), [("2026-06", Fraction(2)), ("2026-07", Fraction("2.25"))])
def test_a_fixed_price_recovers_more_or_less_than_the_cost(tmp_path: Path, month: str, price: Fraction) -> None:
    project = project_of_the_page(tmp_path, 1)
    ingest(project, periods=[parse_period(month)])
    charged = {team: hours * price for team, hours in HOURS[month].items()}
    expected = charged | {"_residual": worked(month) - sum(charged.values())}
    assert owed(project, month) == {
        team: Decimal(round(amount * 10**6)).scaleb(-6) for team, amount in expected.items()
    }


def test_shared_by_use_owners_pay_it_all(tmp_path: Path) -> None:
    project = project_of_the_page(tmp_path, 0, ("2026-07", "2026-07"))
    ingest(project)
    found, hours = owed(project, "2026-07"), HOURS["2026-07"]
    for team, own in hours.items():
        assert abs(Fraction(found[team]) - worked("2026-07") * own / sum(hours.values())) < Fraction(1, 10**6)


def contents(project: Project) -> list[tuple[object, ...]]:
    rows = project.books.scan("cost_lines").to_pylist()
    return sorted(tuple(str(value) for value in row.values()) for row in rows)


def test_months_in_any_order_end_in_the_same_books(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("at-once", "one-by-one")]
    for folder in folders:
        folder.mkdir()
    at_once, one_by_one = (project_of_the_page(folder, 0, ("2026-05", "2026-08")) for folder in folders)
    ingest(at_once, ["own"])
    for month in ("2026-07", "2026-05", "2026-08", "2026-06", "2026-05"):
        ingest(one_by_one, ["own"], [parse_period(month)])
    assert contents(at_once) == contents(one_by_one)
    assert {row[0] for row in contents(at_once)} == {"own"}


def test_a_corrected_inventory_replaces_its_months(tmp_path: Path) -> None:
    project = project_of_the_page(tmp_path, 0, ("2026-06", "2026-08"))
    ingest(project, ["own"])
    before = contents(project)
    text = (tmp_path / "servers.csv").read_text("utf-8")
    (tmp_path / "servers.csv").write_text(text.replace("280000.00", "270000.00"), "utf-8")
    (done,) = ingest(project, ["own"])
    assert done.deliveries == 3
    assert done.changed == 2  # July and August; June is as it was
    (tmp_path / "servers.csv").write_text(text, "utf-8")
    ingest(project, ["own"])
    assert contents(project) == before


def test_two_inventories_of_one_account_are_refused(tmp_path: Path) -> None:
    project = project_of_the_page(tmp_path, 0, ("2026-06", "2026-06"))
    ingest(project, ["own"])
    settings = tmp_path / "apportion.toml"
    settings.write_text(settings.read_text("utf-8").replace('name = "own"', 'name = "again"'), "utf-8")
    with pytest.raises(BooksError) as refused:
        ingest(open_project(tmp_path), ["again"])
    assert refused.value.code == "scope-overlap"
