"""What tables of rates state, as deliveries: a pair has one rate a day, wherever it stands."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError, Problem
from apportion.model.delivery import Delivery, FileDigest
from apportion.model.money import plain
from apportion.model.rows import RATES
from apportion.model.times import DAY_S, Interval
from apportion.sources.cells.money import total
from apportion.sources.fx.forms import Stated

KEY = ["currency", "base", "day"]
GAP_S = 31 * DAY_S  # weekends and holidays are no gaps; a stray day years away must not replace what lies between


def deliveries(
    source: str, tables: Sequence[Stated], problems: tuple[Problem, ...], window: Interval | None
) -> Iterator[Delivery]:
    rates = once(tables)
    files = tuple(
        FileDigest(one.sheet.file.name, one.sheet.sha256, len(one.rates), plain(total(one.rates["rate"])))
        for one in tables
    )
    rows = pa.table([pa.repeat(source, len(rates)), *(rates[name] for name in RATES.names[1:])], schema=RATES)
    starts = pc.multiply(rows["day"].cast(pa.int32()).cast(pa.int64()), DAY_S)
    for stretch in stretches(sorted(pc.unique(starts).to_pylist()), window):
        inside = pc.and_(pc.greater_equal(starts, stretch.start_s), pc.less(starts, stretch.end_s))
        yield Delivery(source, stretch, {"rates": rows.filter(inside)}, problems, files)
        problems = ()  # told once


def once(tables: Sequence[Stated]) -> pa.Table:
    """The same rate twice is one rate; two rates of one pair and day are refused with both places."""
    whole = pa.concat_tables(
        one.rates.append_column("file", pa.repeat(n, len(one.rates))) for n, one in enumerate(tables)
    )
    if not len(whole):
        names = ", ".join(one.sheet.file.name for one in tables)
        raise InputError("no-rows", f"{names} has no rates", where=names, hint="fetch the table again")
    groups = whole.group_by(KEY, use_threads=False).aggregate([("rate", "min"), ("rate", "max")])
    differ = groups.filter(pc.not_equal(groups["rate_min"], groups["rate_max"]))
    if len(differ):
        raise conflict(whole, tables, differ.slice(0, 1).to_pylist()[0])
    return groups.select([*KEY, "rate_min"]).rename_columns([*KEY, "rate"])


def conflict(whole: pa.Table, tables: Sequence[Stated], key: dict[str, object]) -> InputError:
    for name in KEY:
        whole = whole.filter(pc.equal(whole[name], pa.scalar(key[name], whole[name].type)))
    stated = {row["rate"]: tables[row["file"]].sheet.where(row["row"]) for row in whole.to_pylist()}
    told = " and ".join(plain(rate) for rate in stated)
    return InputError(
        "conflicting-rates",
        f"the rate from {key['base']} to {key['currency']} on {key['day']} is both {told}",
        where=" and ".join(stated.values()),
        hint="leave the one that counts",
    )


def stretches(starts: Sequence[int], window: Interval | None) -> Iterator[Interval]:
    """From the first to the last of days that follow one another, of those in the window."""
    kept = [start for start in starts if window is None or window.start_s <= start < window.end_s]
    first = 0
    for n, start in enumerate(kept):
        if n + 1 == len(kept) or kept[n + 1] - start > GAP_S:
            yield Interval(kept[first], start + DAY_S)
            first = n + 1
