"""Licence logs and lists to deliveries: usage of seats, who held them, and how many there are."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, pairwise
from typing import Any

import pyarrow as pa

from apportion.errors import InputError
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.rows import CAPACITY, USAGE, WORKLOADS
from apportion.model.times import Interval, months
from apportion.sources.licences.assigned import Lists, clipped
from apportion.sources.licences.events import Seats, Told
from apportion.sources.licences.seats import Ledger, Span, spans
from apportion.sources.licences.settings import How

LONGEST_MONTHS = 120
Row = dict[str, Any]


def deliveries(
    told: Sequence[tuple[str, Told]], files: Sequence[FileDigest], how: How, asked: Interval | None
) -> Iterator[Delivery]:
    """One for the window asked for, else one for each month of the logs, which are those of one server, one after the other, and of the lists."""
    logs, lists = in_order(told), Lists.of(told)
    whole = whole_of(logs, lists, how)
    ledger = ledger_of(logs, how)
    usage, workloads = held(ledger, max((int(log.last_s or 0) for log in logs), default=0), how)
    capacity = issued([seats for _, one in told for seats in one.seats], whole, lists, how)
    problems = [*(problem for _, one in told for problem in one.problems), *ledger.problems, *lists.problems]
    for number, window in enumerate([asked] if asked else month_windows(whole, how)):
        listed, holders = listed_rows(lists, window, how)
        orders = ordered_rows(lists, window, how)
        tables = {
            "usage": within([*usage, *listed], window, USAGE),
            "workloads": within([*workloads, *holders], window, WORKLOADS),
            "capacity": within([*capacity, *orders], window, CAPACITY),
        }
        yield Delivery(how.source, window, tables, () if number else tuple(problems), tuple(files))


def whole_of(logs: Sequence[Told], lists: Lists, how: How) -> Interval:
    """Logs speak of the time from their first line to their last, lists of all months up to this one or to the latest beginning that they name."""
    first = [int(log.first_s or 0) for log in logs] + lists.starts
    if not first and not lists.orders:
        raise InputError("no-rows", "there is no check-out and no seat", where=how.where, hint="see path of the source")
    last = [int(log.last_s or 0) for log in logs]
    if lists:
        until = max([int(time.time()), *lists.starts, *lists.orders])
        last += [month.end_s for month in months(Interval(until, until), how.zone)]
    return Interval(min(first or lists.orders), max(last))


def ledger_of(logs: Sequence[Told], how: How) -> Ledger:
    ledger = Ledger(int(logs[0].first_s or 0) if logs else 0)
    for log in logs:
        for event in log.events:
            ledger.take(replace(event, count=event.count * how.tokens.get(event.feature, 1)))
        ledger.before_s = int(log.last_s or 0)
    return ledger


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
            daemon, feature, user, host = key
            name = f"licence/{how.server or daemon or 'server'}/{feature}/{user}@{host}"
            labels = {"feature": feature, "user": user, "host": host, "daemon": daemon}
            usage += [usage_row(name, feature, span, how) for span in found]
            workloads.append(workload_row(name, labels, found, how, out=bool(ledger.open[key])))
    return usage, workloads


def listed_rows(lists: Lists, window: Interval, how: How) -> tuple[list[Row], list[Row]]:
    usage, workloads = [], []
    for holder in sorted(lists.held):
        found = clipped(lists.held[holder], window)
        if found:
            name = f"licence/{how.server or 'seats'}/{holder.feature}/{holder.user}" + f"@{holder.team}" * bool(
                holder.team
            )
            usage += [usage_row(name, holder.feature, span, how) for span in found]
            out = found[-1].end_s == window.end_s
            workloads.append(workload_row(name, holder._asdict(), found, how, out=out))
    return usage, workloads


def usage_row(name: str, feature: str, span: Span, how: How) -> Row:
    return {
        "source": how.source,
        "workload": name,
        "meter": "licence",
        "resource": f"licence/{feature}",
        "start_s": span.start_s,
        "end_s": span.end_s,
        "allocated": span.seats,
        "used": None,
    }


def workload_row(name: str, labels: Mapping[str, str], found: Sequence[Span], how: How, *, out: bool) -> Row:
    known = {**labels, "server": how.server}
    return {
        "source": how.source,
        "workload": name,
        "run": name,
        "name": f"{labels['feature']} {labels['user'] or labels['team']}",
        "start_s": found[0].start_s,
        "end_s": found[-1].end_s,
        "outcome": "running" if out else "completed",
        "labels": sorted((f"licence.{label}", value) for label, value in known.items() if value),
    }


def issued(seats: Sequence[Seats], whole: Interval, lists: Lists, how: How) -> list[Row]:
    """What lmstat tells holds until it tells otherwise, and before its first word; the stanza's figures hold throughout, and orders go before lmstat."""
    rows = [capacity_row(feature, whole, amount, how) for feature, amount in sorted(how.seats.items())]
    for feature in sorted({one.feature for one in seats} - set(how.seats) - set(lists.bought)):
        known = sorted({one.at_s: one.amount for one in seats if one.feature == feature}.items())
        edges = [min(whole.start_s, known[0][0]), *(at_s for at_s, _ in known[1:]), max(whole.end_s, known[-1][0] + 1)]
        for (_, amount), start_s, end_s in zip(known, edges, edges[1:], strict=False):
            tokens = amount * how.tokens.get(feature, 1)
            rows.append(capacity_row(feature, Interval(start_s, end_s), tokens, how))
    return rows


def ordered_rows(lists: Lists, window: Interval, how: How) -> list[Row]:
    return [
        capacity_row(feature, Interval(span.start_s, span.end_s), span.seats, how)
        for feature, found in lists.bought.items()
        if feature not in how.seats
        for span in clipped(found, window)
    ]


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
            f"the logs and lists are of more than {LONGEST_MONTHS} months",
            where=how.where,
            hint="correct the stray date, or ask for a period: apportion ingest --period 2026-10",
        )
    return found
