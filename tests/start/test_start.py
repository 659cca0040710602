"""The first minutes: init, check and the demo."""

import io
import json
import shutil
from contextlib import redirect_stderr
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from apportion.cli.main import main
from tests.cli.conftest import Run
from tests.cli.tiny import BILL, JOBS, edit

SCALE = "0.004"


def test_init_writes_a_project_that_checks_out(run: Run, tmp_path: Path) -> None:
    shown = run("init", tmp_path / "mine", "--currency", "EUR", "--time-zone", "Europe/Berlin")
    assert shown.code == 0
    assert f"apportion --project {tmp_path / 'mine'} check" in shown.err
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {
        "apportion.toml", "policy.yaml", "policy.schema.json", ".gitignore", "names.key", "bills", "usage",
    }  # fmt: skip
    found = run("--project", tmp_path / "mine", "check", "-o", "json")
    assert found.code == 0
    assert found.value()["sound"] is True


def test_init_never_overwrites(run: Run, tmp_path: Path) -> None:
    (tmp_path / "policy.yaml").write_text("mine", "utf-8")
    shown = run("init", tmp_path)
    assert shown.code == 1
    assert shown.err.startswith(f"error[project-exists]: {tmp_path} already has policy.yaml")
    assert (tmp_path / "policy.yaml").read_text("utf-8") == "mine"
    assert not (tmp_path / "apportion.toml").exists()


def test_init_refuses_a_wrong_currency_before_writing(run: Run, tmp_path: Path) -> None:
    assert "there is no currency" in run("init", tmp_path / "x", "--currency", "EURO").err
    assert not (tmp_path / "x").exists()


def test_the_schema_for_editors_can_be_made_anew(run: Run, tmp_path: Path) -> None:
    assert run("init", tmp_path, "--schema").code == 0
    assert json.loads((tmp_path / "policy.schema.json").read_text("utf-8"))["title"] == "Apportion policy"


def test_the_stanzas_of_a_new_project_work_when_uncommented(run: Run, tmp_path: Path) -> None:
    run("init", tmp_path)
    (tmp_path / "bills/acme.csv").write_text(BILL, "utf-8")
    (tmp_path / "usage/jobs.csv").write_text(JOBS, "utf-8")
    text = (tmp_path / "apportion.toml").read_text("utf-8")
    head, _, stanzas = text.partition("# A bill in FOCUS columns")
    lines = [
        line.removeprefix("# ")
        for line in stanzas.splitlines()
        if line.startswith("# ") and ("=" in line or "[[" in line)
    ]
    (tmp_path / "apportion.toml").write_text(head + "\n".join(lines), "utf-8")
    edit(tmp_path / "policy.yaml", "effective: ", "effective: 2026-01-01 #")
    assert run("--project", tmp_path, "ingest").code == 0
    value = run("--project", tmp_path, "plan", "-o", "json").value()
    assert {row["owner"] for row in value["rows"]} >= {"vision", "speech", "_unallocated"}


def test_check_states_coverage_in_money_and_what_mends_it(run: Run, posted: Path) -> None:
    value = run("--project", posted, "check", "-o", "json").value()
    assert value["sound"] is True
    assert value["gaps"][0] | {"labels": {}} == {
        "cause": "no owner", "labels": {}, "count": 1, "currency": "USD", "amount": "2.5", "fix": value["gaps"][0]["fix"],
        "examples": ["j3"],
    }  # fmt: skip
    coverage = value["coverage"][0]
    assert sum(Decimal(row["amount"]) for row in coverage["rows"]) == Decimal(coverage["bill"]) == Decimal(270)
    assert "55.6 % of the bill of 270.00 USD for 2026-10 has an owner" in run("--project", posted, "check").out


def test_check_suggests_the_owner_rule_with_the_nearest_team(run: Run, posted: Path) -> None:
    edit(posted / "usage/jobs.csv", "j3,j3,,,n1", "j3,j3,,speech-lab,n1")
    run("--project", posted, "ingest")
    gap = run("--project", posted, "check", "-o", "json").value()["gaps"][0]
    assert gap["labels"] == {"user": "speech-lab"}
    assert gap["fix"] == 'under `owners` in policy.yaml: - {when: {user: "speech-lab"}, team: speech}'


def test_check_names_services_that_no_pool_claims(run: Run, posted: Path) -> None:
    edit(posted / "policy.yaml", "  rest: {costs: otherwise, by: cost, over: all}\n", "")
    gaps = run("--project", posted, "check", "-o", "json").value()["gaps"]
    assert next((gap["cause"], gap["labels"], gap["amount"]) for gap in gaps) == (
        "no pool",
        {"ServiceName": "Support"},
        "30",
    )
    assert 'costs: {ServiceName: "Support"}' in gaps[0]["fix"]


def test_check_goes_on_after_a_failure_and_exits_1(run: Run, posted: Path) -> None:
    edit(posted / "usage/jobs.csv", "2026-10-01T20:00:00Z,1", "2026-10-01T21:00:00Z,1")
    (posted / "bills/acme.csv").unlink()
    edit(posted / "policy.yaml", "currency: USD", "currency: USX")
    shown = run("--project", posted, "check", "-o", "json")
    assert shown.code == 1
    wrong = {finding["what"]: finding for finding in shown.value()["checks"] if finding["status"] == "wrong"}
    assert set(wrong) == {"policy", "source acme", "source jobs"}
    assert "policy.yaml:3" in wrong["policy"]["text"]
    assert wrong["source jobs"]["fix"] == "apportion ingest jobs"


@pytest.fixture(scope="module")
def demo_once(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A small demo, made once, and what it said."""
    folder = tmp_path_factory.mktemp("demo") / "demo"
    talk = io.StringIO()
    with pytest.raises(SystemExit) as stop, redirect_stderr(talk):
        main(["demo", str(folder), "--scale", SCALE])
    assert not stop.value.code
    return folder, talk.getvalue()


def showback(run: Run, project: Path) -> dict[str, Any]:
    value: dict[str, Any] = run("--project", project, "report", "showback", "--period", "2026-10", "-o", "json").value()
    return value


def test_the_demo_is_balanced_and_again_posts_only_what_was_edited(
    run: Run, demo_once: tuple[Path, str], tmp_path: Path
) -> None:
    demo = Path(shutil.copytree(demo_once[0], tmp_path / "demo"))
    before = showback(run, demo)
    assert (before["period"], before["currency"]) == ("2026-10", "USD")
    assert sum(Decimal(row["amount"]) for row in before["rows"]) == Decimal(before["bill"])
    assert {"vision", "_idle", "_unallocated", "_residual"} <= {row["owner"] for row in before["rows"]}
    edit(demo / "policy.yaml", "percent: -30", "percent: -20")
    again = run("demo", demo)
    assert again.code == 0
    assert "already holds a project: its files were read as they are" in again.err
    after = showback(run, demo)
    assert after["bill"] == before["bill"]
    assert "research-office" in moved(before, after)
    assert moved(before, after) <= {
        "genomics",
        "research-office",
        "ml-platform",
    }  # genomics' preemptible jobs have two sponsors


def moved(before: dict[str, Any], after: dict[str, Any]) -> set[str]:
    """Owners that a change moved by more than rounding can."""
    old = {row["owner"]: Decimal(row["amount"]) for row in before["rows"]}
    return {
        row["owner"] for row in after["rows"] if abs(Decimal(row["amount"]) - old[row["owner"]]) > Decimal("0.0001")
    }


def test_the_commands_that_the_demo_suggests_work(run: Run, demo_once: tuple[Path, str]) -> None:
    commands = [line.split()[1:] for line in demo_once[1].splitlines() if line.startswith("  apportion ")]
    assert [command[2] for command in commands] == ["explain", "cost", "report", "serve"]
    for command in commands[:-1]:  # the last goes on until it is stopped; tests/browse has it
        assert run(*command).code == 0
