"""Disputes from end to end: opened with the evidence of the moment, talked about, settled once, and what is posted for it balances."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.verbs.dispute import Doubt, Settlement
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, statements
from tests.disputes.small import entries, owed, sums
from tests.web import world

OCTOBER = "2026-10"
BILLS = ("bill", "currency", "component", "day")


def posting(books: Project, **wanted: object) -> str:
    (found,) = [row for row in entries(books) if all(row[name] == value for name, value in wanted.items())]
    return str(found["seq"])


def opened(project: Project, what: str, amount: str = "", period: str = OCTOBER) -> int:
    return apportion.open_dispute(project, period, Doubt(what, "not ours", amount)).dispute.number


def reclass(to: str) -> Settlement:
    return Settlement("reclassed", "the label was wrong", to, approver="head of research")


def test_the_evidence_is_of_the_moment_of_opening(jobs: Project) -> None:
    told, head = apportion.explain(jobs, "job:j2", OCTOBER), jobs.books.head()
    known = apportion.open_dispute(jobs, OCTOBER, Doubt("j2", "the node was broken")).dispute
    assert (known.kind, known.name, known.key, known.owner) == ("job", "j2", ("j2.1", "j2.2"), "speech//bob")
    assert (known.amount, known.currency, known.status, known.head) == (Decimal(60), "USD", "open", head)
    assert json.loads(known.evidence)["title"] == told.title
    bill = jobs.folder / "bills/acme.csv"
    bill.write_text(bill.read_text("utf-8").replace("240.00", "120.00"), "utf-8")
    apportion.ingest(jobs)
    apportion.plan(jobs, OCTOBER)
    apportion.apply(jobs, OCTOBER)
    later = apportion.say(jobs, 1, "and it was half the price")
    assert later.evidence == known.evidence
    assert [note.text for note in later.notes] == ["the node was broken", "and it was half the price"]
    assert apportion.disputes(jobs, OCTOBER) == apportion.disputes(jobs, status="open") == (later,)
    assert apportion.disputes(jobs, "2026-09") == ()


def test_an_attempt_of_a_job_becomes_anothers(jobs: Project) -> None:
    before, was = sums(entries(jobs), *BILLS), owed(jobs, OCTOBER)
    number = opened(jobs, "job:j2.1")
    done = apportion.settle(jobs, number, reclass("vision"))
    assert (done.dispute.status, done.booked) == ("reclassed", OCTOBER)
    assert sums(entries(jobs), *BILLS) == before
    moved = [row for row in entries(jobs) if row["run_id"] == "dispute-1"]
    assert sums(moved, "team", "user", "reason", "cause") == {
        ("speech", "bob", "usage", ""): Decimal(-20),
        ("vision", "", "usage", "dispute 1: the label was wrong"): Decimal(20),
    }
    assert owed(jobs, OCTOBER) == {**was, "speech": was["speech"] - 20, "vision": was["vision"] + 20}
    assert done.dispute.notes[-1].run_id == "dispute-1"
    assert jobs.books.audit()[-2].why == "dispute 1: the label was wrong (approved by head of research)"
    with pytest.raises(ApportionError, match="no longer stands with speech//bob"):
        opened(jobs, "job:j2")
    with pytest.raises(ApportionError, match=r"job j2\.1 was reclassed before, by dispute 1"):
        apportion.settle(jobs, opened(jobs, "job:j2.1"), reclass("vision"))
    assert apportion.verify(jobs).sound
    report = apportion.report(jobs, "showback", OCTOBER)
    assert report.sections[0].bill == sum(before.values())
    steps = apportion.explain(jobs, "speech", OCTOBER).steps
    assert steps[-1].steps[0].text == (
        "-20.00 USD booked in 2026-10: re-attributed from speech//bob to vision, because of 'the label was wrong', "
        "approved by head of research, dispute 1"
    )


def test_both_sides_statements_show_what_was_moved(jobs: Project) -> None:
    apportion.settle(jobs, opened(jobs, "job:j2.1"), reclass("vision"))
    gone, come = (statements(jobs, Wanted(OCTOBER, owner=team))[0].moves or () for team in ("speech", "vision"))
    assert {(one.side, one.other, one.why) for one in gone} == {("out", "vision", "the label was wrong")}
    assert {(one.side, one.other, one.why) for one in come} == {("in", "speech//bob", "the label was wrong")}
    assert sum(one.amount for one in gone) == -sum(one.amount for one in come) == -2000


def test_a_posting_of_a_closed_month_moves_in_the_next_open_one_and_only_once(jobs: Project) -> None:
    number = posting(jobs, team="_unallocated", reason="usage")
    apportion.close(jobs, OCTOBER, override="for the test")
    closed = jobs.books.closed(OCTOBER)
    done = apportion.settle(jobs, opened(jobs, f"posting:{number}"), reclass("speech/asr/eve"))
    assert done.booked == "2026-11"
    run = jobs.books.runs()[-1]
    assert (run.kind, run.about, run.cause) == (
        "reclass", OCTOBER, "dispute 1: the label was wrong (approved by head of research)",
    )  # fmt: skip
    assert sums(entries(jobs, period="2026-11"), "team", "project", "user", "cost_centre") == {
        ("_unallocated", "", "", ""): Decimal("-2.5"),
        ("speech", "asr", "eve", "2"): Decimal("2.5"),
    }
    assert jobs.books.closed(OCTOBER) == closed
    with pytest.raises(ApportionError, match="nothing-left"):
        opened(jobs, f"posting:{number}")
    again = posting(jobs, team="speech", project="asr")
    known = apportion.open_dispute(jobs, "2026-11", Doubt(f"posting:{again}", "not ours either")).dispute
    assert (known.period, known.amount) == (OCTOBER, Decimal("2.5"))
    assert json.loads(known.evidence)["title"].endswith("posted as a reclass that people decided.")
    apportion.settle(jobs, known.number, reclass("vision"))
    assert owed(jobs, "2026-11") == {"_unallocated": Decimal("-2.5"), "vision": Decimal("2.5")}
    assert apportion.verify(jobs).sound


def test_what_nobody_owned_and_somebody_took_no_longer_stands_against_closing(jobs: Project) -> None:
    assert "owned" in [look.name for look in apportion.close(jobs, OCTOBER).against]
    apportion.settle(jobs, opened(jobs, "posting:" + posting(jobs, team="_unallocated")), reclass("speech"))
    assert "owned" not in [look.name for look in apportion.close(jobs, OCTOBER).against]


def test_a_statement_is_credited_in_part(project: Project) -> None:
    number = opened(project, "vision", "45.00", "2026-09")
    with pytest.raises(ApportionError, match="credit-too-large"):
        apportion.settle(project, number, Settlement("credited", "agreed", "office", "45.01"))
    with pytest.raises(ApportionError, match="same-owner"):
        apportion.settle(project, number, Settlement("credited", "agreed", "vision", "45"))
    before = sums(entries(project), "bill", "component")
    done = apportion.settle(project, number, Settlement("credited", "agreed", "office"))
    assert done.dispute.status == "credited"
    assert owed(project, "2026-09") == {"vision": Decimal("45.004"), "speech": Decimal(40), "office": Decimal(45)}
    assert sums(entries(project), "bill", "component") == before
    assert apportion.verify(project).sound


def test_a_whole_posting_is_credited_to_its_last_digit_and_once(project: Project) -> None:
    number = posting(project, bill="Cirrus 2026-09 USD")
    apportion.settle(project, opened(project, number, period="2026-09"), Settlement("credited", "agreed", "office"))
    assert owed(project, "2026-09")["office"] == Decimal("30.004")
    for end in (Settlement("credited", "again", "office"), reclass("speech")):
        second = opened(project, number, period="2026-09")
        with pytest.raises(ApportionError, match="was credited before, by dispute 1"):
            apportion.settle(project, second, end)
        apportion.settle(project, second, Settlement("rejected", "settled before"))


def test_of_a_doubted_part_that_amount_moves(project: Project) -> None:
    apportion.settle(project, opened(project, "vision", "9.00", "2026-09"), reclass("speech"))
    moved = [row for row in entries(project) if row["run_id"] == "dispute-1" and row["team"] == "vision"]
    # 9.00 over 45, 15 and 30.004 of 90.004: 4.4998, 1.4999 and 3.0003
    assert sums(moved, "bill", "pool") == {
        ("Nimbus 2026-09 USD", "rest"): Decimal("-4.50"),
        ("Nimbus 2026-09 USD", "disks"): Decimal("-1.50"),
        ("Cirrus 2026-09 USD", "rest"): Decimal("-3.00"),
    }
    assert owed(project, "2026-09") == {"vision": Decimal("81.004"), "speech": Decimal(49)}


def test_a_rejected_dispute_posts_nothing_and_stays_readable(project: Project) -> None:
    head = project.books.head()
    number = opened(project, "speech", period="2026-09")
    with pytest.raises(ApportionError, match="dispute-open"):
        opened(project, "speech", period="2026-09")
    done = apportion.settle(project, number, Settlement("rejected", "the usage is theirs"))
    assert (done.posted, done.dispute.status, project.books.head()) == (None, "rejected", head)
    for again in (
        lambda: apportion.say(project, number, "but"),
        lambda: apportion.settle(project, number, reclass("vision")),
    ):
        with pytest.raises(ApportionError, match="dispute-settled"):
            again()
    assert [note.text for note in apportion.dispute(project, number).notes] == ["not ours", "the usage is theirs"]
    assert [note.what for note in project.books.audit()][-2:] == ["dispute", "dispute"]
    assert opened(project, "speech", period="2026-09") == 2


@pytest.mark.parametrize(
    ("what", "amount", "code"),
    [
        ("posting:99999", "", "unknown-figure"), ("nobody", "", "unknown-figure"), ("vision", "90.01", "credit-too-large"),
        ("vision", "1.001", "invalid-amount"), ("vision/none", "", "unknown-figure"),
    ],
)  # fmt: skip
def test_what_cannot_be_disputed(project: Project, what: str, amount: str, code: str) -> None:
    with pytest.raises(ApportionError) as told:
        opened(project, what, amount, "2026-09")
    assert told.value.code == code
    assert project.books.disputes() == []


@pytest.mark.parametrize(("rule", "closes"), [("", True), ("close: {disputes: refuse}\n", False)])
def test_closing_tells_of_open_disputes(project: Project, rule: str, closes: bool) -> None:
    opened(project, "speech", period="2026-09")
    opened(project, "vision", period="2026-09")
    policy = project.folder / "policy.yaml"
    policy.write_text(policy.read_text("utf-8") + rule, "utf-8")
    again = apportion.open_project(project.folder)
    apportion.plan(again, "2026-09")
    apportion.apply(again, "2026-09")
    done = apportion.close(again, "2026-09")
    (look,) = [look for look in done.looks if look.name == "undisputed"]
    assert (look.text, look.good, done.closed is not None) == ("2 disputes open: 1, 2", closes, closes)


def test_a_job_beyond_its_teams_reservation_is_disputed_like_any_other(tmp_path: Path) -> None:
    """Its charge is inside two postings, what was used within the reservation and what beyond it: the parts of both are its charge."""
    project = world.make(tmp_path / "project")
    charges = project.books.scan("charges").to_pylist()
    for job in ("21001", "21011"):
        charged = sum((row["amount"] for row in charges if row["workload"] == job), Decimal(0))
        opened = apportion.open_dispute(project, "2026-10", Doubt(f"job:{job}", "not ours"))
        assert opened.dispute.amount == charged
        done = apportion.settle(project, opened.dispute.number, Settlement("reclassed", "it was theirs", "vision"))
        assert done.posted is not None
        moved = [row for row in entries(project, run_id=done.posted.run_id) if row["team"] == "speech"]
        assert -sum(row["amount"] for row in moved) == charged
        assert {row["reason"] for row in moved} <= {"usage", "burst"}
