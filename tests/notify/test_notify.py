"""People are told by mail, Slack and Teams: once, in order, not too often, and of what is theirs alone."""

from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.errors import ApportionError
from apportion.render.notify.samples import SAID
from apportion.verbs.check import check
from apportion.verbs.hooks import MOST_TRIES, wait_s
from apportion.verbs.notify import HOUR_S, channel_rows, deliver, failures, try_channels
from apportion.verbs.tell import tell
from tests.hooks.conftest import Receiver, is_signed
from tests.kubernetes.authority import certificates
from tests.notify.conftest import BY_TEAM, MAIL, SLACK, TODAY, WIRE, Made, told
from tests.notify.mailbox import Mailbox, receiving, text_of
from tests.web import world


def test_a_close_mails_each_team_its_own_statement_and_nothing_of_another(made: Made, mailbox: Mailbox) -> None:
    project = made(BY_TEAM + 'events = ["statement.issued", "period.closed"]\n')
    apportion.close(project, "2026-10", override="known")
    assert all(one.is_told for one in deliver(project))
    minor = project.books.closed("2026-10").minor.to_pylist()  # type: ignore[union-attr]
    owed = {
        team: Decimal(sum(row["amount"] for row in minor if row["team"] == team)) / 100 for team in ("vision", "zebra")
    }
    assert {tuple(to) for to in mailbox.recipients} == {("vision@example.com",), ("zebra@example.com",)}
    for team, amount in owed.items():
        closed, statement = mailbox.to(f"{team}@example.com")
        assert closed["Subject"] == "2026-10 is closed"
        assert statement["Subject"] == f"Statement of {team} for 2026-10: {amount:,.2f} USD"
        assert f"charges {amount:,.2f} USD" in text_of(statement)
        assert f"charges {amount:,.2f} USD" in text_of(statement, "html")
    text = "".join(str(mail) + text_of(mail) + text_of(mail, "html") for mail in mailbox.to("vision@example.com"))
    assert not [word for word in world.SECRET if word in text]
    assert deliver(project) == []


def test_slack_gets_blocks_and_teams_an_adaptive_card(
    made: Made, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As docs.slack.dev and learn.microsoft.com have them: limits of length, plain text, one attachment."""
    monkeypatch.setenv("CHAT_URL", f"{receiver.address}/services/T0/B0/private-path")
    teams = SLACK.replace("chat", "card").replace('"slack"', '"teams"')
    project = made(SLACK + teams)
    told(project, "<!channel> *bold* [a](http://b) & " + "long " * 900)
    assert [one.answer for one in deliver(project)] == ["200", "200"]
    slack, card = receiver.bodies
    assert set(slack) == {"text", "blocks"}
    assert slack["blocks"][0]["type"] == "header"
    assert all(block["text"]["type"] == "plain_text" for block in slack["blocks"])
    assert len(slack["blocks"][0]["text"]["text"]) <= 150
    sections = [block["text"]["text"] for block in slack["blocks"][1:]]
    assert all(0 < len(text) <= 3000 for text in sections)
    assert "".join(sections).count("long") == 900
    assert card["type"] == "message"
    attachment = card["attachments"][0]
    assert attachment["contentType"] == "application/vnd.microsoft.card.adaptive"
    content = attachment["content"]
    assert (content["type"], content["version"]) == ("AdaptiveCard", "1.4")
    assert {block["type"] for block in content["body"]} == {"RichTextBlock"}
    assert {run["type"] for block in content["body"] for run in block["inlines"]} == {"TextRun"}
    assert len(receiver.came[1][1]) < 28_000


def test_a_link_leads_to_the_pages(
    made: Made, mailbox: Mailbox, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CHAT_URL", receiver.address)
    project = made(MAIL + SLACK + SLACK.replace("chat", "card").replace('"slack"', '"teams"'))
    settings = project.folder / "apportion.toml"
    settings.write_text(
        settings.read_text("utf-8").replace("[web]\n", '[web]\naddress = "https://costs.example"\n'), "utf-8"
    )
    project = apportion.open_project(project.folder)
    told(project, "one")
    deliver(project)
    link = f"https://costs.example{SAID['anomaly.found']['link']}"
    assert link in text_of(mailbox.mails[0])
    assert f'href="{link}"' in text_of(mailbox.mails[0], "html")
    slack, card = receiver.bodies
    assert slack["blocks"][-1]["text"] == {"type": "mrkdwn", "text": f"<{link}|Open in Apportion>"}
    assert card["attachments"][0]["content"]["actions"][0]["url"] == link


def test_a_channel_of_kind_webhook_is_signed_with_its_own_secret(
    made: Made, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIRE_URL", receiver.address)
    monkeypatch.setenv("WIRE_SECRET", "quite-secret")
    project = made(WIRE + "per_hour = 1\n")
    told(project, "one", "two")
    assert [(one.event, one.answer) for one in deliver(project)] == [("digest", "200")]
    assert [one["text"] for one in receiver.bodies[0]["messages"]] == ["one", "two"]
    assert is_signed("quite-secret", *receiver.came[0])
    assert not is_signed("another", *receiver.came[0])


def test_what_is_over_an_hours_measure_comes_as_one_digest_and_nothing_is_lost(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL + "per_hour = 3\n")
    now = told(project, *(f"news {n}" for n in range(7)))
    assert [one.event for one in deliver(project, now)] == ["anomaly.found", "anomaly.found", "digest"]
    assert [f"news {n}" in text_of(mailbox.mails[2]) for n in range(7)] == [False, False, True, True, True, True, True]
    assert mailbox.subjects[2] == "5 messages of small"
    told(project, "later", "latest")
    assert deliver(project, now + HOUR_S - 1) == []
    assert [one.event for one in deliver(project, now + HOUR_S)] == ["anomaly.found", "anomaly.found"]
    states = {one.state for one in project.books.hooks.tellings()}
    assert states == {"told"}


def test_quiet_hours_wait_and_then_tell(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL + 'quiet = "22:00-07:00"\n')
    told(project, "one")
    night, morning = 20_000 * 86_400 + 3 * 3600, 20_000 * 86_400 + 7 * 3600
    late = 86_400 * 40_000  # after what was made
    assert deliver(project, late + night % 86_400) == []
    assert len(deliver(project, late + morning % 86_400)) == 1
    assert len(mailbox.came) == 1


def test_what_fails_is_tried_again_later_and_check_says_so(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL)
    now = told(project, "first", "second")
    mailbox.answers = [451]
    assert [(one.is_told, one.answer) for one in deliver(project, now)] == [
        (False, f"127.0.0.1:{mailbox.port} refused the mail (451)")
    ]
    assert [one.text.partition(";")[0] for one in failures(project, now)] == ["2 messages wait"]
    assert "notify mail" in {one.what for one in check(project).checks}
    assert deliver(project, now + wait_s(0) - 1) == []
    assert [one.is_told for one in deliver(project, now + wait_s(0))] == [True, True]
    assert [text_of(mail).split()[0] for mail in mailbox.mails] == ["first", "second"]
    assert list(failures(project, now)) == []


def test_it_is_given_up_after_many_tries_and_check_calls_it_wrong(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL)
    now = told(project, "lost")
    mailbox.answers = [554] * MOST_TRIES
    for n in range(MOST_TRIES):
        deliver(project, now + n * 86_400)
    end = now + MOST_TRIES * 86_400
    assert deliver(project, end) == []
    assert [(one.status, one.text[:25]) for one in failures(project, end)] == [("wrong", "1 message was given up in")]


def test_mail_is_encrypted_and_a_password_is_in_nothing_that_is_said(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    authority, server = certificates(tmp_path)
    monkeypatch.setenv("MAIL_PASSWORD", "hunter-of-zebras")
    with receiving(Mailbox(tls=server, login=("costs", "hunter-of-zebras"))) as box:
        stanza = MAIL.replace("PORT", str(box.port)).replace(
            'tls = "none"', f'tls = "starttls"\nca_file = "{authority}"'
        )
        project = made(f'{stanza}username = "costs"\npassword = "env:MAIL_PASSWORD"\n')
        assert [one.answer for one in try_channels(project)] == ["250"]
        assert box.encrypted == [True]
        assert box.recipients == [["finance@example.com", "ops@example.com"]]
        box.refused = {"ops@example.com"}
        assert [one.answer for one in try_channels(project)] == ["250, but 1 of the addresses (550) refused"]
        box.refused = {"finance@example.com", "ops@example.com"}
        assert [one.is_told for one in try_channels(project)] == [False]
        monkeypatch.setenv("MAIL_PASSWORD", "wrong-of-zebras")
        refused = try_channels(project)
        assert [one.answer for one in refused] == [f"127.0.0.1:{box.port} refused the login (535)"]
    said = str(channel_rows(project)) + repr(project.settings) + str(refused)
    notes = "".join(f"{note.what}{note.detail}{note.why}" for note in project.books.audit())
    assert "notify test" in notes
    assert "of-zebras" not in said + notes


def test_a_certificate_is_always_checked(made: Made, tmp_path: Path) -> None:
    authority, server = certificates(tmp_path)
    with receiving(Mailbox(tls=server, always=True)) as box:
        stanza = MAIL.replace("PORT", str(box.port)).replace('tls = "none"', 'tls = "tls"')
        answer = try_channels(made(stanza))[0].answer
        assert answer.startswith(f"the certificate of 127.0.0.1:{box.port} is not trusted")
        assert [one.answer for one in try_channels(made(f'{stanza}ca_file = "{authority}"\n'))] == ["250"]
        assert box.encrypted == [True]


def test_a_server_that_does_not_encrypt_is_told_nothing(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL.replace('tls = "none"\n', ""))
    assert [one.answer for one in try_channels(project)] == [f"127.0.0.1:{mailbox.port} offers no STARTTLS or login"]
    assert mailbox.came == []


def test_a_test_names_the_channel_and_tells_of_nothing(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL)
    assert [(one.hook, one.answer) for one in try_channels(project, "mail")] == [("notify:mail", "250")]
    assert mailbox.subjects == ["A test of small"]
    assert mailbox.mails[0]["Auto-Submitted"] == "auto-generated"
    assert project.books.hooks.tellings() == []
    with pytest.raises(ApportionError, match="no channel 'mial'") as error:
        try_channels(project, "mial")
    assert error.value.hint == "did you mean 'mail'?"


def test_a_template_of_the_project_is_used_and_a_wrong_one_is_named(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL)
    folder = project.folder / "templates" / "notify"
    folder.mkdir(parents=True)
    (folder / "anomaly.found.txt").write_text(
        "Ahoy {{ team }}\n\n<b>{{ amount|money(currency) }}</b> on {{ day }}\n", "utf-8"
    )
    told(project, "one")
    deliver(project)
    assert mailbox.subjects == ["Ahoy"]
    assert "<b>900.00 USD</b> on 2026-10-12" in text_of(mailbox.mails[0])
    assert "&lt;b&gt;900.00 USD&lt;/b&gt;" in text_of(mailbox.mails[0], "html")
    for text, said in (
        ("{{ temperature }}", "'temperature' is undefined"),
        ("{% if team %}", "end of template"),
        ("{{ team.__class__.__mro__ }}", "unsafe"),
    ):
        (folder / "anomaly.found.txt").write_text(text, "utf-8")
        with pytest.raises(ApportionError, match="cannot be filled") as error:
            deliver(project)
        assert error.value.where.startswith("templates/notify/anomaly.found.txt")
        assert said in error.value.message
    found = [one for one in check(project).checks if one.what == "notify"]
    assert [one.status for one in found] == ["wrong"]
    (folder / "anomaly.found.txt").rename(folder / "anomaly.fund.txt")
    with pytest.raises(ApportionError, match="no event has a template"):
        deliver(project)


def test_a_channel_that_is_taken_out_is_told_nothing_more(made: Made, mailbox: Mailbox) -> None:
    project = made(MAIL)
    told(project, "one")
    gone = made("")
    assert deliver(gone) == []
    tell(gone, TODAY)
    assert [one.state for one in gone.books.hooks.tellings()] == ["given up"]
    assert gone.books.hooks.told() == []
    assert gone.books.hooks.all() == []
    back = made(MAIL)
    told(back, "two")
    deliver(back)
    assert [text_of(mail).strip() for mail in mailbox.mails] == ["two"]
