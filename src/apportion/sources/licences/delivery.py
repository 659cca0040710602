"""Licence logs to deliveries: usage of seats, who held them, and how many there are."""

from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from typing import Any

import pyarrow as pa

from apportion.errors import InputError, Problem
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.rows import CAPACITY, USAGE, WORKLOADS
from apportion.model.times import Interval, months
from apportion.sources.licences.events import Seats, Told
from apportion.sources.licences.seats import Key, Ledger, Span, spans
from apportion.sources.licences.settings import How

LONGEST_MONTHS = 120
Row = dict[str, Any]


def deliveries(
    told: Sequence[tuple[str, Told]], files: Sequence[FileDigest], how: How, asked: Interval | None
) -> Iterator[Delivery]:
    """One for the window asked for, else one for each month of the logs, which are those of one server, one after the other."""
    logs = in_order(told)
    if not logs:
        raise InputError("no-rows", "the logs hold no check-out", where=how.where, hint="see path of the source")
    ledger = Ledger(int(logs[0].first_s or 0))
    for log in logs:
        for event in log.events:
            ledger.take(event)
        ledger.before_s = int(log.last_s or 0)
    whole = Interval(int(logs[0].first_s or 0), max(int(log.last_s or 0) for log in logs))
    usage, workloads = held(ledger, whole.end_s, how)
    capacity = issued([seats for _, one in told for seats in one.seats], whole, how)
    problems: list[Problem] = [*(problem for _, one in told for problem in one.problems), *ledger.problems]
    for number, window in enumerate([asked] if asked else month_windows(whole, how)):
        tables = {
            "usage": within(usage, window, USAGE),
            "workloads": within(workloads, window, WORKLOADS),
            "capacity": within(capacity, window, CAPACITY),
        }
        yield Delivery(how.source, window, tables, () if number else tuple(problems), tuple(files))


def in_order(told: Sequence[tuple[str, Told]]) -> list[Told]:
    """Logs by their beginning; two that overlap would count the same check-outs twice."""
    logs = sorted(((log.first_s, name, log) for name, log in told if log.first_s is not None), key=lambda one: one[:2])
    for (_, name, log), (first_s, after, _) in pairwise(logs):
        if log.last_s is not None and first_s is not None and first_s < log.last_s:
            raise InputError(
                "overlapping-logs",
                f"{after} begins before {name} ends: their check-outs would count twice",
                where=after,
                hint="keep one of them; logs of several servers need a source each",
            )
    return [log for _, _, log in logs]


def held(ledger: Ledger, last_s: int, how: How) -> tuple[list[Row], list[Row]]:
    usage, workloads = [], []
    for key in sorted(ledger.changes):
        found = list(spans(ledger.changes[key], last_s))
        if found:
            usage += [usage_row(key, span, how) for span in found]
            workloads.append(workload_row(key, found, how, out=bool(ledger.open[key])))
    return usage, workloads


def workload_id(key: Key, how: How) -> str:
    daemon, feature, user, host = key
    return f"licence/{how.server or daemon or 'server'}/{feature}/{user}@{host}"


def usage_row(key: Key, span: Span, how: How) -> Row:
    return {
        "source": how.source,
        "workload": workload_id(key, how),
        "meter": "licence",
        "resource": f"licence/{key[1]}",
        "start_s": span.start_s,
        "end_s": span.end_s,
        "allocated": span.seats,
        "used": None,
    }


def workload_row(key: Key, found: Sequence[Span], how: How, *, out: bool) -> Row:
    daemon, feature, user, host = key
    labels = {
        "licence.feature": feature, "licence.user": user, "licence.host": host, "licence.daemon": daemon, "licence.server": how.server,
    }  # fmt: skip
    name = workload_id(key, how)
    return {
        "source": how.source,
        "workload": name,
        "run": name,
        "name": f"{feature} {user}",
        "start_s": found[0].start_s,
        "end_s": found[-1].end_s,
        "outcome": "running" if out else "completed",
        "labels": sorted((label, value) for label, value in labels.items() if value),
    }


def issued(seats: Sequence[Seats], whole: Interval, how: How) -> list[Row]:
    """What lmstat tells holds until it tells otherwise, and before its first word; the stanza's figures hold throughout."""
    rows = [capacity_row(feature, whole, amount, how) for feature, amount in sorted(how.seats.items())]
    for feature in sorted({one.feature for one in seats} - set(how.seats)):
        known = sorted({one.at_s: one.amount for one in seats if one.feature == feature}.items())
        edges = [min(whole.start_s, known[0][0]), *(at_s for at_s, _ in known[1:]), max(whole.end_s, known[-1][0] + 1)]
        for (_, amount), start_s, end_s in zip(known, edges, edges[1:], strict=False):
            rows.append(capacity_row(feature, Interval(start_s, end_s), amount, how))
    return rows


def capacity_row(feature: str, span: Interval, amount: int, how: How) -> Row:
    labels = {"licence.feature": feature} | ({"licence.server": how.server} if how.server else {})
    return {
        "source": how.source,
        "resource": f"licence/{feature}",
        "meter": "licence",
        "start_s": span.start_s,
        "end_s": span.end_s,
        "amount": amount,
        "state": "up",
        "labels": sorted(labels.items()),
    }


def within(rows: Sequence[Row], window: Interval, schema: pa.Schema) -> pa.Table:
    """Those that reach into the window; the books cut them."""
    kept = [row for row in rows if row["start_s"] < window.end_s and row["end_s"] > window.start_s]
    return pa.Table.from_pylist(kept, schema)


def month_windows(whole: Interval, how: How) -> list[Interval]:
    found = list(islice(months(whole, how.zone), LONGEST_MONTHS + 1))
    if len(found) > LONGEST_MONTHS:
        raise InputError(
            "window-too-wide",
            f"the logs are of more than {LONGEST_MONTHS} months",
            where=how.where,
            hint="correct the stray date in a log",
        )
    return found
