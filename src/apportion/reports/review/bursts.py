"""Bursts: demand whose peak is far above its mean. Where the method is flat, whoever makes the peak pays no more for it than others: told as `peaky`."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from statistics import median

from apportion.reports.held import places
from apportion.reports.report import Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.finding import Edit, Pattern, said_number, unit_word
from apportion.reports.review.pool import Pool
from apportion.reports.review.profile import HIGH, Profile, by_day, mean
from apportion.reports.words import counted

FLAT = ("proportional", "time")  # one price for the whole month, whenever it is held
CHARGES_PEAKS = "temporal_shapley"
TEAMS, HOURS = 2, 24  # without a second team no method moves anything; and a day must be known
COLUMNS = (Column("what", "what"), Column("level", "held", "quantity"))


def bursts(pools: Sequence[Pool], bounds: Bounds) -> Iterator[Pattern]:
    for pool in pools:
        own = pool.profile
        if len(own.hours) >= HOURS and own.peak_to_mean >= Fraction(bounds.peak, 100):
            yield peaky(pool) if pool.method in FLAT and len(pool.teams) >= TEAMS else finding("burst", pool)


def peaky(pool: Pool) -> Pattern:
    told = f"the method {pool.method} has one price for all hours, so that nobody pays for the peak"
    slot = ((("pools", pool.name, "slot"), "hour"),) if pool.slot_written else ()
    edit = Edit((*slot, (("pools", pool.name, "method"), CHARGES_PEAKS)))
    return finding("peaky", pool, told, edit)


def finding(kind: str, pool: Pool, more: str = "", edit: Edit | None = None) -> Pattern:
    own = pool.profile
    days = by_day(own.hours)
    lines = (
        tuple(max(hour.held for hour in some) for some in days.values()),
        tuple(mean(some) or Fraction(0) for some in days.values()),
    )
    rows = (("peak by day", places(own.peak)), ("mean by day", places(own.mean)))
    return Pattern(
        kind, (pool.name,), f"{sentence(own)}{'; ' + more if more else ''}.", COLUMNS, rows, "days", lines, tuple(days), f"{own.unit} held",
        pool.currency, pool.amount, (f"pool={pool.name}",), edit=edit,
    )  # fmt: skip


def sentence(own: Profile) -> str:
    """`Pool l40s peaks at 32 GPU, 3.2 times its mean of 10 (95 % of its hours: 28 or less), with 4 bursts above 15 of mostly 6 h and at most 9 h`."""
    lengths = [len(some) for some in own.bursts]
    told = (
        f"Pool {own.pool} peaks at {said_number(own.peak)} {unit_word(own.unit)}, {said_number(own.peak_to_mean)} times its mean of "
        f"{said_number(own.mean)} (95 % of its hours: {said_number(own.p95)} or less)"
    )
    if not lengths:
        return told
    usual = said_number(Fraction(median(lengths)))
    high = said_number(HIGH * own.mean)
    return (
        f"{told}, with {counted(len(lengths), 'burst')} above {high} of mostly {usual} h and at most {max(lengths):,} h"
    )
