"""Which runs held the most without using it: what each held, what it used of that, and what the difference cost. The others are one row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from apportion.reports.held import COLUMNS, Views, views_of
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import ZERO, section, share_of, total
from apportion.reports.words import counted, percent, shown

FEW = 20
OTHERS = "(others)"
HEADS = (Column("run", "run"), Column("name", "name", quiet=True), Column("owner", "owner"), *COLUMNS)


@dataclass(frozen=True, slots=True)
class Held:
    """What one run held, in one currency: charges without their days."""

    run: str
    name: str
    owner: str
    currency: str
    rows: tuple[Mapping[str, Any], ...]

    @property
    def views(self) -> list[Views]:
        return views_of(self.rows)


def waste(period: str, held: Iterable[Held], head: str, policies: tuple[str, ...] = ()) -> Report:
    """The first so many runs of each currency by what they wasted."""
    found = list(held)
    sections, sentences = [], []
    for currency in sorted({one.currency for one in found}):
        lines = [(one, views) for one in found if one.currency == currency for views in one.views if views.waste]
        lines.sort(key=lambda line: (-(line[1].waste or ZERO), line[0].run))
        whole, most = _sum(lines), lines[:FEW]
        rows: list[dict[str, Cell]] = [
            {"run": one.run, "name": one.name, "owner": one.owner, **views.cells()} for one, views in most
        ]
        rest = lines[FEW:]
        if rest:
            rows.append({"run": OTHERS, "name": counted(len({one.run for one, _ in rest}), "run"), "waste": _sum(rest)})
        made = section(currency, whole, HEADS, rows)
        sections.append(replace(made, totals=(*(None for _ in HEADS[:-1]), whole)))
        part = percent(share_of(_sum(most), whole))
        sentences.append(
            f"What runs held in {period} without using it cost {shown(whole, currency)}; {counted(len(most), 'run')} had {part} of it."
        )
    title = " ".join(sentences) or f"Nothing that was held in {period} is known to have gone unused."
    return Report("waste", title, period, HEADS, tuple(sections), head, policies)


def _sum(lines: Iterable[tuple[Held, Views]]) -> Decimal:
    return total(views.waste for _, views in lines if views.waste is not None)
