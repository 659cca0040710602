"""`apportion report facets` and `apportion report runs`: what kind of work it was, and what a run of it cost."""

from enum import StrEnum
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call


class Facet(StrEnum):
    phase = "phase"
    framework = "framework"
    family = "family"
    model = "model"
    experiment = "experiment"
    trial = "trial"
    size = "size"
    outcome = "outcome"


class Unit(StrEnum):
    run = "run"
    team = "team"
    project = "project"
    phase = "phase"
    framework = "framework"
    family = "family"
    model = "model"
    experiment = "experiment"
    trial = "trial"
    size = "size"
    outcome = "outcome"


Work = Annotated[
    list[str] | None,
    typer.Option(
        metavar="DIMENSION=NAME",
        help="Only rows of that name, such as team=vision, or work of a facet, such as phase=training.",
    ),
]


def facets(
    call: Call,
    by: Annotated[
        Facet | None, typer.Option(help="The money by the values of one facet; all facets unless given.")
    ] = None,
    where: Work = None,
) -> Answer:
    """What kind of work the money went to, and how sure that is.

    For each facet the share of money and of runs that has it: stated by a label, known to a tracker, derived from images and commands, or guessed from names.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.facets import facets as look
    from apportion.verbs.report import posted_periods

    project = call.project()
    months = call.months(posted_periods(project))
    return Answer(report_sheet(look(project, months, by.value if by else "", where or ())))


def runs(call: Call, by: Annotated[Unit, typer.Option(help="What a row is.")] = Unit.run, where: Work = None) -> Answer:
    """What runs, experiments and trials cost, with what failed.

    Per run, per success with all that failed, per trial, and per token or sample where a tracker counts them.
    """
    from apportion.render.sheet import report_sheet
    from apportion.verbs.report import posted_periods
    from apportion.verbs.runs import runs as look

    project = call.project()
    return Answer(report_sheet(look(project, call.months(posted_periods(project)), by.value, where or ())))
