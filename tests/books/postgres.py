"""A PostgreSQL of the tests' own: a fresh cluster in a folder of its own, reached through a socket in that folder."""

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from tests import processes


def programs() -> Path | None:
    """Debian keeps the server's programs off PATH."""
    found = shutil.which("initdb")
    places = [Path(found).parent] if found else sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    return next((place for place in reversed(places) if (place / "initdb").exists()), None)


def server_user() -> str | None:
    """PostgreSQL refuses to run as root. None: as whoever runs the tests."""
    return None if os.geteuid() else "postgres"


def cannot_start() -> str:
    """Why there will be no server, or nothing."""
    if programs() is None:
        return "no PostgreSQL server is installed"
    user = server_user()
    if user and not any(entry.pw_name == user for entry in pwd.getpwall()):
        return f"no PostgreSQL user {user} to run the server as"
    return ""


def memory() -> str | None:
    """A database per test is 8 MB each: quicker in memory, where there is plenty."""
    shared = Path("/dev/shm")
    return str(shared) if shared.is_dir() and shutil.disk_usage(shared).free > 4 * 2**30 else None


@contextmanager
def server() -> Iterator[Path]:
    """The folder of its socket."""
    folder, places, user = Path(tempfile.mkdtemp(prefix="apportion-pg-", dir=memory())), programs(), server_user()
    assert places is not None
    if user:
        shutil.chown(folder, user)

    def call(program: str, *arguments: str) -> None:
        command = [str(places / program), *arguments]
        processes.run(["runuser", "-u", user, "--", *command] if user else command, check=True, cwd=folder)

    try:
        call(
            "initdb",
            "-D",
            str(folder / "data"),
            "-U",
            "apportion",
            "-A",
            "trust",
            "-E",
            "UTF8",
            "--locale=C",
            "--no-sync",
        )
        options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c max_connections=200 -c fsync=off"
        call("pg_ctl", "-D", str(folder / "data"), "-w", "-l", str(folder / "log"), "-o", options, "start")
        try:
            yield folder
        finally:
            call("pg_ctl", "-D", str(folder / "data"), "-w", "-m", "immediate", "stop")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def new_database(folder: Path, name: str, template: str = "template0") -> str:
    with psycopg.connect(f"host={folder} user=apportion dbname=postgres", autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
    return f"postgresql+psycopg://apportion@/{name}?host={folder}"
