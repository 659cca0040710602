"""One bill, counted once: a second source that speaks for the same part of a bill is refused."""

import json
from collections.abc import Iterable, Sequence

import pyarrow as pa
from sqlalchemy import Connection, delete, insert, select

from apportion.books import record
from apportion.books.digest import query
from apportion.errors import BooksError
from apportion.model.delivery import Delivery, Scope
from apportion.model.times import Interval, instant_text

BILL, REFERENCE = "bill", "reference"


def role_of(delivery: Delivery) -> str:
    roles = {scope.role for scope in delivery.scopes} or {BILL}
    if len(roles) > 1 or not roles <= {BILL, REFERENCE}:
        message = f"source {delivery.source} must have one role, {BILL} or {REFERENCE}, and states: {', '.join(sorted(roles))}"
        raise BooksError(
            "invalid-delivery",
            message,
            where=f"source {delivery.source}",
            hint='set role = "bill" or role = "reference"',
        )
    return roles.pop()


def stated_scopes(delivery: Delivery, lines: pa.Table | None) -> tuple[Scope, ...]:
    """What the delivery says it speaks for; where it says nothing, what its cost lines name."""
    if delivery.scopes or lines is None or not lines.num_rows:
        return delivery.scopes
    return tuple(named_by(lines))


def named_by(lines: pa.Table) -> Iterable[Scope]:
    found = query(
        "SELECT coalesce(InvoiceIssuerName, '') AS issuer, list_sort(list(DISTINCT coalesce(BillingAccountId, ''))) AS accounts, "
        "list_sort(list(DISTINCT coalesce(ServiceName, ''))) AS services, billing_start_s AS first, max(billing_end_s) AS last "
        "FROM rows GROUP BY ALL ORDER BY ALL",
        lines,
    )
    for row in found.to_pylist():
        yield Scope(
            row["issuer"], tuple(row["accounts"]), tuple(row["services"]), (Interval(row["first"], row["last"]),)
        )


def record_scopes(connection: Connection, source: str, window: Interval, scopes: Sequence[Scope]) -> None:
    """Replaces what this source said of billing periods that start in the window, after looking for a second speaker."""
    check_overlaps(connection, source, scopes)
    table = record.scopes
    mine = table.c.source == source
    connection.execute(delete(table).where(mine, table.c.start_s >= window.start_s, table.c.start_s < window.end_s))
    rows = [
        {
            "source": source, "issuer": scope.issuer, "accounts": json.dumps(scope.accounts), "services": json.dumps(scope.services),
            "start_s": billing.start_s, "end_s": billing.end_s, "metric": scope.metric, "role": scope.role,
        }
        for scope in scopes for billing in scope.billing
    ]  # fmt: skip
    if rows:
        connection.execute(insert(table), rows)


def check_overlaps(connection: Connection, source: str, scopes: Sequence[Scope]) -> None:
    table, speakers = record.scopes, select(record.sources.c.name).where(record.sources.c.role == BILL)
    others = connection.execute(select(table).where(table.c.source != source, table.c.source.in_(speakers))).all()
    for scope in scopes:
        for other in others:
            if (
                scope.role == BILL
                and scope.issuer == other.issuer
                and common(scope.accounts, other.accounts)
                and common(scope.services, other.services)
            ):
                refuse_common_time(source, scope, other.source, Interval(other.start_s, other.end_s))


def common(mine: Sequence[str], theirs: str) -> bool:
    """Nothing named means everything."""
    others = json.loads(theirs)
    return not mine or not others or bool(set(mine) & set(others))


def refuse_common_time(source: str, scope: Scope, other: str, taken: Interval) -> None:
    for billing in scope.billing:
        if billing.start_s < taken.end_s and taken.start_s < billing.end_s:
            raise BooksError(
                "scope-overlap",
                f"sources {other} and {source} both speak for the bill of {scope.issuer or 'an unnamed issuer'} from {instant_text(billing.start_s)}: "
                "it would be counted twice",
                where=f"source {source}",
                hint=f'set role = "reference" on one of {other} and {source}, or narrow its accounts or services',
            )
