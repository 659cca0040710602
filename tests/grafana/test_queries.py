"""Every query of every dashboard is parsed and run: on a real Prometheus that has what the exporter wrote, and on a real PostgreSQL with the ledger."""

import re
from collections.abc import Callable
from typing import Any

import promql_parser
import psycopg
import pytest

from tests.grafana.conftest import STEP_S, Prometheus
from tests.grafana.reading import Json, choices, sent, targets
from tests.metrics.scraping import asked

EMPTY = {  # panels that have nothing to show of this organisation, and why
    "Which problems do rows have?": "no row of it has a problem",
}
NAMES = ("overview", "team", "pool", "finance", "health")
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")


def test_the_table_of_names_is_whole(dashboards: dict[str, Json]) -> None:
    assert set(dashboards) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_expression_is_promql(name: str, dashboards: dict[str, Json]) -> None:
    for title, target in targets(dashboards[name], "expr"):
        for chosen in choices(target["expr"]):
            assert promql_parser.parse(sent(target["expr"], chosen)) is not None, title


def test_what_is_no_promql_is_caught() -> None:
    with pytest.raises(ValueError, match="unclosed left parenthesis"):
        promql_parser.parse('sum by (team (apportion_month_cost{state="posted"})')


@pytest.mark.parametrize("name", NAMES)
def test_every_expression_gives_data(
    name: str, dashboards: dict[str, Json], prometheus: Prometheus, record_property: Callable[[str, object], None]
) -> None:
    run, empty = 0, []
    for title, target in targets(dashboards[name], "expr"):
        series = 0
        for chosen in choices(target["expr"]):
            found = result(prometheus, sent(target["expr"], chosen), over_time=target["range"])
            assert (
                title_labels(target["legendFormat"]) <= {label for one in found for label in one["metric"]} or not found
            )
            series += len(found)
            run += 1
        empty += [] if series else [title]
    if run:
        record_property(f"PromQL of {name}", f"{run} queries run, {len(empty)} panels empty")
    assert [title for title in empty if title not in EMPTY] == []


def result(prometheus: Prometheus, expr: str, *, over_time: bool) -> list[Any]:
    now = prometheus.now_s
    if over_time:
        found = asked(prometheus.url, "query_range", query=expr, start=now - 2 * STEP_S, end=now, step=STEP_S)
        assert all(len(one["values"]) == 3 for one in found["result"]), expr
    else:
        found = asked(prometheus.url, "query", query=expr, time=now)
    return list(found["result"])


def title_labels(legend: str) -> set[str]:
    """Labels that may be empty are not there: Prometheus drops them."""
    return set(re.findall(r"\{\{(\w+)\}\}", legend)) - {"pool", "with", "project"}


@pytest.mark.parametrize("name", NAMES)
def test_tables_show_fields_that_there_are(name: str, dashboards: dict[str, Json], prometheus: Prometheus) -> None:
    for panel in [
        one for one in every_panel(dashboards[name]) if one["type"] == "table" and "expr" in one["targets"][0]
    ]:
        many = len(panel["targets"]) > 1
        fields = set()
        for target in panel["targets"]:
            for chosen in choices(target["expr"]):
                found = result(prometheus, sent(target["expr"], chosen), over_time=False)
                fields |= {label for one in found for label in one["metric"]}
            fields |= {f"Value #{target['refId']}" if many else "Value"}
        wanted = {name for step in panel["transformations"] for name in shown(step["options"])}
        assert wanted - fields <= {"with", "pool"}, panel["title"]  # empty labels


def shown(options: Json) -> set[str]:
    named = {options[key] for key in ("rowField", "columnField", "valueField") if key in options}
    return {*options.get("include", {}).get("names", ()), *options.get("renameByName", {}), *named}


def every_panel(dashboard: Json) -> list[Json]:
    return [one for panel in dashboard["panels"] for one in (panel, *panel.get("panels", ())) if one["type"] != "row"]


@pytest.mark.parametrize("name", NAMES)
def test_every_variable_has_values(
    name: str, dashboards: dict[str, Json], prometheus: Prometheus, ledger: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    for variable in dashboards[name]["templating"]["list"]:
        if variable["type"] == "query" and variable["datasource"]["type"] == "prometheus":
            selector, label = LABEL_VALUES.fullmatch(variable["query"]["query"]).groups()  # type: ignore[union-attr]
            found = asked(
                prometheus.url, "series", **{"match[]": selector}, start=prometheus.now_s - 60, end=prometheus.now_s
            )
            assert {one[label] for one in found}, variable["name"]
            assert not any(one[label].startswith("_") for one in found)
        elif variable["type"] == "query":
            assert rows_of(ledger, variable["query"])


@pytest.mark.parametrize("name", NAMES)
def test_every_sql_query_gives_rows(
    name: str,
    dashboards: dict[str, Json],
    ledger: "psycopg.Connection[tuple[Any, ...]]",
    record_property: Callable[[str, object], None],
) -> None:
    run, empty = 0, []
    for title, target in targets(dashboards[name], "rawSql"):
        rows = 0
        for chosen in choices(target["rawSql"]):
            found = rows_of(ledger, sent(target["rawSql"], chosen))
            rows += sum(any(cell is not None for cell in row) for row in found)
            run += 1
        empty += [] if rows else [title]
        if target["format"] == "time_series":
            assert [column.name for column in ledger.execute(asked_sql(target)).description or ()][:2] == [
                "time",
                "metric",
            ]
    if run:
        record_property(f"SQL of {name}", f"{run} queries run, {len(empty)} panels empty")
    assert empty == []


def asked_sql(target: Json) -> bytes:
    return sent(target["rawSql"], next(choices(target["rawSql"]))).encode()


def rows_of(ledger: "psycopg.Connection[tuple[Any, ...]]", sql: str) -> list[tuple[Any, ...]]:
    return ledger.execute(sql.encode()).fetchall()


def test_a_name_with_a_quote_stays_a_name(
    dashboards: dict[str, Json], ledger: "psycopg.Connection[tuple[Any, ...]]"
) -> None:
    for _, target in targets(dashboards["team"], "rawSql"):
        chosen = {"team": "o'brien'; DROP VIEW apportion_daily; --", "currency": "USD", "period": "2026-10"}
        assert rows_of(ledger, sent(target["rawSql"], chosen)) == []


def test_the_reader_of_dashboards_sees_views_alone(ledger: "psycopg.Connection[tuple[Any, ...]]") -> None:
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        ledger.execute(b"SELECT * FROM entries")
