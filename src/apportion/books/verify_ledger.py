"""The ledger again: every link of the chain, every number without a gap, every bill added up after every run."""

from collections.abc import Iterator
from decimal import Decimal
from itertools import groupby
from typing import Any

from sqlalchemy import Connection, Text, cast, select

from apportion.books import record
from apportion.books.chain import BILL_DAY, ENTRY_FIELDS, GENESIS, entry_link, run_link
from apportion.books.content import Totals, bill_days_digest, day_totals, totals
from apportion.books.ledger import CONTRA
from apportion.books.shapes import PLAN, Damage
from apportion.model.money import plain
from apportion.model.rows import POSTING_KEY

BATCH = 20_000


def check_chain(connection: Connection, head: str | None) -> Iterator[Damage]:
    number, before = 1, GENESIS
    seen = head in (None, GENESIS)
    entries = iter(runs_of_entries(connection))
    mine: tuple[str, list[Any]] = next(entries, ("", []))
    for run in connection.execute(select(record.runs).order_by(record.runs.c.seq)).mappings().all():
        rows: list[Any] = []
        if mine[0] == run["run_id"]:
            rows, mine = mine[1], next(entries, ("", []))
        links = [run["hash"], *(row[-1] for row in rows)]
        seen = seen or head in links
        yield from check_run(run, rows, number, before)
        number, before = number + 1 + len(rows), links[-1]
    if mine[1]:
        yield Damage("chain-broken", f"entry {mine[1][0][0]}", "it stands where no run has put it")
    if not seen:
        yield Damage(
            "head-missing",
            f"head {head}",
            "the ledger does not hold this head: entries after it was printed are cut off or changed",
        )


def check_run(run: Any, rows: list[Any], number: int, before: str) -> Iterator[Damage]:
    """Each link against what its fields and the link before it make; the first that differs is named."""
    where = f"run {run['run_id']}"
    facts = (run["seq"], run["head_before"], run["entries"], run["last_seq"])
    if facts != (number, before, len(rows), number + len(rows)):
        yield Damage("chain-broken", where, "entries before or in it are missing, added or out of order")
    if run["hash"] != run_link(before, run):
        yield Damage("chain-broken", where, "the run itself was changed")
        return
    last = run["hash"]
    for offset, row in enumerate(rows, 1):
        expected = None if row[-2] is None else entry_link(last, row[:-1])
        if row[0] != number + offset or row[-1] != expected:
            yield Damage("chain-broken", f"{where}, entry {row[0]}", "the entry, or one before it, was changed")
            return
        last = row[-1]
    if run["head_after"] != last:
        yield Damage("chain-broken", where, "its last link was changed")


def runs_of_entries(connection: Connection) -> Iterator[tuple[str, list[Any]]]:
    for run_id, group in groupby(all_entries(connection), key=lambda row: str(row[1])):
        yield run_id, list(group)


def all_entries(connection: Connection) -> Iterator[tuple[Any, ...]]:
    """In their order, with the amount's own digits: None where they are not the canonical ones."""
    table = record.entries
    columns = [cast(table.c.amount, Text) if name == "amount" else table.c[name] for name in ENTRY_FIELDS]
    query, last = select(*columns, table.c.hash).order_by(table.c.seq).limit(BATCH), -(2**62)
    while rows := connection.execute(query.where(table.c.seq > last)).all():
        last = rows[-1][0]
        yield from ((*row[:-2], exact(row[-2], connection.dialect.name), row[-1]) for row in rows)


def exact(text: str, dialect: str) -> Decimal | None:
    try:
        amount = Decimal(text)
    except ArithmeticError:
        return None
    return amount if dialect != "sqlite" or plain(amount) == text else None


def check_bills(connection: Connection) -> Iterator[Damage]:
    """After every plan, each bill, currency, component and day came to what it expected; other runs to what they say; each to nothing."""
    table = record.entries
    known: dict[str, list[tuple[Any, ...]]] = {}
    expected = stored_days(connection)
    for run in connection.execute(select(record.runs).order_by(record.runs.c.seq)).all():
        rows = connection.execute(select(table).where(table.c.run_id == run.run_id)).mappings().all()
        if totals(((row["currency"],), plain(row["amount"])) for row in rows):
            yield Damage("unbalanced", f"run {run.run_id}", "its two sides do not add up to nothing")
        mine = [row for row in rows if not row["account"].startswith(CONTRA)]
        owners = [(*(row[name] for name in POSTING_KEY), plain(row["amount"])) for row in mine]
        counted = known.setdefault(run.period, []) if run.kind in ("", PLAN) else []
        counted += owners
        days = expected.pop(run.run_id, {})
        if day_totals(counted) != days:
            yield Damage("unbalanced", f"run {run.run_id}", f"the postings of {run.period} do not add up to its bills")
        if bill_days_digest(days) != run.bill_days_sha256:
            yield Damage("unbalanced", f"run {run.run_id}", "what its bills must come to was changed")
    for run_id in expected:
        yield Damage("unbalanced", f"run {run_id}", "bills are kept for a run that is not there")


def stored_days(connection: Connection) -> dict[str, Totals]:
    table = record.bill_days
    columns = [cast(table.c.amount, Text) if name == "amount" else table.c[name] for name in BILL_DAY]
    found: dict[str, Totals] = {}
    for run_id, *key, text in connection.execute(select(table.c.run_id, *columns)):
        amount = exact(text, connection.dialect.name)
        found.setdefault(run_id, {})[tuple(key)] = Decimal("NaN") if amount is None else amount
    return found
