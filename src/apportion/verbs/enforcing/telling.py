"""A plan in words and lines."""

from collections.abc import Sequence
from dataclasses import dataclass

from apportion.reports.fit import left_of
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


def rung_said(rung: Rung) -> str:
    """`vision: 88 of 400 GPU-hours are left in 2026-11 (...); warn. Limit 5,280 GPU-minutes of apportion-vision for vis-core.`"""
    accounts = ", ".join(rung.accounts) or "no account"
    hours = f"{rung.limit:,} GPU-minutes ({rung.limit // HOUR_MINUTES:,} h)"
    return f"{rung.team}: {left_of(rung.used)}; rung: {rung.name}. {rung.qos} is limited to {hours} in all, for {accounts}."
