"""The parts of an install: pinned, under licences that are allowed, and listed in the release."""

import json
from collections.abc import Callable
from email.message import Message
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.release.licences import POLICY, UNKNOWN, bundled, licence_of, objection
from tests.release.parts import CORE, ROOT, added, brought, extras, installed, parts, pins
from tests.tidy import INDEX_HOST, MACHINE_PATH


def test_every_part_is_installed_as_the_locks_say() -> None:
    assert {(part.name, part.version) for part in parts()} <= pins("requirements-dev.lock")
    shipped = {name for extra in (CORE, "web", "metrics") for name in added(extra)}  # what `make run` installs
    assert {(part.name, part.version) for part in parts() if part.name in shipped} <= pins("requirements.lock")


def test_every_part_has_a_licence_that_is_allowed(record_property: Callable[[str, object], None]) -> None:
    found = {part.name: licence_of(installed()[part.name]) for part in parts()}
    assert [sentence for name, licence in found.items() if (sentence := objection(name, licence))] == []
    counts: dict[str, int] = {}
    for licence in found.values():
        counts[licence] = counts.get(licence, 0) + 1
    most = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    record_property("licences of parts", ", ".join(f"{count} {licence}" for licence, count in most))


def test_exceptions_are_of_parts_that_there_are() -> None:
    names = {part.name for part in parts()}
    assert set(POLICY["weak"]) <= names


class Told(Distribution):
    """A distribution that says no more than this of its licence."""

    def __init__(self, *said: tuple[str, str]) -> None:
        self.said = said

    @property
    def metadata(self) -> Any:
        message = Message()
        for key, value in self.said:
            message[key] = value
        return message

    def read_text(self, filename: str) -> str | None: ...

    def locate_file(self, path: Any) -> Any: ...


@pytest.mark.parametrize(
    ("said", "licence", "refused"),
    [
        ((("License-Expression", "MIT OR GPL-2.0-only"),), "MIT OR GPL-2.0-only", False),
        ((("License-Expression", "MIT AND GPL-2.0-only"),), "MIT AND GPL-2.0-only", True),
        ((("License-Expression", "AGPL-3.0-only"),), "AGPL-3.0-only", True),
        ((("Classifier", "License :: OSI Approved :: MIT License"),), "MIT", False),
        ((("Classifier", "License :: OSI Approved :: GNU General Public License v3 (GPLv3)"),), UNKNOWN, True),
        ((("License", "Apache-2.0"),), "Apache-2.0", False),
        ((("License", "see the file"),), UNKNOWN, True),
        ((), UNKNOWN, True),
        ((("License-Expression", "LGPL-3.0-only"),), "LGPL-3.0-only", True),  # weak, and not named
    ],
)
def test_what_is_unknown_or_not_allowed_is_refused(
    said: tuple[tuple[str, str], ...], licence: str, refused: bool
) -> None:
    assert licence_of(Told(*said)) == licence
    assert bool(objection("some-part", licence)) == refused


def test_what_the_wheel_carries_of_others_is_permissive_and_named() -> None:
    found = bundled()
    assert {"vega", "vega-lite", "vega-embed", "d3-scale", "topojson-client"} <= set(found)
    assert set(found.values()) <= set(POLICY["permissive"])
    script = (ROOT / "src/apportion/web/static/vega.js").read_text("utf-8")
    assert script.startswith("/* Vega-Lite")


@pytest.fixture(scope="module")
def listed(dist: Path) -> dict[str, Any]:
    (path,) = dist.glob("*.cdx.json")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def test_the_list_of_parts_is_valid_and_names_no_place(dist: Path) -> None:
    (path,) = dist.glob("*.cdx.json")
    text = path.read_text("utf-8")
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    assert wrong is None, str(wrong)[:500]
    assert not MACHINE_PATH.search(text)
    assert not INDEX_HOST.search(text)


def test_the_list_has_every_part_of_core_and_extras(listed: dict[str, Any]) -> None:
    purls = {found["purl"]: found for found in listed["components"] if "purl" in found}
    assert set(purls) == {f"pkg:pypi/{part.name}@{part.version}" for part in parts()}
    needed = {found["name"] for found in purls.values() if found["scope"] == "required"}
    assert needed == set(brought()[CORE])
    told = {value["value"] for found in purls.values() for value in found["properties"]}
    assert told == set(extras())


def test_everything_in_the_list_is_reached_from_the_top(listed: dict[str, Any]) -> None:
    graph = {found["ref"]: found["dependsOn"] for found in listed["dependencies"]}
    todo, seen = [listed["metadata"]["component"]["bom-ref"]], set()
    while todo:
        ref = todo.pop()
        if ref not in seen:
            seen.add(ref)
            todo += graph.get(ref, [])
    assert {found["bom-ref"] for found in listed["components"]} <= seen
