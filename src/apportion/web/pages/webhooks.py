"""`/admin/webhooks`: who is told of what, and did it arrive?"""

from collections.abc import Mapping

from apportion.books.hooks import EVENTS
from apportion.model.times import instant_text
from apportion.render.sheet import Table
from apportion.reports.report import Column
from apportion.reports.words import counted
from apportion.verbs.hooks import add_hook, hook_rows, try_hook
from apportion.web.ask import Ask
from apportion.web.page import Block, Form, Input, Link, Page, Prose, Rows
from apportion.web.routes import Action, Route
from apportion.web.viewer import Deed

HERE = "/admin/webhooks"
RECENT = 50


def webhooks(ask: Ask) -> Page:
    return page(ask)


def page(ask: Ask, *first: Block) -> Page:
    names, rows = hook_rows(ask.project)
    live = [row[0] for row in rows if row[names.index("state")] != "ended"]
    table = Table(tuple(Column(name, name) for name in names), rows)
    blocks = [*first, Rows(table, "Webhooks", empty="Nobody is told yet."), recent(ask), adding()]
    return Page(
        "webhooks",
        f"{counted(len(live), 'webhook is', 'webhooks are')} told of closes, quotas and anomalies.",
        tuple([*blocks, changing(live)] if live else blocks),
        command="apportion webhooks list",
        crumbs=(Link("Admin", "/admin"),),
        fleeting=True,
        timeless=True,
    )


def recent(ask: Ask) -> Rows:
    """The newest first."""
    found = ask.desk.books.hooks.tellings()[-RECENT:]
    rows = tuple(
        (instant_text(one.made_s), one.hook, one.event, one.about, one.state, one.tries, one.answer)
        for one in reversed(found)
    )
    columns = tuple(
        Column(name, name, "count" if name == "tries" else "text")
        for name in ("made", "webhook", "event", "about", "state", "tries", "answer")
    )
    return Rows(Table(columns, rows), "Messages", empty="Nothing was told yet.")


def adding() -> Form:
    return Form(
        HERE,
        (
            Input("what", "", "add", "hidden"),
            Input(
                "url",
                "Address",
                kind="url",
                needed=True,
                hint="http:// or https://; what it must do stands in the how-to on webhooks",
            ),
            Input("events", "Events", ", ".join(EVENTS), hint="one or more, with commas"),
            Input("teams", "Only of these teams", hint="with commas; all teams unless given"),
        ),
        "Add it",
        "Add a webhook",
    )


def changing(live: list[str]) -> Form:
    return Form(
        HERE,
        (
            Input("id", "Webhook", live[0], choices=tuple(live)),
            Input("what", "What", "test", choices=("test", "renew secret", "end")),
        ),
        "Do it",
        "Test, renew or end one",
    )


def change(ask: Ask, form: Mapping[str, str]) -> Page:
    """A secret is shown in the answer alone: whoever asks for the page again does not see it."""
    what, name, hooks = form.get("what", ""), form.get("id", ""), ask.desk.books.hooks
    if what == "add":
        url, events, teams = (form.get(key, "").strip() for key in ("url", "events", "teams"))
        hook, secret = add_hook(ask.project, url, listed(events), listed(teams))
        return page(ask, secret_block(hook.id, secret))
    if what == "renew secret":
        return page(ask, secret_block(name, hooks.renew(name)))
    if what == "end":
        return page(ask, Prose((f"Webhook {hooks.end(name).id} is ended.",), tone="good"))
    done = try_hook(ask.project, name)
    return page(ask, Prose((f"Test of {name}: {done.answer}.",), tone="good" if done.is_told else "bad"))


def secret_block(name: str, secret: str) -> Prose:
    text = f"This is the secret of webhook {name}. Keep it where the messages are checked: it is not shown again."
    return Prose((text,), "Its secret", secret, tone="warn")


def listed(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


ROUTES = (Route(HERE, webhooks, Deed.admin),)
ACTIONS = (Action(HERE, change, Deed.admin),)
