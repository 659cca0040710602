"""`apportion prices`."""

from dataclasses import dataclass
from typing import Annotated

import typer

from apportion.cli.verb import Answer, Call, verb


@dataclass(frozen=True, slots=True)
class Options:
    days: Annotated[int, typer.Option(metavar="N", help="How many days.")] = 7
    first: Annotated[str, typer.Option("--from", metavar="DAY", help="The first of them; today unless given.")] = ""
    pool: Annotated[str, typer.Option(metavar="POOL", help="Only this pool.")] = ""
    team: Annotated[str, typer.Option(metavar="TEAM", help="With the discounts that only this team has.")] = ""


def prices(call: Call, options: Options) -> Answer:
    """Say what an hour will cost in the coming days.

    Price lists, times of use and discounts as the policy has them; other pools as such hours came to in the last month that is settled.
    """
    from dataclasses import asdict

    from apportion.render.sheet import report_sheet
    from apportion.verbs.prices import Wish
    from apportion.verbs.prices import prices as ask

    return Answer(report_sheet(ask(call.project(), Wish(**asdict(options)), call.bar)))


def add_to(app: typer.Typer) -> None:
    verb(app, "prices", engine=True)(prices)
