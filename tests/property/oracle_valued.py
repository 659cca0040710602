"""Methods that first say what an hour or a team is worth, and then share by that."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from fractions import Fraction

from tests.property.oracle_facts import Line
from tests.property.oracle_methods import ZERO, Entry, Sharing
from tests.property.oracle_peaks import Series, shapley, worth_of
from tests.property.oracle_time import Span, cut, day_span, hours_touched

BY_TEAM = ("noncoincident_peak", "peak_shapley")
BY_HOUR = ("coincident_peak", "temporal_shapley", "time_of_use")


class Valued(Sharing):
    """One pool at work, with these methods too."""

    def ways(self) -> dict[str, Callable[[Entry, Line, Span], None]]:
        return (
            super().ways()
            | {"two_part": self.two_part}
            | dict.fromkeys(BY_HOUR, self.by_hour)
            | dict.fromkeys(BY_TEAM, self.by_team)
        )

    def two_part(self, money: Entry, line: Line, slot: Span) -> None:
        """Who reserved pays, used or not; who used more pays that too; lenders get it, once the unsold is gone."""
        usage, common = self.usage(slot, None), self.facts.clock.common
        used: dict[str, Fraction] = {}
        promised: dict[str, Fraction] = {}
        for claim, _, units in usage.claims:
            used[claim.who.team] = used.get(claim.who.team, ZERO) + units
        for offer in self.reserved:
            promised[offer.what] = promised.get(offer.what, ZERO) + offer.rate * common(offer.span, slot)
        sold = sum(promised.values(), ZERO)
        if sold > usage.capacity:
            promised = {team: units * usage.capacity / sold for team, units in promised.items()}
            sold = usage.capacity
        teams = sorted({*used, *promised})
        above = {team: max(ZERO, used.get(team, ZERO) - promised.get(team, ZERO)) for team in teams}
        spare = {team: max(ZERO, promised.get(team, ZERO) - used.get(team, ZERO)) for team in teams}
        burst, unused = sum(above.values(), ZERO), sum(spare.values(), ZERO)
        from_unsold = min(burst, usage.capacity - sold)
        borrowed = min(burst - from_unsold, unused)
        places = max(usage.capacity, sum(used.values(), ZERO) + unused - borrowed)
        if not places:
            self.idle(money, line, "unsold", money.amount, {})
            return
        rate = money.amount / places
        dear = rate * self.dearer(money, slot, places)
        for claim, span, units in usage.claims:
            if units:
                over = above[claim.who.team] / used[claim.who.team]
                self.put(money, claim, span, ("usage", units * (1 - over) * rate))
                self.put(money, claim, span, ("burst", units * over * dear))
        for team in teams:
            credit = dear * borrowed * spare[team] / unused if self.pool.lend_credit and unused else ZERO
            self.to_holder(money, line, (team, "idle", "reserved"), spare[team] * rate)
            self.to_holder(money, line, (team, "credit", "lent"), -credit)
        free = usage.capacity - sold - from_unsold
        down = min(free, usage.not_up)
        for cause, units in (("down", down), ("unsold", free - down)):
            if units > 0:
                self.idle(money, line, cause, units * rate, {})
        credited = dear * borrowed if self.pool.lend_credit else ZERO
        charged = (sum(used.values(), ZERO) - burst) * rate + burst * dear + unused * rate - credited
        left = money.amount - charged - max(ZERO, free) * rate
        self.to_holder(money, line, ("_residual", "recovery", ""), left)

    def dearer(self, money: Entry, slot: Span, places: Fraction) -> Fraction:
        """A unit of burst costs its price, over all bills in the currency of the prices: so many times what it costs."""
        if self.pool.burst_price is None or money.currency != self.facts.policy.currency:
            return Fraction(1)
        mine = [line for line in self.facts.lines if line.name == self.name]
        whole = ZERO
        for line in mine:
            if line.row["BillingCurrency"] == money.currency and slot in self.slots(line):
                whole += line.amount * self.facts.clock.common(slot, line.span) / (line.span[1] - line.span[0])
        return self.pool.burst_price / 3600 * places / whole if whole > 0 else Fraction(1)

    def to_holder(self, money: Entry, line: Line, what: tuple[str, str, str], amount: Fraction) -> None:
        team, reason, cause = what
        for part in self.money_by_day(line, money.slot, amount) if amount else ():
            own = replace(part, pool=self.name, slot=money.slot, reason=reason, cause=cause)
            self.entries.append(replace(own, who=self.facts.team(team)))

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
