"""Figures and names of a statement as people read them. Amounts are whole minor units already: nothing is rounded here."""

import re
from collections.abc import Sequence
from decimal import ROUND_HALF_EVEN, Decimal
from fractions import Fraction

from apportion.model.currencies import CARBON, ENERGY
from apportion.render.figures import legible
from apportion.reports.bridge import bridge
from apportion.reports.statement.build import OF_SYSTEM
from apportion.reports.statement.shape import Change, Statement, money
from apportion.reports.words import hours as of_hours

MINUS = "\u2212"  # a hyphen is short in print and silent in a screen reader
LEVELS = {
    "cost_centre": "Cost centre",
    "department": "Department",
    "team": "Team",
    "project": "Project",
    "user": "User",
}
NOBODY = {"project": "no project", "user": "no user", "team": "no team", "pool": "no pool", "component": "no component"}
QUANTITIES = {CARBON: "Carbon", ENERGY: "Energy"}
DRIVERS = {
    "volume": "how much you held",
    "price": "what an hour costs",
    "mix": "which kinds you held",
    "direct": "costs that are yours alone",
    "idle": "your share of what nobody used",
    "policy": "other rules",
    "overhead": "your share of overhead",
    "adjustments": "subsidies, caps, grants and credits",
    "late": "bills that came late, for days of other months",
    "corrections": "figures of earlier months put right",
    "reclasses": "what was moved between owners",
    "other": "what has no other cause",
}
MONTHS = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")


def figure(amount: int, digits: int) -> str:
    """`1,234.50`."""
    return f"{money(amount, digits):,f}".replace("-", MINUS)


def signed(amount: int, digits: int) -> str:
    """`+1,234.50`; nothing has no sign."""
    return ("+" if amount > 0 else "") + figure(amount, digits)


def optional(amount: int | None, digits: int) -> str:
    return "" if amount is None else figure(amount, digits)


def in_currency(amount: int, statement: Statement) -> str:
    return f"{figure(amount, statement.digits)} {legible(statement.currency)}"


def percent(part: int | Fraction, whole: int | Fraction) -> str:
    """`6.6 %`, or nothing where there is no whole."""
    if not whole:
        return ""
    share = Fraction(part) / Fraction(whole) * 100
    tenths = Decimal(round(share * 10)).scaleb(-1).quantize(Decimal("0.1"), ROUND_HALF_EVEN)
    return f"{tenths or abs(tenths):,f} %".replace("-", MINUS)


def hours(text: str | None) -> str:
    """Decimal text as it is read, `1,234.5`; nothing where nothing is known."""
    return of_hours(Fraction(text)) if text else ""


def grouped(text: str) -> str:
    """Every digit of a decimal, in groups of three."""
    return f"{Decimal(text):,f}".replace("-", MINUS)


def utilisation(held: str, used: str | None, unmeasured: str = "0") -> str:
    """Used of what was measured."""
    measured = Fraction(held or 0) - Fraction(unmeasured or 0)
    return percent(Fraction(used), measured) if used and measured > 0 else ""


def period(text: str) -> str:
    """`2026-10` is October 2026; any other period is called as it is."""
    found = MONTH.fullmatch(text)
    return f"{MONTHS[int(found[2]) - 1]} {found[1]}" if found else legible(text)


def period_before(text: str) -> str:
    found = MONTH.fullmatch(text)
    if not found:
        return "the period before"
    year, month = divmod(int(found[1]) * 12 + int(found[2]) - 2, 12)
    return f"{MONTHS[month]} {year:04d}"


def level(name: str) -> str:
    return LEVELS.get(name) or titled(name)


def titled(text: str) -> str:
    """The first letter large, the rest as it is."""
    shown = legible(text)
    return shown[:1].upper() + shown[1:]


def named(text: str, by: str = "") -> str:
    """A name from outside, or words for its absence."""
    return legible(text) if text.strip() else f"({NOBODY.get(by, 'no name')})"


def listed(parts: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def whose(statement: Statement) -> str:
    """`Team vision`."""
    return f"{level(statement.level)} {named(statement.owner)}"


def headline(statement: Statement) -> str:
    if is_shown_only(statement):
        return "What your use cost"
    return "What you would owe" if statement.is_draft else "What you owe"


def is_shown_only(statement: Statement) -> bool:
    return statement.mode == "showback"


def stamp(statement: Statement) -> str:
    """One or two words that no reader may miss."""
    if statement.is_draft:
        return "DRAFT"
    if is_shown_only(statement):
        return "SHOWN ONLY"
    if own_charge(statement) != statement.owed:
        return "PARTLY BOOKED"
    return "CREDIT" if statement.owed < 0 else ""


def own_charge(statement: Statement) -> int:
    """The part of what is owed that is booked."""
    return statement.charged - statement.carried


def booking(statement: Statement) -> tuple[str, ...]:
    """What is booked, where that is not simply what is owed."""
    if is_shown_only(statement):
        said = ["The period is still open: figures may change."] if statement.is_draft else []
        return (*said, "It is shown only, nothing is booked.")
    said = ["The period is still open: figures may change, and nothing is booked yet."] if statement.is_draft else []
    is_ = "would be" if statement.is_draft else "is"
    rest = statement.owed - own_charge(statement)
    if rest:
        own = in_currency(own_charge(statement), statement)
        said.append(f"{own} of it {is_} booked; {in_currency(rest, statement)} is shown only.")
    if statement.carried:
        more, whole = in_currency(statement.carried, statement), in_currency(statement.charged, statement)
        said.append(
            f"For cost that is only shown to its owners, {more} is carried as well: {whole} {is_} booked in all."
        )
    return tuple(said)


def carries(statement: Statement) -> tuple[str, ...]:
    """What of it is the owner's own and what is carried for the system's owners, as every face says it; what was issued stays as it was."""
    carried = {
        owner: line.amount for owner, name in OF_SYSTEM.items() for line in statement.summary if line.name == name
    }
    own = statement.owed - sum(carried.values())
    parts = {owner: money(amount, statement.digits) for owner, amount in carried.items()}
    text = bridge(money(own, statement.digits), parts, statement.currency) if statement.is_draft else ""
    return (f"{text}.",) if text else ()


def sentence(statement: Statement) -> str:
    """What it comes to, against the period before, and what moved it most."""
    said = f"{_owes(statement)} for {period(statement.period)}"
    if statement.before is None:
        return f"{said}. There is no period before to compare it with."
    moved, earlier = statement.owed - statement.before, period_before(statement.period)
    if not moved:
        return f"{said}, the same as for {earlier}."
    share = percent(abs(moved), statement.before) if statement.before > 0 else ""
    more = f"{in_currency(abs(moved), statement)}{f' ({share})' if share else ''} {'more' if moved > 0 else 'less'}"
    return f"{said}, {more} than for {earlier}.{mostly(statement, statement.changes, moved)}"


def _owes(statement: Statement) -> str:
    amount = in_currency(abs(statement.owed), statement)
    if statement.owed < 0:
        return f"{whose(statement)} {'would get' if statement.is_draft else 'gets'} {amount} back"
    if is_shown_only(statement):
        return f"The use of {level(statement.level).lower()} {named(statement.owner)} cost {amount}"
    return f"{whose(statement)} {'would owe' if statement.is_draft else 'owes'} {amount}"


def mostly(statement: Statement, changes: Sequence[Change], moved: int) -> str:
    """The driver that moved it most in that direction; no word where that is what has no other cause."""
    sums: dict[str, int] = {}
    for change in changes:
        sums[change.driver] = sums.get(change.driver, 0) + change.amount
    most = max(sums, key=lambda name: sums[name] * moved, default="other")
    if most == "other" or sums[most] * moved <= 0:
        return ""
    pools = {change.pool for change in changes if change.driver == most and change.amount}
    where = f" in pool {legible(pools.pop())}" if len(pools) == 1 and pools != {""} else ""
    amount = f"{signed(sums[most], statement.digits)} {legible(statement.currency)}"
    return f" The largest cause is {legible(most)}{where} ({amount})."
