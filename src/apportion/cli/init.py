"""`apportion init`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def init(
    call: Call,
    folder: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to start it.")] = Path(),
    currency: Annotated[str, typer.Option(help="ISO 4217 code of the policy.")] = "USD",
    time_zone: Annotated[str, typer.Option(help="IANA time zone in which days are cut.")] = "UTC",
    schema: Annotated[bool, typer.Option("--schema", help="Only write policy.schema.json anew, for editors.")] = False,
) -> Answer:
    """Start a project in a folder.

    Writes apportion.toml, a first policy that is valid as it stands, its JSON Schema for editors, and folders for bills and usage.
    """
    from apportion.render.sheet import Sheet
    from apportion.verbs import init as verbs

    target = call.folder or folder
    if schema:
        file = verbs.write_schema(target)
        return Answer(Sheet(f"Wrote {file}.", value={"files": [file]}))
    today = datetime.now().astimezone().date()
    name = target.absolute().name or "project"
    started = verbs.init(target, verbs.Wishes(name, today.replace(month=1, day=1), currency, time_zone))
    talk = (
        "Next: put a bill in FOCUS columns into bills/ and a usage log into usage/, uncomment their stanzas in apportion.toml, then run",
        f"  apportion --project {target} check",
    )
    value = {"folder": started.folder, "files": started.files}
    return Answer(Sheet(f"Started a project in {target.absolute()}: {', '.join(started.files)}.", value=value), talk)


def add_to(app: typer.Typer) -> None:
    verb(app, "init")(init)
