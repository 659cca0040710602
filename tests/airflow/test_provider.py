"""What Airflow reads of the provider, and that it can be read without Airflow."""

import json
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from jsonschema import validate

from apportion.integrations.airflow.provider import get_provider_info
from tests.airflow.environment import HERE, is_here

ROOT = Path(__file__).resolve().parents[2]


def test_the_entry_point_names_the_provider() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    ((name, place),) = project["entry-points"]["apache_airflow_provider"].items()
    module, _, function = place.partition(":")
    assert name == "apportion-airflow"
    assert getattr(import_module(module), function) is get_provider_info
    info = get_provider_info()
    assert info["package-name"] == project["name"]  # Airflow refuses another
    assert info["versions"] == [project["version"]]


def test_every_module_that_it_names_is_there() -> None:
    info = get_provider_info()
    named = [
        module for kind in ("operators", "sensors", "hooks") for one in info[kind] for module in one["python-modules"]
    ]
    named += [one["hook-class-name"].rpartition(".")[0] for one in info["connection-types"]]
    assert len(named) == 4
    for module in named:
        assert find_spec(module), module


def test_reading_it_and_working_need_no_airflow() -> None:
    import_module("apportion.integrations.airflow.elsewhere")
    assert "airflow" not in sys.modules


def test_it_is_as_airflows_own_schema_says() -> None:
    if not is_here():
        pytest.skip("no Airflow: `make test-airflow` installs it")
    (schema,) = HERE.glob("lib/python3*/site-packages/airflow/provider_info.schema.json")
    validate(get_provider_info(), json.loads(schema.read_text("utf-8")))
