"""Processes that migrate the books of an earlier schema: killed before some thing they say to the database, or all at once.

Run as a script, because it forks: `python -m tests.books.killed URL OTHER-URL FOLDER`; prints what it found as JSON.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from sqlalchemy import event, inspect, select

from apportion.books import record
from apportion.books.database import connect, reading
from apportion.books.evolve import current_schema, evolve_record, schema_of
from apportion.books.locks import Locks

PROCESSES = 4
STRIDE = 5  # every place would be better, and takes five times as long


def migrate(url: str, folder: Path, deadly: int = 0) -> None:
    """Until the `deadly`th statement, counting the commits."""
    engine = connect(url)
    said = 0

    def count(*_: object) -> None:
        nonlocal said
        said += 1
        if said == deadly:
            os.kill(os.getpid(), signal.SIGKILL)

    event.listen(engine, "before_cursor_execute", count)
    event.listen(engine, "commit", count)
    evolve_record(engine, Locks(engine, folder if engine.dialect.name == "sqlite" else None))


def forked(work: Callable[[], None]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        work()
    except BaseException:  # noqa: BLE001 - a child never returns
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    os._exit(0)


def state(url: str) -> tuple[int, int]:
    """The schema, and how many tables there are."""
    engine = connect(url)
    with reading(engine) as connection:
        found = schema_of(connection), len(inspect(connection).get_table_names())
    engine.dispose()
    return found


def killed_often(url: str, folder: Path) -> dict[str, object]:
    before = state(url)
    kills = 0
    while state(url)[0] < current_schema():
        deadly = STRIDE * kills + 1
        _, status = os.waitpid(forked(partial(migrate, url, folder, deadly)), 0)
        if not os.WIFSIGNALED(status):
            return {"kills": kills, "ended": os.waitstatus_to_exitcode(status), "schema": state(url)[0]}
        if state(url)[0] < current_schema() and state(url) != before:
            return {"kills": kills, "half": state(url)}
        kills += 1
    return {"kills": kills, "schema": state(url)[0]}


def together(url: str, folder: Path) -> dict[str, object]:
    waiting, go = os.pipe()

    def work() -> None:
        os.close(go)
        os.read(waiting, 1)  # ends for all at once, when the other side is closed
        migrate(url, folder)

    children = [forked(work) for _ in range(PROCESSES)]
    os.close(go)
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    engine = connect(url)
    with reading(engine) as connection:
        notes = connection.scalars(select(record.audit.c.detail).where(record.audit.c.what == "evolve")).all()
    engine.dispose()
    return {"codes": codes, "notes": list(notes), "schema": state(url)[0]}


if __name__ == "__main__":
    one, other, folder = sys.argv[1:]
    print(json.dumps({"often": killed_often(one, Path(folder)), "together": together(other, Path(folder))}))
