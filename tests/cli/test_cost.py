"""What a job cost, for the one who ran it."""

from decimal import Decimal
from pathlib import Path

from tests.cli.conftest import Run
from tests.cli.tiny import edit


def test_all_attempts_together(run: Run, posted: Path) -> None:
    shown = run("--project", posted, "cost", "j2")
    assert shown.out.splitlines()[0] == "j2 of speech/bob cost 75.00 USD (final), 2 attempts and tasks together."
    value = run("--project", posted, "cost", "j2.1", "-o", "json").value()
    assert (value["run"], value["status"]) == ("j2", "final")
    assert [(line["workload"], line["outcome"], line["direct"]) for line in value["attempts"]] == [
        ("j2.1", "failed", "20"),
        ("j2.2", "completed", "40"),
    ]
    total = value["totals"][0]
    assert (total["direct"], total["with_idle"]) == ("60", "60")
    assert abs(Decimal(total["with_overhead"]) - 75) < Decimal("0.0000001")
    assert abs(Decimal(total["unshared_idle"]) - Decimal("117.5") * 60 / Decimal("122.5")) < Decimal("0.0000001")


def test_idle_that_the_team_pays_is_in_it(run: Run, tiny: Path) -> None:
    edit(tiny / "policy.yaml", "idle: central", "idle: proportional")
    run("--project", tiny, "ingest")
    value = run("--project", tiny, "cost", "j1", "-o", "json").value()
    total = value["totals"][0]
    share = Decimal("117.5") * 60 / Decimal("122.5")
    assert value["status"] == "estimated"
    assert value["periods"] == [{"period": "2026-10", "status": "estimated", "why": "not posted yet"}]
    assert abs(Decimal(total["idle"]) - share) < Decimal("0.0000001")
    assert total["unshared_idle"] == "0"


def test_a_later_plan_makes_it_an_estimate_again(run: Run, posted: Path) -> None:
    edit(posted / "policy.yaml", "idle: central", "idle: proportional")
    run("--project", posted, "plan")
    value = run("--project", posted, "cost", "j1", "-o", "json").value()
    assert value["periods"][0]["why"] == "posted, but a later plan says otherwise"
    assert value["status"] == "estimated"


def test_adjustments_are_what_others_pay(run: Run, tiny: Path) -> None:
    rule = 'adjustments:\n  - {team: vision, percent: -50, sponsor: speech, why: "a favour"}\n'
    file = tiny / "policy.yaml"
    file.write_text(file.read_text("utf-8") + rule, "utf-8")
    run("--project", tiny, "ingest")
    shown = run("--project", tiny, "cost", "j1")
    assert "others pay 30.00 USD of it" in shown.out  # half of what j1 was charged; overhead has no job
