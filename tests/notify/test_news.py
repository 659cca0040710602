"""What is noticed: budgets, another policy, data that is late or wrong. Each is told once, and to those who may know."""

import json
from datetime import timedelta
from decimal import Decimal

import apportion
from apportion.books.hooks import EVENTS
from apportion.render.notify.samples import COMMON, SAID
from apportion.verbs.budget import set_budget
from apportion.verbs.notify import deliver
from apportion.verbs.tell import tell
from tests.notify.conftest import BY_TEAM, MAIL, TODAY, Made
from tests.notify.mailbox import Mailbox, text_of
from tests.web import world


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
