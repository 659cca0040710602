"""Idle above a bound: capacity that nobody held. A method that has no price for it hides it in the price of those who ran."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from apportion.reports.capacity import PARTS, UNHELD
from apportion.reports.held import places
from apportion.reports.report import Column
from apportion.reports.review.bounds import Bounds
from apportion.reports.review.bursts import FLAT
from apportion.reports.review.finding import Edit, Pattern, hours_word, part, said_number, said_percent, unit_word
from apportion.reports.review.pool import Pool
from apportion.reports.words import shown

SHOWS_IDLE = "capacity_rate"
COLUMNS = (Column("part", "what became of it"), Column("hours", "hours", "quantity"), Column("share", "share", "share"))


def idle(pools: Sequence[Pool], bounds: Bounds) -> Iterator[Pattern]:
    for pool in pools:
        there = sum(pool.parts.values(), Fraction(0))
        stood = sum((pool.parts.get(name, Fraction(0)) for name in UNHELD), Fraction(0))
        if there and part(stood, there) > Fraction(bounds.idle, 100):
            yield finding(pool, stood, there)


def finding(pool: Pool, stood: Fraction, there: Fraction) -> Pattern:
    own = pool.profile
    unit = unit_word(own.unit)
    offered = max(hour.there for hour in own.hours)
    share = said_percent(part(stood, there))
    money = f", for {shown(pool.idle, pool.currency)}" if pool.shows_idle else ""
    told = (
        f"{share} of pool {pool.name} stood idle ({said_number(stood)} of {said_number(there)} {hours_word(own.unit)}){money}; "
        f"at its peak {said_number(own.peak)} of {said_number(offered)} {unit} were held"
    )
    hidden = pool.method in FLAT
    rows = [
        (PARTS[name].removesuffix(" h"), places(amount), places(part(amount, there)))
        for name, amount in pool.parts.items()
        if amount
    ]
    never = offered - own.peak
    words = f"{said_number(never)} {unit} were never needed: give them back, or move work here" if never > 0 else ""
    return Pattern(
        "idle", (pool.name,), told + (f"; the method {pool.method} hides that in the price of those who ran." if hidden else "."),
        COLUMNS, tuple(rows), "bars", tuple((amount,) for amount in pool.parts.values() if amount), ("hours",), f"{own.unit}-hours",
        pool.currency, pool.idle if pool.shows_idle else pool.amount,
        (f"pool={pool.name}", *(("reason=idle",) if pool.shows_idle else ())),
        words or "it is full at its peak: see `season` and `burst`, and let work that can wait fill the gaps",
        Edit(((("pools", pool.name, "method"), SHOWS_IDLE),)) if hidden else None,
    )  # fmt: skip
