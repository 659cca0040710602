"""Findings above the policy's bound stop what posts and closes, until somebody lets them stand by name."""

import json
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.errors import BooksError
from tests.cli.conftest import Run
from tests.cli.tiny import edit
from tests.findings.conftest import MONTH, NOVEMBER, lose_hours, set_bound

WHY = "a clock that was set back"


def plan(run: Run, folder: Path) -> None:
    assert run("--project", folder, "ingest").code == 0
    assert run("--project", folder, "plan", "--period", MONTH).code == 0


def test_apply_stops_with_the_list_and_the_command(run: Run, doubtful: Path) -> None:
    plan(run, doubtful)
    stopped = run("--project", doubtful, "apply", "--period", MONTH)
    assert stopped.code == 1
    assert "error[findings-stand]: 1 finding touches more of 2026-10 than the policy's bound allows" in stopped.err
    assert "reversed-period: 1 row of source jobs (20.0 %, lost)" in stopped.err
    assert "usage/jobs.csv:6: the row ends before it starts" in stopped.err
    assert "apportion apply --period 2026-10 --accept reversed-period --why TEXT" in stopped.err
    assert apportion.open_project(doubtful).books.runs() == []


def test_a_faulty_line_stops_beside_a_large_bill_in_another_currency(run: Run, sound: Path) -> None:
    """Of the dollars it is a large part; of dollars and yen together it would be next to nothing."""
    (path,) = (sound / "bills").glob("*.csv")
    header, first, *rest = path.read_text("utf-8").splitlines()
    columns = header.split(",")
    yen, faulty = first.split(","), first.split(",")
    yen[columns.index("BillingCurrency")] = "JPY"
    for name in ("BilledCost", "EffectiveCost"):
        yen[columns.index(name)] = "1000000"
        faulty[columns.index(name)] = "7"
    faulty[columns.index("ChargeCategory")] = "Refund"
    path.write_text("\n".join([header, first, *rest, ",".join(yen), ",".join(faulty), ""]), "utf-8")
    assert "unknown-charge-category      1   7.00 USD" in run("--project", sound, "ingest").out
    run("--project", sound, "plan", "--period", MONTH)
    assert "unknown-charge-category: 1 row, 7.00 USD" in run("--project", sound, "apply", "--period", MONTH).err


def test_accepted_it_posts_and_the_audit_log_and_the_statements_keep_it(run: Run, doubtful: Path) -> None:
    plan(run, doubtful)
    accepted = run("--project", doubtful, "apply", "--period", MONTH, "--accept", "reversed-period", "--why", WHY)
    assert accepted.code == 0
    project = apportion.open_project(doubtful)
    (note,) = [one for one in project.books.audit() if one.what == "accept"]
    said = json.loads(note.detail)
    assert (note.why, said["period"], said["code"], said["source"], said["rows"]) == (
        WHY,
        MONTH,
        "reversed-period",
        "jobs",
        1,
    )
    assert apportion.verify(project).findings == ()
    line = f"Accepted finding: reversed-period, 1 row of source jobs; accepted by {note.who}: {WHY}"
    to = doubtful / "out"
    for form in ("md", "html", "csv", "json", "pdf"):
        words = ("statement", "speech", "--period", MONTH, "--format", form, "--to", to / form)
        assert run("--project", doubtful, *words).code == 0
    texts = {
        path.suffix: path.read_text("utf-8")
        for path in to.rglob("*")
        if path.suffix in (".md", ".html", ".csv", ".json")
    }
    assert line in texts[".md"].replace("\\", "")
    assert line in texts[".html"]
    for kind in (".csv", ".json"):
        assert line.removeprefix("Accepted finding: ") in texts[kind]


def test_only_those_who_owe_to_a_pool_that_it_concerns_are_told(run: Run, sound: Path) -> None:
    edit(
        sound / "policy.yaml",
        "  rest: {costs: otherwise, by: cost, over: all}",
        "  rest: {costs: otherwise, method: fixed, shares: {vision: 100}}",
    )
    edit(sound / "policy.yaml", "carried_by: {_idle: vision}\n", "")  # who carries idle of a pool owes to it
    edit(sound / "usage/jobs.csv", "j1,j1,vision,ann", "j1,j1,speech,ann")
    plan(run, sound)
    lose_hours(sound, 2)
    assert run("--project", sound, "plan", "--period", MONTH).code == 0
    assert run("--project", sound, "apply", "--period", MONTH, "--accept", "not-measured", "--why", WHY).code == 0
    told = {one.owner: one.accepted for one in apportion.statements(apportion.open_project(sound))}
    assert told["vision"] is None
    assert told["speech"]
    (found,) = told["speech"]
    assert (found.code, found.hours, found.unit, found.pool) == ("not-measured", "2", "GPU", "")


def test_an_acceptance_needs_a_reason_and_a_finding(run: Run, doubtful: Path) -> None:
    plan(run, doubtful)
    at = ("--project", doubtful, "apply", "--period", MONTH)
    assert "error[no-reason]" in run(*at, "--accept", "reversed-period").err
    assert "error[no-finding]: 2026-10 has no finding 'no-rows'" in run(*at, "--accept", "no-rows", "--why", WHY).err
    assert apportion.open_project(doubtful).books.acceptances.of(MONTH) == []


def test_a_much_larger_finding_asks_again(run: Run, sound: Path) -> None:
    plan(run, sound)
    lose_hours(sound, 2)
    project = apportion.open_project(sound)
    apportion.accept(project, MONTH, ["not-measured"], WHY)
    apportion.plan(project, MONTH)
    apportion.apply(project, MONTH)
    lose_hours(sound, 4)
    assert not apportion.check(project, MONTH).findings[0].stops
    lose_hours(sound, 5)
    edit(sound / "bills/acme.csv", "30.00,30.00", "31.00,31.00")
    apportion.ingest(project)
    apportion.plan(project, MONTH)
    with pytest.raises(BooksError) as stopped:
        apportion.apply(project, MONTH)
    assert stopped.value.code == "findings-stand"


def test_the_bound_is_the_policys(run: Run, doubtful: Path) -> None:
    set_bound(doubtful, "20")
    plan(run, doubtful)
    assert run("--project", doubtful, "apply", "--period", MONTH).code == 0


def test_rows_of_another_month_do_not_stop_this_one(run: Run, sound: Path) -> None:
    plan(run, sound)
    lose_hours(sound, 100, NOVEMBER)
    assert run("--project", sound, "apply", "--period", MONTH).code == 0
    checked = apportion.check(apportion.open_project(sound), MONTH)
    assert (checked.findings, len(checked.others), checked.sound) == ((), 1, False)


def test_a_problem_that_says_when_is_of_that_month(run: Run, sound: Path) -> None:
    plan(run, sound)
    lose_hours(sound, 100, at="2026-11-05T00:00:00Z")
    assert apportion.check(apportion.open_project(sound), MONTH).findings == ()


def test_hours_that_no_pool_counts_are_told_and_stop_nothing(run: Run, sound: Path) -> None:
    edit(sound / "policy.yaml", "    meter: gpu\n", "    meter: cpu\n    on_zero: unallocated\n")
    plan(run, sound)
    lose_hours(sound, 2)
    judged = apportion.check(apportion.open_project(sound), MONTH).findings
    (found,) = [one for one in judged if one.finding.code == "not-measured"]
    assert (found.finding.hours, found.finding.share, found.stops) == (Decimal(2), Decimal(0), False)


def test_close_stops_too_and_no_override_silences_it(run: Run, sound: Path) -> None:
    plan(run, sound)
    at = ("--project", sound)
    assert run(*at, "apply", "--period", MONTH).code == 0
    lose_hours(sound, 2)
    shown = run(*at, "close", "--period", MONTH, "-o", "json")
    (look,) = [one for one in shown.value()["checks"] if one["name"] == "findings"]
    assert (shown.code, look["good"]) == (1, False)
    assert "--accept not-measured --why TEXT" in look["fix"]
    stopped = run(*at, "close", "--period", MONTH, "--override", "we must")
    assert "error[findings-stand]" in stopped.err
    done = run(*at, "close", "--period", MONTH, "--override", "we must", "--accept", "not-measured", "--why", WHY)
    assert done.code == 0
    assert all(one.accepted for one in apportion.statements(apportion.open_project(sound)) if one.owner == "speech")


def test_statements_that_were_issued_do_not_change(run: Run, sound: Path) -> None:
    plan(run, sound)
    assert run("--project", sound, "apply", "--period", MONTH).code == 0
    assert run("--project", sound, "close", "--period", MONTH, "--override", "known").code == 0
    project = apportion.open_project(sound)
    before = [repr(one) for one in apportion.statements(project)]
    lose_hours(sound, 2)
    apportion.accept(project, MONTH, ["not-measured"], WHY)
    assert [repr(one) for one in apportion.statements(project)] == before


def test_a_round_that_is_stopped_says_so_and_settings_may_accept(run: Run, doubtful: Path) -> None:
    with (doubtful / "apportion.toml").open("a", encoding="utf-8") as settings:
        settings.write("\n[sync]\napply = true\nadvise = false\nnotify = false\n")
    stopped = apportion.sync(apportion.open_project(doubtful))
    (step,) = [one for one in stopped.steps if one.step == "apply"]
    assert (stopped.status, step.outcome) == ("failed", "failed")
    assert "[findings-stand]" in step.what
    assert "allows: reversed-period: 1 row" in step.what
    assert "\n" not in step.what
    edit(
        doubtful / "apportion.toml",
        "advise = false",
        f'accept = ["reversed-period", "no-rows"]\nwhy = "{WHY}"\nadvise = false',
    )
    done = apportion.sync(apportion.open_project(doubtful))
    assert (done.status, len(apportion.open_project(doubtful).books.runs())) == ("ok", 1)
    assert [one.why for one in apportion.open_project(doubtful).books.acceptances.of(MONTH)] == [WHY]


def test_rows_of_a_log_concern_the_pools_that_count_usage(run: Run, doubtful: Path) -> None:
    """The support that is shared by cost reads no log."""
    plan(run, doubtful)
    project = apportion.open_project(doubtful)
    apportion.accept(project, MONTH, ["reversed-period"], "  known\n\nsince\tMay ")
    (held,) = project.books.acceptances.of(MONTH)
    assert (held.pools, held.why) == (("gpu",), "known since May")


def test_what_is_posted_already_is_not_posted_again_for_newer_data(run: Run, sound: Path) -> None:
    plan(run, sound)
    at = ("--project", sound)
    assert run(*at, "apply", "--period", MONTH).code == 0
    assert "posted already" in run(*at, "apply", "--period", MONTH).out
    edit(sound / "bills/acme.csv", "30.00,30.00", "31.00,31.00")
    assert run(*at, "ingest").code == 0
    refused = run(*at, "apply", "--period", MONTH)
    assert refused.code == 1
    assert "error[inputs-moved]" in refused.err
    assert f"run `apportion plan --period {MONTH}` again" in refused.err


def test_a_source_of_which_the_books_have_nothing_stops_apply_unless_sync_leaves_it_out(run: Run, sound: Path) -> None:
    plan(run, sound)
    with (sound / "apportion.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[[sources]]\nname = "later"\nkind = "usage"\npath = "usage/none.csv"\n')
    at = ("--project", sound)
    stopped = run(*at, "apply", "--period", MONTH)
    assert "source-not-read: 0 rows of source later (100.0 %, lost)" in stopped.err
    assert "to mend it: apportion ingest later" in stopped.err
    with (sound / "apportion.toml").open("a", encoding="utf-8") as settings:
        settings.write('\n[sync]\nleave_out = ["later"]\n')
    assert run(*at, "apply", "--period", MONTH).code == 0


def test_what_was_accepted_is_told_by_ingest_and_check_of_another_month_too(run: Run, doubtful: Path) -> None:
    plan(run, doubtful)
    at = ("--project", doubtful)
    assert run(*at, "apply", "--period", MONTH, "--accept", "reversed-period", "--why", WHY).code == 0
    assert (
        f"accepted by {apportion.open_project(doubtful).books.acceptances.of(MONTH)[0].who}: {WHY}"
        in run(*at, "ingest").out
    )
    lose_hours(doubtful, 2, NOVEMBER)
    checked = apportion.check(apportion.open_project(doubtful), MONTH)
    assert ([one.finding.code for one in checked.others], checked.wrong) == (["not-measured"], True)
    assert run(*at, "check", "--period", MONTH).code == 1
