"""What is known of a file that was read: its digest, its faults with their money, and which billing periods it speaks of."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal

from apportion.model.delivery import FileDigest
from apportion.model.money import plain, total_of
from apportion.sources.bills.part import Fault
from apportion.sources.cells.marks import LISTED
from apportion.sources.files.paths import InputFile


@dataclass(slots=True)
class Noted:
    """A fault with the money of its line. The line lies at `spot` (billing start, place), or is the `waiting`th of those without times."""

    fault: Fault
    money: Decimal = Decimal(0)
    spot: tuple[int, int] | None = None
    waiting: int | None = None
    more: int = 0  # so many that are not listed one by one


@dataclass(slots=True)
class Taken:
    file: InputFile
    where: Callable[[int], str] = str
    sha256: str = ""
    lines: int = 0
    cost: list[Decimal] = field(default_factory=list)
    starts: set[int] = field(default_factory=set)  # of billing periods
    waiting: list[int] = field(default_factory=list)
    noted: list[Noted] = field(default_factory=list)
    rest: dict[str, Noted] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=Counter)

    @property
    def digest(self) -> FileDigest:
        return FileDigest(self.file.name, self.sha256, self.lines, plain(total_of(self.cost)))

    def note(self, fault: Fault) -> None:
        """About the file as a whole. Block after block may say it: once is enough."""
        if all(one.fault != fault for one in self.noted):
            self.add(Noted(fault))

    def add(self, found: Noted) -> None:
        """Beyond the first thousand of a kind, one for the rest."""
        code = found.fault.code
        self.counts[code] += 1
        if self.counts[code] <= LISTED:
            self.noted.append(found)
            return
        rest = self.rest.setdefault(code, Noted(Fault(-1, code, "")))
        rest.more += 1
        rest.money = total_of([rest.money, found.money])

    def in_order(self) -> Iterator[Noted]:
        """By code, and as they stand in the file."""
        for code in sorted(self.counts):
            yield from (one for one in self.noted if one.fault.code == code)
            if code in self.rest:
                yield self.rest[code]
