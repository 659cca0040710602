"""The docs are whole: every verb, setting, error code and word has its heading, links lead somewhere, policies are accepted."""

import re
from pathlib import Path
from typing import Any

import pytest

from apportion.errors import ProjectError
from tests import codes, docs, snippets

ROOT = Path(__file__).resolve().parents[1]
REFERENCE = ROOT / "docs/reference"
ALL_PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")]
ALL_PAGES += (
    sorted((ROOT / "docs").rglob("*.md"))
    + sorted((ROOT / "src").rglob("*.md"))
    + sorted((ROOT / "examples").rglob("*.md"))
)
WORDS = {
    "cost line", "bill", "meter", "usage", "capacity", "reservation", "workload", "owner", "facet", "pool", "policy",
    "price curve", "charge", "posting", "plan", "period", "statement", "showback", "chargeback",
}  # fmt: skip


def relative(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", ALL_PAGES, ids=relative)
def test_links_lead_somewhere(page: Path) -> None:
    text = snippets.FENCE.sub("", page.read_text(encoding="utf-8"))
    broken = []
    for target in re.findall(r"\]\(([^)]+)\)", text):
        path, _, anchor = target.partition("#")
        if "://" in path:
            continue
        there = (page.parent / path) if path else page
        if not there.exists() or (
            anchor and anchor not in {slug(heading) for heading in docs.headings(there.read_text(encoding="utf-8"))}
        ):
            broken.append(target)
    assert broken == []


def slug(heading: str) -> str:
    return re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")


@pytest.mark.parametrize("page", ALL_PAGES, ids=relative)
def test_policies_shown_are_accepted(page: Path) -> None:
    from apportion.policy.load import load_policy

    for snippet in snippets.snippets(page.read_text(encoding="utf-8")):
        if snippet.language == "yaml" and snippet.text.startswith("policy:") and not snippet.skipped:
            assert load_policy(snippet.text, f"{page.name}:{snippet.start}").name


def test_every_verb_has_a_heading_with_its_help() -> None:
    assert docs.CLI_PAGE.read_text(encoding="utf-8") == docs.cli_page(), "run `make docs`"


def test_the_reference_of_methods_is_what_the_command_prints() -> None:
    assert docs.METHODS_PAGE.read_text(encoding="utf-8") == docs.methods_page(), "run `make docs`"


def test_the_reference_of_the_library_is_what_the_functions_say() -> None:
    assert docs.LIBRARY_PAGE.read_text(encoding="utf-8") == docs.library_page(), "run `make docs`"


def test_the_reference_of_views_is_what_the_books_make() -> None:
    assert docs.VIEWS_PAGE.read_text(encoding="utf-8") == docs.views_page(), "run `make docs`"


def test_the_reference_of_metrics_has_every_family_and_rule() -> None:
    assert docs.METRICS_PAGE.read_text(encoding="utf-8") == docs.metrics_page(), "run `make docs`"


def test_every_error_code_has_a_heading_and_the_other_way_round() -> None:
    found, computed = codes.error_codes(ROOT / "src/apportion")
    assert computed == []
    listed = docs.headings((REFERENCE / "errors.md").read_text(encoding="utf-8"))
    assert {"no heading": sorted(found - listed), "not in the code": sorted(listed - found)} == {
        "no heading": [],
        "not in the code": [],
    }


def test_every_setting_has_a_heading_and_the_other_way_round() -> None:
    from apportion.verbs.settings import SHAPES

    settings = {f"{section}.{key}" for section, keys in SHAPES.items() for key in keys} | {
        "sources.name",
        "sources.kind",
    }
    listed = {
        heading for heading in docs.headings((REFERENCE / "settings.md").read_text(encoding="utf-8")) if "." in heading
    }
    assert {"no heading": sorted(settings - listed), "no such setting": sorted(listed - settings)} == {
        "no heading": [],
        "no such setting": [],
    }


def test_every_setting_of_a_source_has_a_heading_and_the_other_way_round(tmp_path: Path) -> None:
    from apportion.sources.outside.stores.opening import STORE_SETTINGS
    from apportion.sources.registry import reader, source_kinds, source_named

    settings = {f"store.{key}" for key in STORE_SETTINGS}  # those of object stores stand there once, for all kinds
    for kind in source_kinds():
        with pytest.raises(ProjectError) as refused:
            list(reader(source_named(kind))({"name": "a", "kind": kind, "#": "not a setting"}, tmp_path, None))
        assert refused.value.code == "unknown-setting"
        own = set(refused.value.hint.removeprefix("valid: ").split(", "))
        settings |= {
            f"{kind}.{key}" for key in own - (set(STORE_SETTINGS) if own.issuperset(STORE_SETTINGS) else set())
        }
    settings -= {f"{kind}.{key}" for kind in source_kinds() for key in ("name", "kind")}
    assert docs.headings((REFERENCE / "sources.md").read_text(encoding="utf-8")) == settings


def test_every_key_of_a_policy_is_described() -> None:
    from apportion.policy.schema import json_schema

    schema = json_schema()
    page = (REFERENCE / "policy.md").read_text(encoding="utf-8")
    sections = dict(part.partition("\n")[::2] for part in re.split(r"^## ", page, flags=re.MULTILINE)[1:])
    assert sections.keys() == schema["properties"].keys()
    missing = [
        f"{name}: {key}"
        for name, part in schema["properties"].items()
        for key in sorted(keys_below(part, schema["$defs"]))
        if f"`{key}`" not in sections[name]
    ]
    assert missing == []


def keys_below(part: Any, definitions: dict[str, Any]) -> set[str]:
    """Every key that may stand somewhere under a part of the schema; labels are the user's own words."""
    if isinstance(part, list):
        return {key for item in part for key in keys_below(item, definitions)}
    if not isinstance(part, dict) or "not" in part.get("properties", {}):
        return set()
    found = set(part.get("properties", {}))
    if "$ref" in part:
        found |= keys_below(definitions[part["$ref"].rpartition("/")[2]], definitions)
    for name, item in part.items():
        if name != "properties":
            found |= keys_below(item, definitions)
    return found | {key for item in part.get("properties", {}).values() for key in keys_below(item, definitions)}


def test_the_glossary_has_every_word() -> None:
    assert docs.headings((REFERENCE / "glossary.md").read_text(encoding="utf-8")) >= WORDS


def test_the_scan_for_error_codes_sees_wrappers(tmp_path: Path) -> None:
    (tmp_path / "errors.py").write_text(
        "class Problem:\n    where: str\n    code: str\n"
        "class ApportionError(Exception): ...\nclass PolicyError(ApportionError): ...\n"
        "def refuse(text, code='default-slug'): raise PolicyError(code, text)\n"
        "class Tree:\n    def wrong(self, code): raise PolicyError(code, '')\n"
        "class GoneError(PolicyError):\n    def __init__(self, what): super().__init__('h-slug', what)\n"
        "class Prose:\n    code: str = ''\n"
    )
    (tmp_path / "rules.py").write_text(
        f"from {tmp_path.name}.errors import GoneError, PolicyError, Problem, Prose, refuse as no\n"
        "PolicyError('a-slug', 'text')\nProblem('here', 'b-slug')\nProblem('here', code='c-slug' if x else 'd-slug')\n"
        "no('text', 'e-slug')\ntree.wrong('f-slug')\nsay(f'error[g-slug]: {x}')\nPolicyError(made_up(), 'text')\n"
        "def refuse(number, where): ...\nrefuse(1, 'not a code')\nGoneError('such thing')\nProse('text')\n"
    )
    found, computed = codes.error_codes(tmp_path)
    assert found == {"a-slug", "b-slug", "c-slug", "d-slug", "e-slug", "f-slug", "g-slug", "h-slug", "default-slug"}
    assert computed == ["rules.py:8: made_up()"]


def test_every_how_to_is_listed_once() -> None:
    listed = re.findall(r"\(how-to/([\w-]+)\.md\)", (ROOT / "docs/README.md").read_text())
    assert sorted(listed) == sorted(page.stem for page in (ROOT / "docs/how-to").glob("*.md"))
