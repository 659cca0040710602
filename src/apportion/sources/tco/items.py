"""One monthly cost line before it is written. Both halves of the cost of own hardware yield these: assets and contracts, and the facility."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from apportion.model.money import for_reading, plain

MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True, slots=True)
class Item:
    """What, for which node, when, how much, and the sentence that explains it."""

    service: str  # Amortisation, Lease, Maintenance, Staff, Software, ...
    component: str
    resource: str  # the node; "" where no node bears it
    name: str
    start_s: int
    end_s: int
    amount: Fraction | Decimal  # amortised
    billed: Fraction | Decimal  # paid in this month
    explanation: str
    quantity: Fraction | Decimal
    unit: str
    currency: str
    tags: Mapping[str, str] = field(default_factory=dict)
    category: str = "Usage"
    sku: str = ""  # the id of the asset or contract
    kind: str = ""  # server, gpu, switch, ...
    unit_price: Decimal | None = None
    issuer: str = ""  # whose bill it is on; that of the stanza where there is none


def amount_text(amount: Fraction | Decimal) -> str:
    """As people write money: two places, or as many as it takes up to nine."""
    text = plain(for_reading(Fraction(amount)))
    whole, _, places = text.partition(".")
    return f"{whole}.{places.ljust(2, '0')}"


def number_text(number: Fraction | int) -> str:
    return plain(for_reading(Fraction(number)))


def counted(count: Fraction | int, word: str) -> str:
    return f"{number_text(count)} {word}" + ("" if count == 1 else "s")
