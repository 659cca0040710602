"""Methods that first say what an hour or a team is worth, and then share by that."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from tests.property.oracle_facts import Line
from tests.property.oracle_methods import ZERO, Entry, Sharing
from tests.property.oracle_peaks import Series, shapley, worth_of
from tests.property.oracle_time import Span, cut, day_span, hours_touched

BY_TEAM = ("noncoincident_peak", "peak_shapley")
BY_HOUR = ("coincident_peak", "temporal_shapley", "time_of_use")


class Valued(Sharing):
    """One pool at work, with these methods too."""

    def ways(self) -> dict[str, Callable[[Entry, Line, Span], None]]:
        return super().ways() | dict.fromkeys(BY_HOUR, self.by_hour) | dict.fromkeys(BY_TEAM, self.by_team)

    def slots(self, line: Line) -> list[Span]:
        return [self.billing_of(line)] if self.pool.method in (*BY_HOUR, *BY_TEAM) else super().slots(line)

    def by_hour(self, money: Entry, line: Line, slot: Span) -> None:
        """The period's money over its slots by their worth, there by demand; capacity above the highest demand is idle."""
        cuts = self.cuts(slot)
        here = [self.usage(each, self.scope_of(line)) for each in cuts]
        totals = [usage.demand for usage in here]
        peak, offered = max(totals), max(usage.capacity for usage in here)
        left = money.amount
        if self.pool.method != "time_of_use" and offered > peak:
            left = money.amount * peak / offered
            self.idle(money, line, "unsold", money.amount - left, {})
        worth = worth_of(self.pool, totals, [datetime.fromtimestamp(each[0], self.facts.zone) for each in cuts])
        whole = sum(worth, ZERO)
        if not whole:
            if left:
                self.nobody(replace(money, amount=left), line, slot)
            return
        for each, usage, value in zip(cuts, here, worth, strict=True):
            for claim, span, units in usage.claims:
                if units:  # whoever used the pool is seen, if only with a charge of 0
                    part = left * value / whole * units / usage.demand
                    self.charge(replace(money, amount=part, slot=each), claim, span, part)

    def cuts(self, slot: Span) -> list[Span]:
        zone = self.facts.zone
        hourly = self.pool.slot == "hour"
        found = (
            hours_touched(slot, zone)
            if hourly
            else [day_span(day, zone) for day, _ in self.facts.clock.by_day(slot, zone)]
        )
        return [cut(each, slot) for each in found]

    def by_team(self, money: Entry, line: Line, slot: Span) -> None:
        """The period's money over teams by their peaks, inside a team by units; capacity above the peak is idle."""
        here = [self.usage(each, self.scope_of(line)) for each in self.cuts(slot)]
        series: Series = {}
        for n, usage in enumerate(here):
            for claim, _, units in usage.claims:
                series.setdefault(claim.who.team, [ZERO] * len(here))[n] += units
        values = {team: max(row) for team, row in series.items()}
        peak = sum(values.values(), ZERO)
        if self.pool.method == "peak_shapley":
            values = shapley(series)
            peak = max((sum(column, ZERO) for column in zip(*series.values(), strict=True)), default=ZERO)
        offered, left = max(usage.capacity for usage in here), money.amount
        if offered > peak:
            left = money.amount * peak / offered
            self.idle(money, line, "unsold", money.amount - left, {})
        if not sum(values.values(), ZERO):
            if left:
                self.nobody(replace(money, amount=left), line, slot)
            return
        whole = self.usage(slot, self.scope_of(line))
        inside = {
            team: sum((units for claim, _, units in whole.claims if claim.who.team == team), ZERO) for team in values
        }
        for claim, span, units in whole.claims:
            if units:
                share = values[claim.who.team] / sum(values.values(), ZERO) * units / inside[claim.who.team]
                self.charge(money, claim, span, left * share)
