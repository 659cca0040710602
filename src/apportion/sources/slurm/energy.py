"""Energy as Slurm measured it. Its sensors measure nodes, so that jobs which share a node are each told the energy of both: only whole nodes are believed."""

from collections.abc import Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import USAGE, complete_columns
from apportion.sources.slurm.attempts import column
from apportion.sources.slurm.faults import Faults
from apportion.sources.slurm.settings import ALL, NONE, How
from apportion.sources.slurm.spans import Spans
from apportion.sources.slurm.spread import spread
from apportion.sources.slurm.usage import Holding

SANE = r"^[1-9][0-9]{0,14}$"  # joules; 2**64 - 2 is how Slurm writes that there is no sensor
MOST_WATTS = 200_000  # of one node; a sensor that says more is broken


def energy(attempts: pa.Table, held: Sequence[Holding], spans: Spans, how: How, faults: Faults) -> pa.Table:
    """Usage of the meter `energy`; `held` is what each attempt held."""
    cells = column(attempts, "consumedenergyraw")
    told = pc.fill_null(pc.match_substring_regex(cells, SANE), fill_value=False)
    rows = [int(row) for row in np.flatnonzero(np.asarray(told))] if how.energy != NONE else []
    believed = [row for row in rows if held[row].whole_nodes or how.energy == ALL]
    if len(believed) < len(rows):
        faults.note(
            "shared-energy",
            f"jobs whose energy is left out: {len(rows) - len(believed)}; they shared their nodes, or nothing says what those have",
        )
    made = list(shares(attempts, believed, held, spans, faults))
    columns = {
        name: [row[place] for row in made]
        for place, name in enumerate(("workload", "resource", "start_s", "end_s", "allocated", "cluster"))
    }
    constant = {"source": [how.source] * len(made), "meter": ["energy"] * len(made), "used": [None] * len(made)}
    said = {name: pa.array(cells, USAGE.field(name).type) for name, cells in (columns | constant).items()}
    return complete_columns(pa.table(said), USAGE).select(USAGE.names).cast(USAGE)


def shares(
    attempts: pa.Table, rows: Sequence[int], held: Sequence[Holding], spans: Spans, faults: Faults
) -> Iterator[tuple[str, str, int, int, int, str]]:
    """A job's joules, evenly over its nodes."""
    for row in rows:
        joules = int(attempts["consumedenergyraw"][row].as_py())
        names = [name for name, meter, _ in held[row].rows if meter == "node"] or [""]
        start, end = int(spans.start[row]), int(spans.end[row])
        if joules > MOST_WATTS * len(names) * max(1, end - start):
            message = f"{joules} J is more than its nodes can draw; it is left out"
            faults.job(attempts["job"][row].as_py(), "implausible-energy", message)
        elif end > start:
            for name, share in zip(names, spread(joules, [None] * len(names)), strict=True):
                yield attempts["id"][row].as_py(), name, start, end, share, attempts["cluster"][row].as_py()
