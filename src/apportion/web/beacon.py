"""How `apportion schedule` tells whether it is well: two paths for probes, without a login and without a word of the project."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import IPv4Address
from threading import Thread

from apportion.errors import ProjectError
from apportion.verbs.schedule import Schedule

LIVE, READY = "/livez", "/readyz"
HIGHEST_PORT = 65_535


@contextmanager
def beacon(schedule: Schedule, place: str) -> Iterator[str]:
    """At `HOST:PORT`, while the schedule goes on; the address that it listens at."""
    host, port = place_of(place)

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.partition("?")[0]
            if path not in (LIVE, READY):
                self.answer(404, {"status": "not there"})
            elif path == LIVE:
                self.answer(200, {"status": "ok"})
            else:
                self.answer(200 if schedule.is_well else 503, schedule.told())

        def answer(self, status: int, said: dict[str, object]) -> None:
            body = json.dumps(said).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Probes come every few seconds."""

    try:
        server = ThreadingHTTPServer((host, port), Answering)
    except OSError as error:
        raise ProjectError(
            "cannot-listen", f"{place} cannot be listened on: {error.strerror}", hint="give another --listen HOST:PORT"
        ) from error
    with server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://{host}:{server.server_port}"
        server.shutdown()


def place_of(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not is_ipv4(host) or not port.isdecimal() or int(port) > HIGHEST_PORT:
        hint = "write it as 127.0.0.1:8766; port 0 takes a free one"
        raise ProjectError("cannot-listen", f"{text!r} is no address to listen on", hint=hint)
    return host, int(port)


def is_ipv4(host: str) -> bool:
    try:
        return bool(IPv4Address(host))
    except ValueError:
        return False
