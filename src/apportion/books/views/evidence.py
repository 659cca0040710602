"""The evidence as views of DuckDB: over the Parquet files of the published snapshots, without an extension.

Iceberg's own views need a server that keeps them. Files are never changed: what such a view shows stays what it was, and after an erasure, which
rewrites files and sweeps up the old ones, it fails until it is made anew.
"""

from collections.abc import Mapping, Sequence

import pyarrow as pa

from apportion.books.tables import EVIDENCE
from apportion.model.rows import FOCUS_NUMBERS, FOCUS_TEXT

ABOUT = {
    "cost_lines": "Money spent: every line of every bill that was read, references included.",
    "usage": "Intervals in which a workload held and used an amount of a meter on a resource.",
    "capacity": "Intervals in which a resource offered an amount of a meter.",
    "reservations": "Intervals in which an owner was promised an amount of a meter.",
    "workloads": "Jobs, pods and runs with the labels that the policy's rules read.",
    "rates": "Rates of exchange by day.",
    "charges": "What each workload owes to each pool for each day: the evidence behind the postings of every month's last run.",
}
MEANINGS = {
    "source": "the source that delivered it",
    "line_id": "of the line; stays the same when it is delivered again",
    "component": "compute, storage, network, licence, energy, support or other",
    "Tags": "the bill's tags",
    "problem": "what is wrong with the line; its money is posted to `_unallocated`",
    "line_type": "the vendor's own word for the kind of line",
    "status": "estimated or final; null where the bill does not say",
    "workload": "the job, pod or run",
    "meter": "what is counted, such as gpu, cpu or storage",
    "resource": "the node, volume or other thing that it is about",
    "cluster": "that the resource is of; null where its source does not state it",
    "label_set": "which labels own the row, where an id has several sets of them; else null",
    "allocated": "what was held, in whole base units of the meter (504,000 are one GPU)",
    "used": "what was used, in the same units; null where nothing was measured",
    "amount": "in whole base units of the meter (504,000 are one GPU)",
    "state": "up, drained, down or starting",
    "labels": "as the source gives them: users' names may be among them until they are erased",
    "reservation": "its name",
    "run": "the job, array or run that this is an attempt or task of",
    "name": "what people call it",
    "outcome": "completed, failed, cancelled, timeout, out_of_memory, preempted, requeued, node_fail or running",
    "currency": "so much of this",
    "base": "is one unit of this",
    "day": "the day",
    "rate": "on that day",
    "start_s": "when it began, in seconds since 1970, UTC",
    "end_s": "when it ended",
    "charge_start_s": "when the charge period began, in seconds since 1970, UTC",
    "charge_end_s": "when it ended",
    "billing_start_s": "when the billing period began",
    "billing_end_s": "when it ended",
}
OF_CHARGES = {
    "period": "the month",
    "bill": "issuer, month and currency of the bill",
    "pool": "the pool",
    "day": "the day, in the policy's time zone",
    "reason": "usage; what other reasons add or take is settled between owners, not workloads",
    "team": "who owes it",
    "project": "of the team",
    "user": "of the workload, by name until it is erased",
    "unit_seconds": "what was counted for it",
    "amount": "what the pool's method charges, before idle, credits and adjustments are settled",
    "unit": "what the quantities are counted in, such as GPU; null for flows",
    "per_unit": "so many counted seconds are one second of one unit",
    "held": "what was held, in counted seconds",
    "used": "what was used of what was measured",
    "unmeasured": "held, and not known whether it was used",
    "waste": "the money of what was held without use; null where nothing was measured",
}
FOCUS = frozenset((*FOCUS_NUMBERS, *FOCUS_TEXT))
PREFIX = "apportion_"
HOURS = "hours"
HOURS_ABOUT = "Hours held and used of each unit, by day, owner and pool, of the charges. Binary numbers: for charts and shares, rounded to six places."
KEYS_OF_HOURS = ("period", "day", "team", "project", "pool", "unit")
QUANTITIES = {  # by their columns of charges
    "held": "hours held, times units: 2 GPUs for 3 hours are 6",
    "used": "hours used, of what was measured; null where nothing was",
    "unmeasured": "hours held of which nobody knows whether they were used",
}
UTILISATION = "`used_hours` of those that were measured; to add up, sum hours and divide again"


def meaning(table: str, column: str) -> str:
    """Nothing of FOCUS's own columns: FOCUS says what they mean."""
    if column in FOCUS:
        return ""
    return OF_CHARGES.get(column, MEANINGS.get(column, "")) if table == "charges" else MEANINGS[column]


def duckdb_views(files: Mapping[str, Sequence[str]]) -> str:
    """Statements that make a view for each table of evidence, and one of hours over them."""
    made = {table: query(table, files[table]) for table in EVIDENCE} | {HOURS: hours()}
    return "".join(f"CREATE OR REPLACE VIEW {PREFIX}{name} AS\n{text};\n\n" for name, text in made.items())


def hours() -> str:
    """Of a pool with several bills or components one charge alone has the quantities, so that nothing counts twice."""
    keys = ", ".join(KEYS_OF_HOURS)
    sums = ", ".join(f"SUM({name} / (per_unit * 3600.0)) AS {name}" for name in QUANTITIES)
    told = ", ".join(f"ROUND({name}, 6) AS {name}_hours" for name in QUANTITIES)
    measured = "NULLIF(held - COALESCE(unmeasured, 0), 0)"
    counted = f"SELECT {keys}, {sums} FROM {PREFIX}charges WHERE unit IS NOT NULL GROUP BY {keys}"
    return f"SELECT {keys}, {told}, ROUND(used / {measured}, 6) AS utilisation FROM ({counted})"


def query(table: str, files: Sequence[str]) -> str:
    """The columns of this version, whichever of them the files have; seconds also as moments in UTC."""
    schema = EVIDENCE[table]
    nothing = ", ".join(f"CAST(NULL AS {duckdb_type(field.type)}) AS {quoted(field.name)}" for field in schema)
    rows = f"(SELECT {nothing} WHERE false)"
    if files:
        listed = ",\n    ".join(literal(file) for file in files)
        rows = f"(SELECT * FROM read_parquet([\n    {listed}], union_by_name = true) UNION ALL BY NAME {rows})"
    columns = [quoted(name) for name in schema.names]
    columns += [
        f"make_timestamp({name} * 1000000) AS {name.removesuffix('_s')}_at"
        for name in schema.names
        if name.endswith("_s")
    ]
    return f"SELECT {', '.join(columns)} FROM {rows}"


def duckdb_type(kind: pa.DataType) -> str:
    if pa.types.is_decimal(kind):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    if pa.types.is_map(kind):
        return "MAP(VARCHAR, VARCHAR)"
    return {pa.string(): "VARCHAR", pa.int64(): "BIGINT", pa.date32(): "DATE"}[kind]


def quoted(name: str) -> str:
    return f'"{name}"'


def literal(words: str) -> str:
    return "'" + words.replace("'", "''") + "'"
