"""What a plan would change: per owner, before and after, and the pool that moves most."""

from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from apportion.reports.sums import ZERO, grouped, less, total
from apportion.reports.words import counted, shown

KEYS = ("currency", "team", "pool", "reason")


@dataclass(frozen=True, slots=True)
class Change:
    """`sign` is + added, ~ changed, - removed, or a space where nothing moves; `why` names what moves most."""

    owner: str
    currency: str
    before: Decimal
    after: Decimal
    change: Decimal
    sign: str
    why: str


def changes(posted: pa.Table, planned: pa.Table) -> tuple[Change, ...]:
    """Owners in both, by falling size of change, then by name."""
    before, after = grouped(posted, KEYS), grouped(planned, KEYS)
    owners: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for currency, team, pool, reason in sorted({*before, *after}):
        owners.setdefault((currency, team), []).append((pool, reason))
    made = []
    for (currency, team), parts in owners.items():
        moves = {
            part: less(after.get((currency, team, *part), ZERO), before.get((currency, team, *part), ZERO))
            for part in parts
        }
        old = total(before.get((currency, team, *part), ZERO) for part in parts)
        new = total(after.get((currency, team, *part), ZERO) for part in parts)
        made.append(
            Change(team, currency, old, new, less(new, old), _sign(team, old, new, moves), _why(moves, currency))
        )
    return tuple(sorted(made, key=lambda change: (change.currency, -abs(change.change), change.owner)))


def tally(made: tuple[Change, ...], period: str) -> str:
    """`3 owners change, 1 is added; 12.50 USD in total.`"""
    moved = [change for change in made if change.sign != " "]
    if not moved:
        return f"Nothing changes: what is posted for {period} is what the policy says."
    kinds = {sign: sum(change.sign == sign for change in moved) for sign in "+~-"}
    words = {"+": "to add", "~": "to change", "-": "to remove"}
    parts = [f"{kinds[sign]} {words[sign]}" for sign in "+~-" if kinds[sign]]
    sums = {
        currency: total(change.change for change in moved if change.currency == currency)
        for currency in sorted({change.currency for change in moved})
    }
    amounts = " and ".join(shown(amount, currency) for currency, amount in sums.items())
    return f"{counted(len(moved), 'owner')}: {', '.join(parts)}; {amounts} in total."


def _sign(team: str, old: Decimal, new: Decimal, moves: dict[tuple[str, str], Decimal]) -> str:
    if not any(moves.values()):
        return " "
    if not old:
        return "+"
    return "~" if new or team.startswith("_") else "-"


def _why(moves: dict[tuple[str, str], Decimal], currency: str) -> str:
    if not any(moves.values()):
        return ""
    (pool, reason), amount = max(moves.items(), key=lambda move: (abs(move[1]), move[0]))
    more = sum(1 for move in moves.values() if move) - 1
    others = f", and {counted(more, 'other part')}" if more else ""
    return f"{pool or 'no pool'} {reason} {'+' if amount > 0 else ''}{shown(amount, currency)}{others}"
