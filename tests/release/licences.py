"""Under which licence each part comes, as its metadata says, and whether `licences.toml` allows it."""

import re
import tomllib
from collections.abc import Mapping
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from tests.release.parts import ROOT

POLICY: dict[str, Any] = tomllib.loads(Path(__file__).with_name("licences.toml").read_text("utf-8"))
UNKNOWN = "unknown"
BUNDLE = ROOT / "licenses/vega.js.txt"  # what the wheel carries of others
RULE = "-" * 100


def licence_of(part: Distribution) -> str:
    """An SPDX expression: the one that is stated, else what classifiers say, else the first line of the free text."""
    told: Any = part.metadata  # what it is in truth, an email's Message, is not said in its type before 3.12
    stated = told.get("License-Expression")
    if stated:
        return str(stated)
    classifiers = [
        line.rpartition(" :: ")[2] for line in told.get_all("Classifier") or [] if line.startswith("License ::")
    ]
    words = [word for word in classifiers if word != "OSI Approved"] or [
        (told.get("License") or "").strip().partition("\n")[0]
    ]
    known = {**POLICY["words"], **{name: name for name in POLICY["permissive"]}}
    return " AND ".join(known.get(word, UNKNOWN) for word in words)


def is_permissive(expression: str) -> bool:
    """All of what is joined by AND, any of what is joined by OR; what mixes both is for a person to read."""
    names = re.split(r" (?:AND|OR) ", expression)
    if " AND " in expression and " OR " in expression:
        return False
    fits = [name in POLICY["permissive"] for name in names]
    return any(fits) if " OR " in expression else all(fits)


def objection(name: str, expression: str, policy: Mapping[str, Any] = POLICY) -> str:
    """Why a part may not be shipped or asked for; nothing where it may."""
    weak = policy["weak"].get(name)
    if is_permissive(expression) or (weak and weak["licence"] == expression and weak["reason"]):
        return ""
    return f"{name}: {expression} is not in tests/release/licences.toml"


def bundled() -> dict[str, str]:
    """The packages in vega.js with their licences, as the file of their texts names them."""
    found = {}
    for section in BUNDLE.read_text("utf-8").split(RULE)[1:]:
        names, _, licence = section.strip().partition("\n")[0].rpartition(" (")
        found.update(dict.fromkeys(names.split(", "), licence.removesuffix(")")))
    return found
