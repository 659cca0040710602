"""`apportion enforce`."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import OK, PENDING, Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.verbs.enforcing.planning import Plan

COLUMNS = {"kind": "what", "name": "name", "setting": "setting", "before": "now", "after": "then", "command": "command"}


@dataclass(frozen=True, slots=True)
class Options:
    apply: Annotated[
        str, typer.Option(metavar="DIGEST", help="Do exactly the plan of this digest, and nothing else.")
    ] = ""
    undo: Annotated[bool, typer.Option("--undo", help="Plan to put back what was set before.")] = False
    source: Annotated[str, typer.Option(metavar="NAME", help="The source that says where Slurm's commands are.")] = ""
    demote: Annotated[str, typer.Option(metavar="QOS", help="Where new jobs go once the second mark is reached.")] = ""
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 3 if something would change.")] = False


def enforce(call: Call, options: Options) -> Answer:
    """Hold Slurm to the quotas that the policy gives it, by a plan.

    One QOS per team counts without decay and is limited to what is left. Shows what would change; --apply DIGEST does it, --undo plans the way back.
    """
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted
    from apportion.verbs.enforce import apply_enforcement, undo_enforcement
    from apportion.verbs.enforce import enforce as made_of

    if options.apply and options.undo:
        raise typer.BadParameter("--undo shows a plan, and --apply does one: give one of them")
    project = call.project()
    if options.apply:
        done = apply_enforcement(project, options.apply, options.source)
        there = f" {counted(done.there, 'change')} stood already." if done.there else ""
        said = f"{counted(done.done, 'change')} made on {done.plan.cluster} by plan {options.apply}.{there}"
        return Answer(Sheet(said, value={"plan": options.apply, "done": done.done, "there": done.there}))
    undone = undo_enforcement(project, options.source) if options.undo else None
    plan = undone or made_of(project, options.source, options.demote, step=call.bar)
    talk = (f"Next: apportion {call.flag}enforce --apply {plan.digest}",) if plan.changes else ()
    return Answer(sheet_of(plan), talk, PENDING if options.exit_code and plan.changes else OK)


def sheet_of(plan: "Plan") -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted
    from apportion.verbs.enforcing.telling import rung_said, settings_of

    title = f"Nothing to change on {plan.cluster}."
    if plan.changes:
        back = " back to what was set before" if plan.undo else ""
        title = f"Plan {plan.digest}: {counted(len(plan.changes), 'change')} on {plan.cluster}{back}."
    columns = tuple(Column(name, heading) for name, heading in COLUMNS.items())
    settings = settings_of(plan.changes)
    rows = tuple(tuple(getattr(one, name) for name in COLUMNS) for one in settings)
    said = (*map(rung_said, plan.rungs), *(f"Warning: {one}." for one in plan.warnings))
    value = {
        "plan": plan.digest if plan.changes else "",
        "cluster": plan.cluster,
        "undo": plan.undo,
        "settings": settings,
    }
    return Sheet(title, (Table(columns, rows),) if rows else (), {**value, "warnings": plan.warnings}, said)


def add_to(app: typer.Typer) -> None:
    verb(app, "enforce")(enforce)
