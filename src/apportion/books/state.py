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
    record.proposals.c.number,
    record.proposals.c.ended_s,
)


def read_state(connection: Connection) -> str:
    numbers = connection.execute(select(*(select(func.max(column)).scalar_subquery() for column in GROWING))).one()
    return ".".join([read_head(connection)[:16], *(str(number or 0) for number in numbers)])
