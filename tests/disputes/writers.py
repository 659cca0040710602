"""What the processes of the concurrency test do. Imported by each of them."""

import traceback
from typing import TYPE_CHECKING

from apportion.books.open import Run, open_books
from apportion.books.shapes import DisputeNote, Transfer
from apportion.errors import ApportionError

if TYPE_CHECKING:
    from multiprocessing.queues import Queue


def settle(url: str, warehouse: str, outcome: str, made: tuple[Transfer, Run], answers: "Queue[str]") -> None:
    """Dispute 1: how it ended for this one, or the code of what refused it."""
    try:
        books = open_books(url, warehouse)
        done, _ = books.settle(1, DisputeNote(0, "", outcome, "agreed"), made if outcome == "credited" else None)
        books.close()
        answers.put(done.status)
    except ApportionError as error:
        answers.put(error.code)
    except BaseException:  # noqa: BLE001 - whatever it was, the test must hear of it
        answers.put(traceback.format_exc())
