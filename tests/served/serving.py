"""Servers as people start them: `apportion serve`, on a free port of loopback, in as many processes as asked for."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from tests.processes import PATIENCE_S, Process

PROGRAM = (sys.executable, "-c", "from apportion.cli.main import main; main()")
MANY = 300  # connections, until each process has taken one


@dataclass(frozen=True)
class Server:
    """`link` logs in once. `log` is all that it said, once it has ended."""

    process: Process[bytes]
    address: str
    link: str
    processes: int
    log: Path

    def client(self, key: str = "", token: str = "") -> httpx.Client:
        """One connection, kept; so always the same process."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        cookies = {"apportion": key} if key else {}
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1)
        return httpx.Client(
            base_url=self.address, headers=headers, cookies=cookies, limits=limits, timeout=PATIENCE_S, trust_env=False
        )

    @contextmanager
    def each(self, key: str = "") -> Iterator[list[httpx.Client]]:
        """One client for each process, by the connection that it took."""
        with ExitStack() as stack:
            found: dict[int, httpx.Client] = {}
            for _ in range(MANY):
                client = stack.enter_context(self.client(key))
                found.setdefault(answering(client), client)
                if len(found) == self.processes:
                    break
            assert len(found) == self.processes, "some process takes no connection"
            yield list(found.values())

    def pids(self) -> set[int]:
        """Its own and all that it started."""
        return {self.process.pid, *children(self.process.pid)}

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(PATIENCE_S)


@contextmanager
def served(folder: Path, processes: int = 1) -> Iterator[Server]:
    with start(folder, processes) as starting:
        yield starting.ready()


@dataclass(frozen=True)
class Starting:
    """A server that has not said yet where it is: several can start at once."""

    process: Process[bytes]
    processes: int
    log: Path

    def ready(self) -> Server:
        self.process.wait_until(self.opened, "it says where it is")
        found = self.opened()
        assert found
        return Server(self.process, found[1], found[2], self.processes, self.log)

    def opened(self) -> re.Match[str] | None:
        return re.search(r"Open (http://[^/]+)(/\S+)\n", self.log.read_text("utf-8"))


@contextmanager
def start(folder: Path, processes: int = 1) -> Iterator[Starting]:
    """What is left of it afterwards is killed."""
    command = [*PROGRAM, "--project", str(folder), "serve", "--port", "0", "--processes", str(processes)]
    log = folder / f"serve-{processes}-{os.urandom(3).hex()}.log"
    with log.open("w", encoding="utf-8") as said:
        process = Process(command, stderr=said)
    try:
        yield Starting(process, processes, log)
    finally:
        left = {process.pid, *children(process.pid)} if process.poll() is None else set()
        process.terminate()
        try:
            process.wait(PATIENCE_S)
        finally:
            for pid in left:
                kill(pid)


def kill(pid: int) -> None:
    try:
        os.kill(pid, 9)
    except ProcessLookupError:
        return


def children(pid: int) -> set[int]:
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue  # it has ended
        if parent == pid:
            found.add(int(stat.parent.name))
    return found


def answering(client: httpx.Client) -> int:
    """The process at the other end of a client's connection."""
    answer = client.get("/login")
    stream = answer.extensions["network_stream"]
    here, there = stream.get_extra_info("client_addr")[1], urlsplit(str(client.base_url)).port
    ends = f"0100007F:{there:04X}", f"0100007F:{here:04X}"
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    inode = next(row[9] for row in rows if (row[1], row[2]) == ends)
    for place in Path("/proc").glob("[0-9]*/fd/*"):
        try:
            if place.readlink().name == f"socket:[{inode}]":
                return int(place.parent.parent.name)
        except OSError:
            continue
    raise AssertionError("nobody has the other end")
