"""Golden folders: `settings.toml` and input files on the left, `expected.json` on the right. `pytest --update-golden` writes them anew."""

import inspect
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from apportion.model.delivery import Delivery
from apportion.model.times import parse_period
from apportion.model.times import zone_named as zone
from apportion.sources.registry import reader, source_kinds, source_named
from tests.sources import making

GOLDEN = Path(__file__).with_name("golden")
CASES = sorted(path.parent for path in GOLDEN.glob("*/*/settings.toml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.parent.name}-{case.name}")
def test_what_a_source_makes_of_a_folder(case: Path, *, update_golden: bool) -> None:
    settings: dict[str, Any] = tomllib.loads((case / "settings.toml").read_text(encoding="utf-8"))
    asked = settings.pop("period", None)
    window = parse_period(asked).interval(zone("UTC")) if asked else None
    read = reader(source_named(case.parent.name))
    told = read({"kind": case.parent.name, **settings}, case, window)
    found = making.canonical(item for item in told if isinstance(item, Delivery))
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    if update_golden:
        (case / "expected.json").write_text(text, encoding="utf-8")
    assert text == (case / "expected.json").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", source_kinds())
def test_every_source_has_a_golden_folder_and_says_what_it_reads(kind: str) -> None:
    read = reader(source_named(kind))
    module = inspect.getmodule(read)
    assert inspect.getdoc(read), f"{kind}: its `read` has no docstring"
    assert module is not None
    assert inspect.getdoc(module), f"{kind}: its module has no docstring"
    assert [case for case in CASES if case.parent.name == kind], f"{kind}: no folder in tests/sources/golden/{kind}"
