"""`apportion mcp`."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from apportion.cli.verb import Answer, Call, verb
from apportion.errors import ProjectError

if TYPE_CHECKING:
    from collections.abc import Callable

    from apportion.client.client import Client

TOKEN = "APPORTION_TOKEN"  # noqa: S105 - where it is, not what it is


def mcp(
    call: Call,
    url: Annotated[
        str, typer.Option(metavar="URL", help=f"Ask this server, with the token in ${TOKEN}; its roles hold.")
    ] = "",
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="Without --url: as viewer, lead, finance or admin.")
    ] = "admin",
    team: Annotated[
        list[str] | None, typer.Option(metavar="TEAM", help="A team that a viewer or lead may see; repeat it.")
    ] = None,
) -> Answer:
    """Answer an assistant by MCP, on stdin and stdout.

    The read verbs as tools of the Model Context Protocol; nothing is changed. Of this project, or of a server.
    """
    serve = server()
    serve(served(url) if url else local(call, role, tuple(team or ())))
    return Answer()


def served(url: str) -> "Client":
    from apportion.client.client import Client

    token = os.environ.get(TOKEN, "")
    if not token:
        raise ProjectError(
            "no-token", f"{TOKEN} is not set", hint="make one with `apportion token new`, and set it for this program"
        )
    return Client(url, token)


def local(call: Call, role: str, teams: tuple[str, ...]) -> "Client":
    from apportion.books.doors import Person
    from apportion.web.door.granting import Wanted, at_the_terminal, granted
    from apportion.web.inside import client_inside, reading_as

    project, me = call.project(), at_the_terminal()
    grant = granted(me, Wanted("mcp", role, teams), {*project.policy.teams, *project.books.teams()})
    return client_inside(project.folder, reading_as(Person(me.name, grant.role, grant.teams, me.by)))


def server() -> "Callable[[Client], None]":
    try:
        from apportion.integrations.mcp.server import serve
    except ImportError as error:
        raise ProjectError(
            "mcp-missing",
            f"an assistant asks, and the Python package that it is answered by is not installed ({error})",
            hint='pip install "apportion[mcp]"',
        ) from error
    return serve


def add_to(app: typer.Typer) -> None:
    verb(app, "mcp", output=False)(mcp)
