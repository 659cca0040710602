"""The postings behind a figure: filtered as reports are, a page at a time, with what they add up to and what there is to narrow down to."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa

from apportion.books.browse import Sought
from apportion.errors import ProjectError
from apportion.model.times import Period
from apportion.verbs.project import Project
from apportion.verbs.report import end_of, read_filters

FACETS = ("team", "pool", "component", "reason", "bill", "day", "kind")
PAGE = 50


@dataclass(frozen=True, slots=True)
class Sum:
    """Of all that was sought, not of a page alone."""

    count: int
    amounts: Mapping[str, Decimal]
    facets: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Leaf:
    """One page, newest first. `next` is where the one after it begins, None on the last; `broken` are links that do not hold."""

    rows: pa.Table
    next: int | None
    broken: tuple[int, ...]


def sought(project: Project, months: Sequence[Period], where: Sequence[str], as_of: str = "") -> Sought:
    """`where` as everywhere: of one dimension any, of several all must hold."""
    until_s = end_of(project, as_of) if as_of else None
    return Sought(tuple(map(str, months)), where=read_filters(where), until_s=until_s)


def ledger_sum(project: Project, wanted: Sought) -> Sum:
    browse = project.books.browse
    count, amounts = browse.sums(wanted)
    return Sum(count, amounts, browse.counts(wanted, FACETS))


def ledger_leaf(project: Project, wanted: Sought, before: str = "", most: int = PAGE) -> Leaf:
    browse = project.books.browse
    if before and not (before.isascii() and before.isdecimal() and len(before) < len(str(2**63))):
        raise ProjectError("invalid-cursor", f"{before!r} is no posting's number", hint="begin without `before`")
    rows = browse.page(wanted, int(before) if before else None, most + 1)
    more, rows = len(rows) > most, rows.slice(0, most)
    numbers = rows["seq"].to_pylist()
    return Leaf(rows, numbers[-1] if more else None, tuple(browse.broken(numbers)))


def ledger_rows(project: Project, wanted: Sought) -> Iterator[pa.Table]:
    """All of them, some at a time."""
    return project.books.browse.every(wanted)
