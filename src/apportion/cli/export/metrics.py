"""`apportion export metrics`."""

from pathlib import Path
from typing import Annotated

import typer

from apportion import __version__
from apportion.cli.verb import Answer, Call, verb

OPENMETRICS = "application/openmetrics-text; version=1.0.0"


def metrics(
    call: Call,
    to: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to write them; to the screen unless given.")
    ] = None,
    openmetrics: Annotated[
        bool, typer.Option("--openmetrics", help="As OpenMetrics instead of Prometheus' own text.")
    ] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Look through the whole ledger, too, and say how much is wrong with it.")
    ] = False,
) -> Answer:
    """Prices, costs, quotas and freshness as Prometheus reads them.

    For the textfile collector of node_exporter, from cron: the file is there whole or not at all. A server that runs answers the same at /metrics.
    """
    from apportion.render.exposition import exposed, library
    from apportion.verbs.files import put
    from apportion.verbs.metrics import metrics as make

    library()  # refuses before anything is computed
    made = make(call.project(), __version__, call.bar, verify=verify)
    text, _ = exposed(made, OPENMETRICS if openmetrics else "")
    if to is None:
        return Answer(text=text.decode())
    put(to, text)
    return Answer(talk=(f"{sum(len(one.samples) for one in made)} samples in {to}",))


def add_to(app: typer.Typer) -> None:
    verb(app, "metrics", output=False)(metrics)
