"""`apportion ingest`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb

if TYPE_CHECKING:
    from collections.abc import Mapping

    from apportion.render.sheet import Sheet
    from apportion.verbs.trial import Trial


def ingest(
    call: Call,
    sources: Annotated[
        list[str] | None,
        typer.Argument(metavar="[SOURCE]...", help="Names from apportion.toml; all of them unless given."),
    ] = None,
    tried: Annotated[
        Path | None,
        typer.Option(
            "--try",
            metavar="FILE",
            help="Write nothing: show how a source (its name, or its kind) understands this file, and what it refuses.",
        ),
    ] = None,
) -> Answer:
    """Read usage and bills into the books; safe to repeat."""
    import time

    from apportion.render.sheet import sheet_of
    from apportion.verbs.ingest import ingest as read
    from apportion.verbs.reserve import ended_since

    project = call.project()
    periods = call.months(()) if call.period else []
    if tried is not None:
        return try_out(call, sources or [], tried)
    begun_s = int(time.time())
    done = read(project, sources or [], periods, call.bar)
    if not done:
        hint = f"apportion.toml names no source yet: add a [[sources]] stanza, then run `apportion {call.flag}ingest` again."
        return Answer(sheet_of(done), (hint,))
    return Answer(sheet_of(done), (*ended_since(project, begun_s), f"Next: apportion {call.flag}plan"))


def try_out(call: Call, sources: list[str], file: Path) -> Answer:
    from apportion.verbs.ingest import hull
    from apportion.verbs.trial import try_file

    if len(sources) > 1:
        raise typer.BadParameter("--try is about one source", param_hint="SOURCE")
    project = call.project()
    window = hull(project, call.months(())) if call.period else None
    done = try_file(project, "".join(sources), file, window)
    return Answer(trial_sheet(done), (f"Nothing was written. Next: apportion {call.flag}ingest {done.source}",))


def trial_sheet(done: "Trial") -> "Sheet":
    from dataclasses import fields

    from apportion.render.findings import findings_tables
    from apportion.render.sheet import Sheet, Table
    from apportion.reports.findings import findings_value
    from apportion.reports.report import Column
    from apportion.reports.words import counted

    columns = (
        Column("what", "what"),
        Column("meter", "meter", quiet=True),
        Column("amount", "amount", quiet=True),
        Column("labels", "labels", quiet=True),
        Column("start", "start"),
        Column("end", "end"),
        Column("used", "used", quiet=True),
        Column("place", "where", quiet=True),
    )
    tables = []
    for table in dict.fromkeys(row.table for row in done.rows):
        rows = tuple(
            (one.what, one.meter, one.amount, in_words(one.labels), one.start, one.end, one.used, one.place)
            for one in done.rows
            if one.table == table
        )
        tables.append(Table(columns, rows, heading=f"{table}: {len(rows):,} of {done.counts[table]:,} rows"))
    if done.refused:
        faults = (
            Column("code", "refused"),
            Column("count", "rows", "count"),
            Column("where", "first"),
            Column("message", "why"),
        )
        refused = tuple((one.code, one.count, one.where, one.message) for one in done.refused)
        tables.append(Table(faults, refused, heading="Listed: left out, or taken with the change that is named"))
    tables += findings_tables(done.findings)
    taken = ", ".join(f"{count:,} of {table}" for table, count in done.counts.items())
    faulty = f"{counted(sum(one.count for one in done.refused), 'problem')}, {counted(len(done.findings), 'finding')}"
    title = f"{done.file} as {done.source} ({done.kind}) reads it: rows: {taken or 'none'}; {faulty}. Window: {', '.join(done.windows) or 'none'}."
    value = {field.name: getattr(done, field.name) for field in fields(done)}
    return Sheet(title, tuple(tables), {**value, "findings": findings_value(done.findings)})


def in_words(labels: "Mapping[str, str]") -> str:
    return ", ".join(f"{name}={value}" for name, value in labels.items())


def add_to(app: typer.Typer) -> None:
    verb(app, "ingest", period=True)(ingest)
