"""Both figures: what is owed by the rules in force, which alone is booked, and what would be owed by rules to come."""

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

import apportion
from apportion.books.database import writing
from apportion.books.open import Books
from apportion.errors import PolicyError
from apportion.model.times import Period
from apportion.policy.diff import diff
from apportion.policy.load import load_policy
from apportion.render.json import dumps
from apportion.render.statement import FORMATS, render
from apportion.render.statement.listing import statement_list
from apportion.reports.statement.facts import Facts
from apportion.reports.statement.shape import LEVELS, Preview, Statement, from_json, to_json
from apportion.verbs.draft import propose
from apportion.verbs.project import Project
from apportion.verbs.statement import Wanted, facts_of, statements
from tests.preview.conftest import NEXT, PREVIEW
from tests.sources import making
from tests.stating.world import POLICY, line

MONTH = "2026-10"
# The cards of October come to 180.00; vision has 12 of 15 GPUs. September's cards came to 10.00 more: 6.00 for vision, 4.00 for speech.
OWED = {"vision": 14400 + 600, "speech": 3600 + 400 + 3001, "platform": 999}
COMING = {"vision": 9000 + 600, "speech": 4500 + 400 + 3001, "platform": 999, "audio": 4500}


GATHERED: list[
    tuple[Project, Period, Facts]
] = []  # what statements of all levels are made of, once for each open project


def gathered(project: Project, period: Period, until_s: int | None) -> Facts:
    found = next((facts for one, month, facts in GATHERED if one is project and month == period), None)
    if found is None:
        GATHERED.append((project, period, found := facts_of(project, period, until_s)))
    return found


def made(project: Project, month: str = MONTH, level: str = "team") -> dict[str, Statement]:
    return {one.owner: one for one in statements(project, Wanted(month, level), gathering=gathered)}


def coming(found: Statement) -> Preview:
    assert found.preview is not None
    return found.preview


def test_statements_say_what_is_owed_and_what_would_be(project: Project) -> None:
    found = made(project)
    assert {owner: one.owed for owner, one in found.items()} == {**OWED, "audio": 0}
    assert {owner: coming(one).owed for owner, one in found.items()} == COMING
    assert coming(found["vision"]).version == load_policy(NEXT).version
    assert [(one.driver, one.pool, one.amount) for one in coming(found["vision"]).changes] == [
        ("policy", "gpus", -5400)
    ]
    assert coming(found["platform"]).changes == ()
    # platform carries who is only shown its cost, and by the rules to come it is more
    assert coming(found["platform"]).charged == 999 + COMING["speech"] + COMING["audio"]
    assert coming(found["vision"]).charged == COMING["vision"]


@pytest.mark.parametrize("level", LEVELS)
def test_both_add_up_at_every_level(project: Project, level: str) -> None:
    found = list(made(project, level=level).values())
    for one in found:
        assert sum(change.amount for change in coming(one).changes) == (coming(one).owed or 0) - one.owed
        assert from_json(to_json(one)) == one
    if level in ("team", "department", "cost_centre"):
        named = [one for one in found if one.owner != "audio"]  # it has no department
        assert sum(one.owed for one in named) == sum(OWED.values())
        assert sum(coming(one).owed or 0 for one in named) == sum(COMING.values()) - COMING["audio"]


def test_other_months_are_as_they_were(project: Project) -> None:
    for one in made(project, "2026-09").values():
        assert one.preview is None
        assert "preview" not in json.loads(to_json(one))
        assert "rules to come" not in render(one, "md").decode()
        assert "preview" not in dumps(statement_list([one]).value)
    assert [column.name for column in statement_list(list(made(project, "2026-09").values())).tables[0].columns][
        -1
    ] == "charged"


def test_every_format_has_both_figures(project: Project) -> None:
    vision = made(project)["vision"]
    texts = {form: render(vision, form).decode("utf-8", "replace") for form in FORMATS}
    for form in ("html", "md"):
        assert "it would be 96.00 USD, 54.00 USD (36.0 %) less." in texts[form]
        assert "150.00" in texts[form]
        assert load_policy(NEXT).version in texts[form]
    assert "preview,owed,,owed,USD,96.00,150.00," in texts["csv"]
    assert "preview changes,policy,gpus,amount,USD,-54.00," in texts["csv"]
    assert json.loads(texts["json"])["preview"]["owed"] == 9600
    assert len(texts["pdf"]) > len(render(made(project, "2026-09")["vision"], "pdf").decode("utf-8", "replace")) // 2
    row = next(row for row in statement_list(list(made(project).values())).tables[0].rows if row[0] == "vision")
    assert [f"{cell:.2f}" for cell in row[-2:]] == ["96.00", "-54.00"]


def test_who_would_owe_something_by_the_rules_to_come_alone_has_a_statement(project: Project) -> None:
    audio = made(project)["audio"]
    assert (audio.owed, audio.charged, audio.mode, audio.summary) == (0, 0, "showback", ())
    assert "it would be 45.00 USD, 45.00 USD more." in render(audio, "md").decode()


def test_the_same_rules_come_to_the_same_to_the_last_unit(own: Path) -> None:
    making.put(own / "next.yaml", POLICY)
    project = apportion.open_project(own)
    for level in LEVELS:
        for one in made(project, level=level).values():
            assert (coming(one).owed, coming(one).charged, coming(one).changes) == (one.owed, one.charged, ())
    assert "it would be 150.00 USD, the same." in render(made(project)["vision"], "md").decode()


def test_a_close_keeps_both_and_books_the_one(own: Path) -> None:
    project = apportion.open_project(own)
    before = project.books.posted(MONTH)
    drafts = made(project)
    closed = apportion.close(project, MONTH, override="small").closed
    assert closed is not None
    assert project.books.posted(MONTH).equals(before)
    assert {(one.owner, bool(one.number), one.amount) for one in closed.documents if one.level == "team"} == {
        ("vision", True, OWED["vision"]), ("speech", False, 0), ("audio", False, 0),
        ("platform", True, OWED["platform"] + OWED["speech"]),
    }  # fmt: skip
    assert "audio" not in str(apportion.journal(project, MONTH))
    making.put(own / "next.yaml", NEXT.replace("vision: 50, speech: 25", "vision: 25, speech: 50"))
    again = apportion.open_project(own)
    issued = made(again)
    assert {owner: coming(one) for owner, one in issued.items()} == {
        owner: coming(one) for owner, one in drafts.items()
    }
    kept = again.books.proposals.beside(MONTH)
    assert kept is not None
    assert (kept.text, kept.version) == (NEXT, coming(issued["vision"]).version)
    assert again.books.verify() == []
    (own / "next.yaml").unlink()
    assert made(apportion.open_project(own)) == issued


def test_the_kept_rules_are_verified_and_in_a_copy(own: Path, tmp_path: Path) -> None:
    project = apportion.open_project(own)
    assert apportion.close(project, MONTH, override="small").closed
    project.books.backup(tmp_path / "copy.tar")
    with tarfile.open(tmp_path / "copy.tar") as archive:
        body = archive.extractfile("record/previews.jsonl")
        assert body is not None
        assert json.loads(body.read())["text"] == NEXT
    assert planted(project.books, "UPDATE previews SET text = 'policy: other'") == ["statement-changed"]
    assert planted(project.books, "DELETE FROM previews") == ["statement-changed"]


def planted(books: Books, statement: str) -> list[str]:
    """What is found after somebody with the database's own tools was there."""
    with writing(books.engine) as connection:
        for action in ("update", "delete"):
            connection.execute(text(f"DROP TRIGGER IF EXISTS previews_no_{action}"))
        connection.execute(text(statement))
    return [one.code for one in books.verify()]


def test_rules_that_cannot_be_read_are_told_and_keep_no_statement_back(own: Path) -> None:
    making.put(own / "next.yaml", NEXT.replace("currency: USD", "currency: usd"))
    project = apportion.open_project(own)
    vision = made(project)["vision"]
    assert vision.owed == OWED["vision"]
    assert coming(vision).owed is None
    assert "it is not known what this period would come to" in render(vision, "html").decode()
    assert all(render(vision, form) for form in FORMATS)
    told = next(one for one in apportion.check(project).checks if one.what == "preview")
    assert told.status == "wrong"
    assert "next.yaml:3:11" in told.text
    refused = apportion.close(project, MONTH)
    assert refused.closed is None
    assert next(look for look in refused.against if look.name == "preview").text.startswith("next.yaml: ")
    assert apportion.close(project, MONTH, override="known").closed
    assert project.books.proposals.beside(MONTH) is None
    assert project.books.verify() == []


def test_a_file_that_is_not_there_is_told(own: Path) -> None:
    (own / "next.yaml").unlink()
    told = next(one for one in apportion.check(apportion.open_project(own)).checks if one.what == "preview")
    assert (told.status, "[no-policy-file]" in told.text) == ("wrong", True)


def test_rules_that_cannot_be_applied_are_told(own: Path) -> None:
    """Bills in another currency than theirs, and no rate to convert by."""
    making.put(own / "next.yaml", NEXT.replace("currency: USD", "currency: EUR\nfx: {table: rates.csv}"))
    project = apportion.open_project(own)
    assert coming(made(project)["vision"]).owed is None
    told = [one for one in apportion.check(project, MONTH).checks if one.what == "preview"]
    assert [one.status for one in told] == ["ok", "wrong"]
    assert "[no-rate]" in told[1].text


def test_check_says_what_is_shown_and_that_there_is_a_gap(own: Path) -> None:
    making.put(own / "next.yaml", NEXT.replace("2026-12-01", "2027-02-01"))
    found = [one for one in apportion.check(apportion.open_project(own)).checks if one.what == "preview"]
    assert [one.status for one in found] == ["ok", "note"]
    assert "takes effect on 2027-02-01, and is shown until 2026-11" in found[1].text


def test_a_draft_is_shown_beside_too(own: Path) -> None:
    project = apportion.open_project(own)
    number = propose(project, NEXT, "cards by agreement").number
    making.put(own / "policy.yaml", POLICY + PREVIEW.replace("policy: next.yaml", f"draft: {number}"))
    (own / "next.yaml").unlink()
    again = apportion.open_project(own)
    assert {owner: coming(one).owed for owner, one in made(again).items()} == COMING


def test_currencies_are_each_by_themselves(own: Path) -> None:
    euros = line("2026-11", "100", ServiceName="Cards", Tags="{}", BillingCurrency="EUR")
    dollars = line("2026-11", "50", ServiceName="Cards", Tags="{}")
    making.put(own / "bills" / "2026-11.csv", making.bill_text(euros, dollars))
    project = apportion.open_project(own)
    apportion.ingest(project)
    apportion.plan(project, "2026-11")
    apportion.apply(project, "2026-11")
    found = {(one.owner, one.currency): (one.owed, coming(one).owed) for one in statements(project, Wanted("2026-11"))}
    assert found == {
        ("vision", "EUR"): (8000, 5000), ("speech", "EUR"): (2000, 2500), ("audio", "EUR"): (0, 2500),
        ("vision", "USD"): (4000, 2500), ("speech", "USD"): (1000, 1250), ("audio", "USD"): (0, 1250),
        ("platform", "EUR"): (0, 0), ("platform", "USD"): (0, 0),
    }  # fmt: skip


def test_as_the_books_stood_some_day_nothing_is_shown_beside(project: Project) -> None:
    day = "2999-01-01"
    assert all(one.preview is None for one in statements(project, Wanted(MONTH, as_of=day)))


WRONG: list[tuple[str, Any]] = [
    ("{from: 2026-10, until: 2026-11}", "policy-missing-key"),
    ("{policy: a.yaml, draft: 3, from: 2026-10, until: 2026-11}", "policy-value"),
    ("{policy: a.yaml, from: 2026-10}", "policy-missing-key"),
    ("{policy: a.yaml, from: 2026-10, until: 2026-09}", "policy-value"),
    ("{policy: a.yaml, from: 2026-13, until: 2027-01}", "policy-type"),
    ("{policy: a.yaml, from: 2026-10-01, until: 2027-01}", "policy-type"),
    ("{policy: /etc/a.yaml, from: 2026-10, until: 2027-01}", "policy-value"),
    ("{policy: ../a.yaml, from: 2026-10, until: 2027-01}", "policy-value"),
    ("{draft: none, from: 2026-10, until: 2027-01}", "policy-type"),
]


@pytest.mark.parametrize(("clause", "code"), WRONG)
def test_a_clause_that_is_wrong_is_refused_with_its_place(clause: str, code: str) -> None:
    with pytest.raises(PolicyError) as caught:
        load_policy(f"{POLICY}preview: {clause}\n", "policy.yaml")
    assert caught.value.code == code
    assert caught.value.where.startswith(f"policy.yaml:{POLICY.count(chr(10)) + 1}:")


def test_what_is_shown_beside_changes_no_figure() -> None:
    told = diff(load_policy(POLICY), load_policy(POLICY + PREVIEW))
    assert [one.effect for one in told] == ["no effect"]
