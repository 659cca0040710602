"""A figure day by day: so much (`parts`) of so much (`wholes`), without gaps from the first day on. Spending is so much of one day."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta

WEEK = 7


@dataclass(frozen=True, slots=True)
class Daily:
    """A day on which the whole is 0 says nothing."""

    first: date
    parts: tuple[int, ...]
    wholes: tuple[int, ...]

    def day(self, place: int) -> date:
        return self.first + timedelta(days=place)

    def place(self, day: date) -> int:
        return (day - self.first).days

    def __len__(self) -> int:
        return len(self.parts)


def spending(amounts: Mapping[date, int], until: date) -> Daily:
    """Days without any spending count as 0 from the first that is known."""
    first = min(amounts)
    days = [first + timedelta(days=n) for n in range((until - first).days + 1)]
    return Daily(first, tuple(amounts.get(day, 0) for day in days), (1,) * len(days))


def rates(parts: Mapping[date, int], wholes: Mapping[date, int], until: date, first: date | None = None) -> Daily:
    """So much of so much, such as money of hours; from the first day that is known on, unless another is given."""
    start = first or min(wholes)
    days = [start + timedelta(days=n) for n in range((until - start).days + 1)]
    return Daily(start, tuple(parts.get(day, 0) for day in days), tuple(wholes.get(day, 0) for day in days))
