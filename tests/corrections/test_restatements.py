"""Closed months that are restated: every correction carries the old and the new figure, its cause and both runs."""

import shutil
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import pytest

import apportion
from apportion.model.money import plain
from apportion.verbs.corrections import corrections
from apportion.verbs.project import Project
from apportion.verbs.reconcile import reconciled
from tests.cli.conftest import Run
from tests.corrections.world import DIRECT, POLICY, bill, closed, line, owed, owes, post, put, tagged, write


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """August and September, closed: vision 50 and 60, speech 30 and 40."""
    folder = write(tmp_path_factory.mktemp("closed"))
    owes(folder, "2026-08", {"vision": "50", "speech": "30"})
    owes(folder, "2026-09", {"vision": "60", "speech": "40"})
    found = apportion.open_project(folder)
    post(found, "2026-08")
    post(found, "2026-09")
    closed(found, "2026-08", "2026-09")
    return folder


@pytest.fixture
def project(once: Path, tmp_path: Path) -> Project:
    """A copy that a test may go on with."""
    return apportion.open_project(shutil.copytree(once, tmp_path / "closed"))


def told(project: Project, month: str, by: str = "team") -> list[tuple[str, str, str, str, str]]:
    """(month, name, was, now, amount)."""
    return [
        (one.about, one.labels[by], plain(one.was), plain(one.now), plain(one.amount))
        for one in corrections(project, month, (by,))
    ]


def booked(project: Project, month: str) -> Decimal:
    rows = project.books.posted(month, kinds=["correction"])
    return sum(rows["amount"].to_pylist(), Decimal(0))


def test_a_correction_carries_both_figures_the_cause_and_both_runs(project: Project) -> None:
    first = next(run.run_id for run in project.books.runs("plan") if run.period == "2026-09")
    owes(project.folder, "2026-09", {"vision": "55", "speech": "40"})
    done = post(project, "2026-09")
    (one,) = corrections(project, "2026-10")
    assert told(project, "2026-10") == [("2026-09", "vision", "60", "55", "-5")]
    assert one.labels == {
        "cost_centre": "1", "department": "research", "team": "vision", "project": "", "user": "", "component": "compute", "pool": "all",
    }  # fmt: skip
    assert (one.before_run, one.run) == (first, done.run_id)
    assert one.cause == "delivered after 2026-09 was closed: cost lines (cloud)"


def test_many_corrections_of_one_month_over_several_later_ones(project: Project) -> None:
    """60, then 55, 58 (both in October), 60 again (in November): net zero, and a correction of a correction rests on the one before."""
    runs = [next(run.run_id for run in project.books.runs("plan") if run.period == "2026-09")]
    for amount in ("55", "58"):
        owes(project.folder, "2026-09", {"vision": amount, "speech": "40"})
        runs.append(post(project, "2026-09").run_id)
    assert told(project, "2026-10") == [
        ("2026-09", "vision", "60", "55", "-5"), ("2026-09", "vision", "55", "58", "3"),
    ]  # fmt: skip
    owes(project.folder, "2026-10", {"speech": "10"})
    post(project, "2026-10")
    closed(project, "2026-10")
    owes(project.folder, "2026-09", {"vision": "60", "speech": "40"})
    runs.append(post(project, "2026-09").run_id)
    assert told(project, "2026-11") == [("2026-09", "vision", "58", "60", "2")]
    pairs = [(one.before_run, one.run) for month in ("2026-10", "2026-11") for one in corrections(project, month)]
    assert pairs == list(pairwise(runs))
    assert booked(project, "2026-10") + booked(project, "2026-11") == 0
    assert owed(project, "2026-10", "team") == {("vision",): Decimal(-2), ("speech",): Decimal(10)}
    assert sum(project.books.posted()["amount"].to_pylist()) == 80 + 100 + 10
    assert apportion.verify(project).sound


def test_two_closed_months_are_corrected_at_once(project: Project) -> None:
    owes(project.folder, "2026-08", {"vision": "50", "speech": "31.5"})
    owes(project.folder, "2026-09", {"speech": "40"})
    apportion.ingest(project)
    for month in ("2026-09", "2026-08"):
        assert put(project, month).booked == "2026-10"
    assert told(project, "2026-10") == [
        ("2026-09", "vision", "60", "0", "-60"), ("2026-08", "speech", "30", "31.5", "1.5"),
    ]  # fmt: skip
    assert booked(project, "2026-10") == Decimal("-58.5")


def test_another_vendors_bill_arrives_for_a_closed_month(project: Project) -> None:
    owes(project.folder, "2026-09", {"vision": "7"}, vendor="Cumulus")
    assert post(project, "2026-09").booked == "2026-10"
    assert owed(project, "2026-10", "bill", "team") == {("Cumulus 2026-09 USD", "vision"): Decimal(7)}
    assert told(project, "2026-10", "bill") == [("2026-09", "Cumulus 2026-09 USD", "0", "7", "7")]
    assert told(project, "2026-10") == [("2026-09", "vision", "60", "67", "7")]


def test_a_month_that_never_had_a_bill_is_open_and_no_correction_goes_into_it(project: Project) -> None:
    """November is closed and October had nothing: a correction goes into December, and October's late bill is October's own."""
    owes(project.folder, "2026-11", {"speech": "10"})
    post(project, "2026-11")
    closed(project, "2026-11")
    owes(project.folder, "2026-09", {"vision": "55", "speech": "40"})
    assert post(project, "2026-09").booked == "2026-12"
    owes(project.folder, "2026-10", {"vision": "3"})
    done = post(project, "2026-10")
    assert (done.booked, owed(project, "2026-10", "team")) == ("2026-10", {("vision",): Decimal(3)})


def test_the_policy_that_a_month_was_closed_with_and_the_owners_of_the_service_day(tmp_path: Path) -> None:
    """Until 15 September the node's money is vision's, from then on speech's; a policy of October says otherwise and changes nothing of September."""
    dated = """\
owners:
  - {when: {ServiceName: "*"}, team: vision, until: 2026-09-15}
  - {when: {ServiceName: "*"}, team: speech, from: 2026-09-16}
"""
    head = POLICY.split("owners:")[0] + dated + "pools:\n"
    write(tmp_path, DIRECT, head=head)
    bill(tmp_path, "2026-09", line("2026-09", "30", "2026-09-01/2026-10-01"))
    project = apportion.open_project(tmp_path)
    post(project, "2026-09")
    closed(project, "2026-09")
    assert owed(project, "2026-09", "team") == {("vision",): Decimal(15), ("speech",): Decimal(15)}
    later = head.replace("effective: 2026-01-01", "effective: 2026-10-01").replace("team: speech", "team: vision")
    (tmp_path / "policy.yaml").write_text(later + DIRECT, "utf-8")
    bill(
        tmp_path, "2026-09", line("2026-09", "30", "2026-09-01/2026-10-01"),
        line("2026-09", "4", "2026-09-10/2026-09-11"), line("2026-09", "6", "2026-09-20/2026-09-21"),
    )  # fmt: skip
    again = apportion.open_project(tmp_path)
    done = post(again, "2026-09")
    assert done.booked == "2026-10"
    assert owed(again, "2026-10", "team", "day") == {
        ("vision", "2026-09-10"): Decimal(4), ("speech", "2026-09-20"): Decimal(6),
    }  # fmt: skip
    assert again.books.runs()[-1].policy_version == again.books.closed_by("2026-09")


def test_a_period_is_its_bill_and_the_corrections_booked_in_it(project: Project) -> None:
    owes(project.folder, "2026-09", {"vision": "55.5", "speech": "40"})
    post(project, "2026-09")
    owes(project.folder, "2026-10", {"speech": "10", "vision": "20"})
    post(project, "2026-10")
    whole = apportion.report(project, "showback", "2026-10")
    told = apportion.report(project, "corrections", "2026-10")
    assert whole.sections[0].bill == Decimal(30) + told.sections[0].bill == Decimal("25.5")
    bills = apportion.report(project, "showback", "2026-10", by="bill").to_arrow().to_pylist()
    assert {row["bill"]: row["amount"] for row in bills} == {
        "Nimbus 2026-10 USD": Decimal(30), "Nimbus 2026-09 USD": Decimal("-4.5"),
    }  # fmt: skip


def test_the_report_in_every_form_adds_up_to_what_is_booked(project: Project, run: Run) -> None:
    owes(project.folder, "2026-09", {"vision": "55", "speech": "41"})
    post(project, "2026-09")
    owes(project.folder, "2026-08", {"vision": "49.25", "speech": "30"})
    post(project, "2026-08")
    ask = ("--project", project.folder, "report", "corrections", "--period", "2026-10")
    value = run(*ask, "-o", "json").value()
    assert Decimal(value["bill"]) == booked(project, "2026-10") == Decimal("-4.75")
    rows = [(row["about"], row["owner"], row["was"], row["now"], row["amount"]) for row in value["rows"]]
    assert rows == [
        ("2026-09", "speech", "40", "41", "1"), ("2026-09", "vision", "60", "55", "-5"), ("2026-08", "vision", "50", "49.25", "-0.75"),
    ]  # fmt: skip
    shown = run(*ask)
    assert shown.out.startswith("2 corrections of 2026-08 and 2026-09 are booked in 2026-10: -4.75 USD.\n")
    assert "delivered after 2026-09 was closed: cost lines (cloud)" in " ".join(shown.out.split())
    table = run(*ask, "-o", "csv").out.splitlines()
    assert len(table) == 4
    assert run(*ask, "-o", "md").out.count("\n| 2026-0") == 3
    one = run(*ask, "--where", "team=vision", "--by", "pool", "-o", "json").value()
    assert [(row["about"], row["pool"], row["was"], row["amount"]) for row in one["rows"]] == [
        ("2026-09", "all", "60", "-5"), ("2026-08", "all", "50", "-0.75"),
    ]  # fmt: skip
    none = run("--project", project.folder, "report", "corrections", "--period", "2026-09")
    assert none.out.startswith("Nothing is corrected in 2026-09.")


def test_a_group_is_told_whole_even_where_only_a_part_of_it_moves(project: Project) -> None:
    owes(project.folder, "2026-09", {"vision": "55", "speech": "40"})
    post(project, "2026-09")
    (row,) = apportion.report(project, "corrections", "2026-10", by="department").to_arrow().to_pylist()
    assert (row["owner"], row["was"], row["now"], row["amount"]) == ("research", 100, 95, -5)


def test_reconcile_of_a_corrected_month_finds_what_was_read_in_the_books(project: Project) -> None:
    owes(project.folder, "2026-09", {"vision": "55", "speech": "40"})
    post(project, "2026-09")
    (row,) = reconciled(project, "2026-09").to_arrow().to_pylist()
    assert (row["read"], row["posted"], row["difference"]) == (95, 95, 0)


def test_what_waits_is_told(project: Project, run: Run) -> None:
    at = ("--project", project.folder)
    assert "correction" not in run(*at, "check").out
    owes(project.folder, "2026-10", {"vision": "20"})
    post(project, "2026-10")
    owes(project.folder, "2026-09", {"vision": "55", "speech": "40"})
    apportion.ingest(project)
    found = run(*at, "check", "-o", "json").value()["checks"]
    (waits,) = [row for row in found if row["what"] == "corrections"]
    assert waits["text"] == (
        "2026-09 is closed, and a correction of it waits (cost lines (cloud)): 1 owner: 1 to change; -5.00 USD in total."
    )
    assert waits["fix"].startswith("apportion plan --period 2026-09, then apportion apply --period 2026-09")
    said = run(*at, "plan", "--exit-code")
    assert said.code == 3
    assert "2026-09 is closed, and a correction of it waits" in said.err
    assert "waits" not in run(*at, "plan", "--period", "2026-10").err
    apportion.plan(project, "2026-09")
    assert apportion.apply(project, "2026-09").booked == "2026-10"
    assert "correction" not in run(*at, "check").out
    assert run(*at, "plan", "--exit-code").code == 0


def test_what_changes_no_figure_waits_for_nothing(project: Project, run: Run) -> None:
    bill(
        project.folder, "2026-09",
        line("2026-09", "60", "2026-09-05/2026-09-06", Tags=tagged("vision"), ChargeDescription="other words"),
        line("2026-09", "40", "2026-09-05/2026-09-06", Tags=tagged("speech")),
    )  # fmt: skip
    apportion.ingest(project)
    assert "waits" not in run("--project", project.folder, "check").out
