"""`apportion init`."""

from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from apportion.render.sheet import Sheet
    from apportion.verbs.init import Wishes
    from apportion.verbs.starting import Begun

TOGETHER = {"slurm": "prices", "prices": "slurm", "prometheus": "bill", "bill": "prometheus"}


@dataclass(frozen=True, slots=True)
class Wishing:
    currency: Annotated[
        str,
        typer.Option(metavar="CODE", help="ISO 4217 code of the policy; that of the prices or of the bill, else USD."),
    ] = ""
    time_zone: Annotated[str, typer.Option(help="IANA time zone in which days are cut.")] = "UTC"


@dataclass(frozen=True, slots=True)
class Beginning:
    """What there is already."""

    slurm: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Saved output of sacct: begin with its accounts; needs --prices."),
    ] = None
    prices: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A price list, CSV or a spreadsheet; needs --slurm.")
    ] = None
    prometheus: Annotated[
        str, typer.Option(metavar="URL", help="Metrics of a cluster: begin with its nodes and labels; needs --bill.")
    ] = ""
    bill: Annotated[
        Path | None,
        typer.Option(metavar="PATH", help="A bill in FOCUS columns, a file or a folder; needs --prometheus."),
    ] = None
    token: Annotated[
        str,
        typer.Option(
            metavar="WHERE", help="Where the token for --prometheus is: env:NAME, file:PATH or keyring:SERVICE/NAME."
        ),
    ] = ""
    kinds: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="KIND", help="Write the stanza of this kind of source; repeatable."),
    ] = None


def init(
    call: Call,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to start it.")] = Path(),
    wishes: Wishing = Wishing(),  # noqa: B008 - frozen
    beginning: Beginning = Beginning(),  # noqa: B008 - frozen
    schema: Annotated[bool, typer.Option("--schema", help="Only write policy.schema.json anew, for editors.")] = False,
) -> Answer:
    """Start a project in a folder.

    Writes apportion.toml, a first policy that is valid as it stands, its JSON Schema for editors, and folders for bills and usage.
    With --slurm and --prices, or --prometheus and --bill, the policy is proposed from what they say.
    """
    from apportion.render.sheet import Sheet
    from apportion.verbs import init as verbs
    from apportion.verbs import starting

    target = call.folder or folder
    if schema:
        file = verbs.write_schema(target)
        return Answer(Sheet(f"Wrote {file}.", value={"files": [file]}))
    refuse_half(beginning)
    wanted = wishes_of(target, wishes)
    if beginning.slurm and beginning.prices:
        given = starting.Accounting(beginning.slurm, beginning.prices)
        return begun(starting.from_accounting(target, wanted, given, call.bar), target)
    if beginning.prometheus and beginning.bill:
        secret = {"token": beginning.token} if beginning.token else {}
        cluster = starting.Cluster(beginning.prometheus, beginning.bill, secret)
        return begun(starting.from_cluster(target, wanted, cluster, call.bar), target)
    return plain(wanted, target, beginning.kinds or [])


def refuse_half(beginning: Beginning) -> None:
    for name, other in TOGETHER.items():
        if getattr(beginning, name) and not getattr(beginning, other):
            raise typer.BadParameter(f"it needs --{other} beside it", param_hint=f"--{name}")
    if beginning.slurm and beginning.prometheus:
        raise typer.BadParameter("begin with --slurm or with --prometheus, not with both", param_hint="--slurm")


def wishes_of(target: Path, wishes: Wishing) -> "Wishes":
    from apportion.verbs.init import Wishes

    today = datetime.now().astimezone().date()
    name = target.absolute().name or "project"
    return Wishes(name, today.replace(month=1, day=1), wishes.currency, wishes.time_zone)


def plain(wishes: "Wishes", target: Path, kinds: list[str]) -> Answer:
    from apportion.render.sheet import Sheet
    from apportion.verbs import init as verbs

    stanzas = [verbs.stanza_of(kind) for kind in dict.fromkeys(kinds)]
    started = verbs.init(target, replace(wishes, currency=wishes.currency or "USD"), stanzas)
    put = (
        "complete the stanzas in apportion.toml where they are commented"
        if kinds
        else (
            "put a bill in FOCUS columns into bills/ and a usage log into usage/, uncomment their stanzas in apportion.toml"
        )
    )
    talk = (f"Next: {put}, then run", f"  apportion --project {target} check")
    value = {"folder": started.folder, "files": started.files}
    return Answer(Sheet(f"Started a project in {target.absolute()}: {', '.join(started.files)}.", value=value), talk)


def begun(done: "Begun", target: Path) -> Answer:
    flag = "" if target.absolute() == Path.cwd() else f"--project {target} "
    verb = "plan" if done.ingested else "ingest"
    talk = (f"Read policy.yaml and edit what you like. Next: apportion {flag}{verb}",)
    return Answer(begun_sheet(done, target), talk)


def begun_sheet(done: "Begun", target: Path) -> "Sheet":
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.report import Column

    columns = (
        Column("status", ""),
        Column("what", "what"),
        Column("text", "finding"),
        Column("fix", "to mend it", quiet=True),
    )
    rows = tuple((one.status, one.what, one.text, one.fix) for one in done.findings)
    problems = [problem for one in done.ingested for problem in one.problems]
    notes = tuple(f"{problem.where}: {problem.message} [{problem.code}]" for problem in problems[:5])
    value = {
        "folder": done.started.folder,
        "files": done.started.files,
        "findings": done.findings,
        "unmapped": done.unmapped,
        "ingested": done.ingested,
    }
    title = f"Started a project in {target.absolute()}: {', '.join(done.started.files)}."
    return Sheet(title, (Table(columns, rows),), value, notes)


def add_to(app: typer.Typer) -> None:
    verb(app, "init")(init)
