"""An explanation as sentences to be read aloud, in the order of its tree: from the figure over pools, prices and usage to the rounding step."""

from collections.abc import Iterator, Mapping
from decimal import Decimal

from apportion.model.rows import REASONS
from apportion.reports.words import add_up, digits, shown
from apportion.verbs.explaining.story import Node

SPOKEN = {
    "shared by": "It is shared by",
    "price per": "The price per",
    "idle": "Of idle capacity,",
    "rounding: exactly": "Exactly it is",
    "why it is": "Why it is",
    "of these": "Of these,",
}


def aloud(nodes: tuple[Node, ...]) -> Iterator[str]:
    """Of many lines or intervals the largest is told, since it says what kind they are."""
    for node in nodes:
        yield sentence(node)
        few = {"line_id", "workload"} & set(node.steps[0].facts) if node.steps else ()
        if few:
            yield f"The largest is {node.steps[0].text}."
        else:
            yield from aloud(node.steps)


def sentence(node: Node) -> str:
    facts = node.facts
    reasons = facts.get("reasons")
    if isinstance(reasons, Mapping) and isinstance(amount := facts["amount"], Decimal):
        return pool_sentence(str(facts["pool"]), amount, str(facts["currency"]), reasons)
    if "file" in facts:
        place = f"{facts['file']}:{facts['line']}"
        said = node.text.partition(place)[0].rstrip(": ")
        return f"{opened(said)}, as line {facts['line']} of {facts['file']} says."
    if "sums" in facts:
        return f"{node.text.replace(': ', ' is ' if facts['count'] == 1 else ' come to ', 1)}."
    if "mean" in facts:
        text = node.text.replace(": ", " is ", 1).replace(" = ", ": ", 1).replace(" / ", " divided by ", 1)
        return f"{opened(text)}."
    return f"{opened(node.text.removesuffix('; the largest:'))}."


def pool_sentence(pool: str, amount: Decimal, currency: str, reasons: Mapping[str, Decimal]) -> str:
    names = sorted(reasons, key=lambda name: REASONS.index(name) if name in REASONS else len(REASONS))
    figures = add_up([reasons[name] for name in names], currency)
    parts = [f"{name} {digits(figure)}" for name, figure in zip(names, figures, strict=True)]
    listed = ", ".join(parts[:-1]) + (" and " if parts[1:] else "") + parts[-1]
    where = f"From pool {pool}" if pool else "Without any pool"
    return f"{where} come {shown(amount, currency)}: {listed}."


def opened(text: str) -> str:
    for start, spoken in SPOKEN.items():
        if text.startswith(start):
            return spoken + text.removeprefix(start)
    return text[:1].upper() + text[1:] if text.partition(" ")[0].isalpha() else text
