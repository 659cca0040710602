"""Every query of every dashboard is parsed and run: on a real Prometheus that has what the exporter wrote, and on a real PostgreSQL with the ledger."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import promql_parser
import psycopg
import pytest

from apportion.integrations.grafana.files import files
from tests.grafana.conftest import STEP_S, Prometheus
from tests.grafana.reading import Json, choices, sent, targets
from tests.metrics.scraping import asked

EMPTY = {  # panels that have nothing to show of this organisation, and why
    "Which problems do rows have?": "no row of it has a problem",
}
NAMES = ("overview", "team", "pool", "finance", "health")
MONTHLY = re.compile(r"apportion_(month_cost|month_projected_cost|pool_month_price|idle_cost|coverage_ratio)\b")
LABEL_VALUES = re.compile(r"label_values\((.+), (\w+)\)")


def test_the_table_of_names_is_whole(dashboards: dict[str, Json]) -> None:
    assert set(dashboards) == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_expression_is_promql(name: str, dashboards: dict[str, Json]) -> None:
    for title, target in targets(dashboards[name], "expr"):
        for chosen in choices(target["expr"]):
            assert promql_parser.parse(sent(target["expr"], chosen)) is not None, title


@pytest.mark.parametrize("name", ["overview", "team", "pool"])
def test_a_figure_of_a_month_says_of_which(name: str, dashboards: dict[str, Json]) -> None:
    """The newest month with usage is October for as long as November has none, whatever day it is."""
    told = 0
    for panel in every_panel(dashboards[name]):
        of_month = [one["expr"] for one in panel["targets"] if MONTHLY.search(one.get("expr", ""))]
        if panel["type"] == "stat" and of_month:
            assert re.search(r"by \((pool, )?period\)", of_month[0]), panel["title"]
            assert panel["options"]["textMode"] == "value_and_name"
            assert "{{period}}" in panel["targets"][0]["legendFormat"]
            told += 1
        assert "running month" not in panel["title"]
    assert told >= 2


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


@pytest.mark.parametrize(("name", "variable"), [("team", "team"), ("pool", "pool")])
def test_one_several_or_all_may_be_chosen(name: str, variable: str, dashboards: dict[str, Json]) -> None:
    (told,) = [one for one in dashboards[name]["templating"]["list"] if one["name"] == variable]
    assert told["multi"] is told["includeAll"] is True
    for title, target in targets(dashboards[name], "expr"):
        assert f'="${variable}"' not in target["expr"], title
    for title, target in targets(dashboards[name], "rawSql"):
        assert f"= ${{{variable}" not in target["rawSql"], title


def test_dashboards_lead_to_the_pages_where_their_address_is_known(dashboards: dict[str, Json]) -> None:
    known = {
        Path(path).stem: json.loads(text)
        for path, text in files("USD", "https://costs.example").items()
        if path.endswith(".json")
    }
    for name in NAMES:
        (page,) = [one["url"] for one in known[name]["links"] if one["type"] == "link"]
        assert page.startswith("https://costs.example/")
        assert [one["type"] for one in dashboards[name]["links"]] == ["dashboards"]
        assert "${pages}" not in json.dumps(dashboards[name]), "a link to nowhere"
    links = {panel["title"]: panel["fieldConfig"]["defaults"].get("links") for panel in every_panel(known["overview"])}
    (link,) = links["Who owes how much?"]
    assert link["url"] == "${pages}/teams/${__field.labels.team:percentencode}"
