"""`apportion` and `pytest` without their start: a process that has imported everything forks for each call, with the caller's terminal, folder and environment.

Pages and tutorials call the program hundreds of times, and the runner starts a process for each block: most of a call would be imports.
What starts cold is tested in tests/cli.
"""

import atexit
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOCKET = "APPORTION_WARM"
PROGRAMS = ("apportion", "pytest")
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
    """What belongs in the environment of who calls the programs."""
    socket_file = os.environ.get(SOCKET) or started()
    programs = Path(socket_file).with_name("bin")
    return {SOCKET: socket_file, "PATH": f"{programs}:{Path(sys.executable).parent}:{os.environ['PATH']}"}


@cache
def started() -> str:
    """The socket of the process, which is stopped with this one."""
    folder = tempfile.TemporaryDirectory(prefix="warm-")
    place = Path(folder.name)
    (place / "bin").mkdir()
    for program in (place / "bin" / name for name in PROGRAMS):
        program.write_text(CLIENT.format(python=sys.executable, socket=SOCKET), encoding="utf-8")
        program.chmod(0o755)
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
    return str(place / "socket")


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
    """What commands and tests import when they are called; Spark is left to those who ask for it, and Airflow is not here."""
    package = importlib.import_module("apportion")
    names = [module.name for module in pkgutil.walk_packages(package.__path__, "apportion.")]
    left_out = ("spark", "integrations.airflow")
    wanted = [name for name in names if not any(part in name for part in left_out)]
    for name in [*wanted, "ibis.backends.duckdb"]:
        importlib.import_module(name)
    read_constants()
    gc.freeze()  # what is shared by all calls is looked through by none


def read_constants() -> None:
    """Hypothesis reads what is written in all that is imported before its first search; its plug-in for pytest wants to come before that."""
    importlib.import_module("_hypothesis_pytestplugin")
    hypothesis = importlib.import_module("hypothesis")
    with warnings.catch_warnings(action="ignore"):  # it would rather do so later
        hypothesis.given(hypothesis.strategies.integers())(lambda _: None)()


def answer(line: socket.socket) -> None:
    """The call is a process of its own, and this one tells its exit code. Tests whose caller is gone are ended, with what they started."""
    first, files, _, _ = socket.recv_fds(line, 1, 3)
    arguments, folder, variables = json.loads(first + line.makefile("rb").readline())
    call = os.fork()
    is_pytest = Path(arguments[0]).name == "pytest"
    if not call:
        if is_pytest:
            os.setsid()
        for place, file in enumerate(files):
            os.dup2(file, place)
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        sys.argv = arguments
        code = run()
        if is_pytest:
            atexit._run_exitfuncs()  # what tests leave to the end of their process
        os._exit(code)
    if is_pytest:
        threading.Thread(target=end_with, args=(line, call), daemon=True).start()
    code = os.waitstatus_to_exitcode(os.waitpid(call, 0)[1])
    line.sendall(f"{code if code >= 0 else 128 - code}\n".encode())
    os._exit(0)


def end_with(line: socket.socket, call: int) -> None:
    if not line.recv(1):
        with suppress(ProcessLookupError):
            os.killpg(call, signal.SIGKILL)


def run() -> int:
    """With streams of its own: those of this process know another terminal."""
    with open(0, closefd=False) as read, open(1, "w", closefd=False) as out, open(2, "w", closefd=False) as talk:
        sys.stdin, sys.stdout, sys.stderr = read, out, talk
        try:
            if Path(sys.argv[0]).name == "pytest":
                return int(importlib.import_module("pytest").main(sys.argv[1:]))
            importlib.import_module("apportion.cli.main").main()
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
