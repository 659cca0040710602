"""Starts the server and says where it is."""

import ipaddress
import os
import socket
from collections.abc import Callable

import uvicorn

from apportion.errors import ProjectError
from apportion.verbs.project import Project
from apportion.web.app import FOLDER
from apportion.web.door.link import new_link


def serve(project: Project, host: str, port: int, processes: int, say: Callable[[str], None]) -> None:
    found = bound(host, port)
    number = found.getsockname()[1]
    os.environ[FOLDER] = str(project.folder.absolute())
    address = f"http://{f'[{host}]' if ':' in host else host}:{number}"
    say(f"Open {new_link(project.books.doors, address)}" if is_loopback(host) else f"Serving {address}")
    settings = uvicorn.Config(
        "apportion.web.app:served",
        factory=True,
        workers=processes,
        log_level="warning",
        server_header=False,
        fd=found.fileno(),
    )
    if processes > 1:
        from uvicorn.supervisors import Multiprocess  # noqa: PLC0415  # only where there are several

        Multiprocess(settings, sockets=[found]).run()
    else:
        uvicorn.Server(settings).run(sockets=[found])


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


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
