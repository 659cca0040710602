"""How cells look, and how each kind of value is written. Money becomes a binary number here and nowhere before: Excel has no other."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from apportion.render.csv import FORMULA
from apportion.render.figures import legible
from apportion.reports.report import Cell
from apportion.reports.words import places

LONGEST = 32_767  # characters of a cell
CUT = "… (cut)"
INK, PALE, LINE, SHADE = "#1F2933", "#52606D", "#9AA5B1", "#E4E7EB"
TOTAL: Mapping[str, object] = {"bold": True, "top": 1, "top_color": LINE}
NUMBERS = {
    "share": "0.0%",
    "count": "#,##0",
    "quantity": "#,##0.0",
    "price": "#,##0.0000",
    "date": "yyyy-mm-dd",
    "month": "yyyy-mm",
}


class Looks:
    """Formats of one workbook, each made once."""

    def __init__(self, book: Any) -> None:
        self.book = book
        self._made: dict[tuple[tuple[str, object], ...], Any] = {}

    def of(self, **properties: object) -> Any:
        key = tuple(sorted(properties.items()))
        if key not in self._made:
            self._made[key] = self.book.add_format({"valign": "top", **properties})
        return self._made[key]

    def title(self) -> Any:
        return self.of(bold=True, font_size=13, font_color=INK, text_wrap=True)

    def note(self) -> Any:
        return self.of(font_color=PALE, text_wrap=True)

    def heading(self) -> Any:
        return self.of(bold=True, font_color=INK)

    def head(self, *, right: bool) -> Any:
        align = "right" if right else "left"
        return self.of(bold=True, bottom=1, bottom_color=LINE, bg_color=SHADE, text_wrap=True, align=align)

    def number(self, kind: str, currency: str = "", *, total: bool = False) -> Any:
        return self.of(num_format=number_format(kind, currency), **(TOTAL if total else {}))

    def text(self, words: str, *, total: bool = False) -> Any:
        return self.of(text_wrap=True, **quoted(words), **(TOTAL if total else {}))

    def plain(self, words: str) -> Any:
        return self.of(**quoted(words))


def quoted(words: str) -> Mapping[str, object]:
    """What would be a formula if somebody typed it stays text when somebody edits it."""
    return {"quote_prefix": True} if words.startswith(FORMULA) else {}


def number_format(kind: str, currency: str) -> str:
    """Money with the places of its currency; nothing is a dash."""
    if kind != "money":
        return NUMBERS.get(kind, "General")
    digits = "#,##0" + ("." + "0" * places(currency) if places(currency) else "")
    return f"{digits};[Red]-{digits};-"


def put(sheet: Any, place: tuple[int, int], cell: Cell, look: Any) -> None:
    """Each kind by its own call: nothing is guessed from what it looks like."""
    if cell is None or cell == "":
        sheet.write_blank(*place, None, look)
    elif isinstance(cell, date):
        sheet.write_datetime(*place, cell, look)
    elif isinstance(cell, str):
        sheet.write_string(*place, fitting(cell), look)
    else:
        sheet.write_number(*place, binary(cell), look)


def binary(number: Decimal | int) -> float:
    return float(number)


def fitting(words: str) -> str:
    """Names come from outside: what could hide or turn a line around is shown as its code; what is too long for a cell is cut, and says so."""
    shown = legible(words)
    return shown if len(shown) <= LONGEST else shown[: LONGEST - len(CUT)] + CUT
