"""What bills say themselves beside what is posted of them: the same in sound books of every kind, and not in others."""

import shutil
import sqlite3
from decimal import Decimal, localcontext
from pathlib import Path

import pytest

import apportion
from apportion.model.times import parse_period
from apportion.verbs.billed import bill_findings, billed
from apportion.verbs.check import check
from apportion.verbs.project import Project
from apportion.verbs.reconcile import reconciled
from tests.corrections.world import POLICY, bill, closed, line, owed, owes, post, put, tagged, write

JOBS = ("a,vision,2026-09-10T00,2026-09-11T00,2", "b,speech,2026-10-05T00,2026-10-06T00,3")
CARD = (
    '  cards: {meter: gpu, usage: {node: "*"}, method: rate_card, prices: [{per: hour, price: "1.00"}]}\n'
    "  rest: {costs: otherwise, method: direct}\n"
)
MANY_DIGITS = "12345678901.123456789012345678"
DAY = "2026-10-05/2026-10-06"
SEPTEMBER, OCTOBER = parse_period("2026-09"), parse_period("2026-10")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """September was closed and restated since. October has more digits than Python's decimals keep unless told, a late line, a bill in
    euros, and a price list beside them.
    """
    folder = write(tmp_path_factory.mktemp("billed"), CARD, JOBS, POLICY.replace("USD\n", "USD\nfx: {table: fx.csv}\n"))
    (folder / "fx.csv").write_text("day,from,to,rate\n2026-10-15,EUR,USD,1.2\n", "utf-8")
    owes(folder, "2026-09", {"vision": "30.01", "speech": "12"})
    made = apportion.open_project(folder)
    post(made, "2026-09")
    closed(made, "2026-09")
    owes(folder, "2026-09", {"vision": "30.01", "speech": "15.5"})
    late = line("2026-10", "7.25", "2026-09-10/2026-09-11", Tags=tagged("speech"))
    bill(folder, "2026-10", line("2026-10", MANY_DIGITS, Tags=tagged("vision")), late)
    euros = {"InvoiceIssuerName": "Cirrus", "BillingCurrency": "EUR"}
    some = (
        line("2026-10", amount, DAY, Tags=tagged(team), **euros)
        for team, amount in (("vision", "4"), ("speech", "-1.5"))
    )
    bill(folder, "2026-10", *some, vendor="Cirrus")
    post(made, "2026-10")
    put(made, "2026-09")
    return made


def said(project: Project) -> dict[str, Decimal]:
    return {one.bill: one.says for one in billed(project, OCTOBER)}


def test_every_bill_says_what_is_posted_of_it(project: Project) -> None:
    assert said(project) == {
        "Cirrus 2026-10 EUR": Decimal(3), "Nimbus 2026-10 USD": Decimal("12345678908.373456789012345678"),
        "Nimbus 2026-09 USD": Decimal("3.5"), "rate card cards 2026-10 USD": Decimal(72),
    }  # fmt: skip
    with localcontext(prec=60):
        assert {(name,): amount for name, amount in said(project).items()} == owed(project, "2026-10", "bill")
    assert not any(one.difference for month in (SEPTEMBER, OCTOBER) for one in billed(project, month))
    assert not [*bill_findings(project, OCTOBER)]
    assert reconciled(project, OCTOBER).title == "2 bills of 2026-10: all that was read is posted."


def test_as_the_books_stood(project: Project) -> None:
    """What September was closed with stays what it holds; before that it held nothing."""
    first = project.books.runs()[0].posted_s
    assert {one.bill: one.says for one in billed(project, SEPTEMBER, first)} == {
        "Nimbus 2026-09 USD": Decimal("42.01"), "rate card cards 2026-09 USD": Decimal(48),
    }  # fmt: skip
    assert billed(project, SEPTEMBER, first - 1) == ()


@pytest.mark.parametrize("both_sides", [False, True], ids=["an entry", "both sides"])
def test_what_is_gone_from_the_ledger_is_missed(project: Project, tmp_path: Path, both_sides: bool) -> None:
    """Even where nothing of it is left there: the cost lines are kept elsewhere."""
    broken = copied(project, tmp_path)
    gone = "team = 'vision'" + (" or account = 'bill:Cirrus 2026-10 EUR'" if both_sides else "")
    with sqlite3.connect(broken.folder / ".apportion" / "books.db") as books:
        books.execute("DROP TRIGGER entries_no_delete")
        books.execute(f"DELETE FROM entries WHERE bill = 'Cirrus 2026-10 EUR' AND ({gone})")
    wrong = [one for one in billed(broken, OCTOBER) if one.difference]
    assert [(one.bill, one.says, one.posted, one.difference) for one in wrong] == [
        ("Cirrus 2026-10 EUR", Decimal(3), Decimal("-1.8"), Decimal("-4.8"))
    ]
    found = [one for one in check(broken, OCTOBER).checks if one.what == "bills"]
    assert [(one.status, one.text) for one in found] == [
        ("wrong", "1 bill of 2026-10 not posted as they say; Cirrus 2026-10 EUR: -1.80 USD is posted of 3.00 USD: -4.80 USD apart")
    ]  # fmt: skip


def copied(project: Project, folder: Path) -> Project:
    shutil.copytree(project.folder, folder / "own")
    return apportion.open_project(folder / "own")
