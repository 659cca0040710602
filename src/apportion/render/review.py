"""A review for reading: a table of its findings, then each with its figures, a chart in signs and the change of the policy. And charts for browsers."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from apportion.render.chart import COLOURS, Spec, base, dumbbell, heat, number
from apportion.render.figures import readable, title_of, visible
from apportion.render.sheet import Sheet, Table, sheet_of
from apportion.reports.held import places as places_of
from apportion.reports.report import Cell, Column
from apportion.reports.review.finding import Drawn, Pattern, said_number
from apportion.reports.review.profile import COLUMNS as PROFILE
from apportion.reports.review.review import INDEX, Drafted, Review

WIDTH = 24
BLOCKS = "▁▂▃▄▅▆▇█"
BAR, REST = "█", "·"
PLAIN = {  # what is drawn, and what lies along x and y and makes the colour
    "bars": ("bar", "amount", "name", "series"),
    "moves": ("point", "amount", "name", "series"),
    "week": ("rect", "series", "name", "amount"),
    "days": ("line", "series", "amount", "name"),
}
BRIEF = 4  # columns of the index
HELD = "How the pools were held"


@sheet_of.register
def review_sheet(made: Review, form: str = "table") -> Sheet:
    """In `csv` the table of findings has their sentences; in `md` the figures of each are a table, too. Otherwise all of it stands below."""
    tables = [
        index(made.found, full=form == "csv"),
        Table(PROFILE, made.profiles, heading=HELD if made.profiles else ""),
    ]
    told = [list(lines(n, one)) for n, one in enumerate(made.found, 1)]
    if form == "md":
        tables += [figures_table(n, one.finding) for n, one in enumerate(made.found, 1)]
        told = [[one.finding.key, *advised(one)] for one in made.found if one.finding.do or one.diff]
    return Sheet(
        made.title, tuple(tables), value(made), (*map("\n".join, told), *made.notes, f"ledger head {made.head}")
    )


def value(made: Review) -> dict[str, object]:
    """For programs: every digit, and a chart that Vega-Lite draws as it is."""
    return {
        "report": "review",
        "title": made.title,
        "period": made.period,
        "before": made.before,
        "head": made.head,
        "policy": ", ".join(made.policies),
        "findings": [finding_value(one) for one in made.found],
        "profiles": [named(PROFILE, row) for row in made.profiles],
        "notes": made.notes,
    }


def finding_value(one: Drafted) -> dict[str, object]:
    found = one.finding
    return {
        "key": found.key,
        "kind": found.kind,
        "about": found.about,
        "sentence": found.sentence,
        "currency": found.currency,
        "amount": found.amount,
        "where": found.where,
        "evidence": [named(found.columns, row) for row in found.rows],
        "chart": chart(found),
        "do": found.do,
        "diff": one.diff,
    }


def named(columns: Sequence[Any], row: Sequence[Cell]) -> dict[str, Cell]:
    return {column.name: cell for column, cell in zip(columns, row, strict=True)}


def index(found: Sequence[Drafted], *, full: bool = True) -> Table:
    columns = INDEX if full else INDEX[:BRIEF]
    rows = tuple(
        (
            own.key,
            own.amount,
            own.currency if own.amount is not None else "",
            "ready" if one.diff else "",
            own.sentence,
            own.do,
        )
        for one in found
        for own in [one.finding]
    )
    return Table(columns, tuple(row[: len(columns)] for row in rows))


def lines(place: int, one: Drafted) -> Iterator[str]:
    """`3. weight:l40s:phase:inference`, its sentence, its figures beside what is drawn of them, and what to do."""
    found = one.finding
    yield f"{place}. {found.key}"
    yield found.sentence
    yield from figures(found)
    yield from advised(one)


def advised(one: Drafted) -> Iterator[str]:
    if one.finding.do:
        yield f"{one.finding.do[0].upper()}{one.finding.do[1:]}."
    if one.diff:
        yield from one.diff.split("\n")


def figures(found: Pattern) -> Iterator[str]:
    """Columns as wide as they need to be, with the chart behind them."""
    table = evidence(found)
    rows, _ = readable(table)
    titles = [title_of(table.columns[place], found.currency) for place in visible(table)]
    widths = [max(map(len, cells)) for cells in zip(titles, *rows, strict=True)]
    drawn = signs(found)
    for cells, chart in zip((titles, *rows), ("", *drawn), strict=True):
        first, *others = (
            cell.ljust(width) if n == 0 else cell.rjust(width)
            for n, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        yield "   " + "  ".join([first, *others, chart]).rstrip()


def figures_table(place: int, found: Pattern) -> Table:
    rows = tuple((*row, chart) for row, chart in zip(found.rows, signs(found), strict=True))
    heading = f"{place}. {found.key}: {found.sentence}"
    return Table((*found.columns, Column("chart", "chart")), rows, currency=found.currency, heading=heading)


def evidence(found: Pattern) -> Table:
    return Table(found.columns, found.rows, currency=found.currency)


def signs(found: Pattern) -> list[str]:
    """A bar of each row, or a line of blocks; all by the same measure."""
    largest = max((number(one) for row in found.drawn for one in row), default=0.0)
    if found.drawing in ("week", "days"):
        return ["".join(block(number(one), largest) for one in row) for row in found.drawn]
    return [bar(row, largest) for row in found.drawn]


def block(amount: float, largest: float) -> str:
    place = int(amount / largest * len(BLOCKS)) if largest > 0 else 0
    return BLOCKS[max(0, min(place, len(BLOCKS) - 1))]


def bar(row: Drawn, largest: float) -> str:
    """What is now; of two numbers the first is marked where it was."""
    *before, now = (round(WIDTH * max(number(one), 0.0) / largest) if largest > 0 else 0 for one in row)
    drawn = BAR * now
    for place in before:
        drawn = drawn.ljust(place, REST)
        drawn = drawn[: max(place - 1, 0)] + "|" + drawn[max(place, 1) :]
    return drawn


def chart(found: Pattern) -> Spec:
    """Vega-Lite in its plainest form, for programs: numbers are texts there, as all of ours are, and it is told to read them."""
    mark, x, y, colour = PLAIN[found.drawing]
    kinds = {"amount": "quantitative"}
    places = {"x": x, "y": y, "color": colour}
    values = [
        {"name": name, "series": tick, "amount": places_of(Fraction(one))}
        for name, row in zip((str(row[0]) for row in found.rows), found.drawn, strict=True)
        for tick, one in zip(found.ticks, row, strict=True)
    ]
    return {
        "data": {"values": values, "format": {"parse": {"amount": "number"}}},
        "mark": mark,
        "encoding": {
            place: {
                "field": field,
                "type": kinds.get(field, "nominal"),
                "title": found.unit if field == "amount" else "",
            }
            for place, field in places.items()
        },
    }


def spec(found: Pattern) -> Spec:
    """Vega-Lite as pages draw it."""
    names = [str(row[0]) for row in found.rows]
    if found.drawing == "moves":
        return dumbbell(moves(found, names), dict.fromkeys(names, COLOURS[0]), names, found.unit)
    if found.drawing == "week":
        return heat(list(cells(found, names, ("day", "hour"))), names, found.unit)
    return days(found, names) if found.drawing == "days" else bars(found, names)


def moves(found: Pattern, names: Sequence[str]) -> list[Mapping[str, Any]]:
    return [
        {
            "owner": name, "before": number(before), "after": number(after), "was": said_number(before), "then": said_number(after),
            "change": said_number(Fraction(after) - Fraction(before)),
        }
        for name, (before, after) in zip(names, found.drawn, strict=True)
    ]  # fmt: skip


def cells(found: Pattern, names: Sequence[str], keys: tuple[str, str]) -> Iterator[dict[str, Any]]:
    """A value for each number, called by its row and its tick."""
    for name, row in zip(names, found.drawn, strict=True):
        for tick, one in zip(found.ticks, row, strict=True):
            shown = f"{said_number(one)} {found.unit}"
            yield {keys[0]: name, keys[1]: tick, "amount": number(one), "shown": shown}


def days(found: Pattern, names: Sequence[str]) -> Spec:
    axis = {"labelAngle": 0, "labelOverlap": True, "labelExpr": "slice(datum.label, 5)"}
    scale = {"domain": list(names), "range": list(COLOURS[: len(names)])}
    return {
        **base(list(cells(found, names, ("series", "day"))), height=180),
        "mark": {"type": "line", "interpolate": "step", "strokeWidth": 2},
        "encoding": {
            "x": {"field": "day", "type": "ordinal", "title": None, "axis": axis},
            "y": {"field": "amount", "type": "quantitative", "title": found.unit},
            "color": {"field": "series", "type": "nominal", "scale": scale, "title": None},
            "tooltip": [{"field": name, "type": "nominal"} for name in ("series", "day", "shown")],
        },
    }


def bars(found: Pattern, names: Sequence[str]) -> Spec:
    y = {"field": "name", "type": "nominal", "sort": list(names), "title": None, "axis": {"labelLimit": 200}}
    return {
        **base(list(cells(found, names, ("name", "series"))), height=max(50, 28 * len(names))),
        "mark": {"type": "bar", "height": {"band": 0.7}, "color": COLOURS[0]},
        "encoding": {
            "y": y,
            "x": {"field": "amount", "type": "quantitative", "title": found.unit},
            "tooltip": [{"field": name, "type": "nominal"} for name in ("name", "shown")],
        },
    }
