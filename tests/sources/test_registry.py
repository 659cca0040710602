"""Sources are found by entry point, and a stanza's mistakes are named with the nearest word."""

from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ApportionError, ProjectError
from apportion.sources import registry
from tests.sources import making


def refusal(kind: str, base: Path, **settings: Any) -> ApportionError:
    with pytest.raises(ApportionError) as caught:
        making.read(kind, base, **settings)
    return caught.value


def test_the_built_in_sources_register_by_entry_point() -> None:
    assert {"demo", "focus", "usage"} <= set(registry.source_kinds())
    assert callable(registry.source_named("focus"))


def test_a_misspelt_kind_names_the_nearest() -> None:
    with pytest.raises(ProjectError) as caught:
        registry.source_named("focsu", "apportion.toml:7")
    assert (caught.value.code, caught.value.where) == ("unknown-source", "apportion.toml:7")
    assert caught.value.hint == "did you mean 'focus'?"


@pytest.mark.parametrize("value", ["apportion.nowhere:read", "apportion.errors:nothing", "apportion.model.rows:MONEY"])
def test_a_source_that_cannot_be_loaded_is_named(value: str) -> None:
    with pytest.raises(ProjectError) as caught:
        registry.load(EntryPoint("broken", value, registry.GROUP), "")
    assert caught.value.code == "broken-source"
    assert value in caught.value.message


def test_a_kind_that_two_packages_offer_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    offers = [EntryPoint("bill", f"package_{number}:read", registry.GROUP) for number in (1, 2)]
    monkeypatch.setattr(registry, "entry_points", lambda **_: offers)
    with pytest.raises(ProjectError) as caught:
        registry.source_named("bill")
    assert caught.value.code == "ambiguous-source"


@pytest.mark.parametrize(
    ("kind", "settings", "code", "hint"),
    [
        ("focus", {"path": "a.csv", "rolle": "bill"}, "unknown-setting", "did you mean 'role'?"),
        ("focus", {"path": "a.csv", "role": "referense"}, "invalid-setting", "did you mean 'reference'?"),
        ("focus", {"path": "a.csv", "currency": "USDD"}, "invalid-setting", "did you mean 'USD'?"),
        ("focus", {"path": 7}, "invalid-setting", ""),
        ("focus", {}, "missing-setting", 'add path = "..." to the stanza'),
        ("usage", {"path": "a.csv"}, "missing-setting", 'columns = {workload = "..."}'),
        ("usage", {"path": "a.csv", "records": "usages"}, "invalid-setting", "did you mean 'usage'?"),
        ("usage", {"columns": {"worklod": "a"}}, "invalid-setting", "did you mean 'workload'?"),
        ("usage", {"columns": {"workload": "a"}}, "missing-setting", 'columns = {start = "..."}'),
        (
            "usage",
            {"columns": {"workload": "a", "start": "b"}},
            "missing-setting",
            'meters = {gpu = "..."}, or columns with meter and allocated',
        ),
        (
            "usage",
            {"columns": {"workload": "a", "start": "b", "meter": "c"}},
            "missing-setting",
            'columns = {allocated = "..."}',
        ),
        ("usage", {**making.STANZA, "meters": {"gpus": "g"}}, "invalid-setting", "did you mean 'gpu'?"),
        ("usage", {**making.STANZA, "meters": "gpu"}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "used_meters": {"cpu": "c"}}, "invalid-setting", "did you mean 'gpu'?"),
        ("usage", {**making.STANZA, "units": {"memory": "MiBB"}}, "unknown-unit", "did you mean 'MiB'?"),
        ("usage", {**making.STANZA, "used_units": {"gpu": "percent of alocated"}}, "unknown-unit", ""),
        ("usage", {**making.STANZA, "units": {"gpu": "replica"}}, "unknown-unit", "did you mean 'replicas'?"),
        ("usage", {**making.STANZA, "units": {"gpu": "shards"}}, "missing-setting", "sharing = {shards = 4}"),
        ("usage", {**making.STANZA, "sharing": {"shard": 4}}, "invalid-setting", "did you mean 'shards'?"),
        ("usage", {**making.STANZA, "sharing": {"shards": 0}}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "sharing": {"shards": True}}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "sharing": 4}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "time": "unix"}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "time_zone": "Mars/Olympus"}, "unknown-time-zone", ""),
        ("usage", {**making.STANZA, "window": "October"}, "invalid-period", "write it as 2026-10"),
        ("usage", {**making.STANZA, "outcomes": {"DONE": "finished"}}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "labels": {"a": 1}}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "labels": ["a"]}, "invalid-setting", ""),
        ("usage", {**making.STANZA, "delimiter": "||"}, "invalid-setting", ""),
    ],
)
def test_a_wrong_stanza_is_refused_with_the_nearest_word(
    kind: str, settings: dict[str, Any], code: str, hint: str, tmp_path: Path
) -> None:
    found = refusal(kind, tmp_path, **settings)
    assert found.code == code
    assert "it" in found.where
    if hint:
        assert found.hint == hint
