"""A journal as its reader sees it: plain CSV and decimals, and what finance checks before booking it."""

import csv
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from decimal import Decimal

Line = Mapping[str, str]
FORMULA = ("'=", "'+", "'-", "'@")


def read(text: str) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{name: cell[1:] if cell.startswith(FORMULA) else cell for name, cell in row.items()} for row in rows]


def signed(line: Line) -> Decimal:
    """Exactly one side is filled; a debit as it is, a credit negated."""
    assert bool(line["debit"]) != bool(line["credit"])
    return Decimal(line["debit"]) if line["debit"] else -Decimal(line["credit"])


def sums(lines: Iterable[Line], *names: str) -> dict[tuple[str, ...], Decimal]:
    found: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    for line in lines:
        found[tuple(line[name] for name in names)] += signed(line)
    return {key: amount for key, amount in found.items() if amount}


def booked(lines: Iterable[Line]) -> list[Line]:
    """Without the bills' own side."""
    return [line for line in lines if line["kind"]]
