"""Answers that were saved as JSON files. Which question each belongs to, and which window it speaks for, follows from what it says."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from apportion.errors import InputError
from apportion.model.delivery import FileDigest
from apportion.model.money import plain, total_of
from apportion.model.times import Interval, instant_text
from apportion.sources.files.paths import InputFile
from apportion.sources.files.stream import Stream
from apportion.sources.opencost.answers import ALLOCATIONS, ASSETS, CLOUD_COSTS, data_of, entries, kind_of
from apportion.sources.opencost.day import Day, Reading
from apportion.sources.opencost.rows import Allocation, Asset, CloudCost, Found, read_rows

ROWS = {ALLOCATIONS: Allocation, ASSETS: Asset, CLOUD_COSTS: CloudCost}
LISTED = {"allocation": (ALLOCATIONS, ASSETS), "cloudCost": (CLOUD_COSTS,)}


def days(files: Sequence[InputFile], reading: Reading, window: Interval | None) -> Iterator[Day]:
    """One for each window that the files speak for; with `window`, those whose middle lies in it."""
    found: dict[Interval, Day] = {}
    seen: dict[str, str] = {}
    for file in files:
        with Stream(file) as stream:
            body, digest = stream.read_all(), stream.content_sha256
        if digest in seen:
            raise InputError("same-file-twice", f"{file.name} is {seen[digest]} again", where=file.name)
        seen[digest] = file.name
        data = data_of(body, file.name)
        kind = kind_of(data, file.name)
        if kind in LISTED[reading.report]:
            sort(found, file, digest, read_rows(ROWS[kind], entries(data), file.name, None))
    if not found:
        raise InputError(
            "no-rows",
            f"there is no answer of /{reading.report} in {', '.join(file.name for file in files[:3])}",
            where=files[0].name,
            hint="save what /allocation and /assets answer for the same day, or /cloudCost with its report",
        )
    check_apart(found, files[0].name)
    for one in sorted(found):
        if window is None or window.start_s <= (one.start_s + one.end_s) // 2 < window.end_s:
            yield found[one]


def sort(days: dict[Interval, Day], file: InputFile, digest: str, rows: Found) -> None:
    spans = sorted({row.window for row in rows.rows})
    for span in spans:
        own = [row for row in rows.rows if row.window == span]
        day = days.setdefault(span, Day(span, file.name))
        day.take(own)
        day.files.append(FileDigest(file.name, digest, len(own), control(own)))
        if span == spans[0]:
            day.problems += rows.problems


def control(rows: Sequence[Any]) -> str:
    return plain(
        total_of(row.total if isinstance(row, Asset) else total_of(filter(None, row.costs.values())) for row in rows)
    )


def check_apart(days: dict[Interval, Day], where: str) -> None:
    """Allocations of days against assets of a week cannot be reconciled, and one delivery would replace parts of another."""
    spans = sorted(days)
    for one, other in pairwise(spans):
        if other.start_s < one.end_s:
            first, second = (f"{instant_text(span.start_s)} to {instant_text(span.end_s)}" for span in (one, other))
            raise InputError(
                "wrong-window",
                f"the answers speak for {first} and for {second}, which overlap",
                where=where,
                hint="ask /allocation and /assets for the same day each",
            )
