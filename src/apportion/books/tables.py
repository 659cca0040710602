"""How each table of evidence is keyed, cut and controlled, and whether a delivered table fits."""

from dataclasses import dataclass
from types import MappingProxyType

import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import BooksError
from apportion.model.meters import METERS
from apportion.model.rows import CHARGES, OUTCOMES, STATES, TABLES, complete_columns
from apportion.model.times import DAY_S

FLOWS = tuple(sorted(meter.name for meter in METERS.values() if meter.flow))


@dataclass(frozen=True, slots=True)
class Keeping:
    """`key` says which rows of one delivery are the same row; `cut` how a window bounds them; `control` what is added up."""

    key: tuple[str, ...]
    cut: str  # `time`: start_s and end_s; `billing`: by billing_start_s, whole; `day`: by day, in UTC; `none`: upserted by key
    control: str
    amounts: tuple[str, ...] = ()  # of flows: shared when a row is cut


KEEPING = MappingProxyType({
    "cost_lines": Keeping(("line_id",), "billing", "EffectiveCost"),
    "usage": Keeping(("workload", "meter", "resource", "start_s", "cluster"), "time", "allocated", ("allocated", "used")),
    "capacity": Keeping(("resource", "meter", "start_s", "state", "cluster"), "time", "amount", ("amount",)),
    "reservations": Keeping(("reservation", "meter", "start_s"), "time", "amount", ("amount",)),
    "workloads": Keeping(("workload", "label_set"), "none", "end_s"),
    "rates": Keeping(("currency", "base", "day"), "day", "rate"),
})  # fmt: skip
BOUNDS = MappingProxyType({"time": ["start_s", "end_s"], "billing": ["billing_start_s"], "day": ["day"]})
EVIDENCE = MappingProxyType({**TABLES, "charges": CHARGES})
VOCABULARY = MappingProxyType({"meter": tuple(METERS), "state": STATES, "outcome": OUTCOMES})


def fit(name: str, table: pa.Table, source: str) -> pa.Table:
    """The delivered table in the model's schema, or a refusal: what is wrong with single rows is the source's to say, as Problems."""
    where = f"source {source}, table {name}"
    if name not in TABLES:
        raise refuse(f"there is no table {name!r}", where, "tables: " + ", ".join(TABLES))
    schema = TABLES[name]
    table = complete_columns(table, schema)
    strange = sorted(set(table.column_names) ^ set(schema.names))
    if strange:
        raise refuse(
            f"these columns are missing or unknown: {', '.join(strange)}",
            where,
            "deliver exactly the columns of the model",
        )
    try:
        table = table.select(schema.names).cast(schema)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, ValueError) as error:
        raise refuse(
            f"the columns do not have the model's types: {error}", where, "deliver the model's Arrow schema"
        ) from error
    for field in schema:
        if not field.nullable and table[field.name].null_count:
            raise refuse(
                f"column {field.name} has empty values", where, "leave such rows out and list them as problems"
            )
    check_values(table, source, where)
    return table


def check_values(table: pa.Table, source: str, where: str) -> None:
    if not table.num_rows:
        return
    allowed = {"source": (source,), **VOCABULARY}
    for column in set(allowed) & set(table.column_names):
        strange = set(pc.unique(table[column]).to_pylist()) - set(allowed[column])
        if strange:
            raise refuse(
                f"column {column} has unknown values: {', '.join(sorted(strange)[:3])}",
                where,
                f"known: {', '.join(allowed[column])}",
            )
    if "rate" in table.column_names and pc.min(table["rate"]).as_py() <= 0:
        raise refuse("column rate has a rate that is not above 0", where, "refuse the file that it stands in")
    for column in {"allocated", "used", "amount"} & set(table.column_names):
        least = pc.min(table[column]).as_py()
        if least is not None and least < 0:
            raise refuse(
                f"column {column} has a negative amount", where, "leave such rows out and list them as problems"
            )
    for start, end in (("start_s", "end_s"), ("charge_start_s", "charge_end_s"), ("billing_start_s", "billing_end_s")):
        if start in table.column_names and pc.any(pc.less(table[end], table[start])).as_py():
            raise refuse(
                f"some rows end before they start ({start}, {end})",
                where,
                "leave such rows out and list them as problems",
            )


def refuse(message: str, where: str, hint: str) -> BooksError:
    return BooksError("invalid-delivery", message, where=where, hint=hint)


def control_total(name: str, table: pa.Table) -> str:
    """The sum that must still be there when the file is read again."""
    column = "amount" if name == "charges" else KEEPING[name].control
    values = table[column]
    if pa.types.is_integer(values.type):
        values = values.cast(pa.decimal128(38, 0))
    total = pc.sum(values).as_py()
    return "0" if total is None else format(total, "f")


def day_starts(days: pa.ChunkedArray) -> pa.ChunkedArray:
    """The UTC seconds at which days begin."""
    return pc.multiply(days.cast(pa.int32()).cast(pa.int64()), DAY_S)


def span(name: str, table: pa.Table) -> tuple[int, int]:
    """The seconds a file's rows speak of, so that a later window knows which files it may touch. A zero-length row counts as one second."""
    if not table.num_rows or name == "charges":
        return 0, 0
    if KEEPING[name].cut == "billing":
        bounds = pc.min_max(table["billing_start_s"]).as_py()
        return bounds["min"], bounds["max"] + 1
    if KEEPING[name].cut == "day":
        starts = pc.min_max(day_starts(table["day"])).as_py()
        return starts["min"], starts["max"] + DAY_S
    least = pc.min(table["start_s"]).as_py()
    return least, max(pc.max(table["end_s"]).as_py(), pc.max(table["start_s"]).as_py() + 1)
