"""Work that goes abreast, in processes: what Python computes goes one at a time in any of them."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import TypeVar

from apportion.render.statement.batch import be_worker, uninterrupted

Job = TypeVar("Job")
Made = TypeVar("Made")


def abreast(work: Callable[[Job], Made], jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, Made]]:
    """What is made of each job, with its number, as it is ready. Not forked, since this process has threads."""
    pool = ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn"), initializer=be_worker)
    try:
        with uninterrupted():
            futures = {pool.submit(work, job): number for number, job in enumerate(jobs)}
        for made in as_completed(futures):
            yield futures[made], made.result()
    finally:
        pool.shutdown(cancel_futures=True)
