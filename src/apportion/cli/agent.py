"""`apportion agent`: run, record, replay."""

import platform
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.sources.agent.run import Measured

SPOOL = Annotated[Path, typer.Option(metavar="DIR", help="Where batches are written.")]
CLUSTER = Annotated[str, typer.Option(help="The name of the Slurm or Kubernetes cluster, as other sources give it.")]
NODE = Annotated[str, typer.Option(help="The name of this node, as other sources give it; its host name unless given.")]
SECONDS = Annotated[int | None, typer.Option("--for", metavar="SECONDS", min=1, help="Stop after so long.")]
TRACE = Annotated[Path, typer.Argument(metavar="FILE", help="A trace: JSON lines, a line for each look at the boards.")]
DEFAULT = Path("/var/lib/apportion/agent")


def run(call: Call, spool: SPOOL = DEFAULT, cluster: CLUSTER = "", node: NODE = "", seconds: SECONDS = None) -> Answer:
    """Measure this node until stopped.

    Every few seconds it asks the boards for energy, use and processes, and /proc whose those are; each minute it writes a batch.
    """
    from apportion.verbs import agent as verbs

    del call
    return Answer(measured_sheet(verbs.agent(verbs.Wishes(spool, node or platform.node(), cluster), seconds)))


def replay(call: Call, trace: TRACE, spool: SPOOL = DEFAULT, cluster: CLUSTER = "", node: NODE = "") -> Answer:
    """Write the batches of a trace, as fast as it reads.

    Gives the same joules as the agent did on the node that was recorded.
    """
    from apportion.verbs import agent as verbs

    del call
    return Answer(measured_sheet(verbs.replay(verbs.Wishes(spool, node or platform.node(), cluster), trace)))


def record(call: Call, trace: TRACE, seconds: SECONDS = None) -> Answer:
    """Write down what the boards say, raw, and nothing else."""
    from apportion.render.sheet import Sheet
    from apportion.reports.words import counted
    from apportion.verbs.agent import record as listen

    del call
    looks = listen(trace, seconds)
    return Answer(Sheet(f"Wrote {counted(looks, 'look')} to {trace}.", value={"looks": looks, "file": trace}))


def measured_sheet(done: "Measured") -> "Sheet":
    """With every digit that was measured, so that what is shown adds up to the counters."""
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    ordered = sorted(done.millijoules.items(), key=lambda item: (-item[1], item[0]))
    rows = tuple((workload, joules(mine), seconds_of(done.busy_us[workload])) for workload, mine in ordered)
    total = ("all", joules(sum(done.millijoules.values())), seconds_of(sum(done.busy_us.values())))
    owners = (
        Column("workload", "workload"),
        Column("joules", "joules", "count"),
        Column("busy_seconds", "busy seconds", "count"),
    )
    boards = (Column("board", "board"), Column("joules", "joules by its counter", "count"))
    counters = tuple((uuid, joules(mine)) for uuid, mine in sorted(done.boards.items()))
    what = f"{counted(done.looks, 'look')} at {counted(len(done.boards), 'board')} in {counted(done.batches, 'batch', 'batches')}"
    value = {"looks": done.looks, "batches": done.batches, "boards": done.boards, "ended": done.ended}
    value |= {"millijoules": done.millijoules, "busy_us": done.busy_us}
    return Sheet(f"Wrote {what}.", (Table(owners, rows, total), Table(boards, counters)), value)


def joules(millijoules: int) -> str:
    return f"{millijoules // 1000}.{millijoules % 1000:03d}"


def seconds_of(microseconds: int) -> str:
    return f"{microseconds // 10**6}.{microseconds % 10**6:06d}"


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(
        no_args_is_help=True,
        rich_markup_mode=None,
        help="Measure GPUs on their node: energy and use per job or user.",
    )
    for command in (run, record, replay):
        verb(group, command.__name__)(command)
    app.add_typer(group, name="agent")
