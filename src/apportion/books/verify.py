"""Is everything still what was recorded? Every link, bill, policy, plan, file and manifest is looked at again."""

from collections.abc import Callable, Generator, Iterator

from sqlalchemy import Connection, select, text
from sqlalchemy.exc import DBAPIError

from apportion.books import record
from apportion.books.agreed import plan_sha256, policy_sha256, read_policies
from apportion.books.audit import check_audit
from apportion.books.budgets import check_budgets
from apportion.books.catalog import Evidence
from apportion.books.close import check_closes
from apportion.books.database import reading
from apportion.books.disputes import check_disputes
from apportion.books.minor import check_minor
from apportion.books.names import Names, check_names
from apportion.books.pledges import check_pledges
from apportion.books.shapes import Damage
from apportion.books.transfers import check_transfers
from apportion.books.verify_erased import check_erasures
from apportion.books.verify_evidence import check_evidence, check_files
from apportion.books.verify_ledger import check_bills, check_chain
from apportion.books.whatifs import check_whatifs

Check = Callable[[Connection], Iterator[Damage]]


def verify(evidence: Evidence, names: Names, head: str | None) -> list[Damage]:
    """What is wrong; nothing, if all is well. With `head`, a ledger that was cut off after it was printed is found too."""
    return list(findings(evidence, names, head))


def findings(evidence: Evidence, names: Names, head: str | None) -> Generator[Damage, None, None]:
    """One by one, for who needs to know no more than whether there is one."""
    checks: tuple[Check, ...] = (
        check_database,
        lambda connection: check_chain(connection, head),
        check_bills,
        check_closes,
        check_minor,
        check_transfers,
        check_disputes,
        check_budgets,
        check_pledges,
        check_whatifs,
        check_audit,
        lambda connection: check_names(connection, names),
        check_erasures,
        check_policies,
        check_plans,
        lambda connection: check_files(connection, evidence),
        lambda connection: check_evidence(connection, evidence),
    )
    with reading(evidence.engine) as connection:
        for check in checks:
            yield from guarded(check, connection)


def guarded(check: Check, connection: Connection) -> Iterator[Damage]:
    """Damage may show in ways that no check foresaw: whatever it breaks, it is a finding."""
    try:
        with connection.begin_nested():
            yield from check(connection)
    except Exception as error:  # noqa: BLE001 - a damaged record can make any reader fail
        reason = error.orig if isinstance(error, DBAPIError) else error
        yield Damage("unreadable", "the record", f"it cannot be read to the end: {type(error).__name__}: {reason}")


def check_database(connection: Connection) -> Iterator[Damage]:
    if connection.dialect.name == "sqlite":
        for (said,) in connection.execute(text("PRAGMA integrity_check")).all():
            if said != "ok":
                yield Damage("damaged-database", "the database", str(said))


def check_policies(connection: Connection) -> Iterator[Damage]:
    kept = {row.version: row.sha256 for row in connection.execute(select(record.policies))}
    for policy in read_policies(connection):
        if policy_sha256(policy) != kept[policy.version]:
            yield Damage("policy-changed", f"policy {policy.version[:12]}", "it is not the text that was saved")
    for run in connection.execute(select(record.runs)):
        if kept.get(run.policy_version) != run.policy_sha256:
            yield Damage(
                "policy-changed", f"run {run.run_id}", "its policy is missing or not the one it was posted with"
            )


def check_plans(connection: Connection) -> Iterator[Damage]:
    for row in connection.execute(select(record.plans)).mappings():
        if plan_sha256({**row}) != row["sha256"]:
            yield Damage("plan-changed", f"plan of {row['period']}", "it is not what was saved")
