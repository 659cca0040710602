"""Which runs held the most without using it: what each held, what it used of that, and what the difference cost. The others are one row."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from apportion.reports.held import COLUMNS, views_of
from apportion.reports.report import Cell, Column, Report
from apportion.reports.sums import section, share_of, total
from apportion.reports.words import counted, percent, shown

FEW = 20
OTHERS = "(others)"
HEADS = (Column("run", "run"), Column("name", "name", quiet=True), Column("owner", "owner"), *COLUMNS)


@dataclass(frozen=True, slots=True)
class Held:
    """What one run held of one unit, in one currency: charges without their days."""

    run: str
    name: str
    owner: str
    currency: str
    unit: str
    rows: tuple[Mapping[str, Any], ...]

    @property
    def waste(self) -> Decimal:
        return total(row["waste"] for row in self.rows)


def waste(period: str, held: Iterable[Held], head: str, policies: tuple[str, ...] = ()) -> Report:
    """The first so many runs of each currency by what they wasted."""
    found = sorted(((one.waste, one) for one in held), key=lambda line: (-line[0], line[1].run, line[1].unit))
    sections, sentences = [], []
    for currency in sorted({one.currency for _, one in found}):
        lines = [line for line in found if line[1].currency == currency]
        most, rest = lines[:FEW], lines[FEW:]
        rows: list[dict[str, Cell]] = [
            {"run": one.run, "name": one.name, "owner": one.owner, **views_of(one.rows)[0].cells()} for _, one in most
        ]
        if rest:
            runs = counted(len({one.run for _, one in rest}), "run")
            rows.append({"run": OTHERS, "name": runs, "waste": total(amount for amount, _ in rest)})
        whole = total(amount for amount, _ in lines)
        made = section(currency, whole, HEADS, rows)
        sections.append(replace(made, totals=(*(None for _ in HEADS[:-1]), whole)))
        part = percent(share_of(total(amount for amount, _ in most), whole))
        sentences.append(
            f"What runs held in {period} without using it cost {shown(whole, currency)}; {counted(len(most), 'run')} had {part} of it."
        )
    title = " ".join(sentences) or f"Nothing that was held in {period} is known to have gone unused."
    return Report("waste", title, period, HEADS, tuple(sections), head, policies)
