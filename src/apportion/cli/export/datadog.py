"""`apportion export datadog`."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.verbs.datadog import Pushed


def datadog(
    call: Call,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be pushed; ask nothing.")] = False,
    gauges: Annotated[
        bool, typer.Option("--gauges", help="Push the running month so far as gauges instead: cost, idle and prices.")
    ] = False,
) -> Answer:
    """Push a month's attributed cost to Datadog as custom costs.

    Pushed again it takes the place of what was pushed before; the same content changes nothing. How to reach it is [datadog] of apportion.toml.
    """
    from apportion.verbs.datadog import export_datadog
    from apportion.verbs.periods import one
    from apportion.verbs.report import posted_periods

    if gauges and (dry_run or call.period):
        raise typer.BadParameter("gauges are of the running month, and pushed", param_hint="--gauges")
    project = call.project()
    if gauges:
        return gauges_answer(project, call)
    period = one(call.months(posted_periods(project), "run `apportion apply` first"), "export datadog")
    return answer(export_datadog(project, period, dry_run=dry_run, step=call.bar))


def gauges_answer(project: Any, call: Call) -> Answer:
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted
    from apportion.verbs.datadog import push_gauges

    made = push_gauges(project, step=call.bar)
    metrics = {metric: sum(one.metric == metric for one in made) for metric in sorted({one.metric for one in made})}
    parts = ", ".join(f"{metric} ({count})" for metric, count in metrics.items())
    return Answer(Sheet(f"Pushed {counted(len(made), 'gauge')}: {parts}.", value={"gauges": metrics}))


def answer(done: "Pushed") -> Answer:
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted, shown

    push = done.push
    money = " and ".join(shown(amount, currency) for currency, amount in push.costs.totals.items()) or "nothing"
    what = (
        f"{money} of {push.period} in {counted(len(push.costs.items), 'item')} and {counted(len(push.parts), 'file')}"
    )
    title = f"Would push {what}." if done.dry_run else f"Pushed {what}: {done.added} added, {done.removed} removed."
    title = f"{what[0].upper()}{what[1:]} is at Datadog already; nothing changed." if done.again else title
    ahead = " and ".join(shown(amount, currency) for currency, amount in push.costs.ahead.items())
    notes = (
        f"Provider {push.provider}, sha256 {push.costs.sha256}.",
        "Items are in nanos of the currency, with one that makes their sum whole minor units; Datadog keeps them as binary numbers.",
        *([f"{ahead} is of days to come, which Datadog does not take: push again later."] if ahead else []),
    )
    value = {
        "period": str(push.period), "provider": push.provider, "sha256": push.costs.sha256, "items": len(push.costs.items),
        "files": len(push.parts), "totals": push.costs.totals, "ahead": push.costs.ahead, "added": done.added, "removed": done.removed,
        "dry_run": done.dry_run, "again": done.again,
    }  # fmt: skip
    return Answer(Sheet(title, value=value, notes=notes))


def add_to(group: typer.Typer) -> None:
    verb(group, "datadog", period=True)(datadog)
