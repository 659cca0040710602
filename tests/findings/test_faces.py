"""Every face shows the same list, in the same words."""

from pathlib import Path

import apportion
from apportion.web.app import create_app
from tests.cli.conftest import Run
from tests.findings.conftest import MONTH
from tests.web.conftest import clients_at

KEYS = ("code", "rows", "hours", "unit", "money", "currency", "share", "lost", "pool", "source", "stops", "remedy")
WORDS = "reversed-period", "20.0 %", "jobs", "the row ends before it starts", "mend the rows and ingest again"


def listed(found: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{key: one[key] for key in KEYS} for one in found]


def test_every_face_shows_the_same_list(run: Run, doubtful: Path) -> None:
    def value(*words: object) -> dict[str, list[dict[str, object]]]:
        found: dict[str, list[dict[str, object]]] = run("--project", doubtful, *words, "-o", "json").value()
        return found

    tried = value("ingest", "jobs", "--try", doubtful / "usage/jobs.csv")["findings"]
    read = value("ingest")["findings"]
    first = listed(read)
    assert [(one["code"], one["rows"], one["share"], one["stops"]) for one in first] == [
        ("reversed-period", 1, "0.2", True)
    ]
    assert listed(tried) == first
    for words in (("plan", "--period", MONTH), ("check", "--period", MONTH)):
        assert listed(value(*words)["findings"]) == first
    accept = ("--accept", "reversed-period", "--why", "known")
    later = [{**one, "stops": False} for one in first]
    assert listed(value("apply", "--period", MONTH, *accept)["findings"]) == later
    assert listed(value("close", "--period", MONTH)["findings"]) == later
    assert listed(value("report", "coverage", "--period", MONTH)["findings"]) == later
    client = clients_at(create_app(doubtful))("admin")
    health = client.get("/api/v1/health").json()
    assert (health["period"], listed(health["findings"])) == (MONTH, later)
    assert listed(client.get(f"/api/v1/reports/coverage?period={MONTH}").json()["findings"]) == later
    page = client.get(f"/health?period={MONTH}").text
    assert all(word in page for word in WORDS)
    project = apportion.open_project(doubtful)
    assert apportion.plan(project, MONTH).findings == apportion.check(project, MONTH).findings


def test_check_names_a_source_that_has_no_stanza_and_counts(run: Run, sound: Path) -> None:
    """Its jobs are charged all the same."""
    assert run("--project", sound, "ingest").code == 0
    settings = sound / "apportion.toml"
    whole = settings.read_text("utf-8")
    start = whole.index('[[sources]]\nname = "jobs"')
    settings.write_text(whole[:start] + whole[whole.index("[[sources]]", start + 1) :], "utf-8")
    checks = run("--project", sound, "check", "-o", "json").value()["checks"]
    (line,) = [one for one in checks if one["what"] == "source jobs"]
    assert (line["status"], line["text"]) == (
        "note",
        "apportion.toml has no such source, and 1 delivery of it still counts",
    )


def test_every_table_says_it_in_the_same_words(run: Run, doubtful: Path) -> None:
    at = ("--project", doubtful)
    for words in (("ingest",), ("plan", "--period", MONTH), ("check", "--period", MONTH)):
        shown = run(*at, *words).out
        assert all(word in shown for word in WORDS), words
        assert "Findings: what could not be taken as it is, or was taken on a guess" in shown


def test_a_page_without_a_posting_shows_what_stops_the_first_one(run: Run, doubtful: Path) -> None:
    for words in (("ingest",), ("plan", "--period", MONTH)):
        assert run("--project", doubtful, *words).code == 0
    page = clients_at(create_app(doubtful))("admin").get("/health").text
    assert "stops apply" in page


def test_a_team_does_not_see_what_is_wrong_with_others_rows(run: Run, doubtful: Path) -> None:
    for words in (("ingest",), ("plan",), ("apply", "--accept", "reversed-period", "--why", "known")):
        assert run("--project", doubtful, *words).code == 0
    client = clients_at(create_app(doubtful))("lead")
    answer = client.get(f"/api/v1/reports/coverage?period={MONTH}")
    assert answer.status_code in (200, 403)
    assert "reversed-period" not in answer.text


def test_sound_is_said_only_where_no_finding_stands(run: Run, sound: Path, doubtful: Path) -> None:
    for folder in (sound, doubtful):
        assert run("--project", folder, "ingest").code == 0
    assert "sound." in run("--project", sound, "check").out.splitlines()[0]
    shown = run("--project", doubtful, "check")
    assert (shown.code, shown.out.splitlines()[0]) == (1, "1 finding to act on.")
    for words in (("plan",), ("apply", "--accept", "reversed-period", "--why", "known")):
        assert run("--project", doubtful, *words).code == 0
    shown = run("--project", doubtful, "check")
    assert (shown.code, shown.out.splitlines()[0]) == (
        0,
        "Settings, policy and sources are sound. 1 finding was accepted.",
    )


def test_coverage_is_what_is_left(run: Run, doubtful: Path) -> None:
    for words in (("ingest",), ("plan",), ("apply", "--accept", "reversed-period", "--why", "known")):
        assert run("--project", doubtful, *words).code == 0
    said = run("--project", doubtful, "report", "coverage").out.splitlines()[0]
    assert (
        "Not in it: reversed-period: 1 row of source jobs (20.0 %, lost); shares rest on the 80.0 % that is left."
        in said
    )
