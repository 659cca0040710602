"""A statement as other programs read it: the same fields, with every amount in the currency's own units. What is kept stays in minor units."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from types import SimpleNamespace
from typing import Any

from apportion.model.money import plain
from apportion.reports.statement.shape import LATER, Statement, money

COUNTS = ("digits", "line", "rows")  # whole numbers that are no amounts
Write = Callable[[int], object]


class StatementValue(SimpleNamespace):
    """One owner's statement: the fields of docs/reference/statement.md, every amount a Decimal in the currency's own units."""


def told(made: Statement) -> dict[str, Any]:
    """For JSON: amounts are texts with every digit."""

    def write(amount: int) -> str:
        return plain(money(amount, made.digits))

    def shaped(part: Any) -> dict[str, Any]:
        said = fields_of(part, write, shaped)
        return {name: value for name, value in said.items() if name not in LATER or value is not None}

    return shaped(made)


def valued(made: Statement) -> StatementValue:
    def shaped(part: Any) -> StatementValue:
        return StatementValue(**fields_of(part, lambda amount: money(amount, made.digits), shaped))

    return shaped(made)


def fields_of(part: Any, write: Write, shaped: Callable[[Any], object]) -> dict[str, Any]:
    """A whole number is an amount, unless it counts something."""

    def read(name: str, value: object) -> object:
        if isinstance(value, int) and name not in COUNTS:
            return write(value)
        if isinstance(value, tuple):
            return tuple(read(name, one) for one in value)
        return shaped(value) if is_dataclass(value) else value

    return {field.name: read(field.name, getattr(part, field.name)) for field in fields(part)}
