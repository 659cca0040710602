"""Start a project from what is there: accounting and a price list, or a cluster and its bill. Proposes a policy; never asks for YAML."""

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.compute as pc

from apportion.errors import ProjectError
from apportion.model.delivery import Delivery
from apportion.model.result import Result
from apportion.model.times import DAY_S, Interval
from apportion.reports.words import counted
from apportion.sources.clusters import state_cluster
from apportion.sources.live import Live
from apportion.sources.prometheus.clusters import find_clusters
from apportion.sources.registry import reader, source_named
from apportion.verbs.ingest import Ingested, ingest
from apportion.verbs.init import Started, Wishes, init, refuse_taken
from apportion.verbs.project import open_project
from apportion.verbs.proposing.cluster import propose_cluster
from apportion.verbs.proposing.prices import read_prices
from apportion.verbs.proposing.rate_card import About, propose_rate_card
from apportion.verbs.proposing.seen import seen_in, together
from apportion.verbs.soundness import GOOD, CheckLine
from apportion.verbs.steps import Step, silent

SLURM, PROMETHEUS, FOCUS = "slurm", "prometheus", "focus"
SLURM_NOTES = """\
# Accounting as saved by:
#   TZ=UTC sacct --allusers --allocations --duplicates --parsable2 --noconvert --format=ALL --starttime=2026-10-01 --endtime=2026-11-01 > sacct.txt
# Without `path` the command itself is asked, here or over ssh: see `apportion init --with slurm`.
"""


@dataclass(frozen=True, slots=True)
class Accounting:
    """What a scheduler wrote and what things cost. `stanza` says how to read the log, where it is not Slurm's."""

    log: Path
    prices: Path
    stanza: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cluster:
    """Where its metrics are, and its bill. `stanza` is what else there is to say about how to read them."""

    url: str
    bill: Path
    stanza: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, repr=False)
class Begun(Result):
    """`findings` are about the proposal; `unmapped` are accounts that no rule gives to a team, with the hours they held."""

    started: Started
    findings: tuple[CheckLine, ...]
    unmapped: tuple[str, ...] = ()
    ingested: tuple[Ingested, ...] = ()


def from_accounting(folder: Path, wishes: Wishes, given: Accounting, step: Step = silent) -> Begun:
    """What was read is in the books afterwards."""
    refuse_taken(folder)
    log, prices = existing(given.log), existing(given.prices)
    settings = {"name": SLURM, "kind": SLURM, "time_zone": wishes.time_zone, **given.stanza}
    listed = read_prices(prices)
    step(f"reading {log.name}", 0, 0)
    deliveries = delivered(settings | {"path": log.name}, log.resolve().parent, None)
    currency = wishes.currency or listed.currency or "USD"
    about = About(wishes.name, currency, wishes.time_zone, log.name)
    proposal = propose_rate_card(seen_in(deliveries), listed, about)
    target = place(log, folder, "usage")
    made = replace(wishes, currency=currency)
    settings |= {"path": target.relative_to(folder.absolute()).as_posix()}
    started = init(folder, made, [SLURM_NOTES * (settings["kind"] == SLURM) + toml(settings)], proposal.policy)
    keep(log, target)
    taken = tuple(ingest(open_project(folder), step=step))
    return Begun(started, (*told_clusters(deliveries), *proposal.findings), proposal.unmapped, taken)


def from_cluster(folder: Path, wishes: Wishes, given: Cluster, step: Step = silent) -> Begun:
    """Looks at the last whole day of the bill that is over by now."""
    refuse_taken(folder)
    host = host_of(given.url)
    bill = existing(given.bill)
    costs = {"name": "bill", "kind": FOCUS}
    base, path = (bill.resolve(), ".") if bill.is_dir() else (bill.resolve().parent, bill.name)
    step(f"reading {bill.name}", 0, 0)
    bills = delivered(costs | {"path": path}, base, None)
    settings = {"name": "cluster", "kind": PROMETHEUS, "url": given.url, "cluster": wishes.name, **given.stanza}
    step(f"asking {host}", 0, 0)
    day = last_day(bills)
    base = folder if folder.is_dir() else Path()
    stanzas = each_cluster(settings, base, day)
    usage = [state_cluster(one, stanza["cluster"]) for stanza in stanzas for one in delivered(stanza, base, day)]
    about = About(wishes.name, wishes.currency or "USD", wishes.time_zone, f"{settings['kind']} at {host}")
    proposal = propose_cluster(usage, bills, about)
    target = place(bill, folder, "bills")
    costs |= {"path": target.relative_to(folder.absolute()).as_posix()}
    since = datetime.fromtimestamp(first_billed(bills), UTC).date()
    live = [{**stanza, "since": since.isoformat()} if asked(stanza) else stanza for stanza in stanzas]
    made = replace(wishes, currency=about.currency)
    started = init(folder, made, [toml(costs), *map(toml, live)], proposal.policy)
    keep(bill, target)
    return Begun(started, (*several(stanzas), *proposal.findings))


def each_cluster(settings: Mapping[str, Any], base: Path, day: Interval) -> list[dict[str, Any]]:
    """A stanza for each cluster that the series tell apart; the one stanza where they tell of one."""
    found = find_clusters(settings, base, day) if settings["kind"] == PROMETHEUS else []
    return [{**settings, "name": name, "cluster": name, "match": match} for name, match in found] or [dict(settings)]


def told_clusters(deliveries: Sequence[Delivery]) -> Iterator[CheckLine]:
    """Where accounting tells of several."""
    names = sorted(filter(None, pc.unique(together(deliveries, "usage")["cluster"]).to_pylist()))
    if len(names) > 1:
        text = f"the accounting is of {counted(len(names), 'cluster')}: {', '.join(names)}"
        yield CheckLine(
            GOOD, "clusters", text, "give a pool `usage: {cluster: ...}` where they have prices of their own"
        )


def several(stanzas: Sequence[Mapping[str, Any]]) -> Iterator[CheckLine]:
    if len(stanzas) > 1:
        names = ", ".join(str(stanza["cluster"]) for stanza in stanzas)
        text = f"the series are of {counted(len(stanzas), 'cluster')}: {names}; each has a stanza of its own"
        yield CheckLine(GOOD, "clusters", text)


def host_of(url: str) -> str:
    """For sentences and comments; an address that holds a password would end up in files."""
    parts = urlsplit(url)
    if "@" in parts.netloc:
        raise ProjectError(
            "invalid-setting",
            "the address of --prometheus holds a name or a password",
            hint="leave it out; give --token env:NAME",
        )
    return parts.hostname or url


def asked(settings: Mapping[str, Any]) -> bool:
    return isinstance(source_named(settings["kind"]), Live) and "path" not in settings


def existing(file: Path) -> Path:
    if not file.exists():
        raise ProjectError("no-such-file", f"there is no file {file}", hint="give the path as seen from this folder")
    return file


def delivered(settings: Mapping[str, Any], base: Path, window: Interval | None) -> list[Delivery]:
    source = source_named(settings["kind"], f"source {settings['name']!r}")
    return [one for one in reader(source)(settings, base, window) if isinstance(one, Delivery)]


def first_billed(bills: Sequence[Delivery]) -> int:
    return min((one.window.start_s for one in bills), default=0)


def last_day(bills: Sequence[Delivery]) -> Interval:
    """In UTC. A bill of the running month is charged up to yesterday or so: what it has lines for is over."""
    last = pc.max(together(bills, "cost_lines")["charge_end_s"]).as_py()
    if last is None:
        raise ProjectError("no-rows", "the bill has no lines", hint="give a bill in FOCUS columns with --bill")
    now = int(datetime.now(UTC).timestamp())
    end = min(last, now) // DAY_S * DAY_S
    return Interval(end - DAY_S, end)


def place(file: Path, folder: Path, below: str) -> Path:
    """Where the project keeps it: as it lies, if that is inside the project."""
    real, root = file.resolve(), folder.absolute()
    return (
        root / real.relative_to(root.resolve())
        if real.is_relative_to(root.resolve()) and real != root.resolve()
        else root / below / file.name
    )


def keep(file: Path, target: Path) -> None:
    """A copy inside the project, unless it lies there."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        if file.is_dir():
            shutil.copytree(file, target)
        else:
            shutil.copyfile(file, target)
    except OSError as error:
        raise ProjectError("unreadable-file", f"{file} cannot be copied to {target}: {error.strerror}") from error


def toml(settings: Mapping[str, Any]) -> str:
    return "[[sources]]\n" + "".join(f"{key} = {value_text(value)}\n" for key, value in settings.items())


def value_text(value: Any) -> str:
    """TOML's basic strings are JSON's; tables are written inline."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{json.dumps(key)} = {value_text(inner)}" for key, inner in value.items()) + " }"
    return json.dumps(value, ensure_ascii=False)
