"""A part of the document: every key known, every number exact, and the nearest word where one is not."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Any

from apportion.errors import ProjectError
from apportion.model.numbers import parse_decimal
from apportion.sources.settings import nearest


@dataclass(frozen=True, slots=True)
class Section:
    cells: Mapping[str, Any]
    where: str

    def refuse(self, key: str, expected: str, hint: str = "") -> ProjectError:
        found = repr(self.cells.get(key))
        return ProjectError(
            "invalid-setting", f"{key} must be {expected}, not {found[:60]}", where=self.where, hint=hint
        )

    def text(self, key: str, default: str | None = None) -> str:
        value = self.cells.get(key, default)
        if value is None:
            raise ProjectError("missing-setting", f"{key} is missing", where=self.where, hint=f"add {key} to it")
        if not isinstance(value, str):
            raise self.refuse(key, "text")
        return value

    def number(self, key: str, least: int | None = 0) -> Fraction:
        if key not in self.cells:
            raise ProjectError("missing-setting", f"{key} is missing", where=self.where, hint=f"add {key} to it")
        return number(self.cells[key], f"{self.where}.{key}", least)

    def names(self, key: str) -> tuple[str, ...]:
        value = self.cells.get(key, [])
        if not isinstance(value, list) or not all(isinstance(name, str) and name for name in value):
            raise self.refuse(key, 'a list such as ["dgx-*"]')
        return tuple(value)

    def numbers(self, key: str) -> dict[str, Fraction]:
        """A table of names or globs to numbers."""
        value = self.cells.get(key, {})
        if not isinstance(value, Mapping):
            raise self.refuse(key, 'a table such as {"dgx-*": 10200}')
        return {str(name): number(cell, f"{self.where}.{key}.{name}", 0) for name, cell in value.items()}

    def day(self, key: str) -> date | None:
        value = self.cells.get(key)
        try:
            return None if value is None else date.fromisoformat(str(value))
        except ValueError as error:
            raise self.refuse(key, "a day such as 2026-10-01") from error

    def inside(self, key: str, known: Collection[str]) -> "Section":
        return section(self.cells.get(key, {}), known, f"{self.where}.{key}")


def section(found: object, known: Collection[str], where: str) -> Section:
    if not isinstance(found, Mapping):
        raise ProjectError("invalid-setting", f"a table is expected here, not {repr(found)[:60]}", where=where)
    for key in found:
        if key not in known:
            raise ProjectError("unknown-setting", f"there is no {key!r} here", where=where, hint=nearest(key, known))
    return Section(found, where)


def number(value: object, where: str, least: int | None = 0) -> Fraction:
    """Exact; a binary number of a document that was read as such is not."""
    found = Fraction(parse_decimal(value, where))
    if least is not None and found < least:
        raise ProjectError("invalid-setting", f"{value} is less than {least}", where=where)
    return found
