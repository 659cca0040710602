"""The kinds of panels that the dashboards are made of. Looks are said here, once: units, colours, what idle looks like."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

Json = dict[str, Any]

PROMETHEUS, POSTGRES = "prometheus", "grafana-postgresql-datasource"
METRICS, LEDGER = ({"type": PROMETHEUS, "uid": "${datasource}"}, {"type": POSTGRES, "uid": "${ledger}"})
BY_NAME = {"mode": "palette-classic-by-name"}  # a team has the same colour on every panel
GREY = {"_idle": "#9aa0a6", "_unallocated": "#5f6368", "_residual": "#c4c7cc"}  # what nobody used is no team's colour
GPU_HOURS, SHARE, SECONDS, WHEN, COUNT = "suffix: GPU-hours", "percentunit", "s", "dateTimeFromNow", "short"
TEAM_PAGE, POOL_PAGE = "/teams/${__field.labels.team:percentencode}", "/pools/${__field.labels.pool:percentencode}"
MONEY = "money"  # stands for the unit of the currency that a dashboard is made for
WIDE = 24
SELECTED = re.compile(r"(?<![\w:])apportion_\w+(?:\{[^}]*\})?(?![\w:\[])")  # a metric with its filters
OF_REPLICA = "instance, pod, node"  # what tells two servers of one project apart


@dataclass(frozen=True, slots=True)
class Panel:
    """`says` is what one reads under the title. `width` is of 24."""

    kind: str
    title: str
    targets: tuple[Json, ...]
    says: str = ""
    unit: str = COUNT
    width: int = 12
    height: int = 8
    options: Mapping[str, Any] = field(default_factory=dict)
    custom: Mapping[str, Any] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    overrides: tuple[Json, ...] = ()
    transformations: tuple[Json, ...] = ()

    def json(self, number: int, place: tuple[int, int], currency_unit: str) -> Json:
        x, y = place
        unit = currency_unit if self.unit == MONEY else self.unit
        defaults = {"color": BY_NAME, "unit": unit, **self.defaults, "custom": dict(self.custom)}
        return {
            "id": number,
            "type": self.kind,
            "title": self.title,
            "description": self.says,
            "datasource": self.targets[0]["datasource"],
            "gridPos": {"x": x, "y": y, "w": self.width, "h": self.height},
            "targets": [{"refId": chr(ord("A") + n), **target} for n, target in enumerate(self.targets)],
            "fieldConfig": {"defaults": defaults, "overrides": with_unit(self.overrides, currency_unit)},
            "options": dict(self.options),
            "transformations": list(self.transformations),
        }


def with_unit(overrides: Sequence[Json], currency_unit: str) -> list[Json]:
    def said(one: Json) -> Json:
        return {**one, "value": currency_unit} if one == {"id": "unit", "value": MONEY} else one

    return [{**one, "properties": [said(each) for each in one["properties"]]} for one in overrides]


def once(expr: str) -> str:
    """Every server of a project tells all of its figures: each counts once, however many servers are scraped."""
    return SELECTED.sub(rf"max without ({OF_REPLICA}) (\g<0>)", expr)


def now(expr: str, legend: str = "") -> Json:
    """As it is at the end of the time range."""
    return {
        "datasource": METRICS,
        "expr": once(expr),
        "legendFormat": legend or "__auto",
        "instant": True,
        "range": False,
    }


def cells(expr: str) -> Json:
    """The same with its labels as columns."""
    return {**now(expr), "format": "table"}


def over_time(expr: str, legend: str) -> Json:
    return {"datasource": METRICS, "expr": once(expr), "legendFormat": legend, "instant": False, "range": True}


def rows(sql: str) -> Json:
    return {"datasource": LEDGER, "rawSql": sql, "rawQuery": True, "editorMode": "code", "format": "table"}


def series(sql: str) -> Json:
    """Columns `time`, `metric` and a number."""
    return {**rows(sql), "format": "time_series"}


def stat(title: str, target: Json, unit: str, says: str = "", width: int = 4) -> Panel:
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "colorMode": "none",
        "graphMode": "none",
        "justifyMode": "auto",
        "orientation": "auto",
        "textMode": "value",
        "wideLayout": True,
        "showPercentChange": False,
        "percentChangeColorMode": "standard",
    }
    return Panel("stat", title, (target,), says, unit, width, 4, options, defaults={"noValue": "-"})


def of_month(panel: Panel) -> Panel:
    """With the month that it is of: "the running month" is last month's for as long as this one has no usage."""
    return named(panel, "{{period}}")


def named(panel: Panel, legend: str) -> Panel:
    """With what each of its figures is of."""
    targets = tuple({**target, "legendFormat": legend} for target in panel.targets)
    return replace(panel, targets=targets, options={**panel.options, "textMode": "value_and_name"})


def leading(panel: Panel, page: str) -> Panel:
    """Each of its bars or slices leads to a page of Apportion's."""
    link = {"title": "Open on the pages", "url": "${pages}" + page, "targetBlank": True}
    return replace(panel, defaults={**panel.defaults, "links": [link]})


def judged(panel: Panel, warn: float, bad: float) -> Panel:
    """Yellow from `warn` on, red from `bad` on."""
    steps = [
        {"color": "green", "value": None},
        {"color": "#EAB839", "value": warn},
        {"color": "red", "value": bad},
    ]
    defaults = {
        **panel.defaults,
        "thresholds": {"mode": "absolute", "steps": steps},
        "color": {"mode": "thresholds"},
    }
    options = {**panel.options, "colorMode": "value"} if panel.kind == "stat" else panel.options
    return replace(panel, options=options, defaults=defaults)


def lines(title: str, target: Json, unit: str, says: str = "", *, stacked: bool = False) -> Panel:
    custom = {
        "drawStyle": "line",
        "lineInterpolation": "stepAfter",
        "lineWidth": 1,
        "fillOpacity": 60 if stacked else 0,
        "showPoints": "auto",
        "spanNulls": False,
        "stacking": {"group": "A", "mode": "normal" if stacked else "none"},
    }
    return Panel(
        "timeseries", title, (target,), says, unit, options=LEGEND_BESIDE, custom=custom, overrides=grey_system()
    )


LEGEND_BESIDE = {
    "legend": {"calcs": ["lastNotNull"], "displayMode": "table", "placement": "right", "showLegend": True},
    "tooltip": {"mode": "multi", "sort": "desc"},
}


def months(title: str, target: Json, unit: str, says: str = "") -> Panel:
    """A stacked bar for each month."""
    made = lines(title, target, unit, says, stacked=True)
    return replace(made, custom={**made.custom, "drawStyle": "bars", "barAlignment": 1, "fillOpacity": 80})


def bars(title: str, target: Json, unit: str, says: str = "", width: int = 12) -> Panel:
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "displayMode": "basic",
        "orientation": "horizontal",
        "showUnfilled": False,
        "valueMode": "text",
        "namePlacement": "left",
        "sizing": "auto",
        "minVizWidth": 8,
        "minVizHeight": 16,
        "maxVizHeight": 300,
        "legend": {"calcs": [], "displayMode": "list", "placement": "bottom", "showLegend": False},
    }
    return Panel(
        "bargauge", title, (target,), says, unit, width, options=options, defaults={"min": 0}, overrides=grey_system()
    )


def donut(title: str, target: Json, unit: str, says: str = "", width: int = 8) -> Panel:
    options = {
        "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False},
        "pieType": "donut",
        "displayLabels": [],
        "orientation": "auto",
        "sort": "desc",
        "legend": {"displayMode": "table", "placement": "right", "showLegend": True, "values": ["value", "percent"], "calcs": []},
        "tooltip": {"mode": "single", "sort": "none"},
    }  # fmt: skip
    return Panel("piechart", title, (target,), says, unit, width, options=options, overrides=grey_system())


def table(
    title: str, targets: Sequence[Json], says: str = "", units: Mapping[str, str] | None = None, width: int = WIDE
) -> Panel:
    """`units` by the title of a column."""
    return Panel(
        "table",
        title,
        tuple(targets),
        says,
        width=width,
        options={"frameIndex": 0, "showHeader": True, "cellHeight": "sm", "enablePagination": True},
        custom={"align": "auto", "cellOptions": {"type": "auto"}, "inspect": False},
        defaults={"color": {"mode": "fixed", "fixedColor": "text"}},
        overrides=tuple(column_unit(name, unit) for name, unit in (units or {}).items()),
    )


def columns(panel: Panel, order: Mapping[str, str]) -> Panel:
    """Which fields are shown, in which order and under which title; several queries become one table."""
    wanted = list(order)
    steps: list[Json] = [{"id": "merge", "options": {}}] if len(panel.targets) > 1 else []
    steps += [
        {"id": "filterFieldsByName", "options": {"include": {"names": wanted}}},
        {
            "id": "organize",
            "options": {
                "excludeByName": {},
                "indexByName": {name: n for n, name in enumerate(wanted)},
                "renameByName": dict(order),
            },
        },
    ]
    return replace(panel, transformations=tuple(steps))


def matrix(panel: Panel, row: str, column: str, unit: str) -> Panel:
    """A row for each value of one label, a column for each of another."""
    options = {"rowField": row, "columnField": column, "valueField": "Value", "emptyValue": "zero"}
    return replace(panel, unit=unit, transformations=({"id": "groupingToMatrix", "options": options},))


def column_unit(name: str, unit: str) -> Json:
    return {
        "matcher": {"id": "byName", "options": name},
        "properties": [{"id": "unit", "value": unit}, *([{"id": "decimals", "value": 2}] if unit == MONEY else [])],
    }


def grey_system() -> tuple[Json, ...]:
    return tuple(
        {
            "matcher": {"id": "byName", "options": owner},
            "properties": [{"id": "color", "value": {"mode": "fixed", "fixedColor": colour}}],
        }
        for owner, colour in GREY.items()
    )
