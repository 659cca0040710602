"""The stanza of a `usage` source: which column of a log is which part of our rows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, tzinfo
from fractions import Fraction
from typing import Any

import pyarrow as pa

from apportion.errors import ProjectError
from apportion.model.gpus import SCHEMES, WHOLE, Board
from apportion.model.meters import METERS
from apportion.model.rows import OUTCOMES, STATES
from apportion.model.times import Interval, parse_period
from apportion.sources.cells.instants import FORMS
from apportion.sources.cells.text import text
from apportion.sources.files.paths import InputFile
from apportion.sources.settings import COUNTED, TOLD, Stanza, nearest
from apportion.sources.usage.clock import Clock, zone_of
from apportion.sources.usage.durations import UNITS as DURATIONS
from apportion.sources.usage.expressions.columns import Places, Wish, find_places
from apportion.sources.usage.units import OF_ALLOCATED, scale, suffixes
from apportion.sources.usage.words import OUTCOME_WORDS, STATE_WORDS

SETTINGS = (
    "records", "columns", "meters", "used_meters", "units", "used_units", "time", "time_zone", "labels", "label_prefix", "labels_json",
    "sharing", "outcomes", "states", "window", "delimiter", "explode", "cluster", "key", "repeats",
)  # fmt: skip
COLUMNS = {  # parts of our rows that a log can give; the first one is required, and so is `start`
    "usage": (
        "workload",
        "resource",
        "cluster",
        "start",
        "end",
        "duration",
        "zone",
        "meter",
        "allocated",
        "used",
        "run",
        "name",
        "outcome",
    ),
    "capacity": ("resource", "cluster", "start", "end", "duration", "zone", "meter", "amount", "state"),
    "reservations": ("reservation", "cluster", "start", "end", "duration", "zone", "meter", "amount"),
    "workloads": ("workload", "start", "end", "duration", "zone", "run", "name", "outcome"),
}
ALL = "*"
UNIT_KEYS = (*METERS, "duration")


@dataclass(frozen=True, slots=True)
class MeterColumn:
    """Where the amounts of one meter stand. `used_of` is 0 for amounts, 100 or 1 for percent or fraction of the allocated amount."""

    meter: str
    column: str
    used: str = ""
    used_scale: Fraction = Fraction(0)
    used_of: int = 0


@dataclass(frozen=True, slots=True)
class How:
    """A checked stanza."""

    source: str
    records: str
    columns: Mapping[str, str]
    meters: tuple[
        MeterColumn, ...
    ]  # one for each meter that has a column of its own; empty where a column names the meter
    scales: Mapping[str, Fraction]  # of every meter, for logs where a column names it
    zone: tzinfo
    board: Board = WHOLE  # into how many parts a shared GPU is cut
    time: str = "iso"
    labels: Mapping[str, str] = field(default_factory=dict)  # label -> column
    all_labels: bool = False
    label_prefix: str = ""
    labels_json: str = ""
    outcomes: Mapping[str, str] = field(default_factory=dict)
    states: Mapping[str, str] = field(default_factory=dict)
    window: Interval | None = None
    delimiter: str = ","
    suffixes: Mapping[str, Mapping[str, Fraction]] = field(default_factory=dict)  # base units in `64Gi`, by meter
    units: frozenset[str] = frozenset()  # meters whose unit the stanza says
    duration: Fraction = DURATIONS["seconds"]  # seconds in one of the log's, whatever `time` is counted in
    explode: str = ""  # the path of an array whose items are the rows
    key: tuple[str, ...] = ()  # columns that tell rows apart
    repeats: str = TOLD

    def wishes(self) -> list[Wish]:
        """Every column that the stanza speaks of, with the setting that does; the zone's first, since times are read by it."""
        columns = sorted(self.columns.items(), key=lambda item: item[0] != "zone")
        return [
            *(Wish(f"columns.{name}", text) for name, text in columns),
            *(Wish(f"labels.{name}", text) for name, text in self.labels.items()),
            *(Wish(f"meters.{meter.meter}", meter.column) for meter in self.meters),
            *(Wish(f"used_meters.{meter.meter}", meter.used) for meter in self.meters if meter.used),
            *([Wish("labels_json", self.labels_json)] if self.labels_json else []),
            *(Wish("key", column) for column in self.key),
        ]

    def places(self, file: InputFile, header: Sequence[str]) -> Places:
        """Where they lie in a file; refused where one is not there."""
        found = find_places(self.wishes(), self.explode, header, file, f"source {self.source!r}")
        read = {*found.columns, ""}
        rest = tuple(name for name in dict.fromkeys(header) if name not in read) if self.all_labels else ()
        return replace(found, own=(*found.own, *rest), rest=rest)

    def clock(self, part: pa.Table) -> Clock:
        """For a block in the stanza's columns."""
        zone = self.columns.get("zone")
        return Clock(
            self.zone, self.time, text(part[zone].combine_chunks()) if zone in part.column_names and zone else None
        )


def mapping(found: Stanza) -> How:
    """Checks everything that can be checked without the files."""
    records = found.word("records", COLUMNS, "usage")
    columns = found.words("columns", COLUMNS[records])
    for name in (COLUMNS[records][0], "start"):
        if name not in columns:
            raise ProjectError(
                "missing-setting",
                f"columns must say which column is the {name}",
                where=found.where,
                hint=f'columns = {{{name} = "..."}}',
            )
    zone = zone_of(found.text("time_zone", "UTC"), found.where)
    labels, everything = label_columns(found.settings.get("labels", {}), found)
    labels = {**cluster_label(found, records, columns), **labels}
    period = found.text("window", "")
    board = Board(**found.counts("sharing", SCHEMES))
    return How(
        source=found.text("name"),
        records=records,
        columns=columns,
        meters=meter_columns(found, records, columns, board),
        scales=scales(found, board),
        zone=zone,
        board=board,
        time=time_form(found),
        labels=labels,
        all_labels=everything,
        label_prefix=found.text("label_prefix", ""),
        labels_json=found.text("labels_json", ""),
        outcomes=own_words(found, "outcomes", OUTCOMES, OUTCOME_WORDS),
        states=own_words(found, "states", STATES, STATE_WORDS),
        window=parse_period(period, found.where).interval(zone) if period else None,
        delimiter=one_character(found),
        suffixes={meter: suffixes(meter, unit) for meter, unit in meter_units(found).items()},
        units=frozenset(found.words("units", UNIT_KEYS)),
        duration=duration_unit(found),
        explode=found.text("explode", ""),
        key=key_columns(found, records),
        repeats=found.word("repeats", (TOLD, COUNTED), TOLD),
    )


def cluster_label(found: Stanza, records: str, columns: Mapping[str, str]) -> dict[str, str]:
    """Rules about workloads and reservations may ask for it, and it tells one cluster's job 7 from another's."""
    stated = found.text("cluster", "") if records in ("usage", "workloads") else ""
    quote = '"' if "'" in stated else "'"
    column = columns.get("cluster") or (stated and f"{quote}{stated}{quote}")
    return {"cluster": column} if column else {}


def key_columns(found: Stanza, records: str) -> tuple[str, ...]:
    key = found.names("key")
    for name in ("key", "repeats"):
        if name in found.settings and records != "usage":
            raise ProjectError(
                "invalid-setting",
                f"{name} is for logs of usage; rows of {records} are known by what they are about",
                where=found.where,
                hint=f"leave out {name}",
            )
    if key and "repeats" in found.settings:
        raise ProjectError(
            "invalid-setting",
            "with a key it is known which rows are repeats",
            where=found.where,
            hint="leave out repeats, or key",
        )
    return key


def time_form(found: Stanza) -> str:
    """One of the known forms, or a format that says at least day, month and year or the like."""
    form = found.text("time", "iso")
    if "%" not in form:
        return found.word("time", FORMS, "iso")
    noon, later = datetime(2026, 10, 1, 12, tzinfo=UTC), datetime(2027, 11, 2, 12, tzinfo=UTC)
    try:
        read = datetime.strptime(later.strftime(form), form)  # noqa: DTZ007 - only whether it tells days apart
    except ValueError as error:
        raise found.refuse("time", "a format such as '%d.%m.%Y %H:%M'", form) from error
    if later.strftime(form) == noon.strftime(form) or read.date() != later.date():
        raise found.refuse("time", "a format with a year, a month and a day", form)
    return form


def duration_unit(found: Stanza) -> Fraction:
    unit = found.words("units", UNIT_KEYS).get("duration", "seconds")
    if unit not in DURATIONS:
        raise ProjectError(
            "unknown-unit", f"a duration is not counted in {unit!r}", where=found.where, hint=nearest(unit, DURATIONS)
        )
    return DURATIONS[unit]


def meter_units(found: Stanza) -> dict[str, str | None]:
    units = found.words("units", UNIT_KEYS)
    return {meter: units.get(meter) for meter in METERS}


def label_columns(value: Any, found: Stanza) -> tuple[dict[str, str], bool]:
    """`labels` is a table of label to column, or "*" for every column that nothing else reads."""
    if value == ALL:
        return {}, True
    flat = Stanza({"labels": flattened(value)}, found.where)
    return flat.words("labels"), False


def flattened(value: Any) -> Any:
    """TOML reads `slurm.account = "account"` as a table in a table; both spellings are one label."""
    if not isinstance(value, Mapping):
        return value
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        below = flattened(inner)
        flat |= {f"{key}.{name}": text for name, text in below.items()} if isinstance(below, Mapping) else {key: below}
    return flat


def meter_columns(found: Stanza, records: str, columns: Mapping[str, str], board: Board) -> tuple[MeterColumn, ...]:
    """Either `meters`, a column for each meter, or the columns `meter` and `allocated` (`amount`)."""
    meters, used = found.words("meters", METERS), found.words("used_meters", METERS)
    amount = "allocated" if records == "usage" else "amount"
    if records == "workloads":
        return ()
    if bool(meters) == ("meter" in columns):
        raise ProjectError(
            "missing-setting",
            "the stanza must name the amounts in one way",
            where=found.where,
            hint=f'meters = {{gpu = "..."}}, or columns with meter and {amount}',
        )
    if "meter" in columns and amount not in columns:
        raise ProjectError(
            "missing-setting",
            f"columns must say which column is the {amount}",
            where=found.where,
            hint=f'columns = {{{amount} = "..."}}',
        )
    if stray := sorted(set(used) - set(meters)):
        raise ProjectError(
            "invalid-setting",
            f"used_meters names {stray[0]}, meters does not",
            where=found.where,
            hint=nearest(stray[0], meters),
        )
    units, used_units = scales(found, board), found.words("used_units", METERS)
    made = []
    for meter, column in meters.items():
        unit = used_units.get(meter)
        of = OF_ALLOCATED.get(unit or "", 0)
        own = units[meter] if unit is None or of else scale(meter, unit, board, found.where)
        made.append(MeterColumn(meter, column, used.get(meter, ""), own, of))
    return tuple(made)


def scales(found: Stanza, board: Board) -> dict[str, Fraction]:
    return {meter: scale(meter, unit, board, found.where) for meter, unit in meter_units(found).items()}


def own_words(found: Stanza, key: str, valid: Sequence[str], known: Mapping[str, str]) -> dict[str, str]:
    """The words that are known anyway, and those of the stanza over them."""
    own = found.words(key)
    for word, meaning in own.items():
        if meaning not in valid:
            raise ProjectError(
                "invalid-setting",
                f"{key}.{word} cannot be {meaning!r}",
                where=found.where,
                hint=nearest(meaning, valid),
            )
    return {**known, **{word.casefold(): meaning for word, meaning in own.items()}}


def one_character(found: Stanza) -> str:
    delimiter = found.text("delimiter", ",")
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise found.refuse("delimiter", "one character", delimiter)
    return delimiter
