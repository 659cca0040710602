"""What was agreed and what was planned: policies by content, and the last plan of each period."""

import hashlib
import json
import time
from collections.abc import Mapping
from typing import Any

import pyarrow as pa
from sqlalchemy import Connection, delete, insert, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.chain import rows_digest
from apportion.books.names import Names, shown
from apportion.books.shapes import StoredPlan, StoredPolicy
from apportion.errors import BooksError
from apportion.model.rows import BILL_DAYS, POSTINGS
from apportion.model.times import Period


def policy_sha256(policy: StoredPolicy) -> str:
    """Of all that the books keep of it, so that not even its name or first day can change unseen."""
    return rows_digest([(policy.version, policy.text, policy.file, policy.name, policy.effective)])


def save_policy(connection: Connection, policy: StoredPolicy) -> None:
    """A version is a content: saving it again changes nothing. Other words for the same rules are the same version; the first text stays."""
    table = record.policies
    if connection.execute(select(table.c.seq).where(table.c.version == policy.version)).first():
        return
    values = {name: getattr(policy, name) for name in ("version", "text", "file", "name", "effective")}
    connection.execute(insert(table).values(**values, sha256=policy_sha256(policy), saved_s=int(time.time())))
    note(connection, "policy", f"{policy.name} {policy.version} from {policy.file}")


def read_policies(connection: Connection) -> list[StoredPolicy]:
    """Oldest first."""
    rows = connection.execute(select(record.policies).order_by(record.policies.c.seq))
    return [StoredPolicy(row.version, row.text, row.file, row.name, row.effective) for row in rows]


def policy_for(connection: Connection, period: Period) -> StoredPolicy | None:
    """The one in force on the period's first day; of several with the same day, the one saved last."""
    day = period.first_day.isoformat()
    known = [policy for policy in read_policies(connection) if policy.effective <= day]
    return max(enumerate(known), key=lambda item: (item[1].effective, item[0]))[1] if known else None


def save_plan(connection: Connection, names: Names, plan: StoredPlan) -> None:
    """Takes the place of the period's earlier plan, unless that was posted."""
    table = record.plans
    hidden, users = names.hidden(plan.postings.select(POSTINGS.names).cast(POSTINGS))
    names.learn(connection, plan.period, users)
    postings, bill_days = packed(hidden), packed(plan.bill_days.select(BILL_DAYS.names).cast(BILL_DAYS))
    values: dict[str, Any] = {
        "digest": plan.digest, "period": plan.period, "policy_version": plan.policy_version, "head": plan.head,
        "inputs": json.dumps(plan.inputs, sort_keys=True), "summary": json.dumps(plan.summary, sort_keys=True, default=str),
    }  # fmt: skip
    posted = select(record.runs.c.plan_digest)
    connection.execute(delete(table).where(table.c.period == plan.period, table.c.digest.not_in(posted)))
    connection.execute(delete(table).where(table.c.period == plan.period, table.c.digest == plan.digest))
    body = {"postings": postings, "bill_days": bill_days}
    connection.execute(
        insert(table).values(**values, **body, sha256=plan_sha256({**values, **body}), saved_s=int(time.time()))
    )


def plan_sha256(row: Mapping[str, Any]) -> str:
    whole = hashlib.sha256()
    for name in ("digest", "period", "policy_version", "head", "inputs", "summary", "postings", "bill_days"):
        part = row[name] if isinstance(row[name], bytes) else row[name].encode()
        whole.update(b"%d:%b" % (len(part), part))
    return whole.hexdigest()


def load_plan(connection: Connection, period: str) -> StoredPlan | None:
    table = record.plans
    row = (
        connection.execute(select(table).where(table.c.period == period).order_by(table.c.seq.desc()).limit(1))
        .mappings()
        .one_or_none()
    )
    if row is None:
        return None
    if plan_sha256({**row}) != row["sha256"]:
        raise BooksError(
            "damaged-plan",
            f"the stored plan of {period} is not what was saved",
            hint="run plan again; run verify to see what else changed",
        )
    said = {name: row[name] for name in ("digest", "period", "policy_version", "head")}
    postings, bill_days = shown(connection, unpacked(row["postings"]), period), unpacked(row["bill_days"])
    return StoredPlan(
        **said,
        postings=postings,
        bill_days=bill_days,
        inputs=json.loads(row["inputs"]),
        summary=json.loads(row["summary"]),
    )


def plan_summary(connection: Connection, digest: str) -> dict[str, Any]:
    """What a plan that was posted said of itself; empty where it was not kept."""
    table = record.plans
    found = connection.scalar(select(table.c.summary).where(table.c.digest == digest).order_by(table.c.seq.desc()))
    return dict(json.loads(found)) if found else {}


def packed(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def unpacked(body: bytes) -> pa.Table:
    with pa.ipc.open_stream(body) as reader:
        return reader.read_all()
