"""What a month holds as one flat table, for tools that group by themselves: every posting counts once, users are left out."""

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.kinds import summed
from apportion.model.rows import MONEY, POSTING_KEY, TEXT, table
from apportion.reports.sums import KINDS

KEY = tuple(name for name in POSTING_KEY if name != "user")
FLAT = table(
    *((name, pa.date32(), True) if name == "day" else (name, TEXT) for name in KEY),
    ("owner_kind", TEXT),
    ("amount", MONEY),
)


def flat(posted: pa.Table) -> pa.Table:
    """Sorted by its columns. What comes to zero stays: it was posted. Rows of no day round the month to whole minor units."""
    sums = summed(posted, list(KEY), ["amount"]).sort_by([(name, "ascending") for name in KEY])
    teams = pc.index_in(sums["team"], value_set=pa.array(KINDS, TEXT))
    kinds = pc.fill_null(pa.array(KINDS.values(), TEXT).take(teams), "team")
    return sums.append_column("owner_kind", kinds).select(FLAT.names).cast(FLAT)
