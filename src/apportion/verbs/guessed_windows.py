"""Windows that nobody stated: a log without one speaks for the whole months of its rows, which is a guess, and nothing may vanish by it.

A job that began in the evening before makes the log speak for a month of which it knows nothing else: what the books have of that month stays. And a
stanza that is mended moves the rows of a file to other times: what the same file said elsewhere before gives way.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import Problem
from apportion.model.delivery import Delivery
from apportion.model.month_parts import MonthParts
from apportion.model.rows import TABLES
from apportion.model.times import Interval, instant_text
from apportion.sources.usage.facts import counted
from apportion.verbs.project import Project

WHO = ("workload", "meter")


def settle_windows(project: Project, found: Iterable[Delivery]) -> Iterator[Delivery]:
    """The deliveries of a source; those whose window is a guess by what the books have of the same source."""
    for delivery in found:
        if delivery.since_s is None:
            yield delivery
            continue
        before = windows_before(project, delivery)
        settled = keep_months(project, delivery, delivery.since_s, before)
        window = join(settled.window, before)
        yield replace(settled, window=window)
        yield from (say_nothing(delivery, one) for one in before if one.clip(window).seconds < one.seconds)


def windows_before(project: Project, delivery: Delivery) -> list[Interval]:
    """For which times the very same contents were read before, under another stanza or this one."""
    now = {file.sha256 for file in delivery.files}
    return [
        Interval(row["start_s"], row["end_s"])
        for row in project.books.deliveries()
        if row["source"] == delivery.source
        and row["superseded_by"] is None
        and set(row["tables"]) <= set(delivery.tables)
        and (then := {file.sha256 for file in project.books.delivered_files(row["delivery_id"])})
        and then <= now
    ]


def join(window: Interval, others: Iterable[Interval]) -> Interval:
    """With those of the others that overlap it or touch it."""
    for one in sorted(others, key=lambda other: other.start_s):
        if one.start_s <= window.end_s and one.end_s >= window.start_s:
            window = Interval(min(window.start_s, one.start_s), max(window.end_s, one.end_s))
    return window


def say_nothing(delivery: Delivery, window: Interval) -> Delivery:
    """A file no longer says anything of a time for which it spoke before."""
    return Delivery(delivery.source, window, {name: TABLES[name].empty_table() for name in delivery.tables})


def keep_months(project: Project, delivery: Delivery, since_s: int, before: Iterable[Interval]) -> Delivery:
    """Without the months of which it only knows work that ran on, where the books have other work of them."""
    early = Interval(delivery.window.start_s, max(since_s, delivery.window.start_s))
    if not early.seconds or "usage" not in delivery.tables or any(one.clip(early).seconds > 0 for one in before):
        return delivery
    ran_on = delivery.tables["usage"].filter(pc.field("start_s") < since_s)
    mine = (pc.field("source") == delivery.source) & (pc.field("start_s") < since_s)
    held = project.books.scan("usage", columns=[*WHO, "end_s"], where=mine & (pc.field("end_s") > early.start_s))
    if pc.all(pc.is_in(names(held), value_set=names(ran_on)), min_count=0).as_py():
        return delivery
    reaching = names(held.filter(pc.field("end_s") >= since_s))
    lost = ran_on.filter(pc.invert(pc.is_in(names(ran_on), value_set=reaching)))
    told = tell_lost(lost, early, delivery)
    return replace(delivery, window=Interval(since_s, delivery.window.end_s), problems=(*delivery.problems, *told))


def names(rows: pa.Table) -> pa.Array:
    return pc.binary_join_element_wise(*(rows[name].combine_chunks() for name in WHO), "\x1f")


def tell_lost(lost: pa.Table, early: Interval, delivery: Delivery) -> Iterator[Problem]:
    """The part of this work that lies in the months that stay as they are, where these do not know of it."""
    message = (
        f"no window is stated, and all that the log says of the time before {instant_text(early.end_s)} is work that ran "
        "on: what the books have of that time stays, and this work does not count in it"
    )
    where = delivery.files[0].name if len(delivery.files) == 1 else f"{len(delivery.files)} files"
    for problem in counted(lost, where, "months-kept", message, MonthParts((early,))):
        yield replace(problem, at=instant_text(early.end_s - 1))
