"""Attempts to workloads, with what the policy's rules can match as labels."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import LABELS, WORKLOADS, complete_columns
from apportion.sources.cells.commands import command_column
from apportion.sources.cells.labels import labels_from_columns, parse
from apportion.sources.cells.text import text
from apportion.sources.slurm.attempts import column
from apportion.sources.slurm.jobstats import PREFIX, most_memory
from apportion.sources.slurm.settings import How
from apportion.sources.slurm.usage import Holding

STEP = 2**18
FIELDS = {
    "slurm.account": "account", "slurm.user": "user", "slurm.group": "group", "slurm.partition": "partition", "slurm.qos": "qos",
    "slurm.cluster": "cluster", "slurm.job": "shown", "slurm.state": "first_state", "slurm.exit_code": "exitcode",
}  # fmt: skip


def workloads(
    attempts: pa.Table, which: np.ndarray, holdings: list[Holding], reserved: dict[str, str], how: How
) -> pa.Table:
    """One row an attempt; `reserved` names reservations by id, since the name in accounting is not reliable."""
    models = pa.array([holding.model or None for holding in holdings], pa.string())
    parts = []
    for first in range(0, attempts.num_rows, STEP):
        part = attempts.slice(first, STEP).combine_chunks()
        labels = {label: text(column(part, name)) for label, name in FIELDS.items()}
        labels["slurm.wckey"] = text(pc.replace_substring_regex(column(part, "wckey"), r"^\*", ""))
        labels["slurm.reservation"] = reservation(part, reserved)
        labels["slurm.billing"] = billing(column(part, "alloctres"))
        labels["gpu_memory_gib"] = memory(column(part, "admincomment"))
        labels["gpu.model"] = models.take(pa.array(which[first : first + STEP]))
        comment, pairs = comments(column(part, "comment"))
        labels["slurm.comment"] = comment
        labels |= ran(part) if how.commands else {}
        used = {name: cells for name, cells in labels.items() if cells.null_count < len(cells)}
        made = {
            "source": pa.repeat(pa.scalar(how.source), part.num_rows), "workload": column(part, "id"), "run": column(part, "run"),
            "name": text(column(part, "jobname")), "start_s": column(part, "start_s"), "end_s": column(part, "end_s"),
            "outcome": column(part, "outcome"), "labels": labels_from_columns(part.num_rows, used, pairs),
        }  # fmt: skip
        parts.append(complete_columns(pa.table(made), WORKLOADS).cast(WORKLOADS))
    return last_of_each(pa.concat_tables(parts)) if parts else WORKLOADS.empty_table()


def last_of_each(made: pa.Table) -> pa.Table:
    """A job that was requeued in the very second of its submission has one id twice: its last row speaks for both."""
    encoded = pc.dictionary_encode(made["workload"]).combine_chunks()
    if len(encoded.dictionary) == len(encoded):
        return made
    which = np.asarray(encoded.indices)
    order = np.lexsort((np.asarray(made["end_s"]), which))
    last = np.append(np.flatnonzero(np.diff(which[order])), len(order) - 1)
    return made.take(pa.array(np.sort(order[last])))


def ran(part: pa.Table) -> dict[str, pa.Array]:
    """What was submitted and the container that it ran in; Slurm keeps both since 21.08."""
    return {
        "slurm.command": command_column(column(part, "submitline")),
        "slurm.image": text(column(part, "container")),
    }


def reservation(part: pa.Table, reserved: dict[str, str]) -> pa.Array:
    ids = column(part, "reservationid")
    by_id = ids.dictionary_encode()
    names = pa.array([reserved.get(number) for number in by_id.dictionary.to_pylist()], pa.string())
    return pc.coalesce(names.take(by_id.indices), text(column(part, "reservation")))


def billing(tres: pa.Array) -> pa.Array:
    """Slurm's own figure, as a label: it is cut off to a whole number, so nothing is priced by it."""
    return pc.struct_field(pc.extract_regex(tres, r"(?:^|,)billing=(?P<billing>[0-9.]+)"), "billing")


def memory(cells: pa.Array) -> pa.Array:
    """The most memory of a board in use, where jobstats left a summary."""
    said = pc.fill_null(pc.starts_with(cells, PREFIX), fill_value=False)
    if not pc.any(said, min_count=0).as_py():
        return pa.nulls(len(cells), pa.string())
    encoded = pc.if_else(said, cells, None).dictionary_encode()
    found = [most_memory(cell) for cell in encoded.dictionary.to_pylist()]
    return pa.array(found, pa.string()).take(encoded.indices)


def comments(cells: pa.Array) -> tuple[pa.Array, pa.Array | None]:
    """A comment that is a JSON object gives a label for each of its keys; any other is one label."""
    objects = pc.fill_null(pc.starts_with(cells, "{"), fill_value=False)
    if not pc.any(objects, min_count=0).as_py():
        return text(cells), None
    encoded = pc.if_else(objects, cells, None).dictionary_encode()
    read = [parse(cell) for cell in encoded.dictionary.to_pylist()]
    pairs = [[(f"slurm.comment.{key}", value) for key, value in found or ()] for found in read]
    maps = pa.array([*pairs, []], LABELS).take(pc.fill_null(encoded.indices, len(pairs)))
    plain = pa.array([found is None for found in read]).take(encoded.indices)
    return text(pc.if_else(pc.and_(objects, pc.invert(pc.fill_null(plain, fill_value=False))), None, cells)), maps
