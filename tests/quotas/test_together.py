"""Many at once, on both databases: a hard limit is never promised twice, and every reservation is kept once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import apportion
from apportion.books.pledges import RESERVE, VOID, Entry, Pledge
from apportion.verbs.project import Project
from apportion.verbs.reserve import Wish, reserve
from tests.books.conftest import Place
from tests.quotas.world import HELD, NOW_S, TODAY

WRITERS, EACH, LIMIT = 6, 5, 100


def test_no_two_take_the_same_hours(made_place: Place) -> None:
    def worker(number: int) -> int:
        books, taken = made_place.open(create=False), 0
        for turn in range(EACH):

            def decide(known: Sequence[Pledge], job: str = f"{number}.{turn}") -> list[Entry]:
                there = sum(one.begun.amount for one in known if one.is_open)
                fits = there + 7 <= LIMIT
                return (
                    [Entry(RESERVE, Decimal(7), team="vision", what="gpu", unit="GPU-hours", job=job)] if fits else []
                )

            before = len(books.pledges.add(decide))
            taken += any(one.begun.job == f"{number}.{turn}" for one in books.pledges.all())
            assert before
        return taken

    with ThreadPoolExecutor(WRITERS) as pool:
        taken = sum(pool.map(worker, range(WRITERS)))
    books = made_place.open(create=False)
    known = books.pledges.all()
    assert taken == len(known) == LIMIT // 7
    assert [one.number for one in known] == list(range(1, len(known) + 1))
    books.pledges.add(lambda known: [Entry(VOID, Decimal(0), about=known[0].number)])
    assert books.verify() == []


def test_by_the_verb_too(project: Project) -> None:
    """Each asks for 11 of the 52 hours that are left, some of them twice."""
    folder = project.folder

    def worker(number: int) -> bool:
        project = apportion.open_project(folder)
        return bool(reserve(project, Wish("vision", "11", f"job-{number // 2}"), TODAY, NOW_S).pledges)

    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(worker, range(14)))
    known = apportion.open_project(folder).books.pledges.all()
    assert len(known) == (100 - HELD) // 11
    assert sum(made) == 2 * len(known)
