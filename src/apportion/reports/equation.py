"""bill = owners + _idle + _unallocated + _residual, per bill and currency. Currencies are never added."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from apportion.errors import require_equal
from apportion.reports.sums import NAMES, SIDES, grouped, side_of, total
from apportion.reports.words import add_up, digits


@dataclass(frozen=True, slots=True)
class Equation:
    """`bill` is an id, or "" for all bills of the currency."""

    bill: str
    currency: str
    total: Decimal
    owners: Decimal
    idle: Decimal
    unallocated: Decimal
    residual: Decimal

    @property
    def holds(self) -> bool:
        return self.total == total([self.owners, self.idle, self.unallocated, self.residual])

    def sentence(self) -> str:
        """In minor units that add up as shown."""
        figures = add_up([self.owners, self.idle, self.unallocated, self.residual], self.currency)
        whole = digits(sum(figures, Decimal(0)))
        parts = " + ".join(
            f"{NAMES.get(side, side)} {digits(figure)}" for side, figure in zip(SIDES, figures, strict=True)
        )
        return f"{self.bill or 'bills'} {whole} {self.currency} = {parts} {'✓' if self.holds else '✗'}"


def equations(posted: pa.Table, bills: Iterable[tuple[str, str, Decimal]]) -> tuple[Equation, ...]:
    """One per (bill, currency, total). Every posted bill must be among `bills`, and add up to its total."""
    sums: dict[tuple[str, str], dict[str, list[Decimal]]] = {}
    for (bill, currency, team), amount in grouped(posted, ("bill", "currency", "team")).items():
        sums.setdefault((bill, currency), {}).setdefault(side_of(team), []).append(amount)
    totals = {(bill, currency): amount for bill, currency, amount in bills}
    made = []
    for bill, currency in sorted({*sums, *totals}):
        sides = {side: total(sums.get((bill, currency), {}).get(side, [])) for side in SIDES}
        whole = totals.get((bill, currency), Decimal(0))
        require_equal(f"{bill}: what is posted", whole, total(sides.values()))
        made.append(Equation(bill, currency, whole, **sides))
    return tuple(made)


def whole_equations(exact: Iterable[Equation], rounded: pa.Table) -> tuple[Equation, ...]:
    """The same of the month in whole minor units, once the exact ones were found to hold."""
    require_equal("equations that do not hold", [], [one.bill for one in exact if not one.holds])
    sums = grouped(rounded, ("bill", "currency"))
    return equations(rounded, ((bill, currency, amount) for (bill, currency), amount in sums.items()))


def by_currency(parts: Iterable[Equation]) -> tuple[Equation, ...]:
    """The equations of each currency, added up."""
    kept: dict[str, list[Equation]] = {}
    for part in parts:
        kept.setdefault(part.currency, []).append(part)
    return tuple(
        Equation(
            "",
            currency,
            total(part.total for part in some),
            total(part.owners for part in some),
            total(part.idle for part in some),
            total(part.unallocated for part in some),
            total(part.residual for part in some),
        )
        for currency, some in sorted(kept.items())
    )
