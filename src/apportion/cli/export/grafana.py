"""`apportion export grafana`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


def grafana(
    call: Call,
    to: Annotated[Path, typer.Option(metavar="DIR", help="The folder to write them into; it is made.")],
    currency: Annotated[str, typer.Option(metavar="CODE", help="Of this currency; the policy's unless given.")] = "",
    pages: Annotated[
        str,
        typer.Option(
            metavar="URL",
            help="Where the pages are, to which dashboards lead; [web] address unless --currency is given.",
        ),
    ] = "",
) -> Answer:
    """Dashboards for Grafana, and the files that provision them.

    `dashboards/` are for people to look at, `provisioning/` says where they and their data sources are: edit the addresses in it. Names of teams and
    pools come from the data. Amounts of different currencies are never added, so that a dashboard is of one.
    """
    from apportion.integrations.grafana.files import files
    from apportion.integrations.writing import written

    if not currency:
        project = call.project()
        currency, pages = project.policy.currency, pages or project.settings.web.address
    return Answer(talk=written(to, files(currency, pages.rstrip("/"))))


def add_to(app: typer.Typer) -> None:
    verb(app, "grafana", output=False)(grafana)
