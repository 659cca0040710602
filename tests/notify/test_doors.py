"""The commands and the server tell people alike."""

from apportion.web.desk import Desk
from apportion.web.telling import once
from tests.cli.conftest import Run, run
from tests.notify.conftest import MAIL, Made, told
from tests.notify.mailbox import Mailbox, text_of

__all__ = ["run"]  # a fixture


def test_a_test_says_what_happened_by_its_exit_code_too(made: Made, mailbox: Mailbox, run: Run) -> None:
    folder = made(MAIL).folder
    shown = run("--project", folder, "notify", "test", "mail", "-o", "json")
    assert (shown.code, [one["answer"] for one in shown.value()["told"]]) == (0, ["250"])
    mailbox.answers = [554]
    failed = run("--project", folder, "notify", "test")
    assert failed.code == 1
    assert "refused the mail (554)" in failed.out
    assert run("--project", folder, "notify", "test", "male").code == 1
    listed = run("--project", folder, "notify", "list", "-o", "json").value()["channels"]
    assert [(one["channel"], one["events"], one["teams"]) for one in listed] == [("mail", "all", "all")]


def test_one_command_sends_all_that_is_due(made: Made, mailbox: Mailbox, run: Run) -> None:
    project = made(MAIL + 'events = ["period.closed"]\n')
    assert run("--project", project.folder, "close", "--period", "2026-10", "--override", "known").code == 0
    for verb in ("notify", "webhooks"):
        assert run("--project", project.folder, verb, "deliver").code == 0
    assert mailbox.subjects == ["2026-10 is closed"]


def test_the_server_tells_by_itself(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL + 'events = ["anomaly.found"]\n')
    told(project, "Ünïcode → stays")
    desk = Desk(project.folder)
    seen = once(desk, None)
    assert once(desk, seen) == seen
    assert [text_of(mail).strip() for mail in mailbox.mails if "Ün" in text_of(mail)] == ["Ünïcode → stays"]
