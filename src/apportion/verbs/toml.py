"""Reading apportion.toml with the places of its keys: what is unknown or of the wrong kind is refused with its line and the nearest word."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError

FILE = "apportion.toml"
CALLED = {str: "text in quotes", bool: "true or false", int: "a whole number", dict: "a table", list: "a list"}
HEADER = re.compile(r"\s*\[(\[)?\s*([A-Za-z0-9_.\-\"' /:@]+?)\s*\]")
KEY = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")


@dataclass(frozen=True, slots=True)
class Place:
    """Where keys stand, for errors; TOML readers do not keep it."""

    file: str
    lines: Mapping[tuple[str, ...], int]

    def of(self, *path: str) -> str:
        found = (self.lines.get(path[:n]) for n in range(len(path), 0, -1))
        return f"{self.file}:{next((line for line in found if line), 1)}"


def parsed(file: Path) -> tuple[Mapping[str, Any], Place]:
    try:
        text = file.read_text("utf-8")
        document = tomllib.loads(text)
    except OSError as error:
        raise ProjectError("unreadable-project", f"{file} cannot be read: {error.strerror}", where=str(file)) from error
    except UnicodeDecodeError as error:
        raise ProjectError(
            "invalid-toml", f"{FILE} is not UTF-8 text", where=str(file), hint="save it as UTF-8"
        ) from error
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        where = f"{file}:{found[1]}:{found[2]}" if found else str(file)
        reason = str(error).split(" (at ")[0]
        raise ProjectError("invalid-toml", f"{FILE} is not valid TOML: {reason}", where=where) from error
    return document, Place(str(file), _lines(text))


def _lines(text: str) -> dict[tuple[str, ...], int]:
    lines: dict[tuple[str, ...], int] = {}
    prefix: tuple[str, ...] = ()
    tables: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if header := HEADER.match(line):
            name = header[2]
            prefix = tuple(part.strip(" \"'") for part in name.split("."))
            if header[1]:
                tables[name] = tables.get(name, -1) + 1
                prefix = (*prefix, str(tables[name]))
            lines.setdefault(prefix, number)
            lines.setdefault(prefix[:1], number)
        elif key := KEY.match(line):
            lines.setdefault((*prefix, key[1].strip("\"'")), number)
    return lines


def check_section(section: Any, name: str, shape: Mapping[str, type], place: Place) -> None:
    """`name` is that of the header: `web.oidc` is a section of a section."""
    path = tuple(name.split("."))
    check_kind(section, dict, f"[{name}]", place.of(*path))
    for key, value in section.items():
        if key not in shape:
            raise unknown_key(key, shape, place.of(*path, key), f"setting of [{name}]")
        check_kind(value, shape[key], f"{key} of [{name}]", place.of(*path, key))


def check_kind(value: object, kind: type, what: str, where: str) -> None:
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise ProjectError("wrong-kind", f"{what} must be {CALLED[kind]}", where=where)


def unknown_key(key: str, known: Iterable[str], where: str, what: str) -> ProjectError:
    words = list(known)
    return ProjectError(
        "unknown-key", f"{key!r} is not a {what} that {FILE} has", where=where, hint=nearest(key, words)
    )


def nearest(word: str, known: Iterable[str], what: str = "") -> str:
    """`did you mean 'x'?`, or what there is."""
    words = list(known)
    close = get_close_matches(word, words, n=1, cutoff=0.6)
    return (
        f"did you mean {close[0]!r}?"
        if close
        else f"{what + ': ' if what else 'there are: '}{', '.join(words) or 'none'}"
    )
