"""When a problem was, where a delivery speaks for several months: a finding is of the month that its rows lie in."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import tzinfo

from apportion.model.times import Interval, instant_text, months


@dataclass(frozen=True, slots=True)
class MonthParts:
    """The months of a window, in the zone of whoever wrote the rows, cut to the window."""

    parts: tuple[Interval, ...]

    @classmethod
    def of(cls, window: Interval, zone: tzinfo) -> "MonthParts":
        return cls(tuple(month.clip(window) for month in months(window, zone)))

    @property
    def window(self) -> Interval:
        return Interval(self.parts[0].start_s, self.parts[-1].end_s)

    def mark(self, part: Interval) -> str:
        """The middle of a part, as `Problem.at` has it: midnights of other zones are some hours off. "" of the only one: the window says it."""
        return instant_text((part.start_s + part.end_s) // 2) if len(self.parts) > 1 else ""

    def mark_at(self, second: int) -> str:
        """That of the month of a second; before the window that of the first."""
        return next((self.mark(part) for part in self.parts[::-1] if part.start_s <= second), self.mark(self.parts[0]))

    def marked(self) -> Iterator[tuple[str, Interval]]:
        return ((self.mark(part), part) for part in self.parts)
