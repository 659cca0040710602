"""What the steps of an explanation add to the figure above them, by currency."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from apportion.reports.sums import total
from apportion.reports.words import shown
from apportion.verbs.explaining.story import Node

Sums = Mapping[str, Decimal]  # by currency


def added(parts: Iterable[Sums]) -> dict[str, Decimal]:
    found: dict[str, list[Decimal]] = {}
    for part in parts:
        for currency, amount in part.items():
            found.setdefault(currency, []).append(amount)
    return {currency: total(amounts) for currency, amounts in sorted(found.items())}


def amounts(parts: Sums) -> str:
    return " and ".join(shown(amount, currency) for currency, amount in parts.items()) or "nothing"


def sums_of(node: Node) -> Sums:
    """What a step adds to the figure above it; nothing where it only says how that figure comes about."""
    amount, currency = node.facts.get("amount"), node.facts.get("currency")
    if isinstance(amount, Mapping):
        return amount
    return {str(currency): amount} if isinstance(amount, Decimal) and currency else {}


def priced(text: str, steps: tuple[Node, ...], facts: Mapping[str, object], more: str = "") -> Node:
    """A step that is the sum of those below it: `text: 1.00 USD`, and `more` after it."""
    sums = added(map(sums_of, steps))
    return Node(f"{text}: {amounts(sums)}{more}", {**facts, "amount": sums}, steps)
