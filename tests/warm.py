"""`apportion` without its start: a process that has imported everything forks for each call, with the caller's terminal, folder and environment.

Pages and tutorials call the program hundreds of times, and most of each call would be imports. What starts cold is tested in tests/cli.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import socket
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOCKET = "APPORTION_WARM"
CLIENT = """#!{python} -IS
import array, json, os, socket, sys
with socket.socket(socket.AF_UNIX) as line:
    line.connect(os.environ["{socket}"])
    said = json.dumps([sys.argv, os.getcwd(), dict(os.environ)]).encode() + b"\\n"
    line.sendmsg([said[:1]], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [0, 1, 2]))])
    line.sendall(said[1:])
    sys.exit(int(line.makefile().readline() or 1))
"""


@cache
def environment() -> dict[str, str]:
    """What belongs in the environment of who calls `apportion`. The process is started once, and stopped with this one."""
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    place = Path(folder.name)
    client = place / "bin" / "apportion"
    client.parent.mkdir()
    client.write_text(CLIENT.format(python=sys.executable, socket=SOCKET), encoding="utf-8")
    client.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place / "socket"))
        listening.listen()
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm", str(listening.fileno())],
            pass_fds=[listening.fileno()],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
        )
    atexit.register(folder.cleanup)
    atexit.register(process.kill)
    return {
        SOCKET: str(place / "socket"),
        "PATH": f"{client.parent}:{Path(sys.executable).parent}:{os.environ['PATH']}",
    }


def serve(listening: socket.socket) -> None:
    import_all()
    while True:
        line, _ = listening.accept()
        if not os.fork():
            answer(line)
        line.close()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def import_all() -> None:
    """What commands import when they are called; Spark alone is left to those who ask for it."""
    package = importlib.import_module("apportion")
    names = [module.name for module in pkgutil.walk_packages(package.__path__, "apportion.")]
    for name in [*(name for name in names if "spark" not in name), "ibis.backends.duckdb"]:
        importlib.import_module(name)
    gc.freeze()  # what is shared by all calls is looked through by none


def answer(line: socket.socket) -> None:
    """The call is a process of its own, and this one tells its exit code."""
    first, files, _, _ = socket.recv_fds(line, 1, 3)
    arguments, folder, variables = json.loads(first + line.makefile("rb").readline())
    call = os.fork()
    if not call:
        for place, file in enumerate(files):
            os.dup2(file, place)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.argv = arguments
        os._exit(run())
    code = os.waitstatus_to_exitcode(os.waitpid(call, 0)[1])
    line.sendall(f"{code if code >= 0 else 128 - code}\n".encode())
    os._exit(0)


def run() -> int:
    """With streams of its own: those of this process know another terminal."""
    with open(0, closefd=False) as read, open(1, "w", closefd=False) as out, open(2, "w", closefd=False) as talk:
        sys.stdin, sys.stdout, sys.stderr = read, out, talk
        try:
            importlib.import_module("apportion.cli.main").main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
