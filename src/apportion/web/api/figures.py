"""What is posted, as far as the viewer may see it, summed in the ways in which endpoints show it."""

from collections.abc import Iterable, Sequence

import pyarrow as pa

from apportion.client.shapes import Amount, Breakdown, Share
from apportion.model.minor import dated
from apportion.model.money import plain
from apportion.model.rows import SYSTEM_OWNERS
from apportion.reports.groups import chosen, names
from apportion.reports.sums import grouped
from apportion.verbs.report import end_of, read_filters
from apportion.web.ask import Ask, NotThereError

DIMENSIONS = ("project", "user", "pool", "component", "reason", "day")


def posted(ask: Ask) -> pa.Table:
    """Of the months, filters and day that were asked for."""
    as_of, where = ask.one("as_of"), ask.filters

    def read() -> pa.Table:
        until_s = end_of(ask.project, as_of) if as_of else None
        return chosen(ask.record(ask.project, ask.months, until_s).posted, read_filters(where))

    return ask.desk.kept(("posted", tuple(map(str, ask.months)), where, as_of, ask.viewer.teams), read)


def amounts(rows: pa.Table) -> list[Amount]:
    return [Amount(currency=unit, amount=plain(amount)) for (unit,), amount in grouped(rows, ("currency",)).items()]


def by_name(rows: pa.Table, keys: Sequence[str]) -> dict[tuple[str, ...], list[Amount]]:
    """Amounts of each combination of names, sorted; those of the system are nobody's."""
    found: dict[tuple[str, ...], list[Amount]] = {}
    for (*key, unit), amount in grouped(rows, (*keys, "currency")).items():
        if key[0] not in SYSTEM_OWNERS and all(key):
            found.setdefault(tuple(key), []).append(Amount(currency=unit, amount=plain(amount)))
    return found


def broken_down(ask: Ask, rows: pa.Table, name: str, but: Iterable[str] = (), team: str = "") -> Breakdown:
    """What does not exist and what is not theirs look the same: nothing is posted for it."""
    if not len(rows):
        raise NotThereError("such name")
    left = [by for by in DIMENSIONS if by not in set(but)]
    return Breakdown(
        name=name, team=team, period=ask.period, amounts=amounts(rows), by={by: shares(rows, by) for by in left}
    )


def shares(rows: pa.Table, by: str) -> list[Share]:
    rows = dated(rows) if by == "day" else rows
    named = rows.select(["currency", "amount"]).append_column("name", names(rows, by))
    sums = grouped(named, ("name", "currency"))
    return [Share(name=name, currency=unit, amount=plain(amount)) for (name, unit), amount in sums.items()]
