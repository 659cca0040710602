"""A dashboard of Grafana: rows of panels, and variables by which people choose what they look at."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from apportion.integrations.grafana.panels import LEDGER, METRICS, POSTGRES, PROMETHEUS, WIDE, Json, Panel

SCHEMA = 41  # what Grafana 12 and 13 write; older ones are migrated by it
TAG = "apportion"
OF_RANGE, DESCENDING, ASCENDING, HIDDEN = 2, 2, 1, 2  # as Grafana numbers them
KNOWN_UNITS = frozenset(
    "USD GBP EUR JPY RUB UAH BRL DKK ISK NOK SEK CZK CHF PLN BTC ZAR INR KRW IDR PHP VND TRY MYR BGN GEL".split()  # noqa: SIM905  # a list of words
)


@dataclass(frozen=True, slots=True)
class Row:
    """`folded` panels ask nothing until somebody unfolds them."""

    title: str
    panels: tuple[Panel, ...]
    folded: bool = False


@dataclass(frozen=True, slots=True)
class Dashboard:
    name: str
    title: str
    says: str
    rows: tuple[Row, ...]
    variables: tuple[Json, ...]
    since: str = "now-30d"
    page: str = "/"  # of Apportion's own, which tells more of it

    def json(self, currency: str, address: str = "") -> Json:
        """`address` of the pages, for links to them; without one there are none."""
        shown = list(laid_out(self.rows, unit_of(currency)))
        for panel in shown if not address else ():
            panel.get("fieldConfig", {}).get("defaults", {}).pop("links", None)
        return {
            "uid": f"{TAG}-{self.name}",
            "title": self.title,
            "description": self.says,
            "tags": [TAG],
            "schemaVersion": SCHEMA,
            "version": 1,
            "editable": True,
            "graphTooltip": 1,
            "timezone": "",
            "time": {"from": self.since, "to": "now"},
            "refresh": "5m",
            "links": [link(), *([page_link(address + self.page)] if address else [])],
            "annotations": {"list": []},
            "templating": {"list": [constant("currency", currency), constant("pages", address), *self.variables]},
            "panels": shown,
        }


def unit_of(currency: str) -> str:
    """Grafana's own where it has one, else the code before the amount."""
    return f"currency{currency}" if currency in KNOWN_UNITS else f"currency:{currency} "


def laid_out(rows: Sequence[Row], currency_unit: str) -> Iterator[Json]:
    """From left to right, a new line where no panel fits any more."""
    number, y = 1, 0
    for row in rows:
        own, y_below = placed(row.panels, number + 1, y + 1, currency_unit)
        yield {
            "id": number,
            "type": "row",
            "title": row.title,
            "collapsed": row.folded,
            "gridPos": {"x": 0, "y": y, "w": WIDE, "h": 1},
            "panels": own if row.folded else [],
        }
        yield from [] if row.folded else own
        number, y = number + len(own) + 1, y + 1 if row.folded else y_below


def placed(panels: Sequence[Panel], number: int, y: int, currency_unit: str) -> tuple[list[Json], int]:
    found, x, tallest = [], 0, 0
    for n, panel in enumerate(panels):
        if x + panel.width > WIDE:
            x, y, tallest = 0, y + tallest, 0
        found.append(panel.json(number + n, (x, y), currency_unit))
        x, tallest = x + panel.width, max(tallest, panel.height)
    return found, y + tallest


def link() -> Json:
    """To the other dashboards, with what is chosen."""
    return {
        "type": "dashboards",
        "title": "Apportion",
        "tags": [TAG],
        "asDropdown": True,
        "includeVars": True,
        "keepTime": True,
        "icon": "external link",
        "targetBlank": False,
        "tooltip": "",
        "url": "",
    }


def page_link(url: str) -> Json:
    """To the pages, where each figure leads to what it is made of."""
    return {
        "type": "link",
        "title": "Pages",
        "url": url,
        "icon": "doc",
        "tags": [],
        "asDropdown": False,
        "includeVars": False,
        "keepTime": False,
        "targetBlank": True,
        "tooltip": "The pages of Apportion",
    }


def source(name: str, kind: str, label: str) -> Json:
    return {"name": name, "type": "datasource", "label": label, "query": kind, "refresh": 1, "hide": 0}


DATASOURCE = source("datasource", PROMETHEUS, "Metrics")
LEDGER_SOURCE = source("ledger", POSTGRES, "Ledger")


def constant(name: str, value: str) -> Json:
    return {"name": name, "type": "constant", "query": value, "hide": HIDDEN, "skipUrlSync": True}


def choice(name: str, label: str, *values: str) -> Json:
    options = [{"text": value, "value": value, "selected": not n} for n, value in enumerate(values)]
    return {
        "name": name,
        "type": "custom",
        "label": label,
        "query": ",".join(values),
        "options": options,
        "current": options[0],
        "hide": 0,
    }


def label_of(name: str, label: str, selector: str, of: str) -> Json:
    """The values of a label, as a variable: one, several or all of them. Queries take it by `=~`, SQL by `IN`."""
    asked = f"label_values({selector}, {of})"
    return {
        "name": name,
        "type": "query",
        "label": label,
        "datasource": METRICS,
        "query": {"query": asked, "refId": name},
        "definition": asked,
        "refresh": OF_RANGE,
        "sort": ASCENDING,
        "hide": 0,
        "multi": True,
        "includeAll": True,
    }


def months_posted() -> Json:
    asked = "SELECT period FROM apportion_periods ORDER BY period DESC"
    return {
        "name": "period",
        "type": "query",
        "label": "Month",
        "datasource": LEDGER,
        "query": asked,
        "definition": asked,
        "refresh": OF_RANGE,
        "sort": DESCENDING,
        "hide": 0,
    }
