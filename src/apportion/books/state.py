"""Where the books stand: two readings that are the same show the same."""

from sqlalchemy import Connection, func, select

from apportion.books import record
from apportion.books.ledger import read_head

GROWING = (
    record.plans.c.seq,
    record.policies.c.seq,
    record.deliveries.c.seq,
    record.dispute_notes.c.id,
    record.erasures.c.number,
    record.budgets.c.seq,
    record.pledges.c.seq,
    record.proposals.c.number,
)


def read_state(connection: Connection) -> str:
    sums = (*map(func.max, GROWING), func.sum(record.proposals.c.ended_s))  # two drafts may end in the same second
    numbers = connection.execute(select(*(select(one).scalar_subquery() for one in sums))).one()
    return ".".join([read_head(connection)[:16], *(str(number or 0) for number in numbers)])
