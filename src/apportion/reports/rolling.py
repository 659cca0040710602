"""What is left of closed windows goes on to the next ones: at most a cap of it, and not for ever. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date
from fractions import Fraction

from apportion.reports.quotas import Lot


@dataclass(frozen=True, slots=True)
class Past:
    """A window that is closed: what might be used in it beside what came from before, what was, and how what is left of it goes on."""

    window: str
    last: date
    size: Fraction
    used: Fraction
    until: date
    cap: Fraction | None = None


def rolled(windows: Iterable[Past]) -> tuple[Lot, ...]:
    """What goes on into the window after these, the oldest first. What came from before is used before what is a window's own."""
    lots: tuple[Lot, ...] = ()
    for past in windows:
        lots, beyond = drawn(lots, past.used)
        left = max(Fraction(0), past.size - beyond)
        going = [lot for lot in lots if lot.until > past.last]
        going += [Lot(past.window, left, past.until)] if left else []
        lots = capped(going, past.cap)
    return lots


def drawn(lots: Sequence[Lot], amount: Fraction) -> tuple[tuple[Lot, ...], Fraction]:
    """What is left of lots that an amount was taken from, those that end first first, and what they did not have."""
    found = []
    for lot in sorted(lots, key=lambda one: one.until):
        taken = min(lot.amount, amount)
        amount -= taken
        found += [replace(lot, amount=lot.amount - taken)] if lot.amount > taken else []
    return tuple(found), amount


def capped(lots: Sequence[Lot], cap: Fraction | None) -> tuple[Lot, ...]:
    """What is too much goes of those that end first."""
    over = sum((lot.amount for lot in lots), Fraction(0)) - cap if cap is not None else Fraction(0)
    return drawn(lots, max(Fraction(0), over))[0]
