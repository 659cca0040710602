"""From files to a balanced ledger: ingest, plan, apply, report, on a project that can be checked by hand."""

import csv
import io
import os
import sys
from decimal import Decimal
from pathlib import Path

import pytest

from tests import processes
from tests.cli.conftest import Run
from tests.cli.tiny import edit

EQUATION = "Acme 2026-10 USD 270.00 USD = owners 150.00 + _idle 117.50 + _unallocated 2.50 + _residual 0.00 ✓"


def test_the_whole_way(run: Run, tiny: Path) -> None:
    at = ("--project", tiny)
    read = run(*at, "ingest", "-o", "json").value()["sources"]
    assert [(one["source"], one["changed"]) for one in read] == [("acme", 1), ("jobs", 1), ("nodes", 1)]
    assert all(one["changed"] == 0 for one in run(*at, "ingest", "-o", "json").value()["sources"])

    shown = run(*at, "plan")
    assert shown.code == 0
    assert EQUATION in shown.out
    assert "4 owners: 4 to add; 270.00 USD in total." in shown.out
    assert "+   _idle" in shown.out
    assert f"apportion --project {tiny} apply --period 2026-10" in shown.err
    assert run(*at, "plan", "--exit-code").code == 3

    done = run(*at, "apply", "-o", "json").value()
    assert done["posted"] is True
    again = run(*at, "apply")
    assert "Nothing to post for 2026-10" in again.out
    assert done["head"] in again.out

    after = run(*at, "plan", "--exit-code")
    assert after.code == 0
    assert "Nothing changes" in after.out


def test_plan_as_json_keeps_its_contract(run: Run, posted: Path) -> None:
    value = run("--project", posted, "plan", "--period", "2026-10", "--engine", "duckdb", "-o", "json").value()
    assert len(value["digest"]) == 64
    assert value["equation"] == [
        {
            "bill": "Acme 2026-10 USD",
            "currency": "USD",
            "total": "270",
            "owners": "150",
            "idle": "117.5",
            "unallocated": "2.5",
            "residual": "0",
        }
    ]
    assert {row["owner"]: row["change"] for row in value["rows"]} == dict.fromkeys(
        ["_idle", "_unallocated", "speech", "vision"], "0"
    )
    assert value["bills"] == [
        {"id": "Acme 2026-10 USD", "issuer": "Acme", "currency": "USD", "total": "270", "lines": 2, "conversion": None}
    ]
    assert value["problems"] == []
    assert value["digest"] == run("--project", posted, "plan", "-o", "json").value()["digest"]


def test_showback_as_json_adds_up_digit_for_digit(run: Run, posted: Path) -> None:
    value = run("--project", posted, "report", "showback", "--period", "2026-10", "-o", "json").value()
    assert (value["period"], value["currency"], value["bill"]) == ("2026-10", "USD", "270")
    assert sum(Decimal(row["amount"]) for row in value["rows"]) == Decimal(270)
    assert {row["owner"] for row in value["rows"]} == {"vision", "speech", "_idle", "_unallocated"}
    assert value["head"] == run("--project", posted, "verify", "-o", "json").value()["head"]


def test_showback_for_reading(run: Run, posted: Path) -> None:
    shown = run("--project", posted, "report", "showback")
    assert (
        shown.out.splitlines()[0]
        == "2 teams owe 150.00 USD of the bill of 270.00 USD for 2026-10; 43.5 % stays with _idle."
    )
    names = [line.split()[0] for line in shown.out.splitlines()[3:7]]
    assert (sorted(names[:2]), names[2:]) == (
        ["speech", "vision"],
        ["_idle", "_unallocated"],
    )  # the two differ by nanos
    assert "ledger head" in shown.out


def test_other_forms(run: Run, posted: Path) -> None:
    at = ("--project", posted, "report")
    rows = list(csv.DictReader(io.StringIO(run(*at, "showback", "--by", "pool", "-o", "csv").out)))
    assert {row["pool"]: row["amount"] for row in rows} == {"gpu": "240", "rest": "30"}
    assert run(*at, "idle", "-o", "md").out.startswith(
        "**117.50 USD of the bill of 270.00 USD for 2026-10 paid for idle capacity"
    )
    assert run(*at, "idle", "-o", "json").value()["rows"][0] | {"share": ""} == {
        "pool": "gpu", "cause": "unsold", "owner": "_idle", "carried_by": "vision", "amount": "117.5", "share": "",
    }  # fmt: skip
    assert len(run(*at, "trend", "-o", "json").value()["rows"]) == 31
    assert (
        run(*at, "trend", "--owner", "vision", "--by", "month", "-o", "json").value()["rows"][0]["month"] == "2026-10"
    )
    assert run(*at, "coverage").out.startswith("55.6 % of the bill of 270.00 USD for 2026-10 has an owner (150.00 USD)")


def test_quiet_says_nothing_beside_the_answer(run: Run, posted: Path) -> None:
    assert run("--project", posted, "report", "showback").err
    assert run("--project", posted, "report", "showback", "--quiet").err == ""


def test_an_edit_moves_exactly_what_it_should_and_posts_the_difference(run: Run, posted: Path) -> None:
    """An hour more of vision on 4 idle GPUs: 5.00 from `_idle` to vision; support follows."""
    at = ("--project", posted)
    edit(posted / "usage/jobs.csv", "2026-10-01T12:00:00Z,4", "2026-10-01T13:00:00Z,4")
    edit(posted / "usage/jobs.csv", "2026-10-01T14:00:00Z,8,FAILED", "2026-10-01T14:00:00Z,4,FAILED")
    before = run(*at, "plan", "-o", "json").value()["digest"]
    run(*at, "ingest")
    value = run(*at, "plan", "-o", "json").value()
    assert value["digest"] != before
    moved = {row["owner"]: (row["sign"], Decimal(row["change"])) for row in value["rows"]}
    assert moved["_unallocated"] == (" ", Decimal(0))
    assert moved["_idle"][1] == Decimal(5)  # speech gave back 8 GPU-hours, vision took 4
    assert moved["_idle"][0] == moved["vision"][0] == moved["speech"][0] == "~"
    assert sum(change for _, change in moved.values()) == 0
    done = run(*at, "apply", "-o", "json").value()
    assert done["posted"] is True
    rows = run(*at, "report", "showback", "-o", "json").value()["rows"]
    assert sum(Decimal(row["amount"]) for row in rows) == Decimal(270)
    assert run(*at, "verify").code == 0


def test_apply_refuses_what_moved_since_the_plan(run: Run, posted: Path) -> None:
    at = ("--project", posted)
    edit(posted / "bills/acme.csv", "30.00,30.00,30.00,30.00", "31.00,31.00,31.00,31.00")
    run(*at, "ingest")
    run(*at, "plan")
    edit(posted / "policy.yaml", "idle: central", "idle: proportional")
    shown = run(*at, "apply")
    assert shown.code == 1
    assert "error[policy-moved]: since the plan of 2026-10 was made, the policy changed" in shown.err
    run(*at, "plan")
    edit(posted / "bills/acme.csv", "31.00,31.00,31.00,31.00", "32.00,32.00,32.00,32.00")
    run(*at, "ingest")
    shown = run(*at, "apply")
    assert shown.code == 1
    assert "error[inputs-moved]: since the plan of 2026-10 was made, cost_lines changed" in shown.err
    assert "run `apportion plan --period 2026-10` again" in shown.err
    assert run(*at, "report", "showback", "-o", "json").value()["bill"] == "270"


def test_a_run_id_posts_once_and_is_refused_for_another_plan(run: Run, tiny: Path) -> None:
    at = ("--project", tiny)
    run(*at, "ingest")
    run(*at, "plan")
    assert run(*at, "apply", "--run-id", "mine", "-o", "json").value() | {"head": "", "digest": "", "entries": 0} == {
        "run_id": "mine", "posted": True, "period": "2026-10", "booked": "2026-10", "head": "", "digest": "", "entries": 0, "findings": [],
        "followed": [],
    }  # fmt: skip
    assert run(*at, "apply", "--run-id", "mine", "-o", "json").value()["posted"] is False
    edit(tiny / "policy.yaml", "idle: central", "idle: proportional")
    run(*at, "plan")
    shown = run(*at, "apply", "--run-id", "mine")
    assert shown.code == 1
    assert "error[run-conflict]" in shown.err


def test_a_policy_that_begins_later_leaves_the_stored_one_in_force(run: Run, posted: Path) -> None:
    at = ("--project", posted)
    was = run(*at, "plan", "-o", "json").value()["policy"]
    edit(posted / "policy.yaml", "effective: 2026-10-01", "effective: 2026-11-01")
    edit(posted / "policy.yaml", "idle: central", "idle: proportional")
    assert run(*at, "plan", "-o", "json").value()["policy"] == was


def test_a_quarter_is_the_months_that_are_there(run: Run, posted: Path) -> None:
    at = ("--project", posted)
    assert run(*at, "plan", "--period", "2026-Q4", "-o", "json").value()["period"] == "2026-10"
    assert run(*at, "report", "showback", "--period", "2026-Q4", "-o", "json").value()["bill"] == "270"


def test_what_was_posted_can_be_read_while_the_policy_is_being_edited(run: Run, posted: Path) -> None:
    (posted / "policy.yaml").write_text("policy: [half a", "utf-8")
    assert run("--project", posted, "report", "idle").code == 0
    assert run("--project", posted, "explain", "vision").code == 0
    assert run("--project", posted, "cost", "j1").code == 0


def test_piping_into_head_is_quiet(posted: Path) -> None:
    script = (
        f"{sys.executable} -c 'from apportion.cli.main import main; main()' --project {posted} report trend | head -n 1"
    )
    done = processes.run(["bash", "-c", script], text=True, check=True)
    assert done.stdout.startswith("The bills come to 270.00 USD")
    assert "Traceback" not in done.stderr
    assert "\x1b" not in done.stdout


def test_on_a_terminal_there_are_colours_and_no_color_takes_them_away(posted: Path) -> None:
    command = [
        sys.executable,
        "-c",
        "from apportion.cli.main import main; main()",
        "--project",
        str(posted),
        "report",
        "showback",
    ]
    with_colour = in_terminal(command, {})
    assert "\x1b[1m" in with_colour
    assert "\x1b" not in in_terminal(command, {"NO_COLOR": "1"})


def in_terminal(command: list[str], changes: dict[str, str]) -> str:
    """Standard output of a command whose standard output is a terminal."""
    pty = pytest.importorskip("pty", reason="no pseudo-terminals on this system")
    mine, theirs = pty.openpty()
    clean = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    process = processes.Process(command, stdout=theirs, env=clean | {"TERM": "xterm"} | changes)
    os.close(theirs)
    parts = []
    while True:
        try:
            part = os.read(mine, 65536)
        except OSError:
            break
        if not part:
            break
        parts.append(part)
    assert process.wait() == 0
    os.close(mine)
    return b"".join(parts).decode()
