"""Every dashboard is what Grafana's own types say a dashboard is, down to the options of its panels; planted mistakes are caught."""

import copy
from collections.abc import Callable, Iterator

import jsonschema
import pytest
from ruamel.yaml import YAML

from apportion.integrations.grafana.dashboards import unit_of
from apportion.integrations.grafana.files import files
from tests.grafana.reading import Json, panels

NAMES = ("overview", "team", "pool", "finance", "health")
LINES = "timeseries"


def wrongs(schema: Json, dashboard: Json) -> Iterator[str]:
    parts = schema["definitions"]["Checked"]["properties"]

    def of(part: str, value: Json, where: str) -> Iterator[str]:
        for error in jsonschema.Draft7Validator(parts[part]).iter_errors(value):
            yield f"{where}: {'.'.join(map(str, error.absolute_path))}: {error.message[:160]}"

    yield from of("dashboard", dashboard, dashboard["title"])
    for panel in panels(dashboard):
        yield from of(panel["type"], panel["options"], panel["title"])
        if panel["type"] == LINES:
            yield from of("lines", panel["fieldConfig"]["defaults"]["custom"], panel["title"])


@pytest.mark.parametrize("name", NAMES)
def test_a_dashboard_is_what_grafana_says_it_is(
    name: str, schema: Json, dashboards: dict[str, Json], record_property: Callable[[str, object], None]
) -> None:
    found = list(wrongs(schema, dashboards[name]))
    record_property(f"dashboard {name}", f"{len(list(panels(dashboards[name])))} panels, {len(found)} schema errors")
    assert found == []


def in_first_panel(*path: str | int) -> Callable[[Json], Json]:
    def place(dashboard: Json) -> Json:
        value = next(panels(dashboard))
        for key in path:
            value = value[key]  # type: ignore[index]
        return value

    return place


MISTAKES: dict[str, tuple[Callable[[Json], Json], str, object]] = {
    "a height as text": (in_first_panel("gridPos"), "h", "8"),
    "a colour mode that is none": (in_first_panel("fieldConfig", "defaults", "color"), "mode", "rainbow"),
    "an option that is none": (in_first_panel("options"), "textMode", "loud"),
    "no title but a number": (lambda dashboard: dashboard, "title", 7),
    "a variable of no kind": (lambda dashboard: dashboard["templating"]["list"][0], "type", "wish"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_planted_mistake_is_caught(mistake: str, schema: Json, dashboards: dict[str, Json]) -> None:
    place, key, value = MISTAKES[mistake]
    planted = copy.deepcopy(dashboards["overview"])
    place(planted)[key] = value
    assert list(wrongs(schema, planted))


def test_panels_do_not_overlap_and_have_numbers_of_their_own(dashboards: dict[str, Json]) -> None:
    for name, dashboard in dashboards.items():
        every = [*dashboard["panels"], *(inner for panel in dashboard["panels"] for inner in panel.get("panels", ()))]
        assert len({panel["id"] for panel in every}) == len(every), name
        seen: set[tuple[int, int]] = set()
        for panel in dashboard["panels"]:
            at = panel["gridPos"]
            own = {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
            assert at["x"] + at["w"] <= 24, (name, panel["title"])
            assert not own & seen, (name, panel["title"])
            seen |= own


def test_titles_ask_or_say_something_and_every_variable_is_there(dashboards: dict[str, Json]) -> None:
    for name, dashboard in dashboards.items():
        known = {one["name"] for one in dashboard["templating"]["list"]}
        for panel in panels(dashboard):
            assert panel["title"][-1] in "?.", (name, panel["title"])
            assert panel["datasource"]["uid"].strip("${}") in known, (name, panel["title"])


def test_what_nobody_used_is_grey_and_a_team_keeps_its_colour(dashboards: dict[str, Json]) -> None:
    for panel in panels(dashboards["overview"]):
        overrides = {
            one["matcher"]["options"]: one["properties"][0]["value"] for one in panel["fieldConfig"]["overrides"]
        }
        if "sum by (team)" in str(panel["targets"]):
            assert panel["fieldConfig"]["defaults"]["color"] == {"mode": "palette-classic-by-name"}, panel["title"]
            assert overrides["_idle"] == {"mode": "fixed", "fixedColor": "#9aa0a6"}


def test_the_files_are_the_same_each_time_and_name_the_same_sources() -> None:
    made = files("USD")
    assert made == files("USD")
    read = YAML(typ="safe")
    sources = read.load(made["provisioning/datasources/apportion.yaml"])
    assert [(one["type"], one["uid"]) for one in sources["datasources"]] == [
        ("prometheus", "apportion-metrics"),
        ("grafana-postgresql-datasource", "apportion-ledger"),
    ]
    assert "$" in sources["datasources"][1]["secureJsonData"]["password"]  # from the environment
    provider = read.load(made["provisioning/dashboards/apportion.yaml"])["providers"][0]
    assert provider["type"] == "file"
    assert sorted(made) == sorted(
        [
            *(f"dashboards/{name}.json" for name in NAMES),
            "provisioning/dashboards/apportion.yaml",
            "provisioning/datasources/apportion.yaml",
        ]
    )


def test_amounts_have_the_unit_of_the_currency() -> None:
    assert unit_of("EUR") == "currencyEUR"
    assert unit_of("THB") == "currency:THB "
    assert '"unit": "currencyEUR"' in files("EUR")["dashboards/finance.json"]
    assert "currencyUSD" not in "".join(files("EUR").values())
    assert '"money"' not in "".join(files("EUR").values())
