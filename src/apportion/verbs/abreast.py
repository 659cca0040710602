"""Work that goes abreast, in processes: what Python computes goes one at a time in any of them."""

import gc
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from multiprocessing import get_context
from typing import TypeVar

from apportion.render.statement.batch import be_worker, uninterrupted

Job = TypeVar("Job")
Made = TypeVar("Made")


def abreast(work: Callable[[Job], Made], jobs: Sequence[Job], workers: int) -> Iterator[tuple[int, Made]]:
    """What is made of each job, with its number, as it is ready. Not forked, since this process has threads."""
    pool = ProcessPoolExecutor(min(workers, len(jobs)), mp_context=get_context("spawn"), initializer=begin)
    try:
        with uninterrupted():
            futures = {pool.submit(partial(done, work), job): number for number, job in enumerate(jobs)}
        for made in as_completed(futures):
            yield futures[made], made.result()
    finally:
        pool.shutdown(cancel_futures=True)


def begin() -> None:
    """A job makes millions of small things that live until it ends: looking for garbage among them finds none and takes a fifth of its time."""
    be_worker()
    gc.disable()


def done(work: Callable[[Job], Made], job: Job) -> Made:
    made = work(job)
    gc.collect(0)  # of what the job left
    return made
