"""When a log's times are: by an offset of their own, by a column that names the zone of each row, or by the stanza's zone."""

import re
from dataclasses import dataclass
from datetime import timedelta, timezone, tzinfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.rows import SECOND
from apportion.model.times import zone_named
from apportion.sources.cells.instants import instants
from apportion.sources.cells.parsed import Parsed
from apportion.sources.cells.text import rows_where

OFFSET = re.compile(r"(?:UTC|GMT)?([+-])(\d\d?):?(\d\d)?", re.ASCII)
FURTHEST_H = 18


def zone_of(name: str, where: str = "") -> tzinfo:
    """`Europe/Berlin`, `+02:00`, `-0530`, `UTC+2` or `Z`."""
    found = OFFSET.fullmatch(name)
    if name == "Z":
        return zone_named("UTC")
    if not found:
        return zone_named(name, where)
    shift = timedelta(hours=int(found[2]), minutes=int(found[3] or 0))
    if shift > timedelta(hours=FURTHEST_H):
        raise InputError(
            "unknown-time-zone", f"{name!r} is further from UTC than any zone", where=where, hint="write it as +02:00"
        )
    return timezone(shift if found[1] == "+" else -shift)


@dataclass(frozen=True, slots=True)
class Clock:
    """`zones` names the zone of each row; `zone` is for those that it does not name."""

    zone: tzinfo
    form: str
    zones: pa.Array | None = None

    def __call__(self, cells: pa.Array) -> Parsed:
        if self.zones is None:
            return instants(cells, self.zone, self.form)
        values = np.zeros(len(cells), np.int64)
        valid = np.zeros(len(cells), bool)
        bad: dict[int, str] = {}
        ambiguous: list[int] = []
        skipped: list[int] = []
        for name in self.zones.unique().to_pylist():
            rows = rows_where(self.zones.is_null() if name is None else pc.equal(self.zones, name))
            zone = self.named(name)
            if zone is None:
                continue
            parsed = instants(cells.take(pa.array(rows, pa.int64())), zone, self.form)
            values[rows] = np.asarray(pc.fill_null(parsed.values, 0))
            valid[rows] = np.asarray(parsed.values.is_valid())
            bad |= {rows[row]: code for row, code in parsed.bad.items()}
            ambiguous += [rows[row] for row in parsed.ambiguous]
            skipped += [rows[row] for row in parsed.skipped]
        seconds = pa.array(values, SECOND, mask=~valid)
        return Parsed(seconds, bad, ambiguous=tuple(sorted(ambiguous)), skipped=tuple(sorted(skipped)))

    def named(self, name: str | None) -> tzinfo | None:
        """None for a zone that there is not."""
        if name is None:
            return self.zone
        try:
            return zone_of(name)
        except InputError:
            return None

    def unknown(self) -> list[int]:
        """The rows whose zone nobody knows."""
        if self.zones is None:
            return []
        names = [name for name in self.zones.unique().to_pylist() if name is not None and self.named(name) is None]
        return rows_where(pc.is_in(self.zones, pa.array(names, pa.string()))) if names else []
