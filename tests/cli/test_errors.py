"""Whatever is wrong, a person can act on what is said: a code, the place, and what mends it. Never a traceback."""

from pathlib import Path

import pytest

from apportion.errors import ProjectError
from apportion.model.times import Period, instant_text
from apportion.verbs.periods import one
from apportion.verbs.project import open_project
from tests.cli.conftest import Run
from tests.cli.tiny import edit


def said(run: Run, *arguments: object) -> str:
    shown = run(*arguments)
    assert (shown.code, shown.out) == (1, "")
    assert "Traceback" not in shown.err
    return shown.err


def test_no_project_here(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("APPORTION_PROJECT", raising=False)
    text = said(run, "plan")
    assert text.startswith(f"error[no-project]: there is no apportion.toml in {tmp_path} or above it")
    assert "apportion init" in text
    monkeypatch.setenv("APPORTION_PROJECT", str(tmp_path))
    assert f"APPORTION_PROJECT names {tmp_path}, which has no apportion.toml" in said(run, "plan")
    assert "has no apportion.toml" in said(run, "--project", tmp_path / "none", "plan")


def test_a_project_is_found_from_a_folder_below_and_by_the_environment(
    run: Run, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tiny / "usage")
    assert run("gc").code == 0
    monkeypatch.chdir(tiny.parent)
    monkeypatch.setenv("APPORTION_PROJECT", str(tiny))
    assert run("gc").code == 0


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ('name = "tiny"', 'nmae = "tiny"', "'nmae' is not a setting of [project] that apportion.toml has\n  {file}:2\n  hint: did you mean 'name'?"),
        ("[project]", "[projetc]", "'projetc' is not a section that apportion.toml has\n  {file}:1\n  hint: did you mean 'project'?"),
        ('name = "tiny"', "name = 3", "error[wrong-kind]: name of [project] must be text in quotes\n  {file}:2"),
        ('name = "tiny"', 'name = "tiny', "error[invalid-toml]: apportion.toml is not valid TOML"),
        ('name = "jobs"\n', "", "error[incomplete-source]: a source needs a name\n  {file}:9"),
        ('name = "nodes"', 'name = "jobs"', "error[double-source]: two sources are called 'jobs'\n  {file}:9 and {file}:18"),
        ('kind = "focus"', 'kind = "focsu"', "error[unknown-source]: there is no source kind 'focsu'"),
        ("meters = {", "metres = {", "error[unknown-setting]: a source of kind 'usage' has no setting 'metres'"),
        ('path = "bills/acme.csv"', 'path = "bills/none.csv"', "error["),
    ],
)  # fmt: skip
def test_wrong_settings(run: Run, tiny: Path, old: str, new: str, expected: str) -> None:
    file = tiny / "apportion.toml"
    edit(file, old, new)
    assert expected.format(file=file) in said(run, "--project", tiny, "ingest")


def test_an_unknown_source_names_the_nearest(run: Run, tiny: Path) -> None:
    assert "error[unknown-source]: apportion.toml has no source 'acne'" in said(
        run, "--project", tiny, "ingest", "acne"
    )
    assert "did you mean 'acme'?" in said(run, "--project", tiny, "ingest", "acne")


def test_a_refused_policy_names_file_line_column_and_the_nearest_word(run: Run, posted: Path) -> None:
    edit(posted / "policy.yaml", "method: capacity_rate", "metod: capacity_rate")
    text = said(run, "--project", posted, "plan")
    assert text.startswith("error[policy-unknown-key]")
    assert "policy.yaml:15:5" in text
    assert "method" in text.split("hint:")[1]


def test_no_policy_file(run: Run, posted: Path) -> None:
    (posted / "policy.yaml").unlink()
    assert "error[no-policy-file]: there is no policy file policy.yaml" in said(run, "--project", posted, "plan")


def test_a_policy_that_is_not_in_force_yet(run: Run, tiny: Path) -> None:
    edit(tiny / "policy.yaml", "effective: 2026-10-01", "effective: 2026-11-01")
    run("--project", tiny, "ingest")
    text = said(run, "--project", tiny, "plan")
    assert (
        "error[no-policy-in-force]: no policy is in force on 2026-10-01: tiny begins on 2026-11-01\n  policy.yaml:2"
        in text
    )


def test_nothing_was_read_planned_or_posted_yet(run: Run, tiny: Path) -> None:
    at = ("--project", tiny)
    assert "error[no-period]" in said(run, *at, "plan")
    assert "error[nothing-to-plan]" in said(run, *at, "plan", "--period", "2026-10")
    assert "error[no-plan]: there is no plan for 2026-10" in said(run, *at, "apply", "--period", "2026-10")
    assert "error[no-period]" in said(run, *at, "report", "showback")
    assert "error[nothing-posted]: nothing is posted for 2026-10" in said(
        run, *at, "report", "showback", "--period", "2026-10"
    )
    assert "error[unknown-job]: there is no job or run 'j1'" in said(run, *at, "cost", "j1")


def test_a_month_without_a_bill_names_those_that_have_one(run: Run, posted: Path) -> None:
    assert "bills are there for 2026-10" in said(run, "--project", posted, "plan", "--period", "2026-11")
    assert "posted: 2026-10" in said(run, "--project", posted, "report", "showback", "--period", "2026-Q3")


@pytest.mark.parametrize("verb", [("report", "showback"), ("statement", "vision")])
def test_what_was_posted_later_than_asked_about_is_said_to_be(run: Run, posted: Path, verb: tuple[str, str]) -> None:
    text = said(run, "--project", posted, *verb, "--period", "2026-10", "--as-of", "2020-01-01")
    first = open_project(posted).books.runs()[0].posted_s
    assert (
        f"nothing was posted for 2026-10 by 2020-01-01T23:59:59Z; its first posting is of {instant_text(first)}" in text
    )
    assert "posted: 2026-10" not in text


def test_an_engine_that_is_not_there_is_refused(run: Run, posted: Path) -> None:
    text = said(run, "--project", posted, "plan", "--engine", "sparc")
    assert text.startswith("error[unknown-engine]: there is no engine 'sparc'")
    assert "engines: duckdb, spark" in text


def test_pools_that_overlap_are_named(run: Run, posted: Path) -> None:
    edit(posted / "policy.yaml", "  rest:", "  twice: {costs: {ServiceCategory: Compute}, method: even}\n  rest:")
    text = said(run, "--project", posted, "plan")
    assert "error[pool-overlap]: pools 'gpu' and 'twice' both claim cost line" in text
    assert "policy.yaml:12 and policy.yaml:17" in text


def test_unknown_figures_and_jobs_name_the_nearest(run: Run, posted: Path) -> None:
    assert "did you mean vision?" in said(run, "--project", posted, "explain", "visoin")
    assert "nearest: j2.2" in said(run, "--project", posted, "cost", "j2.3")


def test_a_verb_about_one_month_refuses_two() -> None:
    with pytest.raises(ProjectError) as refused:
        one([Period(2026, 10), Period(2026, 11)], "explain")
    assert refused.value.code == "one-period"
