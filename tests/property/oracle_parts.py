"""Methods that share a pool's money by several measures side by side. Each measure is a little pool of its own."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from apportion.model.meters import METERS
from apportion.policy.pool_parts import Driver
from tests.property.oracle_facts import Line
from tests.property.oracle_identity import Resource
from tests.property.oracle_methods import ZERO, Entry
from tests.property.oracle_time import Span
from tests.property.oracle_valued import Valued


class Parted(Valued):
    """One pool at work, with these methods too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.parts: dict[str, Valued] = {}
        meters = list(self.pool.meter) if self.pool.method in ("resource_weighted", "dominant_share") else []
        for meter in meters:
            self.parts[meter] = self.part(meter=dict.fromkeys([meter], Fraction(1)))
        if self.pool.method == "energy_two_part":
            for kind in (False, True):
                weights = {meter: weight for meter, weight in self.pool.meter.items() if METERS[meter].flow is kind}
                self.parts["burnt" if kind else "held"] = self.part(
                    meter=weights, driver=Driver.model_validate("allocated")
                )

    def part(self, **changes: object) -> Valued:
        """Its charges and idle are this pool's."""
        made = Valued(self.facts, self.name, self.pool.model_copy(update=changes))
        made.entries, made.idles = self.entries, self.idles
        return made

    def ways(self) -> dict[str, Callable[[Entry, Line, Span], None]]:
        return super().ways() | {
            "resource_weighted": self.by_meter,
            "dominant_share": self.by_most,
            "energy_two_part": self.by_energy,
        }

    def by_meter(self, money: Entry, line: Line, slot: Span) -> None:
        there = {
            meter: weight
            for meter, weight in self.pool.meter.items()
            if weight and self.size(meter, slot, self.scope_of(line))
        }
        if not there:
            self.idle(money, line, "unsold", money.amount, {})
        for meter, weight in there.items():
            part = money.amount * weight / sum(there.values(), ZERO)
            self.parts[meter].capacity_rate(replace(money, amount=part), line, slot)

    def size(self, meter: str, slot: Span, resource: Resource | None) -> Fraction:
        usage = self.parts[meter].usage(slot, resource)
        return max(usage.capacity, usage.demand)

    def by_energy(self, money: Entry, line: Line, slot: Span) -> None:
        static = self.pool.static_share or ZERO
        for name, share in (("held", static), ("burnt", 1 - static)):
            if share:
                self.parts[name].proportional(replace(money, amount=money.amount * share), line, slot)

    def by_most(self, money: Entry, line: Line, slot: Span) -> None:
        resource = self.scope_of(line)
        taken: dict[str, dict[str, Fraction]] = {}
        for meter, part in self.parts.items():
            for claim, _, units in part.usage(slot, resource).claims:
                mine = taken.setdefault(claim.who.team, dict.fromkeys(self.parts, ZERO))
                mine[meter] += self.pool.meter[meter] * units / (self.size(meter, slot, resource) or 1)
        whole = sum((max(mine.values()) for mine in taken.values()), ZERO)
        if not whole:
            self.nobody(money, line, slot)
            return
        for meter, part in self.parts.items():
            for claim, span, units in part.usage(slot, resource).claims:
                mine = taken[claim.who.team]
                equal = [other for other in mine if mine[other] == max(mine.values())]
                if units and meter in equal and mine[meter]:
                    own = self.pool.meter[meter] * units / self.size(meter, slot, resource)
                    self.charge(money, claim, span, money.amount * own / len(equal) / whole)
