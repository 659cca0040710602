"""Rows that were not taken as they are, on their way to becoming Problems: all are counted, the first thousand of a kind are listed."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from apportion.errors import Problem

LISTED = 1000  # of each code and file; the rest is one Problem with their number


@dataclass
class Marks:
    """What was found in one file."""

    name: str
    where: Callable[[int], str]
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, rows: Iterable[int], code: str, message: str | Callable[[int], str]) -> None:
        for row in rows:
            self.counts[code] += 1
            if self.counts[code] <= LISTED:
                self.problems.append(
                    Problem(self.where(row), code, message if isinstance(message, str) else message(row))
                )

    def add_bad(self, bad: Mapping[int, str], message: Callable[[int], str], first: int = 0) -> None:
        """The bad rows of a parsed column, `first` being the row on which its block begins."""
        for row, code in bad.items():
            self.add([first + row], code, message(row))

    def note(self, code: str, message: str, where: str = "") -> None:
        """Something about the file as a whole."""
        self.problems.append(Problem(where or self.name, code, message))

    def listed(self) -> list[Problem]:
        rest = [
            Problem(self.name, code, f"and {count - LISTED} more rows with the same fault", row=f"+{count - LISTED}")
            for code, count in sorted(self.counts.items())
            if count > LISTED
        ]
        return [*self.problems, *rest]
