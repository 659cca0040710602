"""`apportion export rules`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def rules(
    call: Call,
    to: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write them into; it is made.")],
) -> Answer:
    """Recording and alert rules for Prometheus.

    Name the files under `rule_files` of prometheus.yml. Bounds stand in the rules themselves: edit them there.
    """
    from apportion.integrations.prometheus.rules import RULES
    from apportion.integrations.writing import written

    del call  # the rules are the same for every project
    return Answer(talk=written(to, RULES))


def add_to(app: typer.Typer) -> None:
    verb(app, "rules", output=False)(rules)
