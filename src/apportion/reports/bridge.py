"""From what a team owes to what its statement says: what it carries for the system's owners stands between the two."""

from collections.abc import Mapping
from decimal import Decimal

import pyarrow as pa

from apportion.model.currencies import is_money
from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.sums import ZERO, grouped, total
from apportion.reports.words import digits, rounded, shown

Carried = Mapping[str, Decimal]  # by the system's owner that it is carried for


def bridge(own: Decimal, carried: Carried, currency: str) -> str:
    """`8,918.64 of its own and 238,468.31 that it carries for _idle: 247,386.95 USD`; nothing where nothing is carried.

    The sum is that of the figures as they are printed.
    """
    figures = {owner: figure for owner, amount in carried.items() if (figure := rounded(amount, currency))}
    if not figures:
        return ""
    mine = rounded(own, currency)
    first, *more = [f"{digits(figure)} {{}}for {owner}" for owner, figure in figures.items()]
    parts = [f"{digits(mine)} of its own", first.format("that it carries "), *(one.format("") for one in more)]
    return f"{', '.join(parts[:-1])} and {parts[-1]}: {shown(total([mine, *figures.values()]), currency)}"


def bridges(posted: pa.Table, carriers: Mapping[str, str]) -> dict[tuple[str, str], str]:
    """By team and currency, where a team carries something; `carriers` say who ends up with a system owner's balance."""
    sums = grouped(posted, ("currency", "team"))
    found: dict[tuple[str, str], str] = {}
    for currency in sorted({currency for currency, _ in sums if is_money(currency)}):
        for team in sorted(set(carriers.values())):
            mine = [owner for owner in SYSTEM_OWNERS if carriers.get(owner) == team]
            carried = {owner: sums.get((currency, owner), ZERO) for owner in mine}
            found[team, currency] = bridge(sums.get((currency, team), ZERO), carried, currency)
    return {key: text for key, text in found.items() if text}


def bridge_notes(found: Mapping[tuple[str, str], str]) -> tuple[str, ...]:
    return tuple(f"Statement of {team}: {text}." for (team, _), text in found.items())
