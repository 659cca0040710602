"""What could not be taken as it is, by job: all are counted, the first thousand of a kind are listed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from apportion.errors import Problem

LISTED = 1000
NOTHING: Mapping[str, int] = {}


@dataclass(frozen=True, slots=True)
class Faults:
    """`name` is the output that was read; `of` gives the same list another name."""

    name: str
    problems: list[Problem] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    beyond: Counter[tuple[str, str]] = field(default_factory=Counter)  # those after the thousand, by code and month
    unlisted: Counter[tuple[str, str, str]] = field(default_factory=Counter)  # what they held, by code, month and meter

    def of(self, name: str) -> "Faults":
        return replace(self, name=name)

    def note(self, code: str, message: str) -> None:
        """Something about the whole."""
        self.problems.append(Problem(self.name, code, message))

    def job(self, job: str, code: str, message: str, held: Mapping[str, int] = NOTHING, at: str = "") -> None:
        """`held` is what it is about: base units by meter, times seconds of a level. `at` says when, as a problem does."""
        self.counts[code] += 1
        if self.counts[code] <= LISTED:
            self.problems.extend(measured(Problem(f"{self.name}, job {job}", code, message, at=at), held))
        else:
            self.beyond[code, at] += 1
            self.unlisted.update({(code, at, meter): quantity for meter, quantity in held.items()})

    def listed(self) -> tuple[Problem, ...]:
        rest: list[Problem] = []
        for (code, at), more in sorted(self.beyond.items()):
            held = {
                meter: quantity for (own, month, meter), quantity in self.unlisted.items() if (own, month) == (code, at)
            }
            message = f"and {more} more jobs with the same fault"
            rest.extend(measured(Problem(self.name, code, message, row=f"+{more}", at=at), held))
        return (*self.problems, *rest)


def measured(problem: Problem, held: Mapping[str, int]) -> Iterator[Problem]:
    """One for each meter; the first counts the row and the others count none."""
    amounts = {meter: str(quantity) for meter, quantity in held.items() if quantity}
    if not amounts:
        yield problem
    for place, (meter, quantity) in enumerate(amounts.items()):
        yield replace(problem, meter=meter, quantity=quantity, row="+0" if place else problem.row)
