"""The ledger's chain: each link's hash covers the one before it, so that one changed, missing or added byte shows in every later head.

A run is a link of its own, followed by one link for each of its postings. Numbers of links have no gaps. A link is hashed as its fields
with their lengths before them: no two different links have the same bytes.

The head is over what was posted and what it rests on, so that the same inputs give the same head; who did it and when is chained in the
audit log. Runs of the first rule hold their time and the names of their files, and keep their links. Users are tokens (`names.py`); runs
of the first two rules hold names, which cannot be taken out of the chain.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from apportion.model.money import plain
from apportion.model.rows import POSTING_KEY

GENESIS = hashlib.sha256(b"apportion ledger 1").hexdigest()
FIRST, CONTENT, TOKENS = "", "2", "3"  # rules by which a run is hashed
BY_CONTENT = (
    "rule", "seq", "run_id", "kind", "period", "about", "cause", "plan_digest", "policy_version", "policy_sha256", "rests_on",
    "bill_days_sha256", "content_sha256", "entries", "last_seq", "head_before",
)  # fmt: skip
RUN_FIELDS = {
    FIRST: (
        "seq", "run_id", "period", "plan_digest", "policy_version", "policy_sha256", "inputs", "evidence", "engine",
        "bill_days_sha256", "content_sha256", "entries", "last_seq", "head_before", "posted_s",
    ),
    CONTENT: BY_CONTENT,
    TOKENS: BY_CONTENT,
}  # fmt: skip
AUDIT_FIELDS = ("id", "at_s", "who", "what", "why", "detail", "head")
ENTRY_FIELDS = ("seq", "run_id", "account", *POSTING_KEY, "amount")
BILL_DAY = ("bill", "currency", "component", "day", "amount")


def link(previous: str, fields: Iterable[object]) -> str:
    return hashlib.sha256(previous.encode() + canonical(fields)).hexdigest()


def canonical(fields: Iterable[object]) -> bytes:
    """The lengths of all fields, then the fields: `4,3:12.5USD`."""
    texts = [field if type(field) is str else spelled(field) for field in fields]
    return f"{','.join(map(str, map(len, texts)))}:{''.join(texts)}".encode()


def spelled(field: object) -> str:
    return plain(field) if isinstance(field, Decimal) else str(field)


def run_link(previous: str, run: Mapping[str, Any]) -> str:
    return link(previous, ["run", *(run[name] for name in RUN_FIELDS[run["rule"]])])


def entry_link(previous: str, entry: Sequence[object]) -> str:
    """`entry` holds the fields in the order of ENTRY_FIELDS."""
    return link(previous, ("entry", *entry))


def audit_link(previous: str, note: Mapping[str, Any]) -> str:
    return link(previous, ["audit", *(note[name] for name in AUDIT_FIELDS)])


def told(run: Mapping[str, Any]) -> str:
    """What the audit log says of a run: all that its link leaves out, as one hash."""
    apart = [run[name] for name in (*RUN_FIELDS[FIRST], "hash")]
    return f"{run['run_id']} of {run['period']}, {hashlib.sha256(canonical(apart)).hexdigest()}"


def rows_digest(rows: Iterable[Sequence[object]]) -> str:
    """Of a set of rows, whatever their order."""
    return hashlib.sha256(b"".join(sorted(b"%d:%b;" % (len(row), row) for row in map(canonical, rows)))).hexdigest()
