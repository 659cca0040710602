"""How verbs tell a face how far they are. They never print."""

from collections.abc import Callable
from dataclasses import dataclass

Step = Callable[[str, int, int], None]


def silent(what: str, done: int = 0, total: int = 0) -> None:
    del what, done, total


@dataclass(slots=True)
class Progress:
    """Counts the steps, and tells of each as it begins."""

    step: Step
    whole: int
    done: int = 0

    def __call__(self, what: str, steps: int = 1) -> None:
        self.step(what, self.done, self.whole)
        self.done += steps
