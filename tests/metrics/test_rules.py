"""Rules as Prometheus takes them: promtool finds nothing wrong with them, and each alert fires on a case and is quiet on a look-alike."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import promql_parser
import pytest
from ruamel.yaml import YAML

from apportion.integrations.prometheus.rules import RULES
from apportion.integrations.writing import written
from apportion.reports.metrics.families import FAMILIES
from tests import processes
from tests.prometheus.server import cannot_start

CASES = Path(__file__).with_name("rules.test.yml")
READ = YAML(typ="safe")
needs_promtool = pytest.mark.skipif(bool(cannot_start()), reason=cannot_start() or "there is one")
Rule = dict[str, Any]


def rules(name: str) -> list[Rule]:
    return [rule for group in READ.load(RULES[name])["groups"] for rule in group["rules"]]


RECORDED, ALERTS = rules("apportion.recording.yml"), rules("apportion.alerts.yml")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    written(tmp_path, {**RULES, CASES.name: CASES.read_text("utf-8")})
    return tmp_path


def promtool(*words: str, folder: Path) -> processes.CompletedProcess[str]:
    return processes.run(["promtool", *words], cwd=folder, text=True)


@needs_promtool
def test_promtool_finds_nothing_wrong(folder: Path, record_property: Callable[[str, object], None]) -> None:
    done = promtool("check", "rules", *RULES, folder=folder)
    said = re.findall(r"SUCCESS: \d+ rules found", done.stdout)
    record_property("promtool check rules", "; ".join(said))
    assert (done.returncode, len(said)) == (0, len(RULES)), done.stdout + done.stderr


@needs_promtool
def test_every_alert_fires_and_is_quiet_where_it_should(
    folder: Path, record_property: Callable[[str, object], None]
) -> None:
    done = promtool("test", "rules", CASES.name, folder=folder)
    record_property("promtool test rules", done.stdout.split("\n", 1)[1].strip())
    assert done.returncode == 0, done.stdout + done.stderr


@needs_promtool
def test_promtool_would_say_so(folder: Path) -> None:
    (folder / "apportion.alerts.yml").write_text(RULES["apportion.alerts.yml"].replace(">= 1\n", ">= 2\n"), "utf-8")
    assert promtool("test", "rules", CASES.name, folder=folder).returncode == 1
    (folder / "apportion.alerts.yml").write_text(RULES["apportion.alerts.yml"].replace(">= 1\n", ">= \n"), "utf-8")
    assert promtool("check", "rules", "apportion.alerts.yml", folder=folder).returncode == 1


def test_each_alert_has_a_case_and_a_look_alike() -> None:
    cases = [case for test in READ.load(CASES.read_text("utf-8"))["tests"] for case in test.get("alert_rule_test", ())]
    names = {rule["alert"] for rule in ALERTS}
    assert {case["alertname"] for case in cases if case["exp_alerts"]} == names
    assert {case["alertname"] for case in cases if not case["exp_alerts"]} == names


def test_rules_ask_for_what_there_is() -> None:
    known = {one.name: {*one.labels, "__name__"} for one in FAMILIES} | {
        rule["record"]: set[str]() for rule in RECORDED
    }
    for rule in (*RECORDED, *ALERTS):
        assert promql_parser.parse(rule["expr"]) is not None
        asked = set(re.findall(r"\b(?:\w+:)?apportion_\w+(?::\w+)?", rule["expr"]))
        assert asked, rule
        assert asked <= known.keys(), rule
        for name, labels in re.findall(r"(apportion_\w+)\{([^}]*)\}", rule["expr"]):
            assert set(re.findall(r"(\w+)=", labels)) <= known[name]


def test_an_alert_says_what_to_do() -> None:
    for rule in ALERTS:
        assert rule["labels"]["severity"] in ("info", "warning", "critical")
        assert rule["annotations"]["summary"]
        assert re.search(r"/\w+|`apportion \w+|log|targets", rule["annotations"]["description"]), rule["alert"]
