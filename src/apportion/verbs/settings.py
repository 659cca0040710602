"""apportion.toml, read strictly: an unknown key or a wrong kind of value is refused with its line and the nearest word that exists."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from apportion.errors import ProjectError
from apportion.reports.review.bounds import Bounds
from apportion.verbs.notifying.settings import NOTIFY_KEYS, Channel, read_notify
from apportion.verbs.sync_settings import SYNC_KEYS, Sync, read_sync
from apportion.verbs.toml import FILE, Place, check_kind, check_section, nearest, parsed, unknown_key
from apportion.verbs.web_settings import WEB_SHAPES, Web, read_web

__all__ = [
    "FILE",
    "HIDDEN",
    "NAMES_KEY",
    "POLICY",
    "SHAPES",
    "Settings",
    "Source",
    "engine_named",
    "mebibytes",
    "nearest",
    "read_settings",
]

HIDDEN = ".apportion"  # the embedded books live here
POLICY = "policy.yaml"
NAMES_KEY = "names.key"  # by which users are hidden in the ledger
ENGINES = ("duckdb", "spark")
MASTER = re.compile(
    r"local(\[(\*|[1-9]\d*)\])?|(spark|sc)://\S+"
)  # where Spark is: in this process, a cluster, Spark Connect
DATADOG_SHAPE: Mapping[str, type] = {
    **dict.fromkeys(("site", "url", "api_key", "app_key", "ca_file", "provider"), str),
    "timeout_s": int,
    "retries": int,
    "allow_link_local": bool,
}
SHAPES: Mapping[str, Mapping[str, type]] = {
    "project": {"name": str, "policy": str},
    "books": {"url": str, "warehouse": str, "names_key": str},
    "retention": {"names": str},
    "engine": {"name": str, "threads": int, "memory": str, "spill": str, "master": str},
    "webhooks": {"allow_private": bool},
    "datadog": DATADOG_SHAPE,
    "notify": NOTIFY_KEYS,
    "review": {one.name: int for one in fields(Bounds)},
    "sync": SYNC_KEYS,
    **WEB_SHAPES,
}
OWN = ("project", "books", "retention", "engine", "webhooks", "datadog")
SECTIONS = (*OWN, "notify", "review", "sync", "web", "sources")
MOST_PERCENT = 10_000
SIZE = re.compile(r"(\d+) ?([KMGT])(i?)B", re.IGNORECASE)


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
    web: Web = field(default_factory=Web)
    webhooks: Mapping[str, Any] = field(default_factory=dict)
    datadog: Mapping[str, Any] = field(default_factory=dict)
    notify: tuple[Channel, ...] = ()
    review: Bounds = field(default_factory=Bounds)
    sync: Sync = field(default_factory=Sync)


def read_settings(file: Path) -> Settings:
    document, place = parsed(file)
    for key in document:
        if key not in SECTIONS:
            raise unknown_key(key, SECTIONS, place.of(key), "section")
    for section in OWN:
        check_section(document.get(section, {}), section, SHAPES[section], place)
    project, books, retention, engine, webhooks, datadog = (document.get(section, {}) for section in OWN)
    if engine.get("name", "duckdb") not in ENGINES:
        raise unknown_engine(engine["name"], place.of("engine", "name"))
    if not MASTER.fullmatch(engine.get("master", "local")):
        raise unknown_engine(engine["master"], place.of("engine", "master"))
    mebibytes(engine.get("memory", "1GB"), place.of("engine", "memory"))  # refuses
    sources = tuple(_sources(document.get("sources", []), place))
    return Settings(
        name=project.get("name", file.absolute().parent.name),
        policy=project.get("policy", POLICY),
        url=books.get("url", ""),
        warehouse=books.get("warehouse", ""),
        retention=retention.get("names", ""),
        names_key=books.get("names_key", NAMES_KEY),
        engine=engine,
        sources=sources,
        web=read_web(document.get("web", {}), place),
        webhooks=webhooks,
        datadog=datadog,
        notify=tuple(read_notify(document.get("notify", []), place)),
        review=read_review(document.get("review", {}), place),
        sync=read_sync(document["sync"], place, [one.name for one in sources]) if "sync" in document else Sync(),
    )


def read_review(section: Any, place: Place) -> Bounds:
    check_section(section, "review", SHAPES["review"], place)
    for key, value in section.items():
        if not 1 <= value <= MOST_PERCENT:
            raise ProjectError(
                "invalid-setting", f"{key} must be from 1 to {MOST_PERCENT} percent", where=place.of("review", key)
            )
    return Bounds(**section)


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


def _sources(stanzas: Any, place: Place) -> Iterable[Source]:
    check_kind(stanzas, list, "[[sources]]", place.of("sources"))
    names: dict[str, str] = {}
    for number, stanza in enumerate(stanzas):
        where = place.of("sources", str(number))
        check_kind(stanza, dict, "[[sources]]", where)
        for key in ("name", "kind"):
            if key not in stanza:
                raise ProjectError(
                    "incomplete-source", f"a source needs a {key}", where=where, hint=f'add {key} = "..."'
                )
            check_kind(stanza[key], str, f"{key} of a source", place.of("sources", str(number), key))
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
