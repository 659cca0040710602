"""Seasonality: a pool that is held far less, or far more, at night or at weekends than otherwise."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from apportion.reports.capacity import WEEK
from apportion.reports.held import places
from apportion.reports.report import Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.finding import Pattern, said_number, said_percent
from apportion.reports.review.profile import Hour, Profile, by_week, mean

DAYS = 7  # that must be known
LEAST = 1  # unit held on average
COLUMNS = (
    Column("day", "day"),
    Column("mean", "mean held", "quantity"),
    Column("day_mean", "by day", "quantity"),
    Column("night_mean", "at night", "quantity"),
)
QUIET = "work that can wait may be told to: a queue for nights and weekends, or the method time_of_use with a lower weight for those hours"
BUSY = "interactive work finds more room in working hours; what runs by itself is where it should be"


def season(profiles: Sequence[Profile], bounds: Bounds) -> Iterator[Pattern]:
    bound = Fraction(bounds.season, 100)
    for one in profiles:
        days = {hour.start.date() for hour in one.hours}
        if len(days) < DAYS or one.mean < LEAST:
            continue
        nights, weekends = (compared(one.hours, name) for name in ("is_night", "is_weekend"))
        said = [
            text
            for found, text in ((nights, at_night(one, nights)), (weekends, at_weekends(one, weekends)))
            if far(found, bound)
        ]
        if said:
            low = any(found[0] < found[1] for found in (nights, weekends) if far(found, bound))
            yield finding(one, f"Pool {one.pool} is not held evenly: {'; '.join(said)}.", QUIET if low else BUSY)


def compared(hours: Sequence[Hour], name: str) -> tuple[Fraction, Fraction]:
    """The mean of such hours, and of the others."""
    some, others = (mean(hour for hour in hours if getattr(hour, name) is wanted) for wanted in (True, False))
    return some or Fraction(0), others or Fraction(0)


def far(found: tuple[Fraction, Fraction], bound: Fraction) -> bool:
    some, others = found
    return some <= bound * others or others <= bound * some


def at_night(one: Profile, found: tuple[Fraction, Fraction]) -> str:
    share = said_percent(one.share(lambda hour: hour.is_night))
    return f"{said_number(found[0])} {one.unit} at night (20:00 to 07:00) against {said_number(found[1])} by day, {share} of its {one.unit}-hours"


def at_weekends(one: Profile, found: tuple[Fraction, Fraction]) -> str:
    share = said_percent(one.share(lambda hour: hour.is_weekend))
    return f"{said_number(found[0])} {one.unit} at weekends against {said_number(found[1])} on working days, {share} of its {one.unit}-hours"


def finding(one: Profile, sentence: str, do: str) -> Pattern:
    rows = []
    for place, day in enumerate(WEEK):
        own = [hour for hour in one.hours if hour.start.weekday() == place]
        by_night = [mean(hour for hour in own if hour.is_night is wanted) for wanted in (False, True)]
        rows.append((day, places(mean(own)), *(places(level) for level in by_night)))
    ticks = tuple(f"{hour:02}" for hour in range(24))
    return Pattern(
        "season", (one.pool,), sentence, COLUMNS, tuple(rows), "week", by_week(one.hours), ticks, f"{one.unit} held", do=do
    )  # fmt: skip
