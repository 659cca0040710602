"""The daily round: it posts where it may, changes nothing when nothing is new, and goes on whatever fails."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import apportion
from apportion.verbs.project import open_project
from tests.cli.conftest import Result, Run
from tests.cli.tiny import NODE, edit
from tests.sync.conftest import setting


def outcomes(result: Result) -> dict[tuple[str, str], tuple[str, str]]:
    return {(one["step"], one["subject"]): (one["outcome"], one["what"]) for one in result.value()["steps"]}


def trace(folder: Path) -> tuple[str, str, int, int]:
    """All by which books can tell that something was done."""
    books = open_project(folder).books
    found = books.state(), books.head(), len(books.audit()), len(books.hooks.tellings())
    books.close()
    return found


def test_the_second_round_changes_nothing(run: Run, mine: Path) -> None:
    first = run("--project", mine, "sync", "--exit-code", "-o", "json")
    assert first.code == 3
    told = outcomes(first)
    assert told["ingest", "acme"][0] == told["plan", "2026-10"][0] == told["apply", "2026-10"][0] == "done"
    assert first.value()["status"] == "ok"
    posted = trace(mine)
    assert posted[1]
    second = run("--project", mine, "sync", "--exit-code", "-o", "json")
    assert second.code == 0
    assert {outcome for outcome, _ in outcomes(second).values()} <= {"nothing new", "skipped", "done"}
    assert second.value()["changed"] == 0
    assert trace(mine) == posted


def test_it_comes_to_what_the_verbs_come_to(run: Run, mine: Path, posted_once: Path) -> None:
    assert run("--project", mine, "sync", "-q").code == 0
    assert trace(mine)[1] == trace(posted_once)[1]


def test_it_is_shown_in_every_form_and_again_as_the_last(run: Run, mine: Path) -> None:
    assert run("--project", mine, "sync", "--last").code == 1
    made = run("--project", mine, "sync", "-o", "csv")
    assert made.out.splitlines()[0] == "step,subject,outcome,what,changed,seconds"
    assert "| apply" in run("--project", mine, "sync", "--last", "-o", "md").out
    assert run("--project", mine, "sync", "--last").out.startswith("Round 1 of 20")
    assert run("--project", mine, "sync", "--last", "-o", "json").value()["round"] == 1


def test_nothing_is_posted_unless_the_settings_say_so(run: Run, tiny: Path) -> None:
    told = outcomes(run("--project", tiny, "sync", "-o", "json"))
    assert told["apply", "2026-10"][0] == "skipped"
    assert "apply = true" in told["apply", "2026-10"][1]
    waits = trace(tiny)
    again = run("--project", tiny, "sync", "--exit-code")
    assert (again.code, trace(tiny)) == (0, waits)
    assert open_project(tiny).books.runs() == []
    setting(tiny, "apply = true")
    told = outcomes(run("--project", tiny, "sync", "-o", "json"))
    assert told["plan", "2026-10"][0] == "nothing new"  # the plan that was shown is the one that is posted
    assert told["apply", "2026-10"][0] == "done"


def test_a_source_that_fails_holds_up_no_other_and_its_month_is_not_posted(run: Run, mine: Path) -> None:
    (mine / "usage/nodes.csv").rename(mine / "away.csv")
    failing = run("--project", mine, "sync", "-o", "json")
    told = outcomes(failing)
    assert failing.code == 1
    assert told["ingest", "nodes"][0] == "failed"
    assert told["ingest", "acme"][0] == told["ingest", "jobs"][0] == told["plan", "2026-10"][0] == "done"
    assert told["apply", "2026-10"] == ("skipped", "nodes failed and still owes something of 2026-10")
    assert run("--project", mine, "sync", "--last").code == 1
    (mine / "away.csv").rename(mine / "usage/nodes.csv")
    mended = run("--project", mine, "sync", "-o", "json")
    assert (mended.code, outcomes(mended)["apply", "2026-10"][0]) == (0, "done")


def test_what_is_incomplete_is_posted_where_somebody_wants_that(run: Run, mine: Path) -> None:
    known = (
        'accept = ["no-capacity", "source-not-read"]',
        'why = "the inventory comes later"',
    )  # what is incomplete is a finding, too
    setting(mine, "apply = true", "apply_incomplete = true", *known)
    (mine / "usage/nodes.csv").unlink()
    failing = run("--project", mine, "sync", "-o", "json")
    assert (failing.code, outcomes(failing)["apply", "2026-10"][0]) == (1, "done")


def test_a_source_may_be_left_out_and_a_month_be_too_early(run: Run, mine: Path) -> None:
    (mine / "usage/nodes.csv").unlink()
    setting(mine, "apply = true", 'leave_out = ["nodes"]', 'since = "2026-11"', "advise = false", "notify = false")
    made = run("--project", mine, "sync", "-o", "json")
    assert made.code == 0
    assert outcomes(made)["ingest", "nodes"] == ("skipped", "[sync] leaves it out")
    assert not {"plan", "apply", "advise", "anomalies", "news", "notify"} & {step for step, _ in outcomes(made)}


def test_figures_that_stay_leave_no_trace_although_a_file_is_new(run: Run, mine: Path) -> None:
    run("--project", mine, "sync", "-q")
    head = trace(mine)[1]
    edit(mine / "usage/jobs.csv", "j1,j1,vision,ann", "j1,j1b,vision,ann")  # another name of a run; no amount moves
    made = run("--project", mine, "sync", "-o", "json")
    assert outcomes(made)["ingest", "jobs"][0] == "done"
    assert outcomes(made)["plan", "2026-10"] == ("nothing new", "posted as it is")
    assert trace(mine)[1] == head


def test_a_closed_month_is_corrected_only_where_that_is_told(run: Run, mine: Path) -> None:
    run("--project", mine, "sync", "-q")
    apportion.close(open_project(mine), "2026-10", override="what nobody owns is known")
    edit(mine / "bills/acme.csv", "240.00,240.00", "250.00,250.00")
    told = outcomes(run("--project", mine, "sync", "-o", "json"))
    assert told["corrections", ""][0] == "skipped"
    assert "corrections = true" in told["corrections", ""][1]
    before = trace(mine)[1]
    setting(mine, "apply = true", "corrections = true")
    told = outcomes(run("--project", mine, "sync", "-o", "json"))
    assert "as a correction in 2026-11" in told["apply", "2026-10"][1]
    assert trace(mine)[1] != before
    assert outcomes(run("--project", mine, "sync", "-o", "json"))["plan", ""][0] == "nothing new"


def test_a_record_that_was_changed_by_hand_stops_all_posting(run: Run, mine: Path) -> None:
    run("--project", mine, "sync", "-q")
    setting(mine, "apply = true", "verify = true")
    assert run("--project", mine, "sync", "-q").code == 0
    with closing(sqlite3.connect(mine / ".apportion/books.db")) as record:
        record.execute("DROP TRIGGER entries_no_update")
        record.execute("UPDATE entries SET amount = '1' WHERE seq = (SELECT max(seq) FROM entries)")
        record.commit()
    edit(mine / "bills/acme.csv", NODE, NODE.replace("240.00", "300.00"))
    head = trace(mine)[1]
    broken = run("--project", mine, "sync", "-o", "json")
    assert (broken.code, broken.value()["status"]) == (5, "broken")
    assert outcomes(broken)["verify", ""][0] == "failed"
    assert outcomes(broken)["apply", "2026-10"][0] == "skipped"
    assert trace(mine)[1] == head


@pytest.mark.parametrize(
    ("line", "said", "hint"),
    [
        ("aply = true", "'aply' is not a setting", "did you mean 'apply'?"),
        ("apply = 1", "apply of [sync] must be true or false", ""),
        ('leave_out = ["jbos"]', "'jbos', which is no source", "did you mean 'jobs'?"),
        ('since = "October"', "'October' is not a month", "2026-10"),
        ('at = "at dawn"', "'at dawn' is no time that cron knows", "30 6 * * *"),
        ('at = "0 0 31 2 *"', "one that never comes", ""),
        ('time_zone = "Europe/Atlantis"', "no time zone 'Europe/Atlantis'", "Europe/Berlin"),
    ],
)
def test_settings_are_refused_with_their_line(run: Run, tiny: Path, line: str, said: str, hint: str) -> None:
    setting(tiny, line)
    number = (tiny / "apportion.toml").read_text("utf-8").splitlines().index(line) + 1
    made = run("--project", tiny, "sync")
    assert made.code == 1
    assert said in made.err
    assert f"apportion.toml:{number}" in made.err
    assert hint in made.err


def test_messages_are_sent_once(run: Run, mine: Path, receiver: Any) -> None:
    with (mine / "apportion.toml").open("a", encoding="utf-8") as file:
        file.write("[webhooks]\nallow_private = true\n")
    edit(
        mine / "usage/jobs.csv", "j3,j3,,,n1", "j4,j4,,,n1,soon,later,1,COMPLETED\nj3,j3,,,n1"
    )  # a row that cannot be read: somebody knows of it, so that it does not stop the round
    edit(mine / "apportion.toml", "[sync]\n", '[sync]\naccept = ["invalid-time"]\nwhy = "known"\n')
    open_project(mine).books.hooks.add(receiver.address, ["data.health"], None)
    receiver.answers = [500]
    failing = run("--project", mine, "sync", "-o", "json")
    assert failing.code == 1
    assert outcomes(failing)["news", ""] == ("done", "1 message")
    assert outcomes(failing)["notify", ""][0] == "failed"
    later = run("--project", mine, "sync", "-o", "json")  # it is not due again yet
    assert (later.code, outcomes(later)["notify", ""][0]) == (0, "nothing new")
    assert [body["event"] for body in receiver.bodies] == ["data.health"]


def test_it_is_on_the_page_and_in_the_api(run: Run, mine: Path) -> None:
    from fastapi.testclient import TestClient

    from apportion.books.doors import Person
    from apportion.web.app import create_app

    run("--project", mine, "sync", "-q")
    (mine / "usage/nodes.csv").unlink()
    run("--project", mine, "sync", "-q")
    app = create_app(mine)
    key = app.state.desk.books.doors.open_session(Person("root", "admin", None, "link"), 3600)
    with TestClient(app, "http://127.0.0.1", cookies={"apportion": key}) as client:
        page = client.get("/health").text
        told = client.get("/api/v1/health").json()["round"]
    assert "Round 2 began" in page
    assert (told["number"], told["status"], told["changed"]) == (2, "failed", 0)
    assert told["failed"][0].startswith("ingest nodes: ")
    assert json.dumps(told)
