"""Every figure leads to its cost lines, usage, price, policy line and rounding step; a tampered record is found."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from apportion.engine.plan import RULES
from tests.cli.conftest import Run
from tests.cli.tiny import edit, write_tiny


def tamper(project: Path, sql: str) -> None:
    """Change the record behind the program's back, append-only triggers and all."""
    with sqlite3.connect(project / ".apportion/books.db") as database:
        names = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in names:
            database.execute(f"DROP TRIGGER {name}")
        assert database.execute(sql).rowcount == 1
    database.close()


def test_a_team_in_words(run: Run, posted: Path) -> None:
    shown = run("--project", posted, "explain", "vision")
    assert shown.code == 0
    lines = shown.out.splitlines()
    assert lines[0] == (
        "vision owes 75.00 USD for 2026-10: posted, and the same when computed again from 2 cost lines and the usage of 4 workloads. "
        "Its statement: 75.00 of its own and 117.50 that it carries for _idle: 192.50 USD."
    )
    assert "├─ gpu: 60.00 USD = usage 60.00" in lines
    assert "│  ├─ shared by capacity rate over gpu (allocated), one price per hour: policy.yaml:12  gpu:" in lines
    assert "│  ├─ 1 cost line: 240.00 USD" in lines
    assert "│  ├─ price per GPU-hour: 1.250 USD on average = 240.00 USD / 192.00 GPU-hours offered" in lines
    assert "│  └─ 1 usage interval of vision: 48.00 GPU-hours of 98.00 GPU-hours used by all; the largest:" in lines
    assert "│     └─ j1 on n1, 2026-10-01T00:00:00Z to 2026-10-01T12:00:00Z: 48.00 GPU-hours" in lines
    assert any("policy.yaml:10" in line and "owner rule" in line for line in lines)
    assert any(
        "rounding: exactly 74.99999999999999999999999999" in line or "rounding: exactly 75.0000000" in line
        for line in lines
    )


@pytest.mark.parametrize("what", ["gpu", "pool:gpu", "_idle", "j2", "job:j2.1", "3", "posting:3", "_unallocated"])
def test_every_kind_of_figure_has_an_explanation(run: Run, posted: Path, what: str) -> None:
    value = run("--project", posted, "explain", what, "--period", "2026-10", "-o", "json").value()
    assert value["steps"]
    assert value["figures"][0]["posted"] == value["figures"][0]["planned"]
    assert value["policy"].startswith("tiny@")
    assert len(value["head"]) == 64


def test_a_posting_by_the_beginning_of_its_hash(run: Run, posted: Path) -> None:
    with sqlite3.connect(posted / ".apportion/books.db") as database:
        seq, link = database.execute("SELECT seq, hash FROM entries WHERE team = 'vision' AND pool = 'gpu'").fetchone()
    database.close()
    value = run("--project", posted, "explain", link[:16], "-o", "json").value()
    assert (value["kind"], value["name"]) == ("posting", str(seq))
    assert value["figures"] == [
        {
            "currency": "USD",
            "exact": "60.000000000000000000000000000000",
            "planned": "60",
            "posted": "60",
            "amount": "60",
        }
    ]


def test_before_posting_the_plan_is_explained(run: Run, tiny: Path) -> None:
    run("--project", tiny, "ingest")
    shown = run("--project", tiny, "explain", "vision", "--period", "2026-10")
    assert "not posted yet, computed from 2 cost lines" in shown.out


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE entries SET amount = '61' WHERE team = 'vision' AND pool = 'gpu'",
        "UPDATE entries SET team = 'speech' WHERE team = 'vision' AND pool = 'gpu'",
        "DELETE FROM entries WHERE team = 'vision' AND pool = 'gpu'",
    ],
)
def test_a_tampered_record_is_found(run: Run, posted: Path, sql: str) -> None:
    tamper(posted, sql)
    shown = run("--project", posted, "explain", "vision")
    assert (shown.code, shown.out) == (5, "")
    assert (
        "error[integrity-broken]: vision in 2026-10: the record is not what its cost lines and usage say" in shown.err
    )
    assert "expected 60, found " in shown.err
    assert run("--project", posted, "verify").code == 5


def test_an_untouched_figure_of_a_tampered_ledger_still_explains(run: Run, posted: Path) -> None:
    tamper(posted, "UPDATE entries SET amount = '61' WHERE team = 'vision' AND pool = 'gpu'")
    assert run("--project", posted, "explain", "_idle").code == 0


def test_a_changed_policy_does_not_change_old_explanations(run: Run, posted: Path) -> None:
    text = (posted / "policy.yaml").read_text("utf-8")
    (posted / "policy.yaml").write_text(
        "# moved down by a line\n" + text.replace("idle: central", "idle: proportional"), "utf-8"
    )
    shown = run("--project", posted, "explain", "gpu")
    assert "idle unsold 117.50 USD goes by the rule 'central': policy.yaml:16  idle: central" in shown.out


def test_verify_finds_a_cut_off_tail_by_the_head_of_a_report(run: Run, posted: Path) -> None:
    head = run("--project", posted, "report", "showback", "-o", "json").value()["head"]
    assert run("--project", posted, "verify", "--head", head).code == 0
    assert run("--project", posted, "verify", "--head", "0" * 63 + "1").code == 5


def test_a_backup_has_the_same_head(run: Run, posted: Path, tmp_path: Path) -> None:
    copy = tmp_path / "books.tar.gz"
    made = run("--project", posted, "backup", copy, "-o", "json").value()
    assert "error[backup-exists]" in run("--project", posted, "backup", copy).err
    other = tmp_path / "other"
    shutil.copytree(posted, other, ignore=shutil.ignore_patterns(".apportion"))
    restored = run("--project", other, "backup", copy, "--restore", "-o", "json").value()
    assert restored["head"] == made["head"]
    assert run("--project", other, "report", "showback", "-o", "json").value()["bill"] == "270"
    assert "error[books-exist]" in run("--project", other, "backup", copy, "--restore").err
    assert "error[no-backup]" in run("--project", other, "backup", tmp_path / "none.tar", "--restore").err


def test_a_month_posted_by_other_rules_is_not_called_false(
    run: Run, posted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is posted is told; what would have to be computed again is refused."""
    for module in ("ground", "explain", "explaining.kept"):
        monkeypatch.setattr(f"apportion.verbs.{module}.RULES", "later")
    told = run("--project", posted, "explain", "vision")
    assert f"posted by rules {RULES} of the engine and told from the charges kept then" in told.out
    refused = run("--project", posted, "report", "fairness")
    assert refused.code == 1
    said = f"error[engine-changed]: 2026-10 was posted by rules {RULES} of the engine; this release has later"
    assert said in refused.err


def test_pools_that_serve_and_pools_of_several_measures(run: Run, tmp_path: Path) -> None:
    project = write_tiny(tmp_path)
    edit(project / "policy.yaml", "    method: capacity_rate\n", "    method: resource_weighted\n")
    edit(project / "policy.yaml", "    meter: gpu\n", "    meter: {gpu: 95, cpu: 5}\n")
    edit(project / "policy.yaml", "by: cost, over: all}", "method: reciprocal, serves: {gpu: 1}}")
    for verb in ("ingest", "plan", "apply"):
        assert run("--project", project, verb).code == 0
    shown = run("--project", project, "explain", "vision").out.splitlines()
    assert any("receives 100.0 % of what rest costs: policy.yaml:" in line for line in shown)
    assert "│  ├─ by gpu, which weighs 95" in shown
    assert any(
        "price per GPU-hour: 1.255 USD on average = 240.97 USD / 192.00 GPU-hours offered" in line for line in shown
    )
