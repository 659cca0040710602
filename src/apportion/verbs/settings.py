"""apportion.toml, read strictly: an unknown key or a wrong kind of value is refused with its line and the nearest word that exists."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError

FILE = "apportion.toml"
HIDDEN = ".apportion"  # the embedded books live here
POLICY = "policy.yaml"
NAMES_KEY = "names.key"  # by which users are hidden in the ledger
ENGINES = ("duckdb", "spark")
MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)\])?|(spark|sc)://\S+"
)  # where Spark is: in this process, a cluster, Spark Connect
SHAPES: Mapping[str, Mapping[str, type]] = {
    "project": {"name": str, "policy": str},
    "books": {"url": str, "warehouse": str, "names_key": str},
    "retention": {"names": str},
    "engine": {"name": str, "threads": int, "memory": str, "spill": str, "master": str},
}
SIZE = re.compile(r"(\d+) ?([KMGT])(i?)B", re.IGNORECASE)
CALLED = {str: "text in quotes", int: "a whole number", dict: "a table", list: "a list of tables"}
HEADER = re.compile(r"\s*\[(\[)?\s*([A-Za-z0-9_.\-\"' ]+?)\s*\]")
KEY = re.compile(r"\s*([A-Za-z0-9_-]+|\"[^\"]*\"|'[^']*')\s*=")


@dataclass(frozen=True, slots=True)
class Source:
    """One `[[sources]]` stanza; `settings` is all of it, for the source to check by its own rules."""

    name: str
    kind: str
    settings: Mapping[str, Any]
    where: str


@dataclass(frozen=True, slots=True)
class Settings:
    name: str
    policy: str
    url: str
    warehouse: str
    retention: str  # how long names are kept, such as `24 months`
    names_key: str
    engine: Mapping[str, Any]
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Place:
    """Where keys stand, for errors; TOML readers do not keep it."""

    file: str
    lines: Mapping[tuple[str, ...], int]

    def of(self, *path: str) -> str:
        found = (self.lines.get(path[:n]) for n in range(len(path), 0, -1))
        return f"{self.file}:{next((line for line in found if line), 1)}"


def read_settings(file: Path) -> Settings:
    document, place = _parse(file)
    for key in document:
        if key not in {*SHAPES, "sources"}:
            raise unknown_key(key, (*SHAPES, "sources"), place.of(key), "section")
    for section, shape in SHAPES.items():
        _check_section(document.get(section, {}), section, shape, place)
    project, books, retention, engine = (document.get(section, {}) for section in SHAPES)
    if engine.get("name", "duckdb") not in ENGINES:
        raise unknown_engine(engine["name"], place.of("engine", "name"))
    if not MASTER.fullmatch(engine.get("master", "local")):
        raise unknown_engine(engine["master"], place.of("engine", "master"))
    mebibytes(engine.get("memory", "1GB"), place.of("engine", "memory"))  # refuses
    return Settings(
        name=project.get("name", file.absolute().parent.name),
        policy=project.get("policy", POLICY),
        url=books.get("url", ""),
        warehouse=books.get("warehouse", ""),
        retention=retention.get("names", ""),
        names_key=books.get("names_key", NAMES_KEY),
        engine=engine,
        sources=tuple(_sources(document.get("sources", []), place)),
    )


def mebibytes(size: str, where: str = "") -> int:
    found = SIZE.fullmatch(size)
    if not found:
        raise ProjectError("wrong-kind", 'memory of [engine] must be a size such as "4GB"', where=where)
    number, prefix, binary = found.groups()
    each: int = (1024 if binary else 1000) ** ("KMGT".index(prefix.upper()) + 1)
    return int(number) * each // 2**20


def engine_named(text: str) -> dict[str, str]:
    """An engine by its name, or Spark by its address."""
    if text in ENGINES:
        return {"name": text}
    if MASTER.fullmatch(text):
        return {"name": "spark", "master": text}
    raise unknown_engine(text)


def unknown_engine(name: str, where: str = "") -> ProjectError:
    known = f"engines: {', '.join(ENGINES)}; or where Spark is: local[4], spark://HOST:7077, sc://HOST:15002"
    return ProjectError("unknown-engine", f"there is no engine {name!r}", where=where, hint=known)


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


def _parse(file: Path) -> tuple[Mapping[str, Any], Place]:
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


def _check_section(section: Any, name: str, shape: Mapping[str, type], place: Place) -> None:
    _check_kind(section, dict, f"[{name}]", place.of(name))
    for key, value in section.items():
        if key not in shape:
            raise unknown_key(key, shape, place.of(name, key), f"setting of [{name}]")
        _check_kind(value, shape[key], f"{key} of [{name}]", place.of(name, key))


def _check_kind(value: object, kind: type, what: str, where: str) -> None:
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ProjectError("wrong-kind", f"{what} must be {CALLED[kind]}", where=where)


def _sources(stanzas: Any, place: Place) -> Iterable[Source]:
    _check_kind(stanzas, list, "[[sources]]", place.of("sources"))
    names: dict[str, str] = {}
    for number, stanza in enumerate(stanzas):
        where = place.of("sources", str(number))
        _check_kind(stanza, dict, "[[sources]]", where)
        for key in ("name", "kind"):
            if key not in stanza:
                raise ProjectError(
                    "incomplete-source", f"a source needs a {key}", where=where, hint=f'add {key} = "..."'
                )
            _check_kind(stanza[key], str, f"{key} of a source", place.of("sources", str(number), key))
        name = stanza["name"]
        if name in names:
            raise ProjectError(
                "double-source",
                f"two sources are called {name!r}",
                where=f"{names[name]} and {where}",
                hint="rename one",
            )
        names[name] = where
        yield Source(name, stanza["kind"], stanza, where)
