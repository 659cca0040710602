"""Which months a verb is about: those asked for, else the newest that the books know."""

from collections.abc import Iterable
from datetime import date, datetime

from apportion.errors import ProjectError
from apportion.model.times import Period, parse_period, parse_periods


def asked(text: str | None, known: Iterable[str], today: date, hint: str) -> list[Period]:
    """`known` are periods that have something to show; without a wish the newest of them."""
    if text is not None:
        return parse_periods(text, today)
    newest = max(known, default=None)
    if newest is None:
        raise ProjectError("no-period", "there is no month to speak of yet", hint=hint)
    return [parse_period(newest)]


def as_period(period: Period | str) -> Period:
    return parse_period(period) if isinstance(period, str) else period


def one(periods: list[Period], verb: str) -> Period:
    if len(periods) != 1:
        raise ProjectError("one-period", f"{verb} is about one month at a time", hint="write --period 2026-10")
    return periods[0]


def label(periods: list[Period]) -> str:
    return str(periods[0]) if len(periods) == 1 else f"{periods[0]}..{periods[-1]}"


def today() -> date:
    """Where the program runs."""
    return datetime.now().astimezone().date()
