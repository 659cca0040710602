"""A plan in words and lines."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from apportion.reports.fit import left_of
from apportion.verbs.enforcing import manifests
from apportion.verbs.enforcing.planning import HOUR_MINUTES, Rung
from apportion.verbs.enforcing.slurm import Change

NOT_SET = "not set"


@dataclass(frozen=True, slots=True)
class Setting:
    """`command` stands with the first setting that it changes."""

    kind: str
    name: str
    setting: str
    before: str
    after: str
    command: str = ""


def settings_of(changes: Sequence[Change]) -> list[Setting]:
    found = []
    for change in changes:
        command = "; ".join(" ".join(("sacctmgr", "-i", *words)) for words in change.commands)
        keys = [key for key in (change.after or change.before or {}) if (change.after or {}).get(key) or change.before]
        for key in keys:
            before = "no such QOS" if change.before is None else change.before.get(key) or NOT_SET
            after = "removed" if change.after is None else change.after.get(key) or NOT_SET
            found.append(Setting(change.kind, change.name, key, before, after, command))
            command = ""
    return found


def keys_of(changes: Sequence[manifests.Change]) -> list[Setting]:
    """Of objects of Kubernetes: each leaf of a spec that changes, by its path."""
    found = []
    for change in changes:
        name = f"{change.namespace}/{change.name}" if change.namespace else change.name
        before, after = (dict(leaves(values or {})) for values in (change.before, change.after))
        gone, none = ("removed", f"no such {change.kind}")
        for key in dict.fromkeys([*before, *after]) or [""]:
            was = none if change.before is None else before.get(key, NOT_SET)
            then = gone if change.after is None else after.get(key, NOT_SET)
            found.append(Setting(change.kind, name, key or "made", was, then))
    return found


def leaves(value: object, path: str = "") -> Iterator[tuple[str, str]]:
    """`resourceGroups.flavors.default.nvidia.com/gpu.nominalQuota`: what has a name in a list is told apart by it."""
    if isinstance(value, Mapping):
        for key, one in value.items():
            yield from leaves(one, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(one, Mapping) for one in value):
        for number, one in enumerate(value):
            named = str(one.get("name", "")) if isinstance(one, Mapping) else ""
            rest = {key: each for key, each in one.items() if key != "name"} if named else one
            yield from leaves(rest, f"{path}.{named or number}".replace(".0", ""))
    elif value is not None:
        yield path, ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def rung_said(rung: Rung) -> str:
    """`vision: 88 of 400 GPU-hours are left in 2026-11 (...); warn. Limit 5,280 GPU-minutes of apportion-vision for vis-core.`"""
    accounts = ", ".join(rung.accounts) or "no account"
    hours = f"{rung.limit:,} GPU-minutes ({rung.limit // HOUR_MINUTES:,} h)"
    return f"{rung.team}: {left_of(rung.used)}; rung: {rung.name}. {rung.qos} is limited to {hours} in all, for {accounts}."
