"""What a job cost, for the one who ran it."""

from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from tests.cli.conftest import Run
from tests.cli.tiny import edit, write_tiny


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
    assert value["periods"] == [
        {"period": "2026-10", "status": "estimated", "why": "not posted yet", "basis": "effective cost"}
    ]
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


def test_what_was_held_and_used(run: Run, tiny: Path) -> None:
    """j1 holds 4 GPUs for 12 h at 1.25 and is busy for a quarter of it: 45.00 of its 60.00 is waste. The others were not measured."""
    jobs = tiny / "usage" / "jobs.csv"
    lines = jobs.read_text("utf-8").splitlines()
    busy = ["busy", *("25" if line.startswith("j1,") else "" for line in lines[1:])]
    jobs.write_text("".join(f"{line},{part}\n" for line, part in zip(lines, busy, strict=True)), "utf-8")
    edit(
        tiny / "apportion.toml",
        'meters = { gpu = "gpus" }',
        'meters = { gpu = "gpus" }\nused_meters = { gpu = "busy" }\nused_units = { gpu = "percent of allocated" }',
    )
    run("--project", tiny, "ingest")
    run("--project", tiny, "plan")
    run("--project", tiny, "apply")
    shown = run("--project", tiny, "cost", "j1")
    assert "GPU: 48.0 h held, 12.0 used (25.0 %), waste 45.00 USD" in shown.out
    assert run("--project", tiny, "cost", "j1", "-o", "json").value()["totals"][0]["waste"] == "45"
    assert "GPU: 48.0 h held, use not measured" in run("--project", tiny, "cost", "j2").out
    explained = run("--project", tiny, "explain", "j1").out
    assert "waste 45.00 USD: what was held without use, at the prices of the charge and inside it" in explained
    rows = run("--project", tiny, "report", "held", "-o", "json").value()["rows"]
    assert [(row["owner"], row["held"], row["used"], row["waste"]) for row in rows] == [
        ("vision", "48", "12", "45"),
        ("speech", "48", None, None),
        ("_unallocated", "2", None, None),
    ]


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """Two clusters with a job 35 each, as Slurm's source names them; one also has a task of job 99036. There are fewer postings than that."""
    folder = write_tiny(tmp_path_factory.mktemp("clusters"))
    ids = {"j1,j1": "east/35", "j2.1,j2": "west/99036_7", "j2.2,j2": "west/35"}
    for old, new in ids.items():
        edit(folder / "usage/jobs.csv", f"{old},", f"slurm/{new}@1790812800,slurm/{new.partition('_')[0]},")
    project = apportion.open_project(folder)
    apportion.ingest(project)
    apportion.plan(project, "2026-10")
    apportion.apply(project, "2026-10")
    project.books.close()
    return "--project", str(folder)


def test_a_job_is_found_by_the_id_that_the_scheduler_writes(run: Run, clusters: tuple[str, str]) -> None:
    whole = run(*clusters, "cost", "slurm/west/99036", "-o", "json").value()
    for short in ("99036", "99036_7", "west/99036", "slurm/west/99036_7@1790812800"):
        assert run(*clusters, "cost", short, "-o", "json").value() == whole
    assert "error[unknown-job]" in run(*clusters, "cost", "6").err  # not every id that has it at its end
    shown = run(*clusters, "explain", "99036", "-o", "json").value()
    assert (shown["kind"], shown["name"]) == ("job", "slurm/west/99036")
    opened = run(*clusters, "dispute", "open", "99036", "--why", "too much")
    assert "job slurm/west/99036" in " ".join(opened.out.split())


def test_where_several_clusters_have_it_the_commands_are_listed(run: Run, clusters: tuple[str, str]) -> None:
    refused = run(*clusters, "cost", "35")
    assert refused.code == 1
    assert "error[ambiguous-job]: 2 jobs end in '35': slurm/east/35 (2026-10-01), slurm/west/35 (" in refused.err
    assert "`apportion cost slurm/east/35`, `apportion cost slurm/west/35`" in refused.err
    assert run(*clusters, "cost", "east/35", "-o", "json").value()["run"] == "slurm/east/35"
    disputed = run(*clusters, "dispute", "open", "job:35", "--why", "too much")
    assert "`apportion dispute open job:slurm/west/35 --period 2026-10 --why TEXT`" in disputed.err
    assert "`apportion explain job:slurm/west/35 --period 2026-10`" in run(*clusters, "explain", "job:35").err


def test_a_postings_number_comes_before_a_schedulers_id(run: Run, clusters: tuple[str, str]) -> None:
    posting = run(*clusters, "explain", "35", "-o", "json").value()
    assert (posting["kind"], posting["name"]) == ("posting", "35")
    assert posting["also"] == ["job:slurm/east/35", "job:slurm/west/35"]
