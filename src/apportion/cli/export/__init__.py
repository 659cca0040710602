"""`apportion export`: one file per format."""

import typer

from apportion.cli.export import datadog, excel, focus, grafana, journal, metrics, rules, tableau

FORMATS = (journal, focus, excel, tableau, datadog, metrics, rules, grafana)


def add_to(app: typer.Typer) -> None:
    group = typer.Typer(no_args_is_help=True, rich_markup_mode=None, help="Write a month for other programs.")
    for one in FORMATS:
        one.add_to(group)
    app.add_typer(group, name="export")
