"""`apportion webhooks`: add, list, end, renew, test and deliver."""

from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import FAILED, OK, Answer, Call, verb
from apportion.verbs.periods import today

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apportion.render.sheet import Sheet
    from apportion.verbs.hooks import Told

Name = Annotated[str, typer.Argument(metavar="ID", help="As `webhooks list` names it.")]
KEEP = "Keep the secret where the messages are checked: it is not shown again."


def add(
    call: Call,
    url: Annotated[str, typer.Argument(metavar="URL", help="Where messages are sent: http:// or https://.")],
    event: Annotated[
        list[str] | None,
        typer.Option(metavar="EVENT", help="Only these, such as period.closed or quota.reached; all unless given."),
    ] = None,
    team: Annotated[
        list[str] | None, typer.Option(metavar="TEAM", help="Only what these teams may know; all unless given.")
    ] = None,
) -> Answer:
    """Tell a server of closes, quotas and anomalies.

    Messages are signed with a secret that is shown once.
    """
    from apportion.verbs.hooks import add_hook

    hook, secret = add_hook(call.project(), url, event or (), team or ())
    next_step = f"Next: apportion {call.flag}webhooks test {hook.id}"
    return Answer(secret_sheet(f"Webhook {hook.id} is added.", hook.id, secret), (KEEP, next_step))


def renew(call: Call, name: Name) -> Answer:
    """Give a webhook another secret; the one before is good for nothing from then on."""
    secret = call.project().books.hooks.renew(name)
    return Answer(secret_sheet(f"Webhook {name} has a new secret.", name, secret), (KEEP,))


def list_(call: Call) -> Answer:
    """List webhooks: where they go, of what and of whom they tell, and what waits."""
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.hooks import hook_rows

    names, rows = hook_rows(call.project())
    table = Table(tuple(Column(name, name) for name in names), rows)
    value = {"webhooks": [dict(zip(names, row, strict=True)) for row in rows]}
    return Answer(Sheet(f"{counted(len(rows), 'webhook')}.", (table,), value))


def end(call: Call, name: Name) -> Answer:
    """End a webhook. What it was not told yet is not sent."""
    from apportion.render.sheet import Sheet

    done = call.project().books.hooks.end(name)
    return Answer(Sheet(f"Webhook {done.id} is ended.", (), {"id": done.id}))


def test(call: Call, name: Name) -> Answer:
    """Send a webhook a message that tells of nothing."""
    from apportion.verbs.hooks import try_hook

    done = try_hook(call.project(), name)
    return Answer(told_sheet([done]), code=OK if done.is_told else FAILED)


def deliver(call: Call) -> Answer:
    """Look for news and send what is due, to channels and webhooks; for cron.

    What fails is tried again by a later call, ever more slowly, for about three days. The server does the same by itself.
    The exit code is 1 where a message failed.
    """
    from apportion.verbs.notify import deliver as send
    from apportion.verbs.tell import tell

    project = call.project()
    tell(project, today())
    told = send(project)
    return Answer(told_sheet(told), code=OK if all(one.is_told for one in told) else FAILED)


def secret_sheet(title: str, name: str, secret: str) -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column

    table = Table((Column("id", "id"), Column("secret", "secret")), ((name, secret),))
    return Sheet(title, (table,), {"id": name, "secret": secret})


def told_sheet(told: "Sequence[Told]") -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    names = ("to", "event", "about", "answer")
    rows = tuple((one.hook, one.event, one.about, one.answer) for one in told)
    sent = sum(one.is_told for one in told)
    failed = f", {len(told) - sent} failed" if sent < len(told) else ""
    table = Table(tuple(Column(name, name) for name in names), rows)
    return Sheet(f"{counted(sent, 'message')} sent{failed}.", (table,), {"told": told})


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True, rich_markup_mode=None, help="Tell other servers of closes, quotas and anomalies."
    )
    for name, command in (
        ("add", add),
        ("list", list_),
        ("end", end),
        ("renew", renew),
        ("test", test),
        ("deliver", deliver),
    ):
        verb(group, name)(command)
    app.add_typer(group, name="webhooks")
