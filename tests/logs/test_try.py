"""`apportion ingest --try FILE`: what a source makes of a file, without a trace."""

from pathlib import Path

import pytest

from tests.cli.conftest import Run, run
from tests.cli.tiny import write_tiny

__all__ = ["run"]
LOG = """\
job,node,start,end,gpus,state,team,user,run
a,n1,2026-10-01T00:00:00Z,2026-10-01T01:00:00Z,3/7,COMPLETED,vision,ann,a
b,n1,2026-10-01T02:00:00Z,2026-10-01T01:00:00Z,1,COMPLETED,vision,ann,b
c,n1,2026-10-01T02:00:00Z,2026-10-01T03:00:00Z,many,COMPLETED,speech,bob,c
,n1,2026-10-01T02:00:00Z,2026-10-01T03:00:00Z,2,COMPLETED,speech,bob,d
"""


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Outside of the project on purpose."""
    file = tmp_path / "elsewhere" / "try me.csv"
    file.parent.mkdir()
    file.write_text(LOG, "utf-8")
    return file


def state(folder: Path) -> list[tuple[str, int]]:
    return sorted((str(path), path.stat().st_mtime_ns) for path in folder.rglob("*"))


def test_a_dry_run_shows_what_is_understood_and_what_is_not(run: Run, tmp_path: Path, log: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    before = state(tmp_path)
    shown = run("--project", folder, "ingest", "jobs", "--try", log, "-o", "json")
    assert shown.code == 0
    assert state(tmp_path) == before
    value = shown.value()
    assert value["counts"] == {"usage": 1, "workloads": 2}
    assert [(row["what"], row["meter"], row["amount"], row["start"], row["end"], row["labels"]) for row in value["rows"]] == [
        ("a", "gpu", "0.4286 GPU", "2026-10-01T00:00:00Z", "2026-10-01T01:00:00Z", {"team": "vision", "user": "ann"}),
    ]  # fmt: skip
    assert [(one["code"], one["count"], one["where"]) for one in value["refused"]] == [
        ("invalid-number", 1, "try me.csv:4"),
        ("missing-workload", 1, "try me.csv:5"),
        ("reversed-period", 1, "try me.csv:3"),
    ]
    assert "Nothing was written." in shown.err
    table = run("--project", folder, "ingest", "jobs", "--try", log)
    assert "0.4286 GPU" in table.out
    assert "the row ends before it starts" in table.out


def test_a_source_is_found_by_its_kind(run: Run, tmp_path: Path, log: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    refused = run("--project", folder, "ingest", "usage", "--try", log)
    assert (refused.code, "several sources 'usage'" in refused.err, "jobs" in refused.err) == (1, True, True)
    bill = run("--project", folder, "ingest", "focus", "--try", folder / "bills/acme.csv", "-o", "json").value()
    assert (bill["source"], bill["rows"][0]["what"], bill["rows"][0]["amount"]) == ("acme", "GPU Compute", "240 USD")
    without = run("--project", folder, "ingest", "nothing", "--try", log)
    assert "has no source 'nothing'" in without.err
    assert "there is no file" in run("--project", folder, "ingest", "jobs", "--try", tmp_path / "no.csv").err
    assert run("--project", folder, "ingest", "jobs", "nodes", "--try", log).code == 2


def test_a_file_of_which_nothing_can_be_taken_says_why(run: Run, tmp_path: Path, log: Path) -> None:
    folder = write_tiny(tmp_path / "tiny")
    log.write_text(LOG.splitlines()[0] + "\n" + LOG.splitlines()[2] + "\n", "utf-8")
    value = run("--project", folder, "ingest", "jobs", "--try", log, "-o", "json").value()
    assert {one["code"]: one["count"] for one in value["refused"]} == {"reversed-period": 1, "no-rows": 1}
