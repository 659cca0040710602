"""How a verb's answer looks at a prompt and in a notebook: the sentence, a chart where there is one, the table. One page without script or style sheet.

Text is in the notebook's own colours, so that light and dark are both right. The chart is drawn here where vl-convert is installed (the extra
`notebook`); as Vega-Lite it is there in any case.
"""

import html as markup
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from apportion.render import backtest, cost, estimate, outlook, review, table  # noqa: F401  # each registers its sheets
from apportion.render.chart import Spec
from apportion.render.drawn import drawn
from apportion.render.figures import RIGHT, is_rounded, legible, readable, title_of, visible
from apportion.render.sheet import Screen, Sheet, Table, held, sheet_of
from apportion.reports.report import ARROW

MOST = 60  # rows of a table that are shown
EXACT = "to_arrow() has"
WIDTH = 640  # of a chart, in pixels
LITE = "application/vnd.vegalite.v{}+json"
INK: Spec = {
    "axis": {
        "labelColor": "currentColor",
        "titleColor": "currentColor",
        "gridColor": "#88888844",
        "domainColor": "#888888",
        "tickColor": "#888888",
    },
    "legend": {"labelColor": "currentColor"},
    "text": {"color": "currentColor"},
    "view": {"stroke": None},
    "background": None,
}


@dataclass(frozen=True, slots=True)
class Chart:
    """`spec` is Vega-Lite, for whatever draws it; `says` is what it shows, in a sentence."""

    spec: Spec
    says: str

    def svg(self) -> str:
        """Drawn in the colour of the text around it; empty where vl-convert is not installed."""
        try:
            import vl_convert  # noqa: PLC0415  # the extra `notebook`
        except ImportError:
            return ""
        drawing: str = vl_convert.vegalite_to_svg(self.wide() | {"config": INK})
        return drawing.replace("<svg ", f'<svg role="img" aria-label="{safe(self.says)}" ', 1)

    def wide(self) -> Spec:
        """With a width of its own: the pages' charts take that of what holds them."""
        return {**deepcopy(self.spec), "width": WIDTH}

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """JupyterLab draws version 5 of Vega-Lite, others 6; what we say is the same in both."""
        del include, exclude
        spec = self.wide()
        older = {**spec, "$schema": str(spec["$schema"]).replace("v6", "v5")}
        found = self.svg()
        return {
            "text/plain": self.says,
            LITE.format(5): older,
            LITE.format(6): spec,
            **({"text/html": found} if found else {}),
        }


def chart(value: object) -> Chart | None:
    found = drawn(value)
    return Chart(*found) if found else None


def shortened(sheet: Sheet) -> Sheet:
    """A tree of thousands of steps is for those who ask for all of it."""
    return replace(sheet, notes=tuple(map(first_lines, sheet.notes)))


def first_lines(note: str) -> str:
    lines = note.split("\n")
    left = len(lines) - MOST
    return note if left <= 0 else "\n".join([*lines[:MOST], f"… {left:,} more lines; {EXACT} all of them"])


def text(value: object) -> str:
    return table.render(shortened(sheet_of(value)), Screen(rows=MOST, exact=EXACT)).rstrip("\n")


def html(value: object) -> str:
    sheet, found = shortened(sheet_of(value)), chart(value)
    return "\n".join(["<div>", *parts(sheet, found.svg() if found else ""), "</div>"])


def parts(sheet: Sheet, drawing: str) -> Iterator[str]:
    if sheet.title:
        yield f"<p><strong>{safe(sheet.title)}</strong></p>"
    if drawing:
        yield f"<figure style='margin:0'>{drawing}</figure>"
    for one in sheet.tables:
        if one.rows:
            yield from grid(one)
    for note in sheet.notes:
        yield f"<p style='white-space:pre-wrap'>{chr(10).join(map(safe, note.split(chr(10))))}</p>"
    if any(map(is_rounded, sheet.tables)):
        yield f"<p>{safe(table.ROUNDED.format(EXACT))}</p>"


def grid(one: Table) -> Iterator[str]:
    """Rounded as a whole, then its first rows."""
    rows, totals = readable(one)
    columns = [one.columns[place] for place in visible(one)]
    sides = [f" style='text-align:{'right' if column.kind in RIGHT else 'left'}'" for column in columns]
    yield "<table>"
    if one.heading:
        yield f"<caption>{safe(one.heading)}</caption>"
    heads = (title_of(column, one.currency) for column in columns)
    titles = "".join(f"<th scope='col'{side}>{safe(head)}</th>" for side, head in zip(sides, heads, strict=True))
    yield f"<thead><tr>{titles}</tr></thead>"
    yield "<tbody>"
    yield from (line(cells, sides) for cells in rows[:MOST])
    if len(rows) > MOST:
        yield f"<tr><td colspan='{len(columns)}'>… {len(rows) - MOST:,} more</td></tr>"
    yield "</tbody>"
    if totals:
        yield f"<tfoot>{line(totals, sides)}</tfoot>"
    yield "</table>"


def line(cells: list[str], sides: list[str]) -> str:
    """The first cell says whose row it is."""
    made = [f"<td{side}>{safe(cell)}</td>" for side, cell in zip(sides[1:], cells[1:], strict=True)]
    return f"<tr><th scope='row'{sides[0]}>{safe(cells[0])}</th>{''.join(made)}</tr>"


def safe(words: str) -> str:
    """Names come from outside: never markup, and nothing that hides."""
    return markup.escape(legible(words))


def arrow(value: object) -> pa.Table:
    """The rows of the first table and of those with the same columns, as in CSV."""
    tables = sheet_of(value).tables or held(value).tables
    if not tables:
        return pa.table({})
    alike = [one for one in tables if one.columns == tables[0].columns]
    columns = tables[0].columns
    rows = [(one.currency, *row) for one in alike for row in one.rows]
    kinds = (pa.string(), *(ARROW.get(column.kind) for column in columns))
    names = ("currency", *(column.name for column in columns))
    made = {
        name: pa.array([row[place] for row in rows], kinds[place])
        if kinds[place] is not None
        else pa.array([None if row[place] is None else str(row[place]) for row in rows], pa.string())
        for place, name in enumerate(names)
    }
    found = pa.table(made)
    return found if any(one.currency for one in alike) else found.drop_columns(["currency"])
