"""The schema for editors accepts what the loader accepts in shape, and refuses what is plainly wrong."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from ruamel.yaml import YAML

from apportion.policy.methods import METHODS
from apportion.policy.schema import json_schema

TEXT = (Path(__file__).parent / "design.yaml").read_text(encoding="utf-8")
HEAD = "policy: lab\neffective: 2026-10-01\ncurrency: USD\ntime_zone: UTC\n"


def mistakes(text: str) -> list[str]:
    """As an editor sees it: plain YAML, where 60 is a number and a day is a text."""
    document = json.loads(json.dumps(YAML(typ="safe", pure=True).load(text), default=str))
    return [error.message for error in Draft202012Validator(json_schema()).iter_errors(document)]


def test_it_is_a_schema() -> None:
    Draft202012Validator.check_schema(json_schema())


def test_the_example_is_valid() -> None:
    assert mistakes(TEXT) == []


@pytest.mark.parametrize(
    "right",
    [
        "teams: {a: }\nowners:\n",
        "owners: [{when: {a: {not: [b, 1]}, not: {c: d}}, team: x}]\n",
        "pools: {p: {costs: {a: b}, meter: {gpu: 9, cpu: 0.9}, driver: {blend: 0.5}, idle: reservation}}\n",
        "pools: {p: {costs: {a: 1}, by: cost, over: [a, b]}}\n",
        'facets: [{when: {a: b}, model: "{c}", outcome: failed}]\n',
        "journal: {clearing: 2400, central: {account: 6900}, accounts: {compute: 6100}, reasons: {idle: 1}}\n",
        "journal: {clearing: {'AWS *': 2401, otherwise: 2400}, negative: kept}\nstatements: {number: '{number}'}\n",
    ],
)
def test_right(right: str) -> None:
    assert mistakes(HEAD + right) == []


@pytest.mark.parametrize(
    "wrong",
    [
        "poools: {}\n",
        "basis: gross\n",
        "journal: {reasons: {idel: 1}}\n",
        "pools: {p: {costs: {a: b}, by: cost, mode: free}}\n",
        "teams: {a: {mode: x}}\n",
        "owners: [{team: x}]\n",
        "owners: [{when: x, team: x}]\n",
        "facets: [{when: {a: b}}]\n",
        "facets: [{when: {a: b}, phse: c}]\n",
        "carried_by: {_idel: x}\n",
        "pools: {p: {costs: others, by: cost}}\n",
        "pools: {p: {costs: {a: b}, meter: gpuu}}\n",
        "pools: {p: {costs: {a: b}, meter: {gpuu: 1}}}\n",
        "pools: {p: {costs: {a: b}, method: recprocal}}\n",
        "pools: {p: {costs: {a: b}, meter: gpu, otherwise: true}}\n",
        "pools: {p: {costs: {a: b}, meter: gpu, idle: {unsold: holder}}}\n",
        "pools: {p: {costs: {a: b}, meter: gpu, driver: blend}}\n",
        "adjustments: [{percent: 1, sponsor: x}]\n",
        "adjustments: [{percent: lots, sponsor: x, why: y}]\n",
        "fx: null\n",
    ],
)
def test_wrong(wrong: str) -> None:
    assert mistakes(HEAD + wrong) != []


def test_editors_can_offer_the_words() -> None:
    pool: dict[str, Any] = json_schema()["$defs"]["Pool"]
    assert pool["properties"]["method"]["enum"] == list(METHODS)
    assert {"from", "by", "costs"} <= set(pool["properties"])
    assert '"null"' not in json.dumps(pool)
