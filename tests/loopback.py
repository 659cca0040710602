"""Ports of loopback for the tests, and servers on them for as long as a test lasts."""

import fcntl
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

PORTS = range(20_000, 30_000)  # below those that systems hand out to whoever calls somebody
_locks: list[int] = []


def free_port() -> int:
    """For a program that must be told its port. Nobody takes it in between: the system hands out others, and other tests see the lock.

    The lock goes with this process.
    """
    folder = Path(tempfile.gettempdir(), "apportion-test-ports")
    folder.mkdir(exist_ok=True)
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        lock = os.open(folder / str(port), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if is_ours(lock, port):
            _locks.append(lock)
            return port
        os.close(lock)
    raise AssertionError("no port of loopback is free")


def is_ours(lock: int, port: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with socket.create_server(("127.0.0.1", port)):
            return True
    except OSError:
        return False


def answers(port: int) -> bool:
    """Whether somebody listens."""
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def listening(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
