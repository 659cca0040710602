"""Statements of a whole organisation into a folder: in parallel, each file whole or not there at all."""

import os
import re
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from hashlib import sha256
from multiprocessing import connection, get_context, parent_process
from pathlib import Path
from threading import Thread

from apportion.books.drafts import draft, make_folder, sync_folder
from apportion.errors import require_equal
from apportion.render.statement import render
from apportion.reports.statement.shape import Statement

Step = Callable[[str, int, int], None]
FEW = 8  # so many are rendered here before workers would have started
SLUG, UNSAFE = 60, re.compile(r"[^a-z0-9._-]+")


def render_all(statements: Sequence[Statement], form: str, folder: Path, step: Step) -> list[Path]:
    """Paths in the order of the statements. An interrupt stops the workers after the files that they are at."""
    paths = [folder / file_name(statement, form) for statement in statements]
    require_equal("different names of files", len(paths), len(set(paths)))
    make_folder(folder.absolute())
    jobs = [(statement, form, path) for statement, path in zip(statements, paths, strict=True)]
    what, total = f"printing statements ({form})", len(jobs)
    for done, _ in enumerate(map(write, jobs) if total <= FEW else by_workers(jobs), start=1):
        step(what, done, total)
    sync_folder(folder)
    return paths


def by_workers(jobs: Iterable[tuple[Statement, str, Path]]) -> Iterable[Path]:
    """Processes: typst in threads of one process is no quicker than alone. Not forked, since this process has threads."""
    pool = ProcessPoolExecutor(len(os.sched_getaffinity(0)), mp_context=get_context("spawn"), initializer=be_worker)
    try:
        with uninterrupted():
            futures = [pool.submit(write, job) for job in jobs]
        for made in as_completed(futures):
            yield made.result()
    finally:
        pool.shutdown(cancel_futures=True)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Workers inherit that they take no interrupt: it is the parent's to handle, who gets it when this is over."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def be_worker() -> None:
    os.environ["RAYON_NUM_THREADS"] = "1"  # a worker is one thread of the whole
    Thread(target=leave_with_parent, daemon=True).start()


def leave_with_parent() -> None:
    """Nobody waits for the work of a parent that is gone."""
    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def write(job: tuple[Statement, str, Path]) -> Path:
    """Under another name first, and on the disk before it gets its own."""
    statement, form, path = job
    made = render(statement, form)
    with draft(path) as drafted:
        drafted.file.write(made)
        drafted.sync()
        drafted.name()
    return path


def file_name(statement: Statement, form: str) -> str:
    """`2026-10-team-vision-USD.pdf`. Where a name does not fit a file, a digest keeps it apart from others that look alike."""
    safe = UNSAFE.sub("-", statement.owner.lower())[:SLUG].strip("-.") or "unnamed"
    digest = "" if safe == statement.owner else f"-{sha256(statement.owner.encode()).hexdigest()[:8]}"
    period, level, currency = (
        UNSAFE.sub("-", text.lower()) for text in (statement.period, statement.level, statement.currency)
    )
    return f"{period}-{level}-{safe}{digest}-{currency.upper()}.{form}"
