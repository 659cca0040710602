"""A server on loopback that behaves badly on request: what it does next is a list that the test fills."""

import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

ANSWER = b'{"value": 1.10, "text": "fine"}'


class Behaviour:
    """`faults` are used up one by one; then it answers well. `seen` keeps what it was asked."""

    def __init__(self) -> None:
        self.faults: list[str] = []
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        self.answer: Any = ANSWER  # bytes, a document, or a function of the path
        self.lock = threading.Lock()

    def answer_to(self, path: str) -> bytes:
        found = self.answer(path) if callable(self.answer) else self.answer
        return found if isinstance(found, bytes) else json.dumps(found).encode()

    def next_fault(self) -> str:
        with self.lock:
            return self.faults.pop(0) if self.faults else ""


def handler_of(behaviour: Behaviour) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - one method per fault
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def log_message(self, *_: object) -> None:
            return

        def do_GET(self) -> None:
            size = int(self.headers.get("content-length") or 0)
            behaviour.seen.append((self.command, self.path, dict(self.headers), self.rfile.read(size)))
            fault = behaviour.next_fault()
            getattr(self, f"fault_{fault.partition(' ')[0]}", self.well)(fault.partition(" ")[2])

        do_POST = do_GET  # noqa: N815 - the library's name

        def well(self, _: str) -> None:
            self.send(200, behaviour.answer_to(self.path))

        def send(self, status: int, body: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def fault_status(self, status: str) -> None:
            self.send(int(status), b"<html>no\n way</html>", retry_after="0")

        def fault_login(self, _: str) -> None:
            self.send(302, b"", location="https://login.example/?next=x")

        def fault_half(self, _: str) -> None:
            self.send_response(200)
            self.send_header("content-length", "1000")
            self.end_headers()
            self.wfile.write(ANSWER)
            self.close_connection = True

        def fault_slow(self, seconds: str) -> None:
            time.sleep(float(seconds))
            self.send(200, behaviour.answer_to(self.path))

        def fault_cut(self, _: str) -> None:
            self.connection.shutdown(socket.SHUT_RDWR)

        def fault_text(self, text: str) -> None:
            self.send(200, text.encode())

        def fault_packed(self, _: str) -> None:
            self.send(200, b"this is no gzip", content_encoding="gzip")

    return Handler


@contextmanager
def serving(context: ssl.SSLContext | None = None) -> Iterator[tuple[str, Behaviour]]:
    behaviour = Behaviour()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(behaviour))
    server.daemon_threads = True
    server.handle_error = lambda *_: None  # type: ignore[method-assign]  # clients that hang up are what we test
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if context else 'http'}://127.0.0.1:{server.server_address[1]}", behaviour
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
