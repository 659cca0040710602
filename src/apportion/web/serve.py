"""Starts the server and says where it is."""

import os
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

import uvicorn
from uvicorn.config import LOGGING_CONFIG

from apportion.errors import ProjectError
from apportion.verbs import logs
from apportion.verbs.project import Project
from apportion.verbs.web_settings import Web, is_loopback
from apportion.web.app import FOLDER
from apportion.web.door.link import LINK, new_link

BUSY_S = 120  # a process that computes a large month answers late, and is no reason to kill it with all its requests


def serve(project: Project, host: str, port: int, processes: int, say: Callable[[str], None]) -> None:
    web = project.settings.web
    check_place(web, host)
    found = bound(host, port)
    number = found.getsockname()[1]
    os.environ[FOLDER] = str(project.folder.absolute())
    address = web.address or f"http://{f'[{host}]' if ':' in host else host}:{number}"
    say(f"Open {new_link(project.books.doors, address)}" if web.login == LINK else f"Open {address}")
    settings = uvicorn.Config(
        "apportion.web.app:served",
        factory=True,
        workers=processes,
        log_level="warning",
        log_config=None if logs.form() else LOGGING_CONFIG,  # ours is for all
        server_header=False,
        proxy_headers=False,  # whose word counts says [web.proxy]
        fd=found.fileno(),
        timeout_worker_healthcheck=BUSY_S,
    )
    if processes > 1:
        from uvicorn.supervisors import Multiprocess  # noqa: PLC0415  # only where there are several

        Multiprocess(settings, sockets=[found]).run()
    else:
        uvicorn.Server(settings).run(sockets=[found])


def check_place(web: Web, host: str) -> None:
    """A link is for whoever sits at this machine; others have to say who they are, at an address that we know."""
    named = urlsplit(web.address).hostname or host
    if web.login == LINK and not (is_loopback(host) and is_loopback(named)):
        raise ProjectError(
            "no-login",
            f"{web.address or host} can be reached by others, and [web] does not say how they log in",
            hint='set login = "oidc" or "proxy" under [web], or serve on 127.0.0.1',
        )
    if not is_loopback(host) and not web.address:
        raise ProjectError(
            "no-address",
            f"{host} can be reached by others, and nothing says under which name",
            hint='set address = "https://..." under [web]: links and logins lead there',
        )
    if web.login == "oidc" and web.oidc:
        web.oidc.secret()  # refuses here rather than in each process


def bound(host: str, port: int) -> socket.socket:
    try:
        return socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=256
        )
    except OSError as error:
        raise ProjectError(
            "cannot-listen",
            f"{host}:{port} cannot be listened on: {error.strerror}",
            hint="give another --host or --port",
        ) from error
