"""What the steps of an explanation come to, added up from what it tells and not by what made it."""

from collections.abc import Iterable, Mapping
from decimal import Decimal

from apportion.reports.words import shown
from apportion.verbs.explain import Explanation
from apportion.verbs.explaining.story import Node
from tests.sequences.model import EXACT

Sums = dict[str, Decimal]


def sums(node: Node) -> Sums:
    """What a step adds to what is above it; nothing where it only says how."""
    amount, currency = node.facts.get("amount"), node.facts.get("currency")
    if isinstance(amount, Mapping):
        return dict(amount)
    return {str(currency): amount} if isinstance(amount, Decimal) and currency else {}


def added(parts: Iterable[Mapping[str, Decimal]]) -> Sums:
    found: Sums = {}
    for part in parts:
        for currency, amount in part.items():
            found[currency] = EXACT.add(found.get(currency, Decimal(0)), amount)
    return {currency: amount for currency, amount in found.items() if amount}


def is_beside(node: Node) -> bool:
    """Corrections, and what people decided: the headline has its own words for them."""
    return "booked" in node.facts or node.text.startswith("decided by people")


def check(found: Explanation) -> int:
    """Every level adds up to the one above, in exact amounts and as printed. Returns how many sums there were."""
    whole = added([{one.currency: one.amount} for one in found.figures])
    own = [node for node in found.steps if not is_beside(node)]
    beside = [node for node in found.steps if is_beside(node)]
    assert added(map(sums, own or beside)) == whole, found.title
    for currency, amount in whole.items():
        assert shown(amount, currency) in found.title
    return 1 + sum(check_node(node) for node in found.steps)


def check_node(node: Node) -> int:
    parts, amount = [sums(step) for step in node.steps if sums(step)], sums(node)
    for currency, one in amount.items():
        assert shown(one, currency) in node.text, node.text
    checks = 0
    if "now" in node.facts and "was" not in node.facts:
        assert added(parts) == added([node.facts["now"]]), node.text  # type: ignore[list-item]  # a map of money
        checks += 1
    elif amount and parts:
        assert added(parts) == added([amount]), node.text
        checks += 1
    if "reasons" in node.facts:
        assert added({"": one} for one in node.facts["reasons"].values()) == added([{"": node.facts["amount"]}])  # type: ignore[attr-defined, dict-item]
        checks += 1
    return checks + sum(check_node(step) for step in node.steps if sums(step) or step.facts.get("now"))
