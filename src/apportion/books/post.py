"""A run becomes part of the ledger: once, balanced, in one transaction, or not at all."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import ColumnElement, Connection, Text, cast, func, insert, select

from apportion.books import record
from apportion.books.audit import note
from apportion.books.catalog import Evidence
from apportion.books.chain import BILL_DAY, CONTENT, ENTRY_FIELDS, FIRST, TOKENS, entry_link, run_link, told
from apportion.books.charges import tag_inputs, write_charges
from apportion.books.content import (
    Content,
    Posting,
    as_posted,
    content_of,
    day_totals,
    evidence_digests,
    first_sha256,
    input_digests,
    totals,
)
from apportion.books.database import insert_rows, reading, writing
from apportion.books.ledger import CONTRA, link_number, of_kind, read_head
from apportion.books.locks import Locks
from apportion.books.minor import keep_minor
from apportion.books.names import Names
from apportion.books.publish import publish, published
from apportion.books.shapes import COMPUTED, CORRECTION, PLAN, Posted, Run
from apportion.errors import BooksError, require_equal
from apportion.model.money import plain
from apportion.model.rows import POSTINGS

TEAM = POSTINGS.names.index("team")
ACCOUNT, CURRENCY = ENTRY_FIELDS.index("account"), ENTRY_FIELDS.index("currency")


Then = Callable[[Connection, Posted], Posted]


def post(evidence: Evidence, locks: Locks, names: Names, run: Run, then: Then | None = None) -> Posted:
    """`then`: what is posted with it, in the same transaction."""
    hidden, users = names.hidden(run.postings)
    with reading(evidence.engine) as connection:
        content = content_of(replace(run, postings=hidden), input_digests(connection, run.inputs))
        known = known_run(connection, content, run)
    if known is not None:
        return known
    with locks.hold([*run.inputs, "charges"]):
        with reading(evidence.engine) as connection:  # before the work; again below, when it counts
            known = known_run(connection, content, run)
            if known is None:
                check_unmoved(connection, run)
        if known is not None:
            return known
        commits = [*tag_inputs(evidence, run), *write_charges(evidence, run)]
        with writing(evidence.engine) as connection:
            check_unmoved(connection, run)
            publish(connection, commits, run.run_id)
            names.learn(connection, run.about or run.period, users)
            posted = append(connection, content)
            done = then(connection, posted) if then else posted
            keep_minor(connection, run.period)
            return done


def known_run(connection: Connection, content: Content, run: Run) -> Posted | None:
    """A run id stands for one content. Sent again when nothing is left to post, it stands for the same."""
    table = record.runs
    row = connection.execute(select(table).where(table.c.run_id == run.run_id)).one_or_none()
    if row is None:
        return None
    same_plan = (row.period, row.plan_digest, row.policy_version, row.inputs, row.bill_days_sha256) == (
        run.period, run.plan_digest, run.policy_version, content.inputs, content.bill_days_sha256,
    )  # fmt: skip
    if row.content_sha256 == sha256_by(row.rule, content, run) or (same_plan and not content.postings):
        return Posted(run.run_id, posted=False, entries=row.entries, head=row.head_after)
    message = f"run {run.run_id} was posted before with other content"
    raise BooksError(
        "run-conflict", message, where=f"period {row.period}", hint="plan again: a new plan gets a new run id"
    )


def sha256_by(rule: str, content: Content, run: Run) -> str:
    """As a run of that rule would have it: those of the earlier ones hold names."""
    if rule == TOKENS:
        return content.sha256
    named = content_of(run, json.loads(content.rests_on))
    return {FIRST: first_sha256(named), CONTENT: named.sha256}[rule]


def check_unmoved(connection: Connection, run: Run) -> None:
    """The run rests on the ledger and the evidence as they were when it was planned."""
    if is_closed(connection, run.period):
        raise BooksError(
            "period-closed", f"period {run.period} is closed", hint="correct it with postings in an open period"
        )
    if run.kind == CORRECTION and not is_closed(connection, run.about):
        raise BooksError(
            "period-open", f"period {run.about} is open: there is nothing to correct", hint="plan and apply it again"
        )
    if run.kind not in COMPUTED:
        return
    last = last_of(connection, run.about or run.period)
    seen = link_number(connection, run.expected_head)
    if seen is None or seen < last:
        raise moved(run, "something else was posted in this period")
    for name, snapshot_id in sorted(run.inputs.items()):
        if published(connection, name).snapshot_id != snapshot_id:
            raise moved(run, f"{name} has changed")


def is_closed(connection: Connection, period: str) -> bool:
    table = record.periods
    return connection.scalar(select(table.c.status).where(table.c.period == period)) == "closed"


def last_of(connection: Connection, period: str) -> int:
    """The last link that says what the period's usage costs: of its own runs, or of those that correct it."""
    runs = record.runs
    own = (runs.c.period == period) & (runs.c.about == "") & runs.c.kind.in_(["", PLAN])
    corrects = (runs.c.about == period) & (runs.c.kind == CORRECTION)
    return connection.scalar(select(func.max(runs.c.last_seq)).where(own | corrects)) or 0


def moved(run: Run, what: str) -> BooksError:
    return BooksError(
        "inputs-moved",
        f"since the plan of {run.period} was made, {what}",
        hint="run plan again, look at it, then apply",
    )


def append(connection: Connection, content: Content) -> Posted:
    """Assert, write, read back, assert again; the caller's transaction commits only what passed.

    What is planned comes to the bills together with what was; anything else comes to what it says by itself.
    """
    earlier = posted_rows(connection, content.run.period, of_kind([PLAN])) if content.run.kind == PLAN else []
    check_days(content, [*earlier, *content.postings], "before posting")
    accounts = [*((f"team:{row[TEAM]}", row) for row in content.postings), *contra(content)]
    run = run_row(connection, content, len(accounts))
    rows = entry_rows(run, accounts)
    run["head_after"] = rows[-1][-1] if rows else run["hash"]
    connection.execute(insert(record.runs), [run])
    days = [(run["run_id"], *key, plain(amount)) for key, amount in sorted(content.bill_days.items())]
    if days:
        insert_rows(connection, record.bill_days, ("run_id", *BILL_DAY), days)
    if rows:
        insert_rows(connection, record.entries, (*ENTRY_FIELDS, "hash"), rows)
    stored = check_links(connection, run)
    check_days(content, [*earlier, *stored], "as read back")
    note(connection, "run", told(run), run["cause"])
    return Posted(run["run_id"], posted=True, entries=len(rows), head=run["head_after"])


def posted_rows(connection: Connection, period: str, *conditions: ColumnElement[bool]) -> list[Posting]:
    """The owners' side of what a period holds."""
    table = record.entries
    return read_back(
        connection, POSTINGS.names, table.c.period == period, table.c.account.not_like(CONTRA + "%"), *conditions
    )


def read_back(
    connection: Connection, columns: Sequence[str], *conditions: ColumnElement[bool]
) -> list[tuple[Any, ...]]:
    """Entries as the database holds them; the amount, their last column, in canonical digits."""
    table = record.entries
    texts = [cast(table.c[name], Text) if name == "amount" else table.c[name] for name in columns]
    rows = connection.execute(select(*texts).where(*conditions).order_by(table.c.seq)).all()
    return [(*row[:-1], as_posted(row[-1])) for row in rows]


def check_days(content: Content, postings: list[Posting], when: str) -> None:
    """The sum of postings is the bill, for every bill, currency, component and day."""
    found = day_totals(postings)
    for key in sorted({*found, *content.bill_days}):
        what = f"{', '.join(key)} of run {content.run.run_id} {when}"
        require_equal(what, content.bill_days.get(key, 0), found.get(key, 0))


def run_row(connection: Connection, content: Content, entries: int) -> dict[str, Any]:
    run, policies = content.run, record.policies
    policy = connection.scalar(select(policies.c.sha256).where(policies.c.version == run.policy_version))
    if policy is None:
        raise BooksError(
            "unknown-policy",
            f"the books have no policy {run.policy_version}",
            hint="save the policy before posting by it",
        )
    seq = (connection.scalar(select(func.max(record.runs.c.last_seq))) or 0) + 1
    row = {
        "seq": seq, "run_id": run.run_id, "period": run.period, "plan_digest": run.plan_digest, "policy_version": run.policy_version,
        "policy_sha256": policy, "inputs": content.inputs, "evidence": json.dumps(evidence_digests(connection, run.inputs), sort_keys=True),
        "engine": run.engine, "bill_days_sha256": content.bill_days_sha256, "content_sha256": content.sha256, "entries": entries,
        "last_seq": seq + entries, "head_before": read_head(connection), "posted_s": int(time.time()),
        "rule": TOKENS, "kind": run.kind, "about": run.about, "cause": run.cause, "rests_on": content.rests_on,
    }  # fmt: skip
    row["hash"] = run_link(row["head_before"], row)
    return row


def contra(content: Content) -> list[tuple[str, Posting]]:
    """The other side of the double entry: what each bill gave, so that a run adds up to nothing."""
    given = totals((row[:3], row[-1]) for row in content.postings)
    blank = [""] * (len(POSTINGS.names) - 4)
    return [(CONTRA + key[1], (*key, *blank, plain(amount.copy_negate()))) for key, amount in sorted(given.items())]


def entry_rows(run: dict[str, Any], accounts: list[tuple[str, Posting]]) -> list[tuple[Any, ...]]:
    rows, head = [], run["hash"]
    for seq, (account, posting) in enumerate(accounts, run["seq"] + 1):
        fields = (seq, run["run_id"], account, *posting)
        head = entry_link(head, fields)
        rows.append((*fields, head))
    return rows


def check_links(connection: Connection, run: dict[str, Any]) -> list[Posting]:
    """The run as the database gives it back: every link, and both sides adding up to nothing. Returns the owners' side."""
    where = f"of run {run['run_id']} as read back"
    rows = read_back(connection, ENTRY_FIELDS, record.entries.c.run_id == run["run_id"])
    head = run["hash"]
    for row in rows:
        head = entry_link(head, row)
    require_equal(f"the last link {where}", run["head_after"], head)
    require_equal(f"the number of entries {where}", run["entries"], len(rows))
    require_equal(f"the sum {where}", {}, totals((row[CURRENCY : CURRENCY + 1], row[-1]) for row in rows))
    return [row[ACCOUNT + 1 :] for row in rows if not row[ACCOUNT].startswith(CONTRA)]
