"""The ledger a part at a time, for those who read all of it: the owners' side, in its order."""

from collections.abc import Mapping, Sequence

import pyarrow as pa
from sqlalchemy import ColumnElement, Connection, and_, or_, select

from apportion.books import record
from apportion.books.ledger import CONTRA, ENTRIES, read_rows
from apportion.books.names import tokens_of

NOBODY = "(none)"  # as reports call what has no name
OF_A_TEAM = ("project", "user")


def read_page(
    connection: Connection, after: int, limit: int, periods: Sequence[str] | None, where: Mapping[str, Sequence[str]]
) -> pa.Table:
    """The first entries behind a number; of a dimension any of the names, of several all must hold."""
    table = record.entries
    conditions = [table.c.account.not_like(CONTRA + "%"), table.c.seq > after]
    if periods is not None:
        conditions.append(table.c.period.in_(periods))
    conditions += [or_(*(called(connection, by, name) for name in names)) for by, names in where.items()]
    first = select(table.c.seq).where(*conditions).order_by(table.c.seq).limit(limit)
    return read_rows(connection, ENTRIES, table.c.seq.in_(list(connection.scalars(first))))


def called(connection: Connection, by: str, name: str) -> ColumnElement[bool]:
    """As reports name rows: a project or user by its bare name, or with its team before it, whose name may have slashes."""
    table = record.entries
    own = is_one(connection, by, name)
    if by not in OF_A_TEAM:
        return own
    cuts = [place for place, letter in enumerate(name) if letter == "/"]
    return or_(own, *(and_(table.c.team == name[:cut], is_one(connection, by, name[cut + 1 :])) for cut in cuts))


def is_one(connection: Connection, by: str, name: str) -> ColumnElement[bool]:
    values = ["" if name == NOBODY else name]
    return record.entries.c[by].in_(tokens_of(connection, values) if by == "user" else values)
