"""What an install brings: the distributions behind the core and behind each extra, as they are installed here and pinned in the locks."""

import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
PYPROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT: dict[str, Any] = PYPROJECT["project"]
CORE = ""
ELSEWHERE = {"airflow"}  # an environment of its own: nothing of it is in the locks
PIN = re.compile(r"^([a-z0-9._-]+)(?:\[[a-z,-]+\])?==([^ ;]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Part:
    """`brought_by` names the extras that need it; the core needs it where that is among them as ''. `needs` are parts, too."""

    name: str
    version: str
    brought_by: tuple[str, ...]
    needs: tuple[str, ...]


@cache
def installed() -> dict[str, Distribution]:
    return {canonicalize_name(found.metadata["Name"]): found for found in distributions()}


def wanted_by(requirement: Requirement) -> Iterator[Requirement]:
    """What one installed distribution asks for, with the extras it is asked for."""
    for text in installed()[canonicalize_name(requirement.name)].requires or []:
        asked = Requirement(text)
        extras = {"", *requirement.extras}
        if asked.marker is None or any(asked.marker.evaluate({"extra": extra}) for extra in extras):
            yield asked


def closure(texts: Iterable[str]) -> dict[str, set[str]]:
    """All that these requirements bring, each with what it needs itself. One that is not installed is an error."""
    found: dict[str, set[str]] = {}
    seen: set[str] = set()
    todo = [Requirement(text) for text in texts]
    while todo:
        requirement = todo.pop()
        if str(requirement) in seen:
            continue
        seen.add(str(requirement))
        needs = list(wanted_by(requirement))
        names = {str(canonicalize_name(need.name)) for need in needs}
        found.setdefault(str(canonicalize_name(requirement.name)), set()).update(names)
        todo += needs
    return found


def extras() -> list[str]:
    return [name for name in PROJECT["optional-dependencies"] if name not in ELSEWHERE]


@cache
def brought() -> dict[str, dict[str, set[str]]]:
    """By extra, the core first."""
    return {
        CORE: closure(PROJECT["dependencies"]),
        **{extra: closure(PROJECT["optional-dependencies"][extra]) for extra in extras()},
    }


@cache
def parts() -> tuple[Part, ...]:
    names = sorted({name for found in brought().values() for name in found})
    return tuple(
        Part(
            name,
            installed()[name].version,
            tuple(extra for extra, found in brought().items() if name in found),
            tuple(sorted(set().union(*(found.get(name, set()) for found in brought().values())))),
        )
        for name in names
    )


def added(extra: str) -> list[str]:
    """What an extra brings beside the core."""
    core = brought()[CORE]
    return sorted(name for name in brought()[extra] if extra == CORE or name not in core)


def size(names: Iterable[str]) -> int:
    """Bytes on disk as the wheels list them, without what Python compiles later."""
    files = [file for name in names for file in installed()[name].files or [] if file.suffix != ".pyc"]
    return sum(file.size or 0 for file in files)


def pins(lock: str) -> set[tuple[str, str]]:
    """Names with versions; some have one for each Python."""
    return {(canonicalize_name(name), version) for name, version in PIN.findall((ROOT / lock).read_text("utf-8"))}
