"""Acknowledged with a reason: told no more, by command, webhook or report, under a name that stays; and refused in words where it cannot be."""

import json
from dataclasses import replace
from datetime import date, timedelta

import pytest

from apportion.books.acknowledged import About
from apportion.books.audit import acting
from apportion.errors import ApportionError
from apportion.render.notify.samples import SAID
from apportion.reports.anomaly.found import Anomaly
from apportion.reports.anomaly.report import anomaly_report
from apportion.verbs.anomalies import acknowledge, anomalies, with_words
from apportion.verbs.project import Project
from apportion.verbs.tell import anomaly_news, tell
from apportion.verbs.verify import verify
from tests.anomalies import world
from tests.cli.conftest import Run, run

__all__ = ["run"]
TODAY = world.TODAY


def test_it_is_kept_with_who_and_why_and_told_no_more(own: Project, found: list[Anomaly]) -> None:
    one = found[0]
    with acting("ada"):
        made = acknowledge(own, found, one.id, (" a new model ", ""), TODAY)
    assert made.acknowledged is not None
    assert (made.acknowledged.who, made.acknowledged.why) == ("ada", "a new model")
    [known] = [one for one in anomalies(own, TODAY) if one.acknowledged]
    assert known.id == one.id
    last = own.books.audit()[-1]
    assert (last.what, last.who, last.why) == ("acknowledge", "ada", "a new model")
    assert one.id in last.detail
    assert verify(own).findings == ()
    report = anomaly_report(anomalies(own, TODAY))
    assert report.title == f"{len(found) - 1} things are not as usual; 1 more is acknowledged."
    assert one.id not in {row[0] for row in report.sections[0].rows}
    assert any(note.startswith("Acknowledged by ada: a new model") for note in report.notes)
    assert one.id in {row[0] for row in anomaly_report(anomalies(own, TODAY), every=True).sections[0].rows}


def test_until_a_day_and_then_it_is_told_again(own: Project, found: list[Anomaly]) -> None:
    until = TODAY + timedelta(days=7)
    acknowledge(own, found, found[0].id, ("a trial", str(until)), TODAY)
    said = own.books.acknowledgements.all()
    before, after = (with_words(found[:1], said, day)[0] for day in (until, until + timedelta(days=1)))
    assert before.acknowledged is not None
    assert after.acknowledged is None
    assert anomaly_news(after).about == anomaly_news(found[0]).about + ", again"
    again = acknowledge(own, found, found[0].id, ("it stays", ""), until + timedelta(days=1))
    assert again.acknowledged is not None
    assert again.acknowledged.why == "it stays"


@pytest.mark.parametrize(
    ("name", "words", "code"),
    [
        ("nosuch", ("why", ""), "unknown-anomaly"),
        ("", ("", ""), "no-reason"),
        ("", ("  ", ""), "no-reason"),
        ("", ("why", "tomorrow"), "invalid-day"),
        ("", ("why", "2026-02-30"), "invalid-day"),
        ("", ("why", "2020-01-01"), "invalid-day"),
    ],
)
def test_what_cannot_be_is_refused_and_changes_nothing(
    posted: Project, found: list[Anomaly], name: str, words: tuple[str, str], code: str
) -> None:
    before = posted.books.audit()
    with pytest.raises(ApportionError) as error:
        acknowledge(posted, found, name or found[0].id, words, TODAY)
    assert error.value.code == code
    assert error.value.hint
    assert posted.books.audit() == before


def test_twice_is_refused_with_who_was_first(own: Project, found: list[Anomaly]) -> None:
    with acting("ada"):
        acknowledge(own, found, found[0].id, ("a new model", ""), TODAY)
    with pytest.raises(ApportionError, match="acknowledged by ada: a new model") as error:
        acknowledge(own, found, found[0].id, ("again", ""), TODAY)
    assert error.value.code == "already-acknowledged"
    assert len(own.books.acknowledgements.all()) == 1


def test_its_name_stays_where_later_data_moves_its_first_day(own: Project, found: list[Anomaly]) -> None:
    one = next(one for one in found if one.kind == "failures")
    acknowledge(own, found, one.id, ("known", ""), TODAY)
    said = own.books.acknowledgements.all()
    moved = replace(one, began=one.began - timedelta(days=3))
    assert moved.id != one.id
    [same] = with_words([moved], said, TODAY)
    assert (same.id, same.state) == (one.id, "acknowledged")
    for other in (
        replace(one, began=one.began + timedelta(days=8)),
        replace(one, owner="speech"),
        replace(one, currency="EUR"),
    ):
        assert with_words([other], said, TODAY)[0].acknowledged is None


def test_a_day_is_as_near_as_a_week(found: list[Anomaly]) -> None:
    about = About("a", "spend", "vision", "USD", "2026-10-12")
    assert about.is_same(replace(about, began="2026-10-19"))
    assert not about.is_same(replace(about, began="2026-10-20"))
    assert about.holds_on(date(2099, 1, 1))
    assert found


def test_the_command_line_lists_shows_and_acknowledges(own: Project, found: list[Anomaly], run: Run) -> None:
    folder = ("--project", own.folder)
    listed = run(*folder, "anomalies", "list", "-o", "json").value()
    assert {one["id"] for one in listed["anomalies"]} == {one.id for one in found}
    assert listed == run(*folder, "report", "anomalies", "-o", "json").value()
    bare = run(*folder, "anomalies")
    assert bare.code == 0
    assert bare.out.startswith("7 things are not as usual.")
    spend = next(one for one in found if (one.kind, one.owner) == ("spend", "vision"))
    shown = run(*folder, "anomalies", "show", spend.id)
    assert "volume" in shown.out
    assert "Read on: apportion report pool h100 --period 2026-10" in shown.err
    assert "error[no-reason]" in run(*folder, "anomalies", "ack", spend.id).err
    done = run(*folder, "anomalies", "ack", spend.id, "--why", "a new model")
    assert done.out.startswith(f"Nothing is told of {spend.id} (spend of vision since {spend.began}) while it lasts.")
    twice = run(*folder, "anomalies", "ack", spend.id, "--why", "again")
    assert (twice.code, "error[already-acknowledged]" in twice.err) == (1, True)
    assert "error[unknown-anomaly]" in run(*folder, "anomalies", "show", "nosuch").err
    rows = run(*folder, "anomalies", "list", "-o", "csv").out.splitlines()
    assert len(rows) == 7  # a heading, and six that nobody knows of
    assert len(run(*folder, "anomalies", "list", "--all", "-o", "csv").out.splitlines()) == 8


def test_the_channels_are_told_once_and_not_of_what_is_known(own: Project, found: list[Anomaly]) -> None:
    hooks = own.books.hooks
    hooks.add("http://127.0.0.1:9", ["anomaly.found"], None)
    hooks.add("http://127.0.0.1:9", ["anomaly.found"], frozenset({"speech"}))
    known = next(one.id for one in found if (one.kind, one.owner) == ("spend", "vision"))
    acknowledge(own, found, known, ("known", ""), TODAY)
    of_speech = 1  # told twice; those of pools are of all teams, zebra's and vision's are not speech's
    assert tell(own, TODAY) == len(found) - 1 + of_speech
    assert tell(own, TODAY) == 0
    assert not [one for one in hooks.tellings() if "spend of vision" in one.about]
    for one in hooks.tellings():
        assert set(SAID["anomaly.found"]) <= set(json.loads(one.body))  # what templates are tried on
