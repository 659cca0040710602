"""The cluster that a source speaks of: rows that name none of their own are of the one that the stanza names."""

from collections.abc import Iterator
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.delivery import Delivery, Rows
from apportion.model.rows import TABLES, complete_columns

SETTING = "cluster"  # of every stanza that brings usage or capacity
RESERVATIONS = "reservations"
TABLES_OF_RESOURCES = tuple(name for name, schema in TABLES.items() if SETTING in schema.names)


def state_cluster(delivery: Delivery, cluster: str) -> Delivery:
    """The same delivery, in which every row of usage and capacity names its cluster."""
    own = [name for name in TABLES_OF_RESOURCES if name in delivery.tables]
    if not cluster:
        return delivery
    tables = {name: with_cluster(delivery.tables[name], name, cluster) for name in own}
    if RESERVATIONS in delivery.tables:
        tables[RESERVATIONS] = label_reservations(delivery.tables[RESERVATIONS], cluster)
    return replace(delivery, tables={**delivery.tables, **tables})


def label_reservations(rows: pa.Table, cluster: str) -> pa.Table:
    """What a reservation is of stands in its labels."""
    labels = [
        list(own) if any(key.rpartition(".")[2] == SETTING for key, _ in own) else [*own, (SETTING, cluster)]
        for own in rows["labels"].to_pylist()
    ]
    place = rows.column_names.index("labels")
    return rows.set_column(place, rows.schema.field("labels"), pa.array(labels, rows.schema.field("labels").type))


def with_cluster(rows: pa.Table | Rows, table: str, cluster: str) -> pa.Table | Rows:
    if isinstance(rows, Rows):
        return Rows(rows.num_rows, lambda: blocks_with(rows, table, cluster))
    rows = complete_columns(rows, TABLES[table])
    place = rows.column_names.index(SETTING)
    return rows.set_column(place, TABLES[table].field(SETTING), pc.fill_null(rows[SETTING], cluster))


def blocks_with(rows: Rows, table: str, cluster: str) -> Iterator[pa.Table]:
    for block in rows.blocks():
        yield with_cluster(block, table, cluster)
