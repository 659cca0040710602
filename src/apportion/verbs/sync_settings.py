"""`[sync]` of apportion.toml: what the daily round does, and when."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from apportion.errors import InputError, ProjectError
from apportion.model.times import parse_period
from apportion.verbs.toml import Place, check_section, nearest

SYNC_KEYS: Mapping[str, type] = {
    "apply": bool, "apply_incomplete": bool, "corrections": bool, "accept": list, "why": str, "since": str, "leave_out": list,
    "advise": bool, "notify": bool, "verify": bool,
    "at": str, "time_zone": str,
}  # fmt: skip
DAILY = "30 6 * * *"


@dataclass(frozen=True, slots=True)
class Sync:
    """Nothing is posted unless `apply` says so: a program that nobody watches changes the ledger only where somebody allowed it."""

    apply: bool = False
    apply_incomplete: bool = False
    corrections: bool = False
    accept: tuple[str, ...] = ()
    why: str = ""
    since: str = ""
    leave_out: tuple[str, ...] = ()
    advise: bool = True
    notify: bool = True
    verify: bool = False
    at: str = DAILY
    time_zone: str = ""


def read_sync(section: Any, place: Place, sources: Iterable[str]) -> Sync:
    check_section(section, "sync", SYNC_KEYS, place)
    known = list(sources)
    left = section.get("leave_out", [])
    for name in left:
        if name not in known:
            hint = nearest(str(name), known, "sources")
            raise wrong(f"leave_out names {name!r}, which is no source", place.of("sync", "leave_out"), hint)
    if section.get("since"):
        try:
            parse_period(section["since"])
        except InputError as error:
            raise wrong(f"since: {error.message}", place.of("sync", "since"), error.hint) from error
    check_zone(section.get("time_zone", ""), place.of("sync", "time_zone"))
    check_cron(section.get("at", DAILY), place.of("sync", "at"))
    accept = section.get("accept", [])
    if not all(isinstance(code, str) for code in accept):
        raise wrong(
            "accept holds codes of findings, as texts", place.of("sync", "accept"), 'such as ["possible-repeats"]'
        )
    if accept and not section.get("why", "").strip():
        raise wrong("accept needs the reason: why", place.of("sync", "accept"), 'why = "the log has one row per board"')
    return Sync(**{**section, "leave_out": tuple(left), "accept": tuple(accept)})


def check_zone(name: str, where: str) -> None:
    try:
        ZoneInfo(name or "UTC")
    except (KeyError, ValueError, OSError):  # zones are files: a folder's name is one that cannot be read
        raise wrong(f"time_zone: there is no time zone {name!r}", where, "such as Europe/Berlin") from None


def check_cron(text: str, where: str) -> None:
    from datetime import UTC, datetime  # noqa: PLC0415  # with cronsim, for whoever has a section

    from cronsim import CronSim, CronSimError  # noqa: PLC0415

    try:
        next(CronSim(text, datetime.now(UTC)))
    except (CronSimError, StopIteration):
        hint = 'minute, hour, day, month and weekday, such as "30 6 * * *" for every day at 06:30'
        raise wrong(f"at: {text!r} is no time that cron knows, or one that never comes", where, hint) from None


def wrong(message: str, where: str, hint: str = "") -> ProjectError:
    return ProjectError("invalid-setting", message, where=where, hint=hint)
