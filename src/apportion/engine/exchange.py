"""The rate from one currency to another: what a dated table says, by the policy's rule.

A table states so much of one currency for one unit of another, day by day. The rate of a pair on a day is the one that is stated, else the
other direction's turned round, else the way through a currency that both are stated against (euro to dollar and euro to pound give pound
to dollar). It is exact until the rule has made one rate of it; that one is rounded once, recorded, and converted by.
"""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa

from apportion.errors import PolicyError
from apportion.model.times import DAY_S, Period
from apportion.policy.document import Policy

RATE_PLACES = 12
OLDEST = timedelta(days=7)  # banks publish nothing on weekends and holidays; older than that, a table is out of date
EPOCH = date(1970, 1, 1)
Pair = tuple[str, str]  # from, to


@dataclass(frozen=True, slots=True)
class Rate:
    """So much for one unit, and the days whose rates it is made of."""

    rate: Decimal
    days: tuple[date, ...]


@dataclass(frozen=True, slots=True)
class Quotes:
    """What the table states, by day and pair."""

    by_day: Mapping[date, Mapping[Pair, Fraction]]

    def on(self, day: date, pair: Pair) -> Fraction | None:
        stated = self.by_day.get(day, {})
        found = either_way(stated, pair)
        if found is not None:
            return found
        here, there = pair
        for middle in sorted({currency for known in stated for currency in known}):
            first, second = either_way(stated, (here, middle)), either_way(stated, (middle, there))
            if first is not None and second is not None:
                return first * second
        return None

    def between(self, first: date, last: date, pair: Pair) -> dict[date, Fraction]:
        """The days that have a rate, in order."""
        days = (day for day in sorted(self.by_day) if first <= day <= last)
        return {day: rate for day in days if (rate := self.on(day, pair)) is not None}


def either_way(stated: Mapping[Pair, Fraction], pair: Pair) -> Fraction | None:
    if pair in stated:
        return stated[pair]
    turned = stated.get((pair[1], pair[0]))
    return None if turned is None else 1 / turned


def read_quotes(rates: pa.Table) -> Quotes:
    found: dict[date, dict[Pair, Fraction]] = defaultdict(dict)
    for row in rates.to_pylist():
        found[row["day"]][row["base"], row["currency"]] = Fraction(row["rate"])
    return Quotes(found)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The policy's table and rule, for the bills of one period."""

    policy: Policy
    period: Period
    quotes: Quotes

    def rate(self, currency: str, billed_until_s: int) -> Rate:
        """For one unit of `currency`, in the policy's; of a bill whose billing period ends then."""
        first, last = self.days(billed_until_s)
        known = self.quotes.between(first, last, (currency, self.policy.currency))
        if self.rule != "month_average":
            known = dict(list(known.items())[-1:])
        steps = round(sum(known.values(), Fraction(0)) / len(known) * 10**RATE_PLACES) if known else 0
        if not steps:
            raise self.missing(currency, first, last)
        return Rate(Decimal(f"{steps}E-{RATE_PLACES}"), tuple(known))

    @property
    def rule(self) -> str:
        return self.policy.fx.rate if self.policy.fx else ""

    @property
    def table(self) -> str:
        return self.policy.fx.table if self.policy.fx else ""

    def days(self, billed_until_s: int) -> tuple[date, date]:
        """The days whose rates count: all of the month, or the last that has one."""
        if self.rule == "month_average":
            return self.period.first_day, last_day(self.period)
        asked = last_day(self.period) if self.rule == "month_end" else issued_on(billed_until_s)
        return asked - OLDEST, asked

    def missing(self, currency: str, first: date, last: date) -> PolicyError:
        days = (pairs for day, pairs in self.quotes.by_day.items() if first <= day <= last)
        known = sorted({word for pairs in days for pair in pairs for word in pair})
        has = f"for those days it has only {', '.join(known)}" if known else "it has nothing for those days"
        return PolicyError(
            "no-rate",
            f"{self.table} has no rate from {currency} to {self.policy.currency} from {first} to {last}, which {self.rule} asks for",
            where=f"{self.policy.file}:{self.policy.line('fx')}",
            hint=f"{has}: add the rate to the table, run `apportion ingest` and plan again",
        )


def exchange_of(policy: Policy, period: Period, rates: pa.Table) -> Exchange | None:
    """None where the policy converts nothing."""
    return Exchange(policy, period, read_quotes(rates)) if policy.fx else None


def last_day(period: Period) -> date:
    return period.next.first_day - timedelta(days=1)


def issued_on(billed_until_s: int) -> date:
    """The day after a billing period: vendors' midnights differ, so the nearest one in UTC begins it."""
    return EPOCH + timedelta(days=(billed_until_s + DAY_S // 2) // DAY_S)


def days_asked(period: Period, billed_until_s: int) -> tuple[date, date]:
    """All days that any rule may look at."""
    return period.first_day - OLDEST, max(last_day(period), issued_on(billed_until_s))
