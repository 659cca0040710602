"""From a bill in euros to a ledger in dollars, and again after a rate was changed: worked by hand on the tiny project, of 270 EUR."""

import json
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from apportion.cli.main import main
from apportion.errors import BooksError, PolicyError, ProjectError
from apportion.model.rows import POSTING_KEY
from apportion.reports.sums import grouped
from apportion.verbs.apply import apply
from apportion.verbs.check import check
from apportion.verbs.explain import explain
from apportion.verbs.explaining.story import drawn
from apportion.verbs.ingest import ingest
from apportion.verbs.plan import plan
from apportion.verbs.project import Project, open_project
from apportion.verbs.reconcile import reconciled
from tests.cli.tiny import edit, write_tiny

RATES = "day,from,to,rate\n2026-10-01,EUR,USD,1.1\n2026-10-15,EUR,USD,1.2\n2026-10-30,EUR,USD,1.3\n"
SHARES = {
    "vision": Decimal(75),
    "speech": Decimal(75),
    "_unallocated": Decimal("2.5"),
    "_idle": Decimal("117.5"),
}  # of 270


@pytest.fixture(scope="module")
def ingested(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """October's mean is 1.2."""
    folder = euros(tmp_path_factory.mktemp("euros"))
    ingest(open_project(folder))
    return folder


@pytest.fixture
def folder(ingested: Path, tmp_path: Path) -> Path:
    """A copy that a test may change."""
    return Path(shutil.copytree(ingested, tmp_path / "tiny"))


def euros(folder: Path, rates: str = RATES) -> Path:
    write_tiny(folder)
    edit(folder / "bills/acme.csv", ",USD,", ",EUR,")
    edit(folder / "policy.yaml", "time_zone: UTC\n", "time_zone: UTC\nfx: {table: fx.csv}\n")
    (folder / "fx.csv").write_text(rates)
    return folder


def posted(project: Project) -> dict[tuple[str, ...], Decimal]:
    return {key: amount for key, amount in grouped(project.books.posted("2026-10"), POSTING_KEY).items() if amount}


def owed(project: Project, rate: str) -> dict[str, Decimal]:
    """By owner, in dollars and to the cent (days are rounded to nanos); in all they are the bill, digit for digit."""
    table = project.books.posted("2026-10")
    assert set(table["bill"].to_pylist()) == {"Acme 2026-10 EUR"}
    sums = {
        team: amount for (team, currency), amount in grouped(table, ("team", "currency")).items() if currency == "USD"
    }
    assert sum(sums.values()) == 270 * Decimal(rate)
    return {team: round(amount, 2) for team, amount in sums.items() if round(amount, 2)}


def shares(rate: str) -> dict[str, Decimal]:
    return {owner: amount * Decimal(rate) for owner, amount in SHARES.items()}


def settled(project: Project) -> Project:
    plan(project, "2026-10")
    apply(project, "2026-10")
    return project


def test_a_changed_rate_is_a_restatement(folder: Path, tmp_path: Path) -> None:
    project = open_project(folder)
    told = ingest(project)
    assert [(done.source, done.changed) for done in told] == [(name, 0) for name in ("acme", "jobs", "nodes", "fx")]
    made = plan(project, "2026-10")
    (bill,) = made.bills
    assert (bill.id, bill.currency, bill.total) == ("Acme 2026-10 EUR", "USD", Decimal(324))
    assert bill.conversion
    assert (bill.conversion.currency, bill.conversion.total, bill.conversion.rate) == (
        "EUR",
        Decimal(270),
        Decimal("1.2"),
    )
    apply(project, "2026-10")
    assert owed(project, "1.2") == shares("1.2")
    stored = project.books.load_plan("2026-10")
    assert stored
    assert stored.summary["conversions"] == {
        "Acme 2026-10 EUR": {
            "currency": "EUR", "total": "270", "rate": "1.2", "rule": "month_average", "table": "fx.csv",
            "days": ["2026-10-01", "2026-10-15", "2026-10-30"],
        }
    }  # fmt: skip

    plan(project, "2026-10")
    edit(folder / "fx.csv", "30,EUR,USD,1.3", "30,EUR,USD,1.6")  # October's mean is 1.3 now
    ingest(project, ["fx"])
    found = reconciled(project, "2026-10")
    assert found.title == "1 bill of 2026-10: all that was read is posted.", "what was posted rests on the old rates"
    assert any("270.00 EUR at 1.2 are 324.00 USD" in note for note in found.notes)
    with pytest.raises(BooksError, match=r"inputs-moved.*rates"):
        apply(project, "2026-10", run_id="stale")
    again = plan(project, "2026-10")
    changed = {row.owner: round(row.change, 2) for row in again.rows}
    assert {owner: change for owner, change in changed.items() if change} == shares("0.1")
    apply(project, "2026-10")
    assert owed(project, "1.3") == shares("1.3")
    assert project.books.verify() == []
    clean = open_project(euros(tmp_path / "clean", RATES.replace("1.3", "1.6")))
    ingest(clean)
    assert posted(project) == posted(settled(clean))
    assert len(project.books.runs()) == 2


def test_the_figure_is_explained_down_to_the_rate(folder: Path) -> None:
    project = settled(open_project(folder))
    text = "\n".join(drawn(explain(project, "vision", "2026-10").steps))
    said = (
        "Acme 2026-10 EUR: 270.00 EUR at 1.2 are 324.00 USD (month_average of fx.csv: 3 days, 2026-10-01 to 2026-10-30)"
    )
    assert said in text
    assert "policy.yaml:5" in text
    assert "288.00 USD  GPU Compute" in text, "the line's own 240 EUR"
    assert said in "\n".join(drawn(explain(project, "j1", "2026-10").steps))
    edit(folder / "fx.csv", "30,EUR,USD,1.3", "30,EUR,USD,1.6")
    ingest(project)
    assert said in "\n".join(drawn(explain(project, "vision", "2026-10").steps)), (
        "what was posted rests on the old rates"
    )


def test_the_plan_says_it_on_the_terminal_and_to_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for options in ([], ["-o", "json"]):
        with pytest.raises(SystemExit):
            main(["--project", str(folder), "plan", *options])
    table, told = capsys.readouterr().out.split("\n{", 1)
    assert "converted: Acme 2026-10 EUR: 270.00 EUR at 1.2 are 324.00 USD" in table
    (bill,) = json.loads("{" + told)["bills"]
    assert (bill["currency"], bill["total"], bill["conversion"]["rate"]) == ("USD", "324", "1.2")


def test_a_missing_rate_refuses_the_plan_and_check_says_so(folder: Path) -> None:
    edit(folder / "bills/acme.csv", ",EUR,", ",GBP,")
    project = open_project(folder)
    ingest(project, ["acme"])
    with pytest.raises(PolicyError, match="has no rate from GBP to USD") as refused:
        plan(project, "2026-10")
    assert refused.value.code == "no-rate"
    assert any("no-rate" in finding.text for finding in check(project).checks)


def test_bills_that_were_posted_in_their_own_currency_move_to_the_policy_s(folder: Path) -> None:
    edit(folder / "policy.yaml", "fx: {table: fx.csv}\n", "")
    project = settled(open_project(folder))
    assert {key[POSTING_KEY.index("currency")] for key in posted(project)} == {"EUR"}
    edit(folder / "policy.yaml", "time_zone: UTC\n", "time_zone: UTC\nfx: {table: fx.csv}\n")
    project = settled(open_project(folder))
    assert {key[POSTING_KEY.index("currency")] for key in posted(project)} == {"USD"}
    assert owed(project, "1.2") == shares("1.2")
    assert project.books.verify() == []


def test_rates_that_nobody_asks_for_move_nothing(folder: Path) -> None:
    edit(folder / "policy.yaml", "fx: {table: fx.csv}\n", "")
    edit(
        folder / "apportion.toml",
        '[[sources]]\nname = "acme"',
        '[[sources]]\nname = "fx"\nkind = "fx"\npath = "fx.csv"\n\n[[sources]]\nname = "acme"',
    )
    project = open_project(folder)
    before = plan(project, "2026-10").digest
    edit(folder / "fx.csv", "30,EUR,USD,1.3", "30,EUR,USD,1.6")
    assert [done.changed for done in ingest(project, ["fx"])] == [1]
    assert plan(project, "2026-10").digest == before


@pytest.mark.parametrize(
    ("table", "stanza", "files"),
    [
        ("bank", 'name = "bank"\nkind = "fx"\npath = "rates/*.csv"', "rates/history.csv"),
        ("fx.csv", 'name = "fx"\nkind = "fx"\npath = "rates/*.csv"', "rates/history.csv"),
        ("rates/fx.csv", "", "rates/fx.csv"),
    ],
)
def test_a_table_is_a_source_or_a_file(folder: Path, table: str, stanza: str, files: str) -> None:
    edit(folder / "policy.yaml", "table: fx.csv", f"table: {table}")
    (folder / "rates").mkdir()
    (folder / "fx.csv").rename(folder / files)
    if stanza:
        edit(
            folder / "apportion.toml",
            '[[sources]]\nname = "acme"',
            f'[[sources]]\n{stanza}\n\n[[sources]]\nname = "acme"',
        )
    project = open_project(folder)
    ingest(project, [project.policy.fx.source if project.policy.fx else ""])
    assert [bill.total for bill in plan(project, "2026-10").bills] == [324]


def test_a_file_called_like_another_source_is_refused(folder: Path) -> None:
    edit(folder / "policy.yaml", "table: fx.csv", "table: jobs.csv")
    with pytest.raises(ProjectError, match="double-source"):
        ingest(open_project(folder))
