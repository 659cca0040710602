"""Reading the ledger a page at a time: the database finds, counts and groups, so that a page takes no longer in a large ledger."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from sqlalchemy import ColumnElement, Connection, Engine, Text, and_, cast, false, func, or_, select, union_all

from apportion.books import record
from apportion.books.chain import ENTRY_FIELDS, entry_link
from apportion.books.database import reading
from apportion.books.failures import spoken
from apportion.books.ledger import CONTRA, ENTRIES, arrow, of_kind
from apportion.books.names import shown, tokens_of
from apportion.books.shapes import PLAN
from apportion.books.verify_ledger import exact
from apportion.model.rows import MONEY, SYSTEM_OWNERS, TEXT

NOBODY = "(none)"  # as reports say it
UNDER_TEAM = ("project", "user")
OF_TEAM = ("department", "cost_centre")
STREAMED = 20_000
LOOKED_AT = 10_000  # links: a database takes only so many values in a question, and each is there twice
ROWS = pa.schema([*ENTRIES, pa.field("kind", TEXT), pa.field("about", TEXT)])
Where = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Sought:
    """Which postings, on the owners' side: of these months; of these teams alone, where not all may be seen; and by dimension, as reports filter."""

    periods: tuple[str, ...]
    teams: tuple[str, ...] | None = None
    where: Where = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()
    until_s: int | None = None


@dataclass(frozen=True, slots=True)
class Chain:
    head: str
    links: int
    runs: int


class Browse:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    def page(self, sought: Sought, before: int | None, most: int) -> pa.Table:
        """The newest that come before a link's number, newest first."""
        with spoken(), reading(self.engine) as connection:
            return rows_of(connection, sought, before, most)

    def every(self, sought: Sought, before: int | None = None) -> Iterator[pa.Table]:
        """All of them, newest first, some at a time. What is posted meanwhile has higher numbers and is not among them."""
        while len(rows := self.page(sought, before, STREAMED)):
            yield rows
            before = rows["seq"][-1].as_py()

    def counts(self, sought: Sought, names: Sequence[str]) -> dict[str, dict[str, int]]:
        """For each name how many postings have which value, the most frequent first; `kind` is that of their runs."""
        entries, runs = record.entries, record.runs
        with spoken(), reading(self.engine) as connection:
            mine = conditions(connection, sought)
            found: dict[str, dict[str, int]] = {}
            for name in names:
                if name == "kind":
                    by = select(runs.c.kind, func.count()).join(entries, runs.c.run_id == entries.c.run_id)
                    rows = connection.execute(by.where(*mine).group_by(runs.c.kind))
                else:
                    rows = connection.execute(
                        select(entries.c[name], func.count()).where(*mine).group_by(entries.c[name])
                    )
                some = [(value or (PLAN if name == "kind" else NOBODY), count) for value, count in rows]
                found[name] = dict(sorted(some, key=lambda pair: (-pair[1], pair[0])))
            return found

    def sums(self, sought: Sought) -> tuple[int, dict[str, Decimal]]:
        """How many, and what they come to by currency. Amounts are added here: a database may know only binary fractions."""
        table = record.entries
        with spoken(), reading(self.engine) as connection:
            query = select(table.c.currency, cast(table.c.amount, Text)).where(*conditions(connection, sought))
            rows = connection.execute(query).all()
        currencies, amounts = zip(*rows, strict=True) if rows else ((), ())
        found = pa.table({"currency": pa.array(currencies, TEXT), "amount": pa.array(amounts, TEXT).cast(MONEY)})
        summed = found.group_by("currency").aggregate([("amount", "sum")])
        return len(rows), dict(
            sorted(zip(summed["currency"].to_pylist(), summed["amount_sum"].to_pylist(), strict=True))
        )

    def broken(self, numbers: Sequence[int]) -> list[int]:
        """Those of some links that are not what their fields and the link before them make."""
        with spoken(), reading(self.engine) as connection:
            parts = (numbers[n : n + LOOKED_AT] for n in range(0, len(numbers), LOOKED_AT))
            return sorted(number for part in parts for number in broken_links(connection, part))

    def chain(self) -> Chain:
        runs = record.runs
        with spoken(), reading(self.engine) as connection:
            last = connection.execute(select(runs).order_by(runs.c.seq.desc()).limit(1)).first()
            count = connection.scalar(select(func.count()).select_from(runs)) or 0
        return Chain(last.head_after, last.last_seq, count) if last else Chain("", 0, 0)


def rows_of(connection: Connection, sought: Sought, before: int | None, most: int) -> pa.Table:
    entries, runs = record.entries, record.runs
    columns: list[Any] = [
        cast(entries.c[name], Text) if name == "amount" else entries.c[name] for name in ENTRIES.names
    ]
    mine = [*conditions(connection, sought), *([] if before is None else [entries.c.seq < before])]
    numbers = (
        select(entries.c.seq).where(*mine).order_by(entries.c.seq.desc()).limit(most)
    )  # sorted alone, they are light
    query = select(*columns, runs.c.kind, runs.c.about).join(runs, runs.c.run_id == entries.c.run_id)
    found = connection.execute(query.where(entries.c.seq.in_(numbers)).order_by(entries.c.seq.desc())).all()
    values = list(zip(*found, strict=True)) if found else [()] * len(ROWS)
    rows = pa.Table.from_arrays([arrow(column, one) for column, one in zip(values, ROWS, strict=True)], schema=ROWS)
    rows = shown(connection, rows, pc.if_else(pc.equal(rows["about"], ""), rows["period"], rows["about"]))
    kind = pc.if_else(pc.equal(rows["kind"], ""), PLAN, rows["kind"])  # books made before there were kinds
    return rows.set_column(ROWS.names.index("kind"), "kind", kind)


def conditions(connection: Connection, sought: Sought) -> list[ColumnElement[bool]]:
    entries, runs = record.entries, record.runs
    found: list[ColumnElement[bool]] = [
        entries.c.account.not_like(CONTRA + "%"),
        entries.c.period.in_(sought.periods),
    ]
    if sought.teams is not None:
        found.append(entries.c.team.in_(sought.teams) if sought.teams else false())
    if sought.kinds:
        found.append(of_kind(sought.kinds))
    if sought.runs:
        found.append(entries.c.run_id.in_(sought.runs))
    if sought.until_s is not None:
        found.append(entries.c.run_id.in_(select(runs.c.run_id).where(runs.c.posted_s <= sought.until_s)))
    return [*found, *(by_dimension(connection, by, values) for by, values in sought.where.items())]


def by_dimension(connection: Connection, by: str, values: Sequence[str]) -> ColumnElement[bool]:
    """The same rows as `reports/groups` chooses: owners below a team by `TEAM/NAME` or the bare name, the system's own owners by theirs."""
    entries = record.entries
    column, team = entries.c[by], entries.c.team
    some = ["" if value == NOBODY else value for value in values]
    if by not in (*UNDER_TEAM, *OF_TEAM):
        return column.in_(some)
    system = team.in_([value for value in values if value in SYSTEM_OWNERS])
    if by in OF_TEAM:
        return or_(and_(column.in_(some), team.not_in(SYSTEM_OWNERS)), system)
    pairs = [value.partition("/") for value in values if "/" in value]
    owned = [
        and_(team == first, column.in_(known(connection, by, "" if name == NOBODY else name)))
        for first, _, name in pairs
    ]
    bare = [name for value in values for name in known(connection, by, value)]
    return or_(system, column.in_(bare), *owned)


def known(connection: Connection, by: str, name: str) -> list[str]:
    """Users stand in the ledger as tokens."""
    return tokens_of(connection, [name]) if by == "user" and name else [name]


def broken_links(connection: Connection, numbers: Sequence[int]) -> list[int]:
    entries, runs = record.entries, record.runs
    earlier = [number - 1 for number in numbers]
    links = union_all(
        select(entries.c.seq, entries.c.hash).where(entries.c.seq.in_(earlier)),
        select(runs.c.seq, runs.c.hash).where(runs.c.seq.in_(earlier)),
    )
    before = {row.seq: row.hash for row in connection.execute(links)}
    columns = [cast(entries.c.amount, Text) if name == "amount" else entries.c[name] for name in ENTRY_FIELDS]
    found = []
    for row in connection.execute(select(*columns, entries.c.hash).where(entries.c.seq.in_(numbers))):
        amount = exact(row[-2], connection.dialect.name)
        whole = amount is not None and row[0] - 1 in before
        if not whole or row[-1] != entry_link(before[row[0] - 1], (*row[:-2], amount)):
            found.append(row[0])
    return found
