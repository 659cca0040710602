"""Looking at the whole ledger again takes its time: it is done beside the pages, once at a time, and what it said last is kept."""

import threading
import time
from dataclasses import dataclass

from apportion.books.open import Books
from apportion.books.shapes import Damage
from apportion.errors import ApportionError


@dataclass(frozen=True, slots=True)
class Verified:
    """`links` is how long the chain was; with no findings all of it is as it was recorded. `failed`: it could not be told."""

    at_s: int
    who: str
    head: str
    links: int
    findings: tuple[Damage, ...]
    failed: str = ""


class Verifying:
    def __init__(self) -> None:
        self.last: Verified | None = None
        self._lock = threading.Lock()
        self._running: threading.Thread | None = None

    @property
    def is_running(self) -> bool:
        return self._running is not None and self._running.is_alive()

    def start(self, books: Books, who: str) -> None:
        """Nothing more where it runs already."""
        with self._lock:
            if not self.is_running:
                self._running = threading.Thread(target=self._look, args=(books, who), daemon=True)
                self._running.start()

    def wait(self) -> None:
        if self._running is not None:
            self._running.join()

    def _look(self, books: Books, who: str) -> None:
        chain = books.browse.chain()
        try:
            findings, failed = tuple(books.verify(chain.head or None)), ""
        except ApportionError as error:
            findings, failed = (), error.message
        self.last = Verified(int(time.time()), who, chain.head, chain.links, findings, failed)
