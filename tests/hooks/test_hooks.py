"""Webhooks: what happened is told at least once, in order, signed, and only to those who may know."""

import json
import sqlite3
import tarfile
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import apportion
from apportion.books import hooks as books_hooks
from apportion.books.hooks import EVENTS, News
from apportion.books.open import restore
from apportion.cli.main import main
from apportion.errors import ApportionError
from apportion.reports.anomaly.found import Anomaly
from apportion.sources.outside.addresses import is_private
from apportion.verbs import hooks
from apportion.verbs.hooks import add_hook, deliver, hook_rows, try_hook, wait_s
from apportion.verbs.project import Project
from apportion.verbs.tell import anomaly_news, tell
from tests.hooks.conftest import Receiver, is_signed
from tests.web import world

TODAY = date(2026, 11, 16)
LATER_S = 40 * 86_400


def close(project: Project) -> None:
    apportion.close(project, "2026-10", override="known")


def news(about: str, team: str = "") -> News:
    return News("period.closed", about, {"about": about}, team=team)


def anomaly(owner: str) -> Anomaly:
    return Anomaly("spend", owner, "USD", "day", TODAY, TODAY, Fraction(100), Fraction(900), Decimal(800))


def test_a_close_is_told_signed_with_what_each_team_owes(project: Project, receiver: Receiver) -> None:
    _, secret = add_hook(project, receiver.address, events=["period.closed"])
    close(project)
    told = deliver(project)
    assert [(one.event, one.about, one.answer) for one in told] == [("period.closed", "2026-10", "200")]
    headers, body = receiver.came[0]
    assert is_signed(secret, headers, body)
    assert not is_signed("another", headers, body)
    said = json.loads(body)
    minor = project.books.closed("2026-10").minor.to_pylist()  # type: ignore[union-attr]
    for row in said["teams"]:
        owed = sum(one["amount"] for one in minor if one["team"] == row["team"])
        assert Decimal(row["amount"]) == Decimal(owed) / 100
    assert said["head"] == project.books.closed("2026-10").head  # type: ignore[union-attr]
    assert deliver(project) == []


def test_a_close_that_fails_tells_nobody_and_a_close_always_tells(
    project: Project, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One transaction: a kill between the two cannot be."""
    add_hook(project, receiver.address, events=["period.closed"])

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("apportion.books.close.tell", killed)
        with pytest.raises(KeyboardInterrupt):
            close(project)
    assert project.books.closed("2026-10") is None
    assert project.books.hooks.tellings() == []
    close(project)
    assert [one.about for one in project.books.hooks.tellings()] == ["2026-10"]


def test_a_hook_of_one_team_learns_nothing_of_another(project: Project, receiver: Receiver) -> None:
    add_hook(project, receiver.address, teams=["vision"])
    close(project)
    pool = replace(anomaly("gpus"), kind="idle", shape="step")
    project.books.hooks.tell([anomaly_news(anomaly(team)) for team in ("zebra", "vision")])
    project.books.hooks.tell([anomaly_news(pool), news("secret of zebra", "zebra")])
    deliver(project)
    assert [body["event"] for body in receiver.bodies] == ["period.closed", "statement.issued", "anomaly.found"]
    assert [row["team"] for row in receiver.bodies[0]["teams"]] == ["vision"]
    assert "head" not in receiver.bodies[0]
    text = "".join(body.decode() + str(headers) for headers, body in receiver.came)
    assert not [word for word in world.SECRET if word in text]


def test_what_fails_is_tried_again_later_and_what_follows_waits(project: Project, receiver: Receiver) -> None:
    add_hook(project, receiver.address)
    project.books.hooks.tell([news("first"), news("second")])
    made = project.books.hooks.tellings()[0].made_s
    receiver.answers = [500, 302]
    assert [one.is_told for one in deliver(project, made)] == [False]
    assert deliver(project, made + wait_s(0) - 1) == []
    assert [one.answer.endswith("answered 302") for one in deliver(project, made + wait_s(0))] == [True]
    later = made + wait_s(0) + wait_s(1)
    assert [one.about for one in deliver(project, later)] == ["first", "second"]
    assert [body["about"] for body in receiver.bodies] == ["first", "first", "first", "second"]
    assert [wait_s(n) for n in (0, 1, 5, 30)] == [30, 60, 960, 21600]


def test_a_slow_hook_does_not_hold_up_another(project: Project, receiver: Receiver) -> None:
    add_hook(project, "http://127.0.0.1:9")
    add_hook(project, receiver.address)
    project.books.hooks.tell([news("one")])
    assert sorted(one.is_told for one in deliver(project)) == [False, True]
    assert len(receiver.came) == 1


def test_a_kill_between_sending_and_marking_sends_the_same_once_more(
    project: Project, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_hook(project, receiver.address)
    project.books.hooks.tell([news("once")])

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(books_hooks.Hooks, "mark", killed)
        with pytest.raises(KeyboardInterrupt):
            deliver(project)
    deliver(project)
    deliver(project)
    first, second = receiver.came
    assert first[1] == second[1]
    assert first[0]["apportion-delivery"] == second[0]["apportion-delivery"]


def test_it_is_given_up_after_many_tries_so_that_others_come_through(project: Project, receiver: Receiver) -> None:
    add_hook(project, receiver.address)
    project.books.hooks.tell([news("lost"), news("found")])
    receiver.answers = [500] * hooks.MOST_TRIES
    now = project.books.hooks.tellings()[0].made_s
    for n in range(hooks.MOST_TRIES):
        deliver(project, now + n * LATER_S)
    deliver(project, now + hooks.MOST_TRIES * LATER_S)
    assert [one.state for one in project.books.hooks.tellings()] == ["given up", "told"]


def test_one_process_at_a_time(project: Project, receiver: Receiver) -> None:
    add_hook(project, receiver.address)
    project.books.hooks.tell([news("one")])
    with project.books.locks.attempt(hooks.LOCK) as mine:
        assert mine
        assert deliver(apportion.open_project(project.folder)) == []
    assert len(deliver(project)) == 1


def test_the_same_is_told_once_and_only_what_was_asked_for(project: Project, receiver: Receiver) -> None:
    add_hook(project, receiver.address, events=["anomaly.found"])
    one = anomaly_news(anomaly("vision"))
    assert project.books.hooks.tell([one, one, news("no")]) == 1
    assert project.books.hooks.tell([one]) == 0
    close(project)
    assert [one.event for one in deliver(project)] == ["anomaly.found"]
    assert receiver.bodies[0]["amount"] == "900"
    assert "against 100.00 USD on such days before: 800.00 USD more" in receiver.bodies[0]["text"]


def test_each_mark_of_a_quota_is_told_once_a_period(project: Project, receiver: Receiver) -> None:
    """October is posted: vision held 143.5 of 150 hours. November is estimated: zebra spent some 634 of 700."""
    policy = project.folder / "policy.yaml"
    text = policy.read_text("utf-8").replace("hours: 400", "hours: 150").replace("money: 5000", "money: 700")
    policy.write_text(text, "utf-8")
    project = apportion.open_project(project.folder)
    add_hook(project, receiver.address, events=["quota.reached"], teams=["vision"])
    assert tell(project, TODAY) == 2
    add_hook(project, receiver.address, events=["quota.reached"], teams=["zebra"])
    told = [one for one in project.books.hooks.tellings() if "zebra" in one.body]
    assert told == []
    assert tell(project, TODAY) > 0
    assert tell(project, TODAY) == 0
    deliver(project)
    said = [(one["team"], one["from"], one["mark"], one["limit"], one["estimated"]) for one in receiver.bodies]
    of_vision = [one for one in said if one[0] == "vision"]
    assert of_vision == [("vision", "2026-10-01", mark, "150", False) for mark in ("80", "95")]
    assert ("zebra", "2026-11-01", "80", "700", True) in said
    assert ("zebra", "2026-11-01", "95", "700", True) not in said
    assert {one["used"] for one in receiver.bodies if one["team"] == "vision"} == {"143.5"}


def test_a_secret_is_shown_once_and_nowhere_else(project: Project, receiver: Receiver, tmp_path: Path) -> None:
    hook, secret = add_hook(project, f"{receiver.address}/private-path")
    close(project)
    copy = tmp_path / "copy.tar"
    project.books.backup(copy)
    with tarfile.open(copy) as archive:
        kept = b"".join(archive.extractfile(member).read() for member in archive if member.name.startswith("record/"))  # type: ignore[union-attr]
    assert hook.id.encode() in kept
    listing = str(hook_rows(project)) + repr(project.books.hooks.all())
    notes = "".join(f"{note.detail}{note.why}" for note in project.books.audit())
    assert hook.id in notes
    for text in (listing, notes, repr(hook)):
        assert secret not in text
        assert "private-path" not in text
    assert secret.encode() not in kept


def test_books_from_a_backup_tell_nobody_until_there_is_a_new_secret(
    project: Project, receiver: Receiver, tmp_path: Path
) -> None:
    hook, before = add_hook(project, receiver.address, events=["period.closed"])
    close(project)
    project.books.backup(tmp_path / "copy.tar")
    other = tmp_path / "other"
    other.mkdir()
    for name in ("apportion.toml", "policy.yaml"):
        (other / name).write_bytes((project.folder / name).read_bytes())
    restored = apportion.open_project(other)
    restore(tmp_path / "copy.tar", *restored.places(), key=restored.names_key()).close()
    assert deliver(restored) == []
    assert "needs a new secret" in str(hook_rows(restored))
    secret = restored.books.hooks.renew(hook.id)
    assert len(deliver(restored)) == 1
    assert is_signed(secret, *receiver.came[0])
    assert not is_signed(before, *receiver.came[0])


def test_an_ended_hook_is_told_nothing_and_keeps_no_secret(project: Project, receiver: Receiver) -> None:
    hook, _ = add_hook(project, receiver.address)
    project.books.hooks.tell([news("one")])
    project.books.hooks.end(hook.id)
    assert deliver(project) == []
    with sqlite3.connect(project.folder / ".apportion" / "books.db") as books:
        assert books.execute("SELECT secret, url FROM hooks").fetchall() == [("", "")]
    with pytest.raises(ApportionError, match="was ended"):
        project.books.hooks.renew(hook.id)


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("ftp://example.com/x", "webhook-url"),
        ("file:///etc/passwd", "webhook-url"),
        ("https://", "webhook-url"),
        ("https://ada:pass@example.com/", "webhook-url"),
        ("http://127.0.0.1:8080/", "address-refused"),
        ("http://10.0.0.8/", "address-refused"),
        ("http://[::1]/", "address-refused"),
        ("http://169.254.169.254/latest/meta-data", "address-refused"),
    ],
)
def test_addresses_that_are_nobodys_business_are_refused(small: Project, url: str, code: str) -> None:
    with pytest.raises(ApportionError) as error:
        add_hook(small, url)
    assert error.value.code == code
    assert small.books.hooks.all() == []


def test_metadata_is_refused_even_where_private_addresses_are_allowed(project: Project) -> None:
    with pytest.raises(ApportionError) as error:
        add_hook(project, "http://169.254.169.254/latest")
    assert error.value.code == "address-refused"
    assert [is_private(one) for one in ("1.1.1.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1")] == [False, True, True]


def test_unknown_events_and_teams_are_refused(project: Project, receiver: Receiver) -> None:
    with pytest.raises(ApportionError, match=r"nothing is told of 'period\.close'"):
        add_hook(project, receiver.address, events=["period.close"])
    with pytest.raises(ApportionError, match="no team 'visoin'"):
        add_hook(project, receiver.address, teams=["visoin"])
    with pytest.raises(ApportionError, match="there is no webhook"):
        try_hook(project, "nothing")


def test_a_test_tells_of_nothing(project: Project, receiver: Receiver) -> None:
    hook, secret = add_hook(project, receiver.address)
    assert try_hook(project, hook.id).is_told
    (body,) = receiver.bodies
    assert body["event"] == "webhook.test"
    assert body["id"] == f"webhook.test {hook.id} {body['at']}", (
        "as every message, so that a receiver's check of them holds"
    )
    assert is_signed(secret, *receiver.came[0])
    assert set(hook.events) == set(EVENTS)


@pytest.mark.parametrize("group", ["webhooks", "notify"])
def test_a_delivery_that_fails_is_no_success_for_cron(
    project: Project, receiver: Receiver, group: str, capsys: pytest.CaptureFixture[str]
) -> None:
    add_hook(project, receiver.address)
    project.books.hooks.tell([news("first"), news("second")])
    receiver.answers = [500]
    codes = [main_code(project, group, "deliver"), main_code(project, group, "deliver")]
    assert "0 messages sent, 1 failed" in capsys.readouterr().out
    assert codes == [1, 0], "the second finds nothing due"


def main_code(project: Project, *arguments: str) -> object:
    with pytest.raises(SystemExit) as done:
        main(["--project", str(project.folder), *arguments])
    return done.value.code
