"""What must be added to postings to make them others, key by key."""

import pyarrow as pa
import pyarrow.compute as pc

from apportion.model.rows import POSTING_KEY, POSTINGS

AMOUNT = POSTINGS.field("amount")


def difference(planned: pa.Table, posted: pa.Table) -> pa.Table:
    """What must be added to `posted` to make it `planned`; zero rows are left out."""
    columns = [*POSTING_KEY, "amount"]
    taken = posted.select(columns).set_column(len(POSTING_KEY), AMOUNT, pc.negate(posted["amount"]))
    both = pa.concat_tables([planned.select(columns).cast(POSTINGS), taken.cast(POSTINGS)])
    summed = both.group_by(list(POSTING_KEY)).aggregate([("amount", "sum")]).rename_columns(columns).cast(POSTINGS)
    kept = summed.filter(pc.not_equal(summed["amount"], pa.scalar(0, AMOUNT.type)))
    return kept.sort_by([(key, "ascending") for key in POSTING_KEY])


def add_postings(*parts: pa.Table) -> pa.Table:
    """Key by key; what comes to nothing is left out."""
    every = pa.concat_tables([part.select(POSTINGS.names).cast(POSTINGS) for part in parts])
    return difference(every, POSTINGS.empty_table())
