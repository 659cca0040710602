"""What could not be taken as it is, by job: all are counted, the first thousand of a kind are listed."""

from collections import Counter
from dataclasses import dataclass, field, replace

from apportion.errors import Problem

LISTED = 1000


@dataclass(frozen=True, slots=True)
class Faults:
    """`name` is the output that was read; `of` gives the same list another name."""

    name: str
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def of(self, name: str) -> "Faults":
        return replace(self, name=name)

    def note(self, code: str, message: str) -> None:
        """Something about the whole."""
        self.problems.append(Problem(self.name, code, message))

    def job(self, job: str, code: str, message: str) -> None:
        self.counts[code] += 1
        if self.counts[code] <= LISTED:
            self.problems.append(Problem(f"{self.name}, job {job}", code, message))

    def listed(self) -> tuple[Problem, ...]:
        rest = [
            Problem(self.name, code, f"and {count - LISTED} more jobs with the same fault", row=f"+{count - LISTED}")
            for code, count in sorted(self.counts.items())
            if count > LISTED
        ]
        return (*self.problems, *rest)
