"""Start a project: settings, a first policy that is valid as it stands, and folders for bills and usage. Never overwrites."""

import inspect
import json
import os
import secrets
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from apportion.errors import ProjectError
from apportion.model.result import Result
from apportion.policy.load import load_policy
from apportion.policy.schema import json_schema
from apportion.sources.live import Live
from apportion.sources.registry import source_kinds, source_named
from apportion.verbs.settings import FILE, HIDDEN, NAMES_KEY, POLICY

SCHEMA = "policy.schema.json"
FOLDERS = ("bills", "usage")
SHOWN = ("focus", "usage")  # stanzas that everybody sees, commented where they were not asked for
ZONE = 'time_zone = "UTC"'
STATE_CAPACITY = ("slurm", "prometheus", "kubernetes", "opencost")  # kinds of sources that say how much there is
BY_CAPACITY = (
    "    method: capacity_rate    # idle capacity is a line of its own",
    "    idle: central            # central | proportional | even | reservation",
)
BY_USE = ("    method: proportional     # capacity_rate shows idle, where a source states how much there is",)

SETTINGS = """\
# An Apportion project: where the bills and the usage come from, and where the books are kept.

[project]
name = "{name}"
policy = "policy.yaml"

# The books are SQLite and a folder in .apportion/ unless you say otherwise.
# [books]
# url = "postgresql+psycopg://apportion@db.example/apportion"
# warehouse = "s3://bucket/apportion"

# [engine]
# threads = 2
# memory = "2GB"

{stanzas}"""

RULES = """\
# yaml-language-server: $schema=policy.schema.json
#
# What was agreed: who owns which work, and by which rule each part of the bill is shared.
# `apportion check` says what is wrong with it; `apportion plan` shows what it does before anything is posted.
policy: {name}
effective: {effective}        # pools, methods and prices change at a period's start
currency: {currency}
time_zone: {time_zone}
basis: effective             # effective | billed | list

teams:                       # every team that can owe, and its place in the organisation
  platform: {{department: engineering, cost_centre: "1000"}}
  vision: {{department: research, cost_centre: "2000"}}

carried_by: {{_idle: platform, _unallocated: platform, _residual: platform}}

owners:                      # first match wins; work that matches nothing is shown as _unallocated
  - when: {{team: "*"}}
    team: "{{team}}"

pools:                       # a cost line belongs to at most one pool
  gpu:
    costs: {{ServiceCategory: [Compute, "AI and Machine Learning"]}}
    meter: gpu
{method}
  rest: {{costs: otherwise, by: cost, over: all}}
"""


@dataclass(frozen=True, slots=True, repr=False)
class Started(Result):
    folder: Path
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Wishes:
    """What a project is called, from which day its first policy holds, and its currency and time zone."""

    name: str
    effective: date
    currency: str = "USD"
    time_zone: str = "UTC"


def init(folder: Path, wishes: Wishes, stanzas: Sequence[str] = (), rules: str = "") -> Started:
    """Start a project in a folder. `stanzas` are the sources that are known already; `rules` the policy, where there is more to say than in a first one."""
    rules = rules or RULES.format(
        name=wishes.name,
        effective=wishes.effective,
        currency=wishes.currency,
        time_zone=wishes.time_zone,
        method="\n".join(method_lines(known=any(f'"{kind}"' in one for kind in STATE_CAPACITY for one in stanzas))),
    )
    load_policy(rules, POLICY)  # refuses a currency or time zone that does not exist before anything is written
    shown = [*stanzas, *(commented(proposed(kind)) for kind in SHOWN if not any(f'"{kind}"' in one for one in stanzas))]
    text = "\n\n".join(stanza.strip() for stanza in shown).replace(ZONE, f'time_zone = "{wishes.time_zone}"') + "\n"
    texts = {
        FILE: SETTINGS.format(name=wishes.name, stanzas=text),
        POLICY: rules,
        SCHEMA: schema_text(),
        ".gitignore": f"{HIDDEN}/\n{NAMES_KEY}\n",
    }
    refuse_taken(folder)
    for name in FOLDERS:
        (folder / name).mkdir(parents=True, exist_ok=True)
    written = [name for name in texts if not (folder / name).exists()]
    for name in written:
        (folder / name).write_text(texts[name], "utf-8")
    make_key(folder / NAMES_KEY)
    return Started(folder, tuple(written))


def method_lines(*, known: bool) -> tuple[str, ...]:
    """How a proposed pool is shared: idle can be seen only where it is known how much there is."""
    return BY_CAPACITY if known else BY_USE


def make_key(file: Path) -> None:
    """For this user's eyes only, and never made twice."""
    with suppress(FileExistsError):
        handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="ascii") as sink:
            sink.write(secrets.token_hex(32) + "\n")


def refuse_taken(folder: Path) -> None:
    taken = [name for name in (FILE, POLICY) if (folder / name).exists()]
    if taken:
        raise ProjectError(
            "project-exists",
            f"{folder} already has {' and '.join(taken)}",
            hint="edit what is there, or start in another folder: apportion init DIR",
        )


def commented(stanza: str) -> str:
    return "\n".join(line if line.startswith("#") else f"# {line}" for line in stanza.strip().splitlines())


def stanza_of(kind: str) -> str:
    """The `[[sources]]` table that a kind of source proposes."""
    found = proposed(kind)
    if not found:
        known = ", ".join(sorted(name for name in source_kinds() if proposed(name))) or "none"
        raise ProjectError(
            "no-stanza", f"a source of kind {kind!r} has no stanza of its own", hint=f"kinds that have one: {known}"
        )
    return found


def proposed(kind: str) -> str:
    """A live source brings its stanza along; one that is a function has it beside it, as `STANZA`."""
    source = source_named(kind)
    return source.stanza if isinstance(source, Live) else str(getattr(inspect.getmodule(source), "STANZA", ""))


def schema_text() -> str:
    return json.dumps(json_schema(), indent=2) + "\n"


def write_schema(folder: Path) -> Path:
    """policy.schema.json for editors; made anew by each version of Apportion."""
    file = folder / SCHEMA
    file.write_text(schema_text(), "utf-8")
    return file
