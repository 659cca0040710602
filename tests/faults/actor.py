"""A process that has imported everything once and forks an actor for each telling of a story, so that a telling costs no start-up.

It reads `story, folder, url` per line. The actor waits until a file says that it is being traced, then tells the story. Its process id
and how it ended are answered in a line each.
"""

import ctypes
import importlib
import os
import sys
import time
import traceback
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any

from pyiceberg.utils.concurrent import ExecutorFactory

from apportion.errors import BooksError, ProjectError
from tests.faults.story import STORIES, Stage, UnheardError

LATER = (
    "apportion.render.statement.csv",
    "ibis.backends.duckdb",
    "pyarrow.acero",
    "pyarrow.dataset",
    "pyiceberg.avro.decoder_fast",
    "rich.table",
    "sqlalchemy.dialects.sqlite",
)
LET_ANYONE_TRACE, ANYONE = 0x59616D61, -1
DONE, REFUSED, UNHEARD, BROKE = 0, 3, 4, 5


class AtOnce(Executor):
    """All system calls in one thread: strace counts them thread by thread, and the count must be the same every time."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> "Future[Any]":
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - as a pool of threads does
            future.set_exception(error)
        return future


def act(story: str, stage: Stage) -> int:
    ExecutorFactory._instance = AtOnce()
    ctypes.CDLL(None).prctl(LET_ANYONE_TRACE, ctypes.c_ulong(ANYONE), 0, 0, 0)
    (stage.folder / "ready").touch()
    while not (stage.folder / "go").exists():
        time.sleep(0.002)
    try:
        STORIES[story](stage)
    except BooksError as error:
        return REFUSED if error.code in ("database-failed", "warehouse-failed") else broke()
    except UnheardError:
        return UNHEARD
    except OSError:
        return REFUSED  # which the command line says in words
    except ProjectError as error:
        return REFUSED if isinstance(error.__cause__, OSError) else broke()
    except Exception:  # noqa: BLE001 - whatever it was, the test must hear of it
        return broke()
    return DONE


def broke() -> int:
    """Its words are shown where the test fails."""
    traceback.print_exc()
    return BROKE


def main() -> None:
    for name in LATER:  # which each telling would import for itself
        importlib.import_module(name)
    print("imported", flush=True)
    for line in sys.stdin:
        story, folder, url = line.rstrip("\n").split("\t")
        child = os.fork()
        if child == 0:
            code = BROKE
            try:
                code = act(story, Stage(Path(folder), url))
            finally:
                os._exit(code)
        print(child, flush=True)
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)


if __name__ == "__main__":
    main()
