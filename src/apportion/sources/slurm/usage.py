"""Attempts to usage: what each held on which node, by meter. Each distinct pair of resources and nodes is looked at once."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.errors import InputError
from apportion.model.meters import METERS
from apportion.model.rows import UNITS, USAGE, complete_columns
from apportion.sources.cells.amounts import LARGEST
from apportion.sources.slurm.attempts import column
from apportion.sources.slurm.faults import Faults
from apportion.sources.slurm.hostlists import nodes_of
from apportion.sources.slurm.jobstats import used_gpus
from apportion.sources.slurm.nodes import Node
from apportion.sources.slurm.settings import How
from apportion.sources.slurm.spans import Spans
from apportion.sources.slurm.spread import gpu_shares, known, model_of, whole
from apportion.sources.slurm.tres import MEGA, Tres, number, tres_of

GPU, CORE = METERS["gpu"].base, METERS["cpu"].base
ACCELERATORS = {
    "tpu": "tpu",
    "hpu": "gaudi",
    "gaudi": "gaudi",
    "neuron": "neuron",
    "npu": "accelerator",
}  # gres names of other vendors
LICENCE = "licence/"
UNSAID = "missing-amount"  # of a job that held nothing for no time, nobody need say it


@dataclass(frozen=True, slots=True)
class Holding:
    """What one distinct pair of TRES and node list comes to."""

    rows: tuple[tuple[str, str, int], ...] = ()  # (resource, meter, base units)
    model: str = ""
    whole_nodes: bool = False
    faults: tuple[tuple[str, str], ...] = ()  # codes and sentences

    def quantities(self, seconds: int) -> dict[str, int]:
        """By meter, what it is in so many seconds."""
        sums: Counter[str] = Counter()
        for _, meter, amount in self.rows:
            sums[meter] += amount * seconds
        return dict(sums)


@dataclass
class Used:
    """Everything that attempts say about amounts."""

    how: How
    nodes: Mapping[str, Node]
    faults: Faults
    holdings: list[Holding] = field(default_factory=list)

    def look_up(self, attempts: pa.Table) -> np.ndarray:
        """The number of each attempt's holding."""
        tres = pc.fill_null(column(attempts, "alloctres"), "")
        nodes = pc.fill_null(column(attempts, "nodelist"), "")
        cores = pc.fill_null(column(attempts, "alloccpus", "ncpus"), "")
        pairs = pc.binary_join_element_wise(tres, nodes, cores, "\x1f").dictionary_encode()
        self.holdings = [self.holding(*pair.split("\x1f", 2)) for pair in pairs.dictionary.to_pylist()]
        return np.asarray(pairs.indices)

    def holding(self, tres: str, list_of_nodes: str, cores: str) -> Holding:
        try:
            names = nodes_of(list_of_nodes) or ("",)
            held = tres_of(tres) if tres else Tres(cpus=number(cores or "0"))
        except InputError as wrong:
            return Holding(faults=((wrong.code, f"{wrong.message}; what the job held is left out"),))
        if not tres and not held.cpus:
            alone = tuple((name, "node", 1) for name in names if name)
            return Holding(alone, faults=((UNSAID, "nothing says what the job held but its nodes"),))
        places = known(names, self.nodes)
        rows, faults = self.rows_of(held, names, places), []
        try:
            shares = gpu_shares(held, places, self.how.board, GPU)
            rows += [(name, "gpu", share) for name, share in zip(names, shares, strict=True) if share]
        except InputError as wrong:
            faults.append((wrong.code, f"{wrong.message}; its GPUs are left out"))
        full = all(places) and held.cpus == sum(node.has.cpus for node in places if node)
        for meter in sorted({meter for _, meter, amount in rows if amount > LARGEST}):
            rows = [row for row in rows if row[1] != meter]
            faults.append(
                (
                    "invalid-number",
                    f"{(tres or cores)[:60]!r} is more {meter} than there can be; its {meter} is left out",
                )
            )
        return Holding(tuple(rows), model_of(held, places), full, tuple(faults))

    def rows_of(self, held: Tres, names: tuple[str, ...], places: list[Node | None]) -> list[tuple[str, str, int]]:
        cores = whole(held.cpus, CORE, [node.has.cpus if node else None for node in places])
        memory = whole(
            Fraction(held.memory, MEGA), MEGA, [Fraction(node.has.memory, MEGA) if node else None for node in places]
        )
        amounts = {
            "cpu": cores,
            "memory": memory,
            "node": [1] * len(names) if names != ("",) else [held.nodes],
        }
        for kind, count in held.others:
            if (meter := ACCELERATORS.get(kind, "")) in METERS:
                amounts[meter] = whole(count, METERS[meter].base, [None] * len(names))
        rows = [
            (name, meter, amount)
            for meter, shares in amounts.items()
            for name, amount in zip(names, shares, strict=True)
            if amount
        ]
        return rows + [(f"{LICENCE}{name}", "licence", count) for name, count in held.licences]

    def table(self, attempts: pa.Table, which: np.ndarray, spans: Spans) -> pa.Table:
        """One row for each attempt, resource and meter, for attempts that lasted."""
        self.complain(attempts, which)
        lengths = np.array([len(holding.rows) for holding in self.holdings], np.int64)
        firsts = np.concatenate([[0], np.cumsum(lengths)])
        flat = list(chain.from_iterable(holding.rows for holding in self.holdings))
        counts = lengths[which] if len(which) else np.zeros(0, np.int64)
        rows = np.repeat(np.arange(len(which)), counts)
        inner = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        entries = firsts[which[rows]] + inner if len(rows) else np.zeros(0, np.int64)
        meter = pa.array([entry[1] for entry in flat], pa.string()).take(pa.array(entries))
        cores = np.asarray(pc.equal(meter, "cpu"))
        end = np.where(cores, spans.end_of_cores[rows], spans.end[rows])
        resource = pa.array([entry[0] for entry in flat], pa.string()).take(pa.array(entries))
        allocated = np.array([entry[2] for entry in flat], np.int64)[entries]
        ids, clusters = (column(attempts, name).take(pa.array(rows)) for name in ("id", "cluster"))
        made = pa.table({
            "source": pa.repeat(pa.scalar(self.how.source), len(rows)), "workload": ids, "meter": meter, "resource": resource,
            "start_s": spans.start[rows], "end_s": end, "allocated": allocated, "used": self.used(attempts, rows, (resource, meter, allocated)),
            "cluster": clusters,
        })  # fmt: skip
        return complete_columns(made, USAGE).cast(USAGE).filter(pc.greater(made["end_s"], made["start_s"]))

    def complain(self, attempts: pa.Table, which: np.ndarray) -> None:
        faulty = {place: holding.faults for place, holding in enumerate(self.holdings) if holding.faults}
        for row in np.flatnonzero(np.isin(which, list(faulty))).tolist() if faulty else ():
            for code, message in faulty[int(which[row])]:
                if code != UNSAID or attempts["end_s"][row].as_py() > attempts["start_s"][row].as_py():
                    self.faults.job(attempts["job"][row].as_py(), code, message)

    def used(self, attempts: pa.Table, rows: np.ndarray, what: tuple[pa.Array, pa.Array, np.ndarray]) -> pa.Array:
        """GPUs that were busy, where jobstats left a summary in the job's AdminComment."""
        said = pc.fill_null(pc.starts_with(column(attempts, "admincomment"), "JS1:"), fill_value=False)
        if not pc.any(said, min_count=0).as_py():
            return pa.nulls(len(rows), UNITS)
        resource, meter, allocated = what
        wanted = np.flatnonzero(np.asarray(said)[rows] & np.asarray(pc.equal(meter, "gpu")))
        busy = {int(row): used_gpus(attempts["admincomment"][int(row)].as_py()) for row in np.unique(rows[wanted])}
        found: list[int | None] = [None] * len(rows)
        for place in wanted:
            share = busy[int(rows[place])].get(resource[int(place)].as_py())
            found[place] = None if share is None else min(round(share * GPU), int(allocated[place]))
        return pa.array(found, UNITS)
