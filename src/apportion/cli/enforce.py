"""`apportion enforce`."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import OK, PENDING, Answer, Call, verb

if TYPE_CHECKING:
    from collections.abc import Sequence

    from apportion.render.sheet import Sheet
    from apportion.verbs.enforcing.manifests import ClusterPlan
    from apportion.verbs.enforcing.planning import Plan
    from apportion.verbs.enforcing.telling import Setting

COLUMNS = {"kind": "what", "name": "name", "setting": "setting", "before": "now", "after": "then", "command": "command"}


class Scheduler(StrEnum):
    slurm = "slurm"
    kubernetes = "kubernetes"


@dataclass(frozen=True, slots=True)
class Options:
    to: Annotated[Scheduler, typer.Option(help="Who is held to them.")] = Scheduler.slurm
    apply: Annotated[
        str, typer.Option(metavar="DIGEST", help="Do exactly the plan of this digest, and nothing else.")
    ] = ""
    undo: Annotated[bool, typer.Option("--undo", help="Plan to put back what was set before.")] = False
    source: Annotated[str, typer.Option(metavar="NAME", help="The source that says where Slurm or the cluster is.")] = (
        ""
    )
    demote: Annotated[
        str, typer.Option(metavar="QOS", help="Of Slurm: where new jobs go once the second mark is reached.")
    ] = ""
    flavour: Annotated[str, typer.Option(metavar="NAME", help="Of Kueue: the ResourceFlavor of the queues.")] = ""
    write: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Of Kubernetes: write the objects for `kubectl apply -f`, too.")
    ] = None
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 3 if something would change.")] = False


def enforce(call: Call, options: Options) -> Answer:
    """Hold Slurm or Kubernetes to quotas, by a plan.

    Slurm gets one QOS per team that counts without decay, Kubernetes a ResourceQuota per namespace or a queue of Kueue per team. Shows what would
    change; --apply DIGEST does it, --undo plans the way back.
    """
    if options.apply and options.undo:
        raise typer.BadParameter("--undo shows a plan, and --apply does one: give one of them")
    if options.write and (options.apply or options.undo or options.to is not Scheduler.kubernetes):
        raise typer.BadParameter("--write is for a plan of --to kubernetes")
    return (on_cluster if options.to is Scheduler.kubernetes else on_slurm)(call, options)


def on_slurm(call: Call, options: Options) -> Answer:
    from apportion.verbs.enforce import apply_enforcement, undo_enforcement
    from apportion.verbs.enforce import enforce as made_of
    from apportion.verbs.enforcing.telling import rung_said, settings_of

    project = call.project()
    if options.apply:
        done = apply_enforcement(project, options.apply, options.source)
        return done_answer(options.apply, done.plan.cluster, done.done, done.there)
    undone = undo_enforcement(project, options.source) if options.undo else None
    plan = undone or made_of(project, options.source, options.demote, step=call.bar)
    return plan_answer(call, options, plan, Lines(settings_of(plan.changes), tuple(map(rung_said, plan.rungs))))


def on_cluster(call: Call, options: Options) -> Answer:
    from apportion.verbs.enforce_kubernetes import (
        apply_kubernetes,
        enforce_kubernetes,
        undo_kubernetes,
        write_manifests,
    )
    from apportion.verbs.enforcing.telling import keys_of

    project = call.project()
    if options.apply:
        done = apply_kubernetes(project, options.apply, options.source)
        return done_answer(options.apply, done.plan.cluster, done.done, done.there)
    undone = undo_kubernetes(project, options.source) if options.undo else None
    plan = undone or enforce_kubernetes(project, options.source, options.flavour, step=call.bar)
    if options.write:
        write_manifests(plan, options.write)
    return plan_answer(call, options, plan, Lines(keys_of(plan.changes), tuple(f"{one}." for one in plan.said)))


@dataclass(frozen=True, slots=True)
class Lines:
    settings: "Sequence[Setting]"
    said: tuple[str, ...]


def done_answer(digest: str, cluster: str, done: int, there: int) -> Answer:
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted

    stood = f" {counted(there, 'change')} stood already." if there else ""
    said = f"{counted(done, 'change')} made on {cluster} by plan {digest}.{stood}"
    return Answer(Sheet(said, value={"plan": digest, "done": done, "there": there}))


def plan_answer(call: Call, options: Options, plan: "Plan | ClusterPlan", lines: Lines) -> Answer:
    to = f"--to {options.to} " if options.to is not Scheduler.slurm else ""
    talk = (f"Next: apportion {call.flag}enforce {to}--apply {plan.digest}",) if plan.changes else ()
    return Answer(sheet_of(plan, lines), talk, PENDING if options.exit_code and plan.changes else OK)


def sheet_of(plan: "Plan | ClusterPlan", lines: Lines) -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    title = f"Nothing to change on {plan.cluster}."
    if plan.changes:
        back = " back to what was set before" if plan.undo else ""
        title = f"Plan {plan.digest}: {counted(len(plan.changes), 'change')} on {plan.cluster}{back}."
    columns = tuple(Column(name, heading, quiet=name == "command") for name, heading in COLUMNS.items())
    rows = tuple(tuple(getattr(one, name) or None for name in COLUMNS) for one in lines.settings)
    value = {
        "plan": plan.digest if plan.changes else "",
        "cluster": plan.cluster,
        "undo": plan.undo,
        "settings": lines.settings,
    }
    said = (*lines.said, *(f"Warning: {one}." for one in plan.warnings))
    return Sheet(title, (Table(columns, rows),) if rows else (), {**value, "warnings": plan.warnings}, said)


def add_to(app: typer.Typer) -> None:
    verb(app, "enforce")(enforce)
