"""What tasks do, without Airflow: requests on a small project, in this process and in another one."""

import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.errors import ProjectError
from apportion.integrations.airflow.elsewhere import answer_elsewhere
from apportion.integrations.airflow.work import Request, answer
from tests.cli.tiny import edit
from tests.findings.conftest import BACKWARDS


def seconds(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp())


DAY = (seconds("2026-10-01"), seconds("2026-10-02"))
MONTH = (seconds("2026-10-05"), seconds("2026-11-05"))


def ask(folder: Path, verb: str, interval: tuple[int, int] | None = DAY, **more: Any) -> dict[str, Any]:
    found = answer(Request(verb, str(folder), interval, **more), lambda _: None)
    assert json.loads(json.dumps(found)) == found  # as XCom keeps it
    return found


def test_a_month_from_its_files_to_its_statements_and_all_of_it_again(tiny: Path) -> None:
    assert [one["rows"] for one in ask(tiny, "ingest", None)["done"]["sources"]] == [2, 8, 1]
    assert ask(tiny, "complete")["done"] == {"days": 1, "complete": 1, "missing": {}}
    (planned,) = ask(tiny, "plan")["done"]["months"]
    assert (planned["period"], planned["pending"]) == ("2026-10", True)
    (first,), (again,) = (ask(tiny, "apply")["done"]["months"] for _ in range(2))
    assert (first["posted"], again["posted"], again["entries"]) == (True, False, 0)
    assert (first["digest"], first["head"]) == (planned["digest"], again["head"])
    assert sum(one["new"] for one in ask(tiny, "ingest", None)["done"]["sources"]) == 0
    closing = {"options": {"override": "nobody's job is known"}}
    (closed,), (closed_again,) = (ask(tiny, "close", MONTH, **closing)["done"]["months"] for _ in range(2))
    assert (closed["again"], closed_again["again"]) == (False, True)
    assert closed["head"] == closed_again["head"]
    wish = {"options": {"to": "out", "level": "team", "form": "html"}}
    texts = []
    for _ in range(2):
        (stated,) = ask(tiny, "statement", MONTH, **wish)["done"]["months"]
        files = sorted(Path(stated["folder"]).iterdir())
        assert (len(files), stated["final"]) == (stated["files"], True)
        texts.append({file.name: file.read_bytes() for file in files})
    assert texts[0] == texts[1]
    assert Path(stated["folder"]) == tiny / "out/2026-10"


def test_findings_stop_a_posting_until_the_task_accepts_them_by_name(tiny: Path) -> None:
    """1 of 5 rows of the log ends before it starts, and is lost."""
    with (tiny / "usage/jobs.csv").open("a", encoding="utf-8") as log:
        log.write(BACKWARDS)
    for verb in ("ingest", "plan"):
        ask(tiny, verb)
    stopped = ask(tiny, "apply", options={"accept": ["possible-repeats"], "why": "agreed"})
    assert "error[findings-stand]" in stopped["error"]
    assert "--accept reversed-period" in stopped["error"]
    assert not stopped["passing"]
    assert "error[no-reason]" in ask(tiny, "apply", options={"accept": ["reversed-period"], "why": " "})["error"]
    wish = {"accept": ["possible-repeats", "reversed-period"], "why": "the clock of n1 was set back"}
    (first,), (again,) = (ask(tiny, "apply", options=wish)["done"]["months"] for _ in range(2))
    assert (first["posted"], again["posted"]) == (True, False)
    kept = apportion.open_project(tiny).books.acceptances.of("2026-10")
    assert [(one.finding.code, one.why) for one in kept] == [("reversed-period", "the clock of n1 was set back")]


def test_a_month_that_may_not_be_closed_may_be_later(tiny: Path) -> None:
    for verb in ("ingest", "plan", "apply"):
        ask(tiny, verb)
    found = ask(tiny, "close", MONTH)
    assert found["passing"]
    assert found["error"].startswith("2026-10 is not closed:")


def test_where_there_is_nothing_to_do_the_task_is_skipped(tiny: Path) -> None:
    ask(tiny, "ingest")
    december = (seconds("2026-12-01"), seconds("2026-12-02"))
    assert ask(tiny, "plan", december)["skip"].startswith("no month has a bill from 2026-12-01 00:00")
    assert ask(tiny, "apply", december)["skip"]
    assert ask(tiny, "close")["skip"] == "no month ends from 2026-10-01 00:00 to 2026-10-02 00:00 (UTC)"


def test_a_month_that_is_named_is_not_skipped(tiny: Path) -> None:
    ask(tiny, "ingest")
    found = ask(tiny, "plan", None, period="2026-12")
    assert "error[nothing-to-plan]" in found["error"]
    assert not found["passing"]


def test_last_month_is_that_of_the_run_whenever_it_runs(tiny: Path) -> None:
    ask(tiny, "ingest")
    november = (seconds("2026-11-01"), seconds("2026-12-01"))
    (planned,) = ask(tiny, "plan", november, period="last-month")["done"]["months"]
    assert planned["period"] == "2026-10"


def test_days_that_a_source_has_not_delivered_are_waited_for(tiny: Path) -> None:
    """No file has a row of the second day; the bill's lines of the month came after it."""
    ask(tiny, "ingest")
    second = (seconds("2026-10-02"), seconds("2026-10-03"))
    assert ask(tiny, "complete", second)["done"]["missing"] == {"2026-10-02": ["jobs", "nodes"]}
    december = (seconds("2026-12-01"), seconds("2026-12-02"))  # long after all of them fell silent
    assert ask(tiny, "complete", december)["done"]["missing"] == {"2026-12-01": ["acme", "jobs", "nodes"]}
    own = {"options": {"sources": ["acme"]}}
    assert ask(tiny, "complete", second, **own)["done"]["missing"] == {}
    month = ask(tiny, "complete", None, period="2026-10")["done"]
    assert (month["days"], month["complete"], len(month["missing"])) == (31, 1, 10)
    assert "error[unknown-source]" in ask(tiny, "complete", options={"sources": ["slrum"]})["error"]


def test_a_source_that_never_brought_anything_is_waited_for(tiny: Path) -> None:
    apportion.ingest(apportion.open_project(tiny), ["acme", "jobs"])
    assert ask(tiny, "complete")["done"]["missing"] == {"2026-10-01": ["nodes"]}


def test_an_error_that_no_retry_mends_is_told_as_such(tiny: Path) -> None:
    edit(tiny / "policy.yaml", "capacity_rate", "capacity_rat")
    found = ask(tiny, "plan")
    assert "error[policy-" in found["error"]
    assert not found["passing"]
    assert not ask(tiny / "nowhere", "plan")["passing"]


def test_what_may_pass_is_told_as_such(tiny: Path) -> None:
    """A disk that is full or gone."""
    (tiny / ".apportion").write_text("in the way", "utf-8")
    assert ask(tiny, "ingest")["passing"]


def test_the_work_alone_sees_its_variables(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TINY_BEFORE", "before")
    monkeypatch.delenv("APPORTION_PROJECT", raising=False)
    variables = {"APPORTION_PROJECT": str(tiny), "TINY_BEFORE": "meanwhile"}
    monkeypatch.chdir(tiny.parent)
    found = answer(Request("ingest", environment=variables), lambda _: None)
    assert "done" in found
    assert "APPORTION_PROJECT" not in os.environ
    assert os.environ["TINY_BEFORE"] == "before"
    assert str(tiny) not in repr(Request("ingest", environment=variables))


def test_another_environment_says_the_same(tiny: Path) -> None:
    told: list[str] = []
    started: list[Any] = []
    ask(tiny, "ingest")
    request = Request("plan", str(tiny), DAY)
    found = answer_elsewhere(sys.executable, request, told.append, started.append)
    assert found == answer(request, lambda _: None)
    assert any("2026-10" in line for line in told)
    assert [process.returncode for process in started] == [0]


def test_an_environment_without_us_is_told(tiny: Path) -> None:
    request = Request("plan", str(tiny), DAY)
    with pytest.raises(ProjectError, match="cannot be started"):
        answer_elsewhere(str(tiny / "python"), request, lambda _: None, lambda _: None)
    broken = tiny / "python"
    broken.write_text("#!/bin/sh\necho No module named apportion >&2\nexit 1\n", "utf-8")
    broken.chmod(0o755)
    found = answer_elsewhere(str(broken), request, lambda _: None, lambda _: None)
    assert found == {"error": f"{broken} ended with 1: No module named apportion", "passing": True}
