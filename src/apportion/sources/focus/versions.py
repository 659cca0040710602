"""Which version a file is said to be: by the stanza, or by the metadata that FOCUS ships beside the data (FocusVersion)."""

import json
from collections.abc import Iterator
from typing import Any

from apportion.sources.bills.manifests.listed import folder
from apportion.sources.files.places import Place
from apportion.sources.focus.columns import VERSIONS

KEYS = ("FocusVersion", "focusVersion", "focus_version")
TOLD_IN = ("metadata", "schema", "manifest")
MOST = 100  # notes that are looked at
DEEPEST = 4


def stated_versions(place: Place) -> dict[str, str]:
    """By folder. A note that cannot be read or says no version is passed over: the columns tell it too."""
    notes = [
        name for name in place.names if name.endswith(".json") and any(word in name.casefold() for word in TOLD_IN)
    ]
    found = {}
    for name in notes[:MOST]:
        try:
            versions = {known(word) for word in said(json.loads(place.read(name)), DEEPEST)} & set(VERSIONS)
        except (ValueError, RecursionError):
            continue
        if len(versions) == 1:
            found[folder(name)] = versions.pop()
    return found


def version_for(name: str, stated: dict[str, str]) -> str:
    """What the note nearest above the file says; "" where none speaks for it."""
    above = [place for place in stated if name.startswith(place)]
    return stated[max(above, key=len)] if above else ""


def said(note: Any, depth: int) -> Iterator[str]:
    if isinstance(note, dict):
        yield from (str(note[key]) for key in KEYS if key in note)
    inner = note.values() if isinstance(note, dict) else note if isinstance(note, list) else ()
    for part in inner if depth else ():
        yield from said(part, depth - 1)


def known(word: str) -> str:
    """`1.2-preview`, `1.0r2` and `v1.3` are 1.2, 1.0 and 1.3."""
    return word.lower().removeprefix("v")[:3]
