"""Debug logs of FlexLM and FlexNet licence servers (`lmgrd` 9 to 11.19), and what `lmstat -a` prints.

    9:15:32 (MLM) OUT: "MATLAB" alice@ws1  (3 licenses)
   10:00:00 (MLM) IN: "MATLAB" alice@ws1  (INACTIVE)
   12:00:00 (lmgrd) TIMESTAMP 10/5/2026

Denials take no seat. What else the daemons say about themselves is passed over.
"""

import re
from collections.abc import Iterator
from datetime import date
from typing import Literal
from zoneinfo import ZoneInfo

from apportion.errors import InputError, Problem
from apportion.model.times import parse_instant
from apportion.sources.cells.clock_changes import clock_changes
from apportion.sources.licences.clock import Clock, Stamp, first_day
from apportion.sources.licences.events import Event, Seats, Told

LINE = re.compile(
    r"\s*(?:(\d{4})[-/](\d\d)[-/](\d\d)[T ]\s*)?(\d{1,2}):(\d\d):(\d\d)(?:[+-]\d\d:?\d\d|Z)?\s+\(([^)]+)\)\s?(.*)"
)
LOG = re.compile(rf"^{LINE.pattern}", re.MULTILINE)
TAKEN = re.compile(r'(OUT|IN): "([^"]+)" (.+?)@(\S+)\s*(.*)')
COUNT = re.compile(r"\((\d+) licenses?\)")
TIMESTAMP = re.compile(r"TIMESTAMP (\d{1,2})/(\d{1,2})/(\d{4})")
STARTED = re.compile(
    r"(?:FLEX\w*(?: Licensing)?|FlexNet Licensing) \(v[^)]*\) started on .*?(?:\((\d{1,2})/(\d{1,2})/(\d{4})\))?\s*$",
    re.IGNORECASE,
)
DAEMON_STARTED = re.compile(r"Server started on ")
STOPPED = re.compile(r"EXITING DUE TO|daemon shutdown requested|Shutting down (\S+)", re.IGNORECASE)
MANAGER = "lmgrd"
LMSTAT = re.compile(
    r"^(?:Flexible License Manager|lmutil|lmstat|FlexNet).*status on \w+ (\d{1,2})/(\d{1,2})/(\d{4}) (\d{1,2}):(\d\d)",
    re.MULTILINE,
)
ISSUED = re.compile(r"Users of ([^:]+):\s+\(Total of (\d+) licenses? issued;")


def parse_log(name: str, text: str, zone: ZoneInfo) -> Told:
    day = first_day(stamp(found) for _, found in lines_of(text))
    if day is None:
        raise InputError(
            "undated-log",
            f"{name} names no day: its lines hold times of day alone",
            where=name,
            hint="keep the server's start or its TIMESTAMP lines in the log",
        )
    clock, told = Clock(day, zone), Told()
    for number, found in lines_of(text):
        before, at_s, where = clock.at_s, clock.at(stamp(found)), f"{name}:{number}"
        told.first_s = at_s if told.first_s is None else min(told.first_s, at_s)
        told.last_s = at_s if told.last_s is None else max(told.last_s, at_s)
        told.rows += 1
        if event := event_of(at_s, where, found, before):
            told.events.append(event)
        elif found[8].startswith(("OUT:", "IN:")):
            told.problems.append(
                Problem(where, "malformed-row", "the check-out names no feature or user, and is left out")
            )
    if clock.guesses:
        message = f"{clock.guesses} lines lie in the hour that comes twice, as clocks go back: the first is taken"
        told.problems.append(Problem(name, "ambiguous-time", message, row=f"+{clock.guesses}"))
    return told


def lines_of(text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Numbered from 1; what has no time is none of the daemons' lines."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := LINE.match(line):
            yield number, found


def stamp(found: re.Match[str]) -> Stamp:
    second = int(found[4]) * 3600 + int(found[5]) * 60 + int(found[6])
    if found[1]:
        return Stamp(second, date(int(found[1]), int(found[2]), int(found[3])))
    written = TIMESTAMP.match(found[8]) or STARTED.match(found[8])
    if not written or not written[1]:
        return Stamp(second)
    return Stamp(second, date(int(written[3]), int(written[1]), int(written[2])))


def event_of(at_s: int, where: str, found: re.Match[str], before: int | None) -> Event | None:
    daemon, body = found[7], found[8]
    if taken := TAKEN.match(body):
        action: Literal["out", "in"] = "out" if taken[1] == "OUT" else "in"
        count = COUNT.search(taken[5]) if taken[5] else None
        return Event(at_s, action, daemon, where, taken[2], taken[3].strip(), taken[4], int(count[1]) if count else 1)
    if stopped := STOPPED.match(body):
        return Event(at_s, "stop", stopped[1] or ("" if daemon == MANAGER else daemon), where)
    if STARTED.match(body):
        return Event(at_s, "start", "" if daemon == MANAGER else daemon, where, before_s=before)
    if DAEMON_STARTED.match(body):
        return Event(at_s, "start", daemon, where, before_s=before)
    return None


def parse_lmstat(name: str, text: str, zone: ZoneInfo) -> Told:
    head = LMSTAT.search(text)
    if head is None:
        raise InputError(
            "undated-log",
            f"{name} does not say when lmstat was asked",
            where=name,
            hint="keep the first line of its output",
        )
    month, day, year, hour, minute = (int(part) for part in head.groups())
    asked = f"{year}-{month:02}-{day:02}T{hour:02}:{minute:02}:00"
    at_s = parse_instant(asked, zone, name)
    seats = [Seats(at_s, found[1].strip(), int(found[2])) for found in ISSUED.finditer(text)]
    return Told(seats=seats, rows=len(seats), problems=clock_changes(name, asked, zone))
