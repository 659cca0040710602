"""People are told by mail, Slack and Teams: once, in order, not too often, and of what is theirs alone."""

import json
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

import apportion
from apportion.books.hooks import EVENTS, News
from apportion.errors import ApportionError
from apportion.render.notify.samples import COMMON, SAID
from apportion.verbs.budget import set_budget
from apportion.verbs.check import check
from apportion.verbs.hooks import MOST_TRIES, wait_s
from apportion.verbs.notify import HOUR_S, channel_rows, deliver, enrol, failures, try_channels
from apportion.verbs.project import Project
from apportion.verbs.tell import tell
from tests.hooks.conftest import Receiver, is_signed
from tests.kubernetes.authority import certificates
from tests.notify.conftest import Made
from tests.notify.mailbox import Mailbox, receiving, text_of
from tests.web import world

TODAY = date(2026, 11, 16)
MAIL = """
[[notify]]
name = "mail"
kind = "email"
host = "127.0.0.1"
port = PORT
tls = "none"
from = "costs@example.com"
to = ["finance@example.com", "ops@example.com"]
"""
BY_TEAM = MAIL.replace(
    'to = ["finance@example.com", "ops@example.com"]',
    'to = {vision = "vision@example.com", zebra = ["zebra@example.com"]}',
)
SLACK = '\n[[notify]]\nname = "chat"\nkind = "slack"\nurl = "env:CHAT_URL"\n'
WIRE = '\n[[notify]]\nname = "wire"\nkind = "webhook"\nurl = "env:WIRE_URL"\nsecret = "env:WIRE_SECRET"\n'


def news(about: str, team: str = "") -> News:
    return News("anomaly.found", about, {**SAID["anomaly.found"], "team": team, "text": about}, team=team)


def told(project: Project, *about: str) -> int:
    """Some news, and the second at which they were made."""
    enrol(project)
    project.books.hooks.tell([news(one) for one in about])
    return project.books.hooks.tellings()[-1].made_s


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
    assert "notify mail" in {one.what for one in check(project).findings}
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


def test_each_mark_of_a_budget_is_told_once(made: Made, mailbox: Mailbox) -> None:
    """October is posted; November is estimated by the same engine."""
    project = made(BY_TEAM + 'events = ["budget.reached"]\n')
    posted = project.books.posted("2026-10").to_pylist()
    spent = sum((row["amount"] for row in posted if row["team"] == "vision"), Decimal(0))
    set_budget(project, "vision", f"{spent * Decimal('1.1'):.2f}", "2026-10")
    set_budget(project, "zebra", "1000000", "2026-10")
    assert tell(project, TODAY) >= 1
    assert tell(project, TODAY) == 0
    deliver(project)
    first = mailbox.mails[0]
    assert first["Subject"] == "vision has reached 80 % of its budget for 2026-10"
    assert f"{spent:,.2f} USD of {spent * Decimal('1.1'):,.2f} USD are spent." in text_of(first)
    assert {to[0] for to in mailbox.recipients} == {"vision@example.com"}
    assert not [one for one in mailbox.subjects if "100 %" in one and "2026-10" in one]
    set_budget(project, "vision", f"{spent * Decimal('0.9'):.2f}", "2026-10")
    assert tell(project, TODAY) >= 2


def test_another_policy_is_told_in_sentences_to_each_team_its_own(made: Made, mailbox: Mailbox) -> None:
    every = MAIL.replace('"mail"', '"all"') + 'events = ["policy.changed"]\n'
    project = made(BY_TEAM + 'events = ["policy.changed"]\n' + every)
    assert tell(project, TODAY) == 0
    policy = project.folder / "policy.yaml"
    text = policy.read_text("utf-8").replace("hours: 400", "hours: 150").replace("money: 5000", "money: 700")
    policy.write_text(text, "utf-8")
    project = apportion.open_project(project.folder)
    assert tell(project, TODAY) == 0  # nobody computed with it yet
    apportion.plan(project, "2026-10")
    assert tell(project, TODAY) == 3
    assert tell(project, TODAY) == 0
    deliver(project)
    texts = {to[0]: text_of(mail) for to, mail in zip(mailbox.recipients, mailbox.mails, strict=True)}
    assert "- No longer: " in texts["vision@example.com"]
    assert "150" in texts["vision@example.com"]
    assert not [word for word in (*world.SECRET, "700", "5000") if word in texts["vision@example.com"]]
    assert "700" in texts["zebra@example.com"]
    assert "quotas[1].hours changes from 400 to 150; no figure changes" in texts["finance@example.com"]
    assert "quotas[2].money changes from 5000 to 700; no figure changes" in texts["finance@example.com"]


def test_data_that_is_late_or_wrong_is_told_once_a_day_and_to_no_single_team(made: Made, mailbox: Mailbox) -> None:
    project = made(BY_TEAM + MAIL.replace('"mail"', '"all"') + 'events = ["data.late", "data.health"]\n')
    jobs = max((project.folder / "usage").glob("jobs-*.csv"))
    jobs.write_text(jobs.read_text("utf-8").replace("2026-11-13T00:00:00Z", "yesterday", 1), "utf-8")
    apportion.ingest(project)
    assert tell(project, TODAY) == 1
    assert tell(project, TODAY) == 0
    deliver(project)
    assert mailbox.recipients == [["finance@example.com", "ops@example.com"]]
    assert mailbox.subjects == ["1 row of the source slurm has a problem"]


def test_a_source_that_misses_days_is_told_once_a_day(made: Made, mailbox: Mailbox) -> None:
    every = MAIL + 'events = ["data.late"]\n'
    usage = world.SETTINGS.partition('name = "slurm"')[2].partition("[[sources]]")[0].replace("usage/jobs", "late/jobs")
    project = made(f'{every}\n[[sources]]\nname = "late"{usage}')
    (project.folder / "late").mkdir()
    for month in ("2026-09", "2026-11"):
        text = (project.folder / "usage" / f"jobs-{month}.csv").read_text("utf-8")
        (project.folder / "late" / "jobs-now.csv").write_text(text, "utf-8")
        apportion.ingest(project, ["late"])
    assert [tell(project, TODAY), tell(project, TODAY), tell(project, TODAY + timedelta(days=1))] == [1, 0, 1]
    deliver(project)
    assert mailbox.subjects == ["The source late is late"] * 2
    assert "late misses " in text_of(mailbox.mails[0])


def test_what_events_say_is_what_templates_are_tried_on(made: Made) -> None:
    """A key that a message does not have would be a template that fails on the day."""
    project = made(MAIL)
    policy = project.folder / "policy.yaml"
    set_budget(project, "vision", "1", "2026-10")
    text = policy.read_text("utf-8").replace("hours: 400", "hours: 100").replace("USD\n", "USD\n", 1)
    policy.write_text(text, "utf-8")
    project = apportion.open_project(project.folder)
    apportion.plan(project, "2026-10")
    tell(project, TODAY)
    apportion.close(project, "2026-10", override="known")
    seen = {one.event: json.loads(one.body) for one in project.books.hooks.tellings()}
    assert {"period.closed", "statement.issued", "quota.reached", "budget.reached", "policy.changed"} <= set(seen)
    for event, said in seen.items():
        assert {*SAID[event], *COMMON, "event"} <= set(said), event
    assert set(SAID) == {*EVENTS, "notify.test"}


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
    found = [one for one in check(project).findings if one.what == "notify"]
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


@pytest.mark.parametrize(
    ("change", "code", "said"),
    [
        (('kind = "email"', 'kind = "pigeon"'), "invalid-setting", "cannot be of kind 'pigeon'"),
        (('host = "127.0.0.1"\n', ""), "invalid-setting", "needs host"),
        (("from =", "sender ="), "unknown-key", "'sender' is not a setting"),
        (('tls = "none"', 'tls = "sometimes"'), "invalid-setting", "tls cannot be"),
        (('"ops@example.com"', '"ops"'), "invalid-setting", "to has 'ops', which is no address"),
        (('"ops@example.com"', r'"a@b.c\nBcc: x@y.z"'), "invalid-setting", "which is no address"),
        (("port = PORT", "port = 0"), "invalid-setting", "port must be"),
        (("port = PORT", "port = PORT\nper_hour = 0"), "invalid-setting", "per_hour must be from 1"),
        (("port = PORT", 'port = PORT\nquiet = "late"'), "invalid-setting", "quiet must be"),
        (("port = PORT", 'port = PORT\nevents = ["lunch"]'), "unknown-event", "nothing is told of 'lunch'"),
        (("port = PORT", 'port = PORT\nusername = "a"'), "invalid-setting", "go together"),
        (("port = PORT", 'port = PORT\nusername = "a"\npassword = "hunter2"'), "secret-in-settings", "must say where"),
        (
            ('host = "127.0.0.1"', 'host = "mail.example.com"\nusername = "a"\npassword = "env:A"'),
            "invalid-setting",
            "in the open",
        ),
        (("[[notify]]", '[[notify]]\nname = "x"\nkind = "slack"\nurl = "https://a.example/b"\n[[notify]]'), "secret-in-settings", "url must say"),
    ],
)  # fmt: skip
def test_wrong_settings_are_refused_with_their_line(made: Made, change: tuple[str, str], code: str, said: str) -> None:
    with pytest.raises(ApportionError) as error:
        made(MAIL.replace(*change))
    assert error.value.code == code
    assert said in error.value.message
    assert "apportion.toml:" in error.value.where
    assert "hunter2" not in str(error.value) + error.value.hint


def test_a_team_that_nobody_knows_is_refused(made: Made) -> None:
    with pytest.raises(ApportionError, match="'visoin', which neither") as error:
        deliver(made(MAIL + 'teams = ["visoin"]\n'))
    assert error.value.hint == "did you mean 'vision'?"


def test_a_missing_secret_is_a_failure_that_says_where_it_should_be(made: Made) -> None:
    project = made(SLACK)
    assert [one.answer for one in try_channels(project)] == [
        "there is no secret at env:CHAT_URL: the environment variable is not set"
    ]
    assert [one.status for one in check(project).findings if one.what == "notify"] == ["wrong"]
