"""Charts as Vega-Lite: plain values, drawn by the browser. A team has its colour everywhere, idle is always grey, what is not complete is hatched.

Days are sent as texts and drawn in their order: as times, a browser west of Greenwich shows the day before.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from apportion.model.rows import SYSTEM_OWNERS

# Okabe and Ito's colours for all eyes, without black (ink) and grey (idle); then the same, darker and lighter.
COLOURS = (
    "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b8a800",
    "#004b76", "#9c6b00", "#006b4f", "#8f4a73", "#2a7fa8", "#923f00", "#7a7000",
    "#6aaed6", "#f2c466", "#5cc4a5", "#e3b3cd", "#9ad3f2", "#ee9a5c", "#d9cc52",
)  # fmt: skip
GREYS = {"_idle": "#9aa0a6", "_unallocated": "#6b7075", "_residual": "#c3c7cb"}
OTHERS, TOGETHER = "other teams", "#cdb9a0"  # "88 other teams", drawn as one
MOVES = {"sum": "#4c6a7d", "more": "#d55e00", "less": "#0072b2", "idle": GREYS["_idle"]}  # for all eyes, and by place
LIMIT, BAND = "#a8321f", 0.22  # a budget; how strong what may come is drawn
Spec = dict[str, Any]
TOLD = {"day": "day", "owner": "owner", "shown": "amount"}
BY_DAY: Spec = {"labelAngle": 0, "labelOverlap": True, "labelExpr": "slice(datum.label, 5)"}  # the month and the day


def colours(teams: Sequence[str], shown: Sequence[str] = ()) -> dict[str, str]:
    """By the order in which the policy names them; the system's own owners are grey. `shown` may hold the many that are drawn as one."""
    own = [team for team in teams if team not in SYSTEM_OWNERS]
    together = {name: TOGETHER for name in shown if name not in teams}
    return {team: COLOURS[n % len(COLOURS)] for n, team in enumerate(own)} | together | GREYS


def number(amount: Decimal | Fraction | int | None) -> float:
    """For drawing alone: nothing is computed from it."""
    return float(amount or 0)


def base(values: Sequence[Mapping[str, Any]], height: int = 260) -> Spec:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "data": {"values": list(values)},
        "width": "container",
        "height": height,
        "autosize": {"type": "fit-x", "contains": "padding"},
    }


def colour_by(field: str, palette: Mapping[str, str], order: Sequence[str], named: Sequence[str] | None = None) -> Spec:
    """`named`: those that the legend tells of, where it is not all of them."""
    names = list(order)
    scale = {"domain": names, "range": [palette.get(name, COLOURS[0]) for name in names]}
    legend = {} if named is None else {"legend": {"values": list(named)}}
    return {"field": field, "type": "nominal", "scale": scale, "title": None, **legend}


def stacked_days(
    values: Sequence[Mapping[str, Any]], palette: Mapping[str, str], order: Sequence[str], unit: str
) -> Spec:
    """Bars of days, a colour for each owner. A value is {day, owner, amount, shown, rank, complete}."""
    present = {value["owner"] for value in values if value["amount"]}
    return {
        **base(values),
        "mark": {"type": "bar", "tooltip": True},
        "encoding": {
            "x": {"field": "day", "type": "ordinal", "title": None, "axis": BY_DAY},
            "y": {"field": "amount", "type": "quantitative", "title": unit, "stack": "zero"},
            "color": colour_by("owner", palette, order, [name for name in order if name in present]),
            "order": {"field": "rank", "type": "quantitative"},
            "fillOpacity": {"condition": {"test": "datum.complete === false", "value": 0.35}, "value": 1},
            "strokeDash": {"condition": {"test": "datum.complete === false", "value": [3, 2]}, "value": [1, 0]},
            "stroke": {"condition": {"test": "datum.complete === false", "field": "owner", "type": "nominal", "legend": None}, "value": None},
            "tooltip": [{"field": name, "type": "nominal", "title": said} for name, said in TOLD.items()],
        },
    }  # fmt: skip


def bars(values: Sequence[Mapping[str, Any]], palette: Mapping[str, str], unit: str) -> Spec:
    """A bar for each name, from above in the order of the values. A value is {name, amount, shown}."""
    names = [str(value["name"]) for value in values]
    y = {"field": "name", "type": "nominal", "sort": names, "title": None, "axis": {"labelLimit": 200}}
    return {
        **base(values, height=max(50, 24 * len(names))),
        "mark": {"type": "bar", "height": {"band": 0.7}, "tooltip": True},
        "encoding": {
            "y": y,
            "x": {"field": "amount", "type": "quantitative", "title": unit},
            "color": {**colour_by("name", palette, names), "legend": None},
            "tooltip": [{"field": name, "type": "nominal"} for name in ("name", "shown")],
        },
    }


def cumulative(
    values: Sequence[Mapping[str, Any]],
    palette: Mapping[str, str],
    unit: str,
    incomplete: Sequence[str] = (),
    band: Sequence[Mapping[str, Any]] = (),
) -> Spec:
    """What it had come to by each day of the month, a line for each series. A value is {day, series, amount, shown}; the first series is drawn full.

    Behind days that are not complete the ground is hatched. `band` is what days to come may lie in: {day, low, high}.
    """
    order = list(palette)
    x = {
        "field": "day",
        "type": "ordinal",
        "title": "day of the month",
        "axis": {"labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 4},
    }
    lines = {
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2.5, "point": {"size": 18, "filled": True}},
        "encoding": {
            "x": x,
            "y": {"field": "amount", "type": "quantitative", "title": unit},
            "color": colour_by("series", palette, order),
            "strokeDash": {"field": "series", "type": "nominal", "legend": None, "scale": {"domain": order, "range": [[1, 0], [5, 3], [2, 2]][: len(order)]}},
            "tooltip": [{"field": name, "type": "nominal"} for name in ("series", "day", "shown")],
        },
    }  # fmt: skip
    if not incomplete and not band:
        return {**base(values), **lines}
    ground = {
        "data": {"values": [{"day": day, "complete": False} for day in incomplete]},
        "mark": {"type": "bar", "color": GREYS["_residual"], "width": {"band": 1}},
        "encoding": {"x": x, "y": {"value": 0}, "y2": {"value": "height"}},
    }
    around = {
        "data": {"values": list(band)},
        "mark": {"type": "area", "color": next(iter(palette.values())), "opacity": BAND},
        "encoding": {"x": x, "y": {"field": "low", "type": "quantitative"}, "y2": {"field": "high"}},
    }
    return {**base(values), "layer": [*([ground] if incomplete else []), *([around] if band else []), lines]}


def banded(values: Sequence[Mapping[str, Any]], colour: str, unit: str, limit: float | None = None) -> Spec:
    """A month that goes on: what it came to day by day, then a dashed line in a band. A value is {day, amount, low, high, known, shown}.

    `limit` is a line across.
    """
    x = {
        "field": "day",
        "type": "ordinal",
        "title": "day of the month",
        "axis": {"labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 4},
    }
    band = {
        "mark": {"type": "area", "color": colour, "opacity": BAND},
        "encoding": {
            "x": x,
            "y": {"field": "low", "type": "quantitative", "title": unit},
            "y2": {"field": "high"},
        },
    }
    line = {
        "mark": {"type": "line", "color": colour, "strokeWidth": 2.5},
        "encoding": {
            "x": x,
            "y": {"field": "amount", "type": "quantitative", "title": unit},
            "strokeDash": {"condition": {"test": "datum.known", "value": [1, 0]}, "value": [5, 3]},
            "detail": {"field": "known", "type": "nominal"},
        },
    }
    points = {
        "mark": {"type": "point", "color": colour, "filled": True, "size": 24},
        "encoding": {
            "x": x,
            "y": {"field": "amount", "type": "quantitative"},
            "fillOpacity": {"condition": {"test": "datum.known", "value": 1}, "value": 0.4},
            "tooltip": [{"field": name, "type": "nominal"} for name in ("day", "shown")],
        },
    }
    across = {"mark": {"type": "rule", "color": LIMIT, "strokeDash": [2, 2]}, "encoding": {"y": {"datum": limit}}}
    return {**base(values), "layer": [band, line, points, *([] if limit is None else [across])]}


def waterfall(
    steps: Sequence[tuple[str, float, str]], totals: Sequence[int], unit: str, idle: Sequence[str] = ()
) -> Spec:
    """From one sum to another: steps of (name, amount, as text), one below the other. Those at the places of `totals` stand on the ground."""
    values, level = [], 0.0
    for place, (name, amount, text) in enumerate(steps):
        start = 0.0 if place in totals else level
        level = start + amount
        kind = "sum" if place in totals else "idle" if name in idle else "more" if amount >= 0 else "less"
        values.append(
            {"name": name, "start": start, "end": level, "right": max(start, level), "shown": text, "kind": kind}
        )
    names = [name for name, _, _ in steps]
    y = {
        "field": "name",
        "type": "nominal",
        "sort": names,
        "title": None,
        "axis": {"labelLimit": 160, "ticks": False, "domain": False},
    }
    return {
        **base(values, height=30 * len(values)),
        "encoding": {"y": y, "tooltip": [{"field": name, "type": "nominal"} for name in ("name", "shown")]},
        "layer": [
            {
                "mark": {"type": "bar", "height": {"band": 0.7}},
                "encoding": {
                    "x": {
                        "field": "start",
                        "type": "quantitative",
                        "title": unit,
                        "axis": {"labelOverlap": "greedy", "labelSeparation": 8},
                    },
                    "x2": {"field": "end"},
                    "color": {**colour_by("kind", MOVES, list(MOVES)), "legend": None},
                },
            },
            {
                "mark": {"type": "text", "align": "left", "dx": 6},
                "encoding": {"x": {"field": "right", "type": "quantitative"}, "text": {"field": "shown"}},
            },
        ],
    }


def dumbbell(values: Sequence[Mapping[str, Any]], palette: Mapping[str, str], order: Sequence[str], unit: str) -> Spec:
    """From what each owner owes (a ring) to what it would owe (a dot). A value is {owner, before, after, was, then, change}."""
    y = {"field": "owner", "type": "nominal", "sort": list(order), "title": None, "axis": {"labelLimit": 140}}
    x = {"type": "quantitative", "title": unit, "scale": {"zero": False}}
    told = [
        {"field": name, "type": "nominal", "title": title}
        for name, title in (("owner", "owner"), ("was", "now"), ("then", "then"), ("change", "difference"))
    ]
    colour = {**colour_by("owner", palette, order), "legend": None}
    ring = {"type": "point", "filled": False, "size": 90, "strokeWidth": 2}
    dot = {"type": "point", "filled": True, "size": 110, "opacity": 1}
    return {
        **base(values, height=max(60, 28 * len(order))),
        "encoding": {"y": y, "color": colour, "tooltip": told},
        "layer": [
            {"mark": {"type": "rule", "strokeWidth": 3, "opacity": 0.5}, "encoding": {"x": {**x, "field": "before"}, "x2": {"field": "after"}}},
            {"mark": ring, "encoding": {"x": {**x, "field": "before"}}},
            {"mark": dot, "encoding": {"x": {**x, "field": "after"}}},
        ],
    }  # fmt: skip


# What is known of a source's day: told by colour, and by a sign for those who see none.
DAYS = {
    "complete": ("#009e73", "✓"),
    "no row": ("#f0e442", "?"),
    "partly": ("#e69f00", "½"),
    "missing": ("#d55e00", "!"),
    "not due": ("#c3c7cb", "·"),
}


def days_known(values: Sequence[Mapping[str, Any]], sources: Sequence[str]) -> Spec:
    """A field for each source and day. A value is {source, day, date, status, sign}; `day` is that of the month."""
    x = {"field": "day", "type": "ordinal", "title": None, "axis": {"labelAngle": 0, "labelOverlap": True}}
    y = {"field": "source", "type": "nominal", "sort": list(sources), "title": None, "axis": {"labelLimit": 140}}
    scale = {"domain": list(DAYS), "range": [colour for colour, _ in DAYS.values()]}
    told = [{"field": name, "type": "nominal"} for name in ("source", "date", "status")]
    return {
        **base(values, height=max(60, 26 * len(sources))),
        "encoding": {"x": x, "y": y, "tooltip": told},
        "layer": [
            {
                "mark": {"type": "rect", "cornerRadius": 3, "stroke": "white", "strokeWidth": 1, "strokeOpacity": 0.4},
                "encoding": {"color": {"field": "status", "type": "nominal", "scale": scale, "title": None, "legend": {"columns": 3}}},
            },
            {"mark": {"type": "text", "fontSize": 11, "color": "#1b2126"}, "encoding": {"text": {"field": "sign", "type": "nominal"}}},
        ],
    }  # fmt: skip


def bullets(values: Sequence[Mapping[str, Any]], marks: Sequence[Mapping[str, Any]]) -> Spec:
    """How much of each limit is used, in percent of it. A value is {name, part, state, shown}, a mark {name, at}; the limit itself is a thick line."""
    names = [str(value["name"]) for value in values]
    rows = {"field": "name", "type": "nominal", "sort": names, "title": None, "axis": {"labelLimit": 260}}
    most = max([100.0, *(float(value["part"]) for value in values)])
    along = {"type": "quantitative", "title": "% of the limit", "scale": {"domain": [0, most * 1.05]}}
    states = {"domain": ["fine", "warned", "over"], "range": [COLOURS[0], COLOURS[1], COLOURS[5]]}
    legend = {"field": "state", "type": "nominal", "scale": states, "title": None}
    tooltip = [{"field": name, "type": "nominal"} for name in ("name", "shown", "state")]
    limits = [{"name": name, "at": 100} for name in names]
    place = {"y": rows, "x": {"field": "at", **along}}

    def ticks(given: Sequence[Mapping[str, Any]], **look: Any) -> Spec:
        return {
            "data": {"values": list(given)},
            "mark": {"type": "tick", "color": GREYS["_unallocated"], **look},
            "encoding": place,
        }

    under = {"type": "bar", "height": 22, "color": GREYS["_residual"], "opacity": 0.45}
    used = {"y": rows, "x": {"field": "part", **along}, "color": legend, "tooltip": tooltip}
    return {
        **base(values, height=max(60, 34 * len(names))),
        "layer": [
            {"data": {"values": limits}, "mark": under, "encoding": place},
            {"mark": {"type": "bar", "height": 12, "tooltip": True}, "encoding": used},
            ticks(marks, size=22, thickness=2),
            ticks(limits, size=26, thickness=4),
        ],
    }


# What became of capacity: what was used has colours, what was not is grey as `_idle` always is.
SPENT = {
    "used": "#0072b2",
    "use not measured": "#9ad3f2",
    "held unused": "#e69f00",
    "reserved unused": "#cc79a7",
    "unsold": GREYS["_idle"],
    "down": GREYS["_unallocated"],
}
WHY = {
    "usage": "#0072b2",
    "burst": "#56b4e9",
    "idle": GREYS["_idle"],
    "overhead": "#009e73",
    "credit": "#b8a800",
    "adjustment": "#cc79a7",
    "subsidy": "#d55e00",
    "recovery": "#8f4a73",
}


def spent_days(values: Sequence[Mapping[str, Any]], order: Sequence[str], unit: str) -> Spec:
    """Days as in `stacked_days`, by what became of each hour."""
    made = stacked_days(values, SPENT, order, unit)
    axis = {"labelAngle": 0, "labelOverlap": True, "labelExpr": "slice(datum.value, 8, 10)"}
    made["encoding"]["x"] |= {"title": "day", "axis": axis}
    made["encoding"]["color"]["legend"] = {"columns": 2}  # what a phone has room for
    return made


def price_steps(values: Sequence[Mapping[str, Any]], unit: str) -> Spec:
    """What a unit cost in each stretch of time. A value is {at, price, shown}; the first of each day has its name on the axis."""
    days = list({str(value["at"])[:10]: str(value["at"]) for value in reversed(values)}.values())[::-1]
    axis = {"values": days, "labelExpr": "slice(datum.value, 8, 10)", "labelAngle": 0, "labelOverlap": True}
    return {
        **base(values, height=180),
        "mark": {"type": "line", "interpolate": "step-after", "strokeWidth": 2, "color": COLOURS[0], "tooltip": True},
        "encoding": {
            "x": {"field": "at", "type": "ordinal", "title": "day", "axis": axis},
            "y": {"field": "price", "type": "quantitative", "title": unit},
            "tooltip": [{"field": name, "type": "nominal"} for name in ("at", "shown")],
        },
    }


def heat(values: Sequence[Mapping[str, Any]], days: Sequence[str], unit: str) -> Spec:
    """Hours by days of the week, the more the darker. A value is {day, hour, amount, shown}."""
    return {
        **base(values, height=210),
        "mark": {"type": "rect", "cornerRadius": 2, "color": GREYS["_unallocated"], "tooltip": True},
        "encoding": {
            "x": {"field": "hour", "type": "ordinal", "title": "hour", "axis": {"labelAngle": 0, "labelOverlap": True}},
            "y": {"field": "day", "type": "ordinal", "title": None, "sort": list(days)},
            "opacity": {
                "field": "amount",
                "type": "quantitative",
                "title": unit,
                "scale": {"zero": True, "range": [0, 1]},
            },
            "tooltip": [{"field": name, "type": "nominal"} for name in ("day", "hour", "shown")],
        },
    }


def stacked_parts(values: Sequence[Mapping[str, Any]], order: Sequence[str], unit: str) -> Spec:
    """A bar for each pool, a colour for each reason. A value is {pool, reason, amount, shown}."""
    reasons = [reason for reason in WHY if any(value["reason"] == reason for value in values)]
    others = sorted({str(value["reason"]) for value in values} - set(reasons))
    y = {"field": "pool", "type": "nominal", "sort": list(order), "title": None, "axis": {"labelLimit": 140}}
    return {
        **base(values, height=max(50, 28 * len(order))),
        "mark": {"type": "bar", "height": {"band": 0.7}, "tooltip": True},
        "encoding": {
            "y": y,
            "x": {"field": "amount", "type": "quantitative", "title": unit, "stack": "zero"},
            "color": colour_by("reason", WHY, [*reasons, *others]),
            "tooltip": [{"field": name, "type": "nominal"} for name in ("pool", "reason", "shown")],
        },
    }
