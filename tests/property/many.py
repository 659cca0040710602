"""Many worlds at once, of every size, on two processes."""

import multiprocessing
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor

from tests.property.hunt import SHOWN, Tally, differs
from tests.property.worlds import world

SIZES = (3, 3, 2, 1)
WORKERS, CHUNK = 2, 50


def report(seed: int) -> str:
    """Empty where engine and oracle agree."""
    one = world(seed, SIZES[seed % len(SIZES)])
    found = differs(one)
    return "\n".join([*found[:SHOWN], f"{len(found)} differences in", str(one)]) if found else ""


def reports(seeds: Iterable[int]) -> Iterator[str]:
    with ProcessPoolExecutor(WORKERS, multiprocessing.get_context("spawn")) as workers:
        yield from workers.map(report, seeds, chunksize=CHUNK)


def compare_many(first: int, count: int) -> tuple[Tally, str]:
    """The tally, and what is said of the first world that differs."""
    tally, said = Tally(), ""
    for seed, text in zip(range(first, first + count), reports(range(first, first + count)), strict=True):
        tally.add(seed, differs=bool(text))
        said = said or text
    return tally, said
